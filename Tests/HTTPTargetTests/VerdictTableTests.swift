// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import TargetKit
import Testing

@testable import HTTPTargetLogic

@Suite struct VerdictTableTests {
  static func answer(_ status: Int, body: String = "", type: String? = nil, retryAfter: String? = nil) -> Answer {
    var head = AnswerHead()
    head.take("HTTP/1.1 \(status) -\r\n".utf8)
    if let type { head.take("Content-Type: \(type)\r\n".utf8) }
    if let retryAfter { head.take("Retry-After: \(retryAfter)\r\n".utf8) }
    return Answer(
      code: CURLE_OK, words: "", status: status, proxyStatus: 0, sent: 2, allSent: true, head: head,
      body: Array(body.utf8), stopped: false, sourceFailure: nil)
  }

  /// Written down apart from the code's own table.
  static func expected(_ status: Int) -> Verdict.Outcome {
    let retried: Set = [408, 409, 421, 423, 425, 429]
    let forPeople: Set = [401, 402, 403, 404, 407, 410, 426, 451]
    let refused: Set = [501, 505]
    switch status {
    case 200..<300: return .delivered
    case 300..<400: return .needsAttention
    case 400..<500: return retried.contains(status) ? .retry : forPeople.contains(status) ? .needsAttention : .refused
    default: return refused.contains(status) ? .refused : .retry
    }
  }

  @Test func `every status from 100 to 599 has its verdict`() {
    for status in 200...599 {
      let verdict = Judge().verdict(on: Self.answer(status), attempt: 1, now: 0)
      #expect(verdict.outcome == Self.expected(status), "status \(status)")
      #expect(verdict.status == Int32(status))
    }
    // 1xx is never final: it comes out of the exchange as no answer.
    #expect(Judge().verdict(on: Self.answer(0), attempt: 1, now: 0).outcome == .retry)
    #expect(Judge().verdict(on: Self.answer(0), attempt: 1, now: 0).maybeDelivered)
  }

  @Test func `a conflict is tried three times, or counts as delivered when the settings say so`() {
    let conflict = Self.answer(409)
    #expect(Judge().verdict(on: conflict, attempt: 2, now: 0).outcome == .retry)
    #expect(Judge().verdict(on: conflict, attempt: 3, now: 0).outcome == .refused)
    #expect(Judge(conflictIsSuccess: true).verdict(on: conflict, attempt: 1, now: 0).outcome == .delivered)
  }

  @Test func `a firewall's page on 403 is tried once more`() {
    let page = Self.answer(403, body: "<html><title>Blocked</title></html>", type: "text/html")
    #expect(Judge().verdict(on: page, attempt: 1, now: 0).outcome == .retry)
    #expect(Judge().verdict(on: page, attempt: 2, now: 0).outcome == .needsAttention)
  }

  @Test func `what was sent on a connection that died may have arrived`() {
    var answer = Self.answer(0)
    (answer.allSent, answer.sent, answer.code) = (false, 0, CURLE_COULDNT_CONNECT)
    #expect(!Judge().verdict(on: answer, attempt: 1, now: 0).maybeDelivered)
    answer.sentBefore = true
    #expect(Judge().verdict(on: answer, attempt: 1, now: 0).maybeDelivered)
    answer.stopped = true
    #expect(Judge().verdict(on: answer, attempt: 1, now: 0).maybeDelivered)
  }

  @Test func `listed statuses replace 2xx`() {
    let judge = Judge(successStatuses: [200, 304])
    #expect(judge.verdict(on: Self.answer(200), attempt: 1, now: 0).outcome == .delivered)
    #expect(judge.verdict(on: Self.answer(304), attempt: 1, now: 0).outcome == .delivered)
    let accepted = judge.verdict(on: Self.answer(202), attempt: 1, now: 0)
    #expect(accepted.outcome == .retry)
    #expect(accepted.maybeDelivered)
  }

  @Test func `Retry-After is read in both forms, within a day`() {
    let now: Int64 = 1_796_036_400  // Mon, 30 Nov 2026 11:00:00 GMT
    let cases: [(String, Duration?)] = [
      ("120", .seconds(120)), ("0", .zero), ("86401", .seconds(86_400)), ("99999999999999999999", .seconds(86_400)),
      ("Mon, 30 Nov 2026 11:01:40 GMT", .seconds(100)), ("Mon, 30 Nov 2026 10:00:00 GMT", .zero),
      ("Tue, 30 Nov 2027 10:00:00 GMT", .seconds(86_400)), ("soon", nil), ("-5", nil), ("1.5", nil), ("", nil),
    ]
    for (text, expected) in cases { #expect(RetryAfter.parse(text, now: now) == expected, "\(text)") }
    let throttled = Judge().verdict(on: Self.answer(429, retryAfter: "120"), attempt: 1, now: now)
    #expect(throttled.retryAfter == .seconds(120))
    #expect(throttled.reason == .throttled)
  }

  @Test func `the receiver's words are one printable line`() {
    let cases: [(String, String?, String)] = [
      ("plain\r\n\u{1b}[31m text", nil, "plain [31m text"),
      (#"{"ok": false, "error": {"code": 7, "message": "no \"room\"\u0021"}}"#, "application/json", "no \"room\"!"),
      ("{\"detail\": \"why\", \"more\": \"cut of", "application/json", "why"),
      ("[1, 2]", "application/json", "[1, 2]"),
      ("<html><style>p{}</style><h1>413</h1> Too&nbsp;large</html>", "text/html", "413 Too&nbsp;large"),
      ("", nil, ""),
    ]
    for (body, type, expected) in cases {
      #expect(ReceiverText.summary(of: Array(body.utf8), contentType: type) == expected)
    }
  }

  @Test func `cut JSON and broken pages never trap`() {
    let text = Array("{\"message\": \"\\u00e4\\n\", \"error\": {\"a\": [\"<html><script>x</\"]}}".utf8)
    for count in 0...text.count {
      _ = ReceiverText.summary(of: Array(text.prefix(count)), contentType: nil)
      _ = ReceiverText.summary(of: Array(text.prefix(count)), contentType: "text/html")
    }
    #expect(ReceiverText.summary(of: text, contentType: nil) == "ä")
  }
}
