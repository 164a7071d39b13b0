// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import TargetKit

/// Keeps Home Assistant told of the sensors: a description goes out when it differs from the last one, and when the broker, which
/// keeps descriptions for it, has lost it.
struct Announcements {
  /// Descriptions that are taken note of at one connection.
  static let most = 10_000
  /// Milliseconds of silence before a subscription is answered.
  private static let patience: Int64 = 30_000

  let settings: MQTTSettings
  let judge: Judge

  /// nil when the sensor is known; else the verdict that keeps the part back.
  func announce(_ announcement: Announcement, on link: Link, _ watch: Watch) throws(Verdict) -> Verdict? {
    if link.told.granted == nil {
      if let verdict = ask(announcement.filter, link, watch) { return verdict }
    }
    let bytes = announcement.payload
    let digest = bytes.withUnsafeBytes { Digest.sha256($0) }
    // Another broker or topic needs it anew.
    let place = Array("\(judge.words.place) \(announcement.topic) ".utf8)
    let mark = (place + bytes).withUnsafeBytes { Digest.sha256($0) }
    let state = watch.host.state(.pipeline)
    let key = Self.key(announcement.object)
    let isLast = try state.get(key) == mark
    // A broker that shows nothing of what it keeps has to be believed.
    let isThere = link.told.granted == false || link.told.retained[announcement.topic] == digest
    if isLast, isThere { return nil }
    let end = bytes.withUnsafeBytes {
      link.publish(
        Publication(
          topic: announcement.topic, payload: $0,
          qos: min(max(1, settings.qos), link.told.greeting?.highestQoS ?? 1), retain: true,
          contentType: "application/json"), watch)
    }
    var verdict = judge.verdict(on: end, link.told.greeting)
    guard verdict.outcome == .delivered else {
      verdict.message = "Home Assistant could not be told of the sensor: \(verdict.message)"
      // What may have arrived is the description, not the part.
      verdict.maybeDelivered = false
      if verdict.outcome == .refused { verdict.outcome = .needsAttention }
      return verdict
    }
    try state.put(key, mark)
    link.told.retained[announcement.topic] = digest
    return nil
  }

  /// Names of files can be longer than what state is kept under may be.
  private static func key(_ object: String) -> String {
    guard object.utf8.count > 128 else { return "discovery/\(object)" }
    let digest = Array(object.utf8).withUnsafeBytes { Digest.sha256($0) }
    return "discovery/\(object.prefix(32))-\(digest.map { String($0, radix: 16) }.joined(separator: "."))"
  }

  /// Looks at what the broker keeps: a subscription brings it, and the answer to its end says that no more is to come.
  private func ask(_ filter: String, _ link: Link, _ watch: Watch) -> Verdict? {
    do throws(Link.End) {
      try link.judge(mosquitto_subscribe(link.client, nil, filter, 0))
      try link.judge(mosquitto_unsubscribe(link.client, nil, filter))
      try link.serve(watch, patience: Self.patience) { link.told.isUnsubscribed && link.told.granted != nil }
      return nil
    } catch {
      return judge.verdict(on: error, judge.words.of(error), allSent: false)
    }
  }
}
