// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem

/// Why an artifact lies in `refused/` or `corrupt/`: the file `reason.json` in its folder.
package struct SetAsideReason: Equatable, Sendable {
  package static let fileName = "reason.json"

  /// A verdict's name, `dropped` for a person's decision, or `damaged`.
  package var verdict: String
  /// What the receiver or this program said.
  package var message: String
  /// The protocol's own number; 0 is none.
  package var status: Int64
  package var at: WallTime
  /// The part it was about, from 1.
  package var part: Int64?
  package var attempts: Int64

  package init(
    verdict: String, message: String, status: Int64 = 0, at: WallTime = .now, part: Int64? = nil, attempts: Int64 = 0
  ) {
    self.verdict = verdict
    self.message = message
    self.status = status
    self.at = at
    self.part = part
    self.attempts = attempts
  }

  func bytes() -> [UInt8] {
    var json = JSONWriter(style: .pretty)
    json.beginObject()
    json.member("verdict", verdict)
    json.member("message", message)
    json.member("status", status)
    json.member("at", at.text(milliseconds: true))
    if let part { json.member("part", part) }
    json.member("attempts", attempts)
    json.endObject()
    return json.take()
  }

  /// nil when this is no reason; a reason is for people, so nothing depends on it.
  init?(_ bytes: [UInt8]) {
    guard let root = try? JSONTree.parse(bytes), let verdict = root["verdict"]?.string,
      let message = root["message"]?.string, let at = root["at"]?.string.flatMap(WallTime.init)
    else { return nil }
    self.init(
      verdict: verdict, message: message, status: root["status"]?.integer ?? 0, at: at, part: root["part"]?.integer,
      attempts: root["attempts"]?.integer ?? 0)
  }
}
