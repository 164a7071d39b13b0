// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem

/// One attempt, as `relay-host log` shows it.
package struct DeliveryRecord: Equatable, Sendable {
  package var at: WallTime
  package var artifact: String
  /// From 1; nil where all parts went at once.
  package var part: Int64?
  package var deliveryID: String
  /// From 1.
  package var attempt: Int64
  package var verdict: String
  /// The protocol's own number; 0 is none.
  package var status: Int64
  /// What the receiver said.
  package var message: String
  package var bytes: Int64
  package var milliseconds: Int64
  /// The days that it covered; nil for what isn't about days.
  package var days: [String]?

  package init(
    at: WallTime, artifact: String, part: Int64?, deliveryID: String, attempt: Int64, verdict: String, status: Int64,
    message: String, bytes: Int64, milliseconds: Int64, days: [String]? = nil
  ) {
    self.at = at
    self.artifact = artifact
    self.part = part
    self.deliveryID = deliveryID
    self.attempt = attempt
    self.verdict = verdict
    self.status = status
    self.message = message
    self.bytes = bytes
    self.milliseconds = milliseconds
    self.days = days
  }
}

extension DeliveryRecord {
  /// Longer messages are cut, in characters; a receiver may answer with a whole web page.
  static let longestMessage = 2000
  static let mostDays = 400

  /// One line of JSON without its line break.
  package func line() -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("at", at.text(milliseconds: true))
    json.member("artifact", artifact)
    json.name("part")
    if let part { json.value(part) } else { json.null() }
    json.member("deliveryId", deliveryID)
    json.member("attempt", attempt)
    json.member("verdict", verdict)
    json.member("status", status)
    json.member("message", String(message.prefix(Self.longestMessage)))
    json.member("bytes", bytes)
    json.member("milliseconds", milliseconds)
    json.name("days")
    if let days {
      json.beginArray()
      for day in days.prefix(Self.mostDays) { json.value(day) }
      json.endArray()
    } else {
      json.null()
    }
    json.endObject()
    return json.take()
  }

  /// nil for a line that is no record: torn, or junk.
  init?(line: ArraySlice<UInt8>) {
    guard let root = try? JSONTree.parse(Array(line)), let at = root["at"]?.string.flatMap(WallTime.init),
      let artifact = root["artifact"]?.string, let deliveryID = root["deliveryId"]?.string,
      let attempt = root["attempt"]?.integer, let verdict = root["verdict"]?.string
    else { return nil }
    self.init(
      at: at, artifact: artifact, part: root["part"]?.integer, deliveryID: deliveryID, attempt: attempt,
      verdict: verdict, status: root["status"]?.integer ?? 0, message: root["message"]?.string ?? "",
      bytes: root["bytes"]?.integer ?? 0, milliseconds: root["milliseconds"]?.integer ?? 0,
      days: root["days"]?.array?.compactMap(\.string))
  }
}
