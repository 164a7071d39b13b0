// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import Glibc
import TargetKit

/// What the broker and the library said through the library's callbacks.
final class Told {
  struct Greeting: Equatable {
    var code: Int32
    /// The broker's own explanation.
    var words = ""
    /// Where the broker sends its clients.
    var otherServer = ""
    /// Bytes of the largest packet that the broker takes; nil: no limit of its own.
    var largestPacket: UInt32?
    var keepsRetained = true
    /// Seconds that the broker wants instead of ours.
    var keepAlive: Int32?
    var highestQoS: Int32 = 2
  }

  struct Answer: Equatable {
    var code: Int32
    var words = ""
  }

  var greeting: Greeting?
  /// By packet identifier; for QoS 0 the library's word that it is written.
  var answers: [Int32: Answer] = [:]
  /// Why the broker ended the connection, when it said so.
  var farewell: Int32?
  /// Whether a subscription was granted, once it was answered.
  var granted: Bool?
  var isUnsubscribed = false
  /// Hashes of retained messages by topic, while a subscription asks for them.
  var retained: [String: [UInt8]] = [:]
  /// X509_V_OK, or why the chain of the other side's certificate was turned down.
  var verification = Int(X509_V_OK)
  /// The library's last complaints, for what it tells in no other way.
  private(set) var complaints: [String] = []

  static func from(_ context: UnsafeMutableRawPointer?) -> Told? {
    context.map { Unmanaged<Told>.fromOpaque($0).takeUnretainedValue() }
  }

  func complain(_ line: String) {
    complaints.append(PrintableLine.of(line, most: 300))
    if complaints.count > 8 { complaints.removeFirst() }
  }

  /// Sets the callbacks of a client that has this object as its context.
  static func listen(to client: OpaquePointer) {
    mosquitto_connect_v5_callback_set(client) { _, context, code, _, properties in
      guard let told = Told.from(context) else { return }
      var greeting = Greeting(code: code)
      greeting.words = Property.text(MQTT_PROP_REASON_STRING, in: properties)
      greeting.otherServer = Property.text(MQTT_PROP_SERVER_REFERENCE, in: properties)
      greeting.largestPacket = Property.number(MQTT_PROP_MAXIMUM_PACKET_SIZE, in: properties)
      greeting.keepsRetained = Property.byte(MQTT_PROP_RETAIN_AVAILABLE, in: properties) != 0
      greeting.highestQoS = Int32(Property.byte(MQTT_PROP_MAXIMUM_QOS, in: properties) ?? 2)
      greeting.keepAlive = Property.short(MQTT_PROP_SERVER_KEEP_ALIVE, in: properties).map { Int32($0) }
      told.greeting = greeting
    }
    mosquitto_publish_v5_callback_set(client) { _, context, id, code, properties in
      Told.from(context)?.answers[id] = Answer(
        code: code, words: Property.text(MQTT_PROP_REASON_STRING, in: properties))
    }
    mosquitto_disconnect_v5_callback_set(client) { _, context, code, _ in
      // Below 128 it is the library's own number for a broken connection, or an end that nobody gave a reason for.
      if code >= 128 { Told.from(context)?.farewell = code }
    }
    mosquitto_subscribe_v5_callback_set(client) { _, context, _, count, codes, _ in
      Told.from(context)?.granted = count > 0 && (codes?.pointee).map { $0 < 128 } ?? false
    }
    mosquitto_unsubscribe_v5_callback_set(client) { _, context, _, _ in Told.from(context)?.isUnsubscribed = true }
    mosquitto_message_v5_callback_set(client) { _, context, message, _ in
      guard let told = Told.from(context), let message = message?.pointee, message.retain, let topic = message.topic,
        told.retained.count < Announcements.most
      else { return }
      told.retained[String(cString: topic)] = Digest.sha256(
        UnsafeRawBufferPointer(start: message.payload, count: max(0, Int(message.payloadlen))))
    }
    mosquitto_log_callback_set(client) { _, context, level, line in
      guard level == MOSQ_LOG_ERR, let line else { return }
      Told.from(context)?.complain(String(cString: line))
    }
  }
}

/// Reads one property of a packet of MQTT 5.
private enum Property {
  static func text(_ identifier: mqtt5_property, in properties: OpaquePointer?) -> String {
    var value: UnsafeMutablePointer<CChar>?
    guard mosquitto_property_read_string(properties, Int32(identifier.rawValue), &value, false) != nil, let value else {
      return ""
    }
    defer { free(value) }
    return PrintableLine.of(String(cString: value), most: 500)
  }

  static func number(_ identifier: mqtt5_property, in properties: OpaquePointer?) -> UInt32? {
    var value: UInt32 = 0
    return mosquitto_property_read_int32(properties, Int32(identifier.rawValue), &value, false) == nil ? nil : value
  }

  static func short(_ identifier: mqtt5_property, in properties: OpaquePointer?) -> UInt16? {
    var value: UInt16 = 0
    return mosquitto_property_read_int16(properties, Int32(identifier.rawValue), &value, false) == nil ? nil : value
  }

  static func byte(_ identifier: mqtt5_property, in properties: OpaquePointer?) -> UInt8? {
    var value: UInt8 = 0
    return mosquitto_property_read_byte(properties, Int32(identifier.rawValue), &value, false) == nil ? nil : value
  }
}

enum Digest {
  static func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    var nothing: UInt8 = 0
    withUnsafePointer(to: &nothing) { empty in
      _ = SHA256(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? empty, bytes.count, &digest)
    }
    return digest
  }
}
