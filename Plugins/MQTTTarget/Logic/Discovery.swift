// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The settings of Home Assistant's discovery that are the same for all parts.
struct DiscoverySettings {
  var prefix: String
  /// nil: the pipeline's id.
  var node: String?
  var valueTemplate: String?
  /// nil: the pipeline's name.
  var deviceName: String?
  var manufacturer: String
  var model: String?

  /// nil when there is to be no discovery.
  init?(host: Host) throws(Verdict) {
    guard try host.count("discovery") != nil else { return nil }
    prefix = try host.text("discovery/prefix") ?? "homeassistant"
    node = try host.text("discovery/node")
    valueTemplate = try host.text("discovery/valueTemplate")
    deviceName = try host.text("discovery/device/name")
    manufacturer = try host.text("discovery/device/manufacturer") ?? "Relay Host"
    model = try host.text("discovery/device/model")
    do throws(MQTTFault) {
      guard (try? Topic(prefix)) != nil, !prefix.hasSuffix("/") else { throw .characters("discovery.prefix") }
      if let node { try Announcement.check(node, "discovery.node") }
    } catch {
      throw error.verdict
    }
  }
}

/// What Home Assistant is told about the sensor that a part is for.
struct Announcement: Equatable {
  var object: String
  /// Of the message that describes the sensor.
  var topic: String
  /// Of all such messages of the pipeline.
  var filter: String
  var payload: String

  /// `topic` is where the values come.
  init(_ settings: DiscoverySettings, topic: Topic, _ delivery: Delivery, host: Host) throws(Verdict) {
    guard delivery.contentEncoding == nil else { throw MQTTFault.discoveryPacked.verdict }
    let object = try host.text("discovery/object") ?? ""
    do throws(MQTTFault) {
      try Self.check(object, "discovery.object")
    } catch {
      // Rendered from a template it concerns this part alone.
      throw .refused(.settings, error.message)
    }
    let node = settings.node ?? delivery.pipelineID
    /// An empty text comes of a template that has nothing to say.
    func value(_ name: String) throws(Verdict) -> JSONText? {
      guard let text = try host.text("discovery/\(name)"), !text.isEmpty else { return nil }
      return .text(text)
    }
    self.object = object
    self.topic = "\(settings.prefix)/sensor/\(node)/\(object)/config"
    filter = "\(settings.prefix)/sensor/\(node)/+/config"
    payload = JSONText.object([
      ("name", try value("name") ?? .text(object)),
      // By this Home Assistant knows the sensor again; it must never change.
      ("unique_id", .text("relay_host_\(node)_\(object)")),
      ("default_entity_id", .text("sensor.\(Self.entity("\(node)_\(object)"))")),
      ("state_topic", .text(topic.text)),
      ("unit_of_measurement", try value("unit")),
      ("device_class", try value("deviceClass")),
      ("state_class", try value("stateClass")),
      ("value_template", settings.valueTemplate.map { .text($0) }),
      (
        "device",
        .object([
          ("identifiers", .list([.text("relay_host_\(node)")])),
          ("name", .text(settings.deviceName ?? delivery.pipelineName)),
          ("manufacturer", .text(settings.manufacturer)),
          ("model", settings.model.map { .text($0) }),
        ])
      ),
      ("origin", .object([("name", .text("Relay Host"))])),
    ]).written
  }

  static func check(_ text: String, _ setting: String) throws(MQTTFault) {
    let isPlain = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F || $0 == 0x2D
    }
    guard isPlain, !text.isEmpty else { throw .notPlain(setting) }
  }

  /// In the letters that ids of entities have.
  private static func entity(_ text: String) -> String {
    String(text.lowercased().map { $0 == "-" ? "_" : $0 })
  }
}
