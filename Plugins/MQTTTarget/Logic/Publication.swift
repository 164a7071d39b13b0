// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import TargetKit

/// One message for the broker.
struct Publication {
  /// Milliseconds of silence after the last byte, less than the manifest's `finalAnswer`.
  static let patience: Int64 = 60_000

  var topic: String
  var payload: UnsafeRawBufferPointer
  var qos: Int32
  var retain: Bool
  /// MQTT 5 only.
  var contentType: String?
  var userProperties: [(name: String, value: String)] = []

  enum End: Equatable {
    /// The broker's last word on it.
    case answered(Told.Answer)
    /// QoS 0: the broker's machine has it.
    case written
    /// More than the broker takes, known from its greeting; nothing was sent.
    case tooLarge
    /// The broker does not take this QoS; nothing was sent.
    case qosTooHigh
    /// The library does not take the topic.
    case topicUnfit
    case broken(Link.End, allSent: Bool)
  }
}

extension Link {
  /// Publishes one message and waits for the broker's last word on it; `moved` is told the bytes of it that have arrived, roughly.
  func publish(_ message: Publication, _ watch: Watch, moved: (UInt64) -> Void = { _ in }) -> Publication.End {
    var properties: OpaquePointer?
    defer { mosquitto_property_free_all(&properties) }
    if speaks5 { properties = Self.properties(of: message) }
    let before = descriptor >= 0 ? TCPSocket(descriptor: descriptor).acknowledged : 0
    var identifier: Int32 = 0
    let code = mosquitto_publish_v5(
      client, &identifier, message.topic, Int32(clamping: message.payload.count), message.payload.baseAddress,
      message.qos, message.retain, properties)
    switch mosq_err_t(rawValue: code) {
    case MOSQ_ERR_SUCCESS: break
    case MOSQ_ERR_OVERSIZE_PACKET, MOSQ_ERR_PAYLOAD_SIZE: return .tooLarge
    case MOSQ_ERR_QOS_NOT_SUPPORTED: return .qosTooHigh
    case MOSQ_ERR_INVAL, MOSQ_ERR_MALFORMED_UTF8: return .topicUnfit
    case MOSQ_ERR_NOMEM: return .broken(.library(code), allSent: false)
    default: return .broken(reasonOfBreak, allSent: false)
    }
    return wait(for: identifier, message, watch) { bytes in moved(min(UInt64(message.payload.count), bytes &- before)) }
  }

  private func wait(
    for identifier: Int32, _ message: Publication, _ watch: Watch, moved: (UInt64) -> Void
  ) -> Publication.End {
    var allSent = false
    let isUnconfirmed = message.qos == 0
    do throws(End) {
      try serve(watch, patience: Publication.patience, tick: isUnconfirmed ? 10 : Self.tick, moved: moved) {
        allSent = allSent || isWritten
        guard told.answers[identifier] != nil else { return false }
        // The library calls it published once the kernel has it.
        return !isUnconfirmed || (isWritten && TCPSocket(descriptor: descriptor).waiting == 0)
      }
    } catch {
      return .broken(error, allSent: allSent)
    }
    return isUnconfirmed ? .written : .answered(told.answers[identifier] ?? Told.Answer(code: 128))
  }

  /// The broker may have said why it closes before the library noticed that it can't write.
  private var reasonOfBreak: End {
    do throws(End) {
      try catchUp()
      return .closed
    } catch {
      return error
    }
  }

  private static func properties(of message: Publication) -> OpaquePointer? {
    var list: OpaquePointer?
    // What the library does not take as text is left out: it explains the message, and is no part of it.
    if let type = message.contentType {
      _ = mosquitto_property_add_string(&list, Int32(MQTT_PROP_CONTENT_TYPE.rawValue), type)
    }
    for (name, value) in message.userProperties {
      _ = mosquitto_property_add_string_pair(&list, Int32(MQTT_PROP_USER_PROPERTY.rawValue), name, value)
    }
    return list
  }
}
