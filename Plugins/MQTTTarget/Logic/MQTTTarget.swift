// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// Publishes each part as one MQTT message.
package struct MQTTTarget: CheckableTarget {
  package static let manifest = MQTTManifest.json

  let settings: MQTTSettings
  private let broker: Broker

  package init(host: Host) throws(Verdict) {
    settings = try MQTTSettings(host: host)
    broker = Broker(settings)
  }

  package mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
    guard delivery.length <= MQTTManifest.maximumBytes else { throw .refused(.tooLarge, broker.judge.words.overLimit) }
    let watch = Watch(host: host, cancel: delivery.cancelDescriptor)
    let topic = try topic(host)
    // A test makes no sensor.
    var announcement: Announcement?
    if let discovery = settings.discovery, !delivery.isTest {
      announcement = try Announcement(discovery, topic: topic, delivery, host: host)
    }
    let link = try broker.link(for: delivery.length, watch)
    if let announcement {
      let announcements = Announcements(settings: settings, judge: broker.judge)
      if let verdict = try announcements.announce(announcement, on: link, watch) {
        broker.drop()
        return verdict
      }
    }
    let payload = try Payload(delivery)
    return try publish(payload, topic, delivery, link, watch)
  }

  package mutating func check(host: Host) throws(Verdict) -> Verdict {
    let id = ClientID.forChecking(settings)
    let link = try broker.open(id, 0, Watch(host: host, cancel: -1))
    let message = broker.judge.words.checked(speaks5: link.speaks5, tls: link.tlsVersion, id: id)
    link.goodbye()
    return .delivered(message: message)
  }

  private func topic(_ host: Host) throws(Verdict) -> Topic {
    let text = try host.text("topic") ?? ""
    do throws(MQTTFault) {
      return try Topic(text)
    } catch {
      // A plain one was found right when the target opened.
      throw .refused(.settings, error.message)
    }
  }

  private func publish(
    _ payload: Payload, _ topic: Topic, _ delivery: Delivery, _ link: Link, _ watch: Watch
  ) throws(Verdict) -> Verdict {
    var message = Publication(
      topic: topic.text, payload: payload.bytes, qos: settings.qos,
      // The test is empty, and an empty retained message takes away what the broker keeps.
      retain: settings.retain && !delivery.isTest, contentType: delivery.mediaType)
    message.userProperties = [("delivery-id", delivery.deliveryID), ("file-name", delivery.fileName)]
    if let encoding = delivery.contentEncoding { message.userProperties.append(("content-encoding", encoding)) }
    if delivery.isTest { message.userProperties.append(("relay-test", "1")) }
    var arrived: UInt64 = 0
    let end = link.publish(message, watch) { bytes in
      arrived = bytes
      watch.host.progress(bytes, of: delivery.length)
    }
    var verdict = broker.judge.verdict(on: end, link.told.greeting)
    switch end {
    case .answered where verdict.outcome == .delivered: broker.rest()
    // Nothing more is asked of the broker: the end of the connection takes the message along.
    case .broken(.closed, _): verdict = try afterLoss(verdict, delivery, watch)
    default: broker.drop()
    }
    let isWhole = verdict.outcome == .delivered || verdict.maybeDelivered
    verdict.bytesSent = isWhole ? delivery.length : arrived
    return verdict
  }

  /// The broker closed with the message under way: is it the message?
  private func afterLoss(_ verdict: Verdict, _ delivery: Delivery, _ watch: Watch) throws(Verdict) -> Verdict {
    broker.drop()
    // Whatever keeps a new connection from being made, the message is not to blame for it.
    let (finding, link) = try LossCount.lost(watch) { try? broker.connect(delivery.length, watch) }
    if link == nil { broker.drop() }
    switch finding {
    case .undecided: return verdict
    case .messageTooMuch: return .refused(.tooLarge, broker.judge.words.messageTooMuch)
    case .thrownOut: return .needsAttention(.settings, broker.judge.words.thrownOut)
    }
  }
}

/// A part in memory: the library takes a message as one piece.
final class Payload {
  let bytes: UnsafeRawBufferPointer
  private let storage: UnsafeMutableRawBufferPointer

  /// Reads all of it, so that nothing is sent of what turns out damaged.
  init(_ delivery: Delivery) throws(Verdict) {
    let length = Int(clamping: delivery.length)
    storage = .allocate(byteCount: max(1, length), alignment: 16)
    bytes = UnsafeRawBufferPointer(rebasing: storage[..<length])
    var filled = 0
    while filled < length {
      let count = try delivery.source.read(into: UnsafeMutableRawBufferPointer(rebasing: storage[filled..<length]))
      guard count > 0 else { throw .retry(.source, "there are fewer bytes to deliver than was said") }
      filled += count
    }
  }

  deinit { storage.deallocate() }
}
