// SPDX-License-Identifier: Apache-2.0
import CCurl
import TargetKit

/// What came of one exchange, before anyone judges it.
struct Answer {
  /// libcurl's result.
  var code: CURLcode
  /// libcurl's own words for it.
  var words: String
  /// The final status; 0 when none came.
  var status: Int
  /// What a proxy answered to CONNECT; 0 when none was asked.
  var proxyStatus: Int
  /// Bytes of the body that left.
  var sent: UInt64
  /// Whether the whole request left, so that the receiver may have acted on it.
  var allSent: Bool
  /// Whether it left before, on a connection that died.
  var sentBefore = false
  var head: AnswerHead
  var body: [UInt8]
  /// The host wanted the call to end.
  var stopped: Bool
  /// The verdict of a source that could not be read to its end.
  var sourceFailure: Verdict?
}

/// The fields of the answer's head that matter here.
struct AnswerHead: Equatable {
  /// Longest line that is looked at.
  static let longest = 4096
  var location: String?
  var retryAfter: String?
  var contentType: String?
  var requestID: String?
  /// The empty line after a final head came.
  var isComplete = false
  private var status = 0

  /// Takes one line of a head; a new status line (after 100, say) begins anew.
  mutating func take(_ line: some Collection<UInt8>) {
    let text = String(decoding: line.prefix(Self.longest), as: UTF8.self)
      .trimmed { $0 == "\r\n" || $0 == "\r" || $0 == "\n" }
    if text.hasPrefix("HTTP/") {
      self = AnswerHead()
      status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      return
    }
    if text.isEmpty {
      isComplete = status >= 200
      return
    }
    guard let colon = text.firstIndex(of: ":") else { return }
    let value = String(text[text.index(after: colon)...]).trimmed { $0 == " " || $0 == "\t" }
    switch text[..<colon].lowercased() {
    case "location": location = value
    case "retry-after": retryAfter = value
    case "content-type": contentType = value
    case "x-request-id", "request-id": requestID = value
    default: break
    }
  }
}

extension String {
  /// Without the characters at both ends that match.
  fileprivate func trimmed(_ matches: (Character) -> Bool) -> String {
    guard let first = firstIndex(where: { !matches($0) }), let last = lastIndex(where: { !matches($0) }) else {
      return ""
    }
    return String(self[first...last])
  }
}
