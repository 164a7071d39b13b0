// SPDX-License-Identifier: Apache-2.0
import RelayJSON
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
  /// JSON.
  var payload: [UInt8]

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
    self.object = object
    self.topic = "\(settings.prefix)/sensor/\(node)/\(object)/config"
    filter = "\(settings.prefix)/sensor/\(node)/+/config"
    var described: [(name: String, value: String)] = [
      // By this Home Assistant knows the sensor again; it must never change.
      ("unique_id", "relay_host_\(node)_\(object)"),
      ("default_entity_id", "sensor.\(Self.entity("\(node)_\(object)"))"), ("state_topic", topic.text),
    ]
    let name = try host.text("discovery/name") ?? ""
    described.append(("name", name.isEmpty ? object : name))
    for (member, setting) in [
      ("unit_of_measurement", "unit"), ("device_class", "deviceClass"), ("state_class", "stateClass"),
    ] {
      // An empty text comes of a template that has nothing to say.
      if let text = try host.text("discovery/\(setting)"), !text.isEmpty { described.append((member, text)) }
    }
    if let template = settings.valueTemplate { described.append(("value_template", template)) }
    var device: [(name: String, value: String)] = [
      ("name", settings.deviceName ?? delivery.pipelineName), ("manufacturer", settings.manufacturer),
    ]
    if let model = settings.model { device.append(("model", model)) }
    payload = Self.written(described, device: device, id: "relay_host_\(node)")
  }

  private static func written(
    _ members: [(name: String, value: String)], device: [(name: String, value: String)], id: String
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.members(members)
    writer.name("device")
    writer.beginObject()
    writer.name("identifiers")
    writer.beginArray()
    writer.value(id)
    writer.endArray()
    writer.members(device)
    writer.endObject()
    writer.name("origin")
    writer.beginObject()
    writer.members([("name", "Relay Host")])
    writer.endObject()
    writer.endObject()
    return writer.take()
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

extension JSONWriter {
  fileprivate mutating func members(_ members: [(name: String, value: String)]) {
    for member in members {
      name(member.name)
      value(member.value)
    }
  }
}
