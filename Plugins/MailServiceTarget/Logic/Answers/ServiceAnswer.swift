// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayJSON
import TargetKit

/// What a service said, read from its answer.
struct ServiceAnswer: Equatable {
  /// The most of an answer that is read, in bytes: room for the list of what a SendGrid key may do.
  static let longest = 256 << 10

  /// The service's own name for what happened: Resend's `name`, Postmark's `ErrorCode`, the `field` that SendGrid complains of.
  var code: String?
  /// One line; empty if it said nothing.
  var message: String
  /// The service's name for the mail that it took.
  var mail: String?
  /// Whether the answer has the service's form: what stands in between, such as a network filter, has another.
  var isOwn = false

  init(_ answer: Answer, of service: Service) {
    message = Words.said(answer)
    switch service {
    case .resend: readResend(answer)
    case .sendgrid: readSendGrid(answer)
    case .postmark: readPostmark(answer)
    }
  }

  /// The answer's JSON; nil for what isn't JSON or isn't whole.
  static func json(_ answer: Answer) -> JSONNode? {
    try? JSONTree.parse(answer.body, limits: JSONLimits(depth: 16, bytes: longest))
  }

  private mutating func readResend(_ answer: Answer) {
    guard let node = Self.json(answer) else { return }
    code = node["name"]?.string
    mail = node["id"]?.string
    if let text = node["message"]?.string { message = Self.line(text) }
    isOwn = code != nil || mail != nil
  }

  private mutating func readSendGrid(_ answer: Answer) {
    mail = answer.head["x-message-id"]
    guard let errors = Self.json(answer)?["errors"]?.array, !errors.isEmpty else { return }
    code = errors.lazy.compactMap { $0["field"]?.string }.first
    let said = errors.compactMap { $0["message"]?.string }
    if !said.isEmpty { message = Self.line(said.joined(separator: "; ")) }
    isOwn = true
  }

  private mutating func readPostmark(_ answer: Answer) {
    guard let node = Self.json(answer), let number = node["ErrorCode"]?.integer else { return }
    code = String(number)
    mail = node["MessageID"]?.string
    if let text = node["Message"]?.string { message = Self.line(text) }
    isOwn = true
  }

  private static func line(_ text: String) -> String { PrintableLine.of(text, most: 1000) }
}
