// SPDX-License-Identifier: Apache-2.0

/// The head of an answer, as much of it as anyone may want to know.
package struct AnswerHead: Equatable {
  /// Longest line that is looked at, in bytes.
  static let longest = 4096
  /// Most fields that are kept.
  static let most = 100

  /// The empty line after a final head came.
  private(set) var isComplete = false
  private var fields: [(name: String, value: String)] = []
  private var status = 0

  package init() {}

  /// The last field of that name.
  package subscript(name: String) -> String? {
    let name = name.lowercased()
    return fields.last { $0.name == name }?.value
  }

  package var location: String? { self["location"] }
  package var retryAfter: String? { self["retry-after"] }
  package var contentType: String? { self["content-type"] }
  package var requestID: String? { self["x-request-id"] ?? self["request-id"] }

  /// Takes one line of a head; a new status line (after 100, say) begins anew.
  package mutating func take(_ line: some Collection<UInt8>) {
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
    guard fields.count < Self.most, let colon = text.firstIndex(of: ":") else { return }
    let value = String(text[text.index(after: colon)...]).trimmed { $0 == " " || $0 == "\t" }
    fields.append((text[..<colon].lowercased(), value))
  }

  package static func == (left: AnswerHead, right: AnswerHead) -> Bool {
    left.status == right.status && left.isComplete == right.isComplete
      && left.fields.elementsEqual(right.fields) { $0 == $1 }
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
