// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import TargetKit
import TargetKitTesting
import Testing

@testable import MailServiceTargetLogic

/// One answer as a service words it, and what it means, written down apart from the code's own tables.
struct Row: CustomTestStringConvertible, Sendable {
  let service: Service
  let status: Int
  let body: String
  let outcome: Verdict.Outcome
  let reason: Verdict.Reason
  var headers: [String: String] = [:]

  init(
    _ service: Service, _ status: Int, _ body: String, _ outcome: Verdict.Outcome, _ reason: Verdict.Reason,
    _ headers: [String: String] = [:]
  ) {
    (self.service, self.status, self.body, self.outcome, self.reason) = (service, status, body, outcome, reason)
    self.headers = headers
  }

  var testDescription: String { "\(service) \(status) \(body)" }

  static func resend(
    _ status: Int, _ name: String, _ message: String, _ outcome: Verdict.Outcome, _ reason: Verdict.Reason
  ) -> Row {
    Row(.resend, status, #"{"statusCode":\#(status),"name":"\#(name)","message":"\#(message)"}"#, outcome, reason)
  }

  static func sendGrid(
    _ status: Int, _ field: String?, _ message: String, _ outcome: Verdict.Outcome, _ reason: Verdict.Reason
  ) -> Row {
    let field = field.map { "\"\($0)\"" } ?? "null"
    let body = #"{"errors":[{"message":"\#(message)","field":\#(field),"help":"http://example.org/"}]}"#
    return Row(.sendgrid, status, body, outcome, reason)
  }

  static func postmark(
    _ status: Int, _ code: Int, _ message: String, _ outcome: Verdict.Outcome, _ reason: Verdict.Reason
  ) -> Row {
    Row(.postmark, status, #"{"ErrorCode":\#(code),"Message":"\#(message)"}"#, outcome, reason)
  }

  static let page = "<html><head><title>403 Forbidden</title></head><body>403 Forbidden</body></html>"

  static let all: [Row] = [
    .resend(400, "validation_error", "API key is invalid", .needsAttention, .credentials),
    .resend(401, "validation_error", "API key is invalid", .needsAttention, .credentials),
    .resend(401, "missing_api_key", "Missing API Key", .needsAttention, .credentials),
    .resend(
      401, "restricted_api_key", "This API key is restricted to only send emails.", .needsAttention, .credentials),
    .resend(403, "invalid_api_key", "API key is invalid.", .needsAttention, .credentials),
    .resend(403, "validation_error", "The x.org domain is not verified.", .needsAttention, .settings),
    .resend(
      403, "validation_error", "You can only send testing emails to your own address.", .needsAttention, .settings),
    .resend(400, "invalid_idempotency_key", "The key must be between 1-256 chars.", .refused, .content),
    .resend(400, "validation_error", "We found an error with one or more fields.", .refused, .content),
    .resend(404, "not_found", "The requested endpoint does not exist.", .needsAttention, .settings),
    .resend(405, "method_not_allowed", "Method is not allowed.", .needsAttention, .settings),
    .resend(409, "concurrent_idempotent_requests", "Still in progress.", .retry, .throttled),
    .resend(409, "invalid_idempotent_request", "Different payload.", .needsAttention, .settings),
    .resend(409, "resource_conflict", "?", .retry, .receiver),
    .resend(413, "payload_too_large", "Too large.", .refused, .tooLarge),
    .resend(422, "invalid_attachment", "The attachment content is empty.", .refused, .content),
    .resend(422, "invalid_from_address", "Invalid address.", .needsAttention, .settings),
    .resend(422, "validation_error", "Invalid `from` field.", .needsAttention, .settings),
    .resend(422, "validation_error", "Invalid `to` field.", .needsAttention, .settings),
    .resend(422, "validation_error", "The `subject` must be a string.", .refused, .content),
    .resend(422, "missing_required_field", "Missing `html` or `text` field.", .refused, .content),
    .resend(429, "rate_limit_exceeded", "Too many requests.", .retry, .throttled),
    .resend(429, "daily_quota_exceeded", "You have reached your daily quota.", .retry, .throttled),
    .resend(429, "monthly_quota_exceeded", "You have reached your monthly quota.", .needsAttention, .other),
    .resend(451, "security_error", "The email payload contain invalid characters.", .needsAttention, .settings),
    .resend(500, "application_error", "An unexpected error occurred.", .retry, .receiver),
    .resend(500, "internal_server_error", "An unexpected error occurred.", .retry, .receiver),
    Row(.resend, 503, "upstream connect error", .retry, .receiver),
    .sendGrid(400, "subject", "The subject is required.", .refused, .content),
    .sendGrid(400, "from.email", "Does not contain a valid address.", .needsAttention, .settings),
    .sendGrid(400, "from", "The from object must be provided.", .needsAttention, .settings),
    .sendGrid(400, "personalizations.0.to.0.email", "Does not contain a valid address.", .needsAttention, .settings),
    .sendGrid(400, "attachments.0.content", "The attachment content must be base64 encoded.", .refused, .content),
    .sendGrid(
      401, nil, "The provided authorization grant is invalid, expired, or revoked", .needsAttention, .credentials),
    .sendGrid(401, nil, "Maximum credits exceeded", .needsAttention, .other),
    .sendGrid(403, "from", "The from address does not match a verified Sender Identity.", .needsAttention, .settings),
    .sendGrid(403, nil, "access forbidden", .needsAttention, .credentials),
    .sendGrid(404, nil, "Not Found", .needsAttention, .settings),
    .sendGrid(413, nil, "Payload too large", .refused, .tooLarge),
    .sendGrid(429, nil, "too many requests", .retry, .throttled),
    Row(.sendgrid, 500, "", .retry, .receiver), Row(.sendgrid, 503, "", .retry, .receiver),
    .postmark(401, 10, "No Account or Server API tokens were supplied.", .needsAttention, .credentials),
    .postmark(422, 100, "Maintenance", .retry, .receiver),
    .postmark(422, 300, "Zero-sized attachments not allowed.", .refused, .content),
    .postmark(422, 300, "Invalid 'From' address: 'x'.", .needsAttention, .settings),
    .postmark(422, 300, "Invalid 'To' address: 'x'.", .needsAttention, .settings),
    .postmark(422, 400, "Sender Signature not found", .needsAttention, .settings),
    .postmark(422, 401, "Sender signature not confirmed", .needsAttention, .settings),
    .postmark(422, 402, "Invalid JSON", .refused, .content),
    .postmark(422, 403, "Incompatible JSON", .refused, .content),
    .postmark(422, 405, "Not allowed to send: no credits", .needsAttention, .other),
    .postmark(422, 406, "You tried to send to inactive recipients.", .needsAttention, .settings),
    .postmark(422, 409, "JSON required", .refused, .content),
    .postmark(422, 411, "Forbidden attachment type", .refused, .content),
    .postmark(422, 412, "Account is pending", .needsAttention, .other),
    .postmark(422, 413, "Account may not send", .needsAttention, .other),
    .postmark(422, 1235, "The stream provided does not exist.", .needsAttention, .settings),
    .postmark(422, 9999, "Something new", .refused, .content),
    // The code counts, whatever the status.
    .postmark(200, 300, "Invalid email request", .refused, .content),
    .postmark(200, 406, "Inactive recipient", .needsAttention, .settings),
    .postmark(200, 429, "Rate limit exceeded", .retry, .throttled),
    .postmark(200, 9999, "Something new", .needsAttention, .other),
    .postmark(500, 0, "Internal error", .retry, .receiver),
    Row(.postmark, 404, "", .needsAttention, .settings), Row(.postmark, 413, "", .refused, .tooLarge),
    Row(.postmark, 429, "", .retry, .throttled), Row(.postmark, 503, "", .retry, .receiver),
    Row(.postmark, 301, "", .needsAttention, .settings, ["Location": "https://elsewhere.example/"]),
    Row(.sendgrid, 402, "", .needsAttention, .other), Row(.resend, 408, "", .retry, .timeout),
    Row(.sendgrid, 410, "", .needsAttention, .settings), Row(.resend, 421, "", .retry, .receiver),
    Row(.sendgrid, 451, "", .needsAttention, .other), Row(.sendgrid, 418, "", .refused, .content),
  ]
}

@Suite struct VerdictTests {
  static func answer(
    _ status: Int, _ body: String = "", sent: Bool = true, headers: [String: String] = [:]
  ) -> Answer {
    var head = AnswerHead()
    head.take("HTTP/1.1 \(status) -\r\n".utf8)
    for (name, value) in headers { head.take("\(name): \(value)\r\n".utf8) }
    return Answer(code: CURLE_OK, status: status, sent: 2, allSent: sent, head: head, body: Array(body.utf8))
  }

  @Test(arguments: Row.all)
  func `each answer has its verdict`(row: Row) throws {
    let scene = try Scene(row.service)
    try scene.answer(row.status, row.body, row.headers)
    let verdict = scene.deliver()
    #expect(verdict.outcome == row.outcome)
    #expect(verdict.reason == row.reason)
    #expect(verdict.status == Int32(row.status))
    #expect(!verdict.maybeDelivered)
    #expect(verdict.message.hasPrefix("\(row.service.name) answered \(row.status)"))
    #expect(!verdict.message.contains(row.service.goodKey))
    if let location = row.headers["Location"] { #expect(verdict.message.contains(location)) }
  }

  @Test(arguments: Service.allCases)
  func `every status from 300 to 599 has a verdict that never loses the mail`(service: Service) {
    for status in 300...599 {
      let verdict = Judge(service: service).verdict(on: Self.answer(status), attempt: 2, now: 0)
      #expect([.retry, .refused, .needsAttention].contains(verdict.outcome), "\(status)")
      if status >= 500 { #expect(verdict.outcome == .retry, "\(status)") }
    }
  }

  @Test(arguments: Service.allCases)
  func `a network filter's page on 403 is tried once more, then needs attention`(service: Service) throws {
    for body in [Row.page, "Access denied", ""] {
      let scene = try Scene(service)
      try scene.answer(403, body, ["Content-Type": "text/html"])
      var delivery = FakeDelivery("1")
      #expect(scene.deliver(delivery).outcome == .retry)
      try scene.answer(403, body, ["Content-Type": "text/html"])
      delivery.attempt = 2
      let verdict = scene.deliver(delivery)
      #expect(verdict.outcome == .needsAttention)
      #expect(verdict.reason == .network)
      #expect(!verdict.message.contains("<"))
    }
  }

  @Test(arguments: Service.allCases, [502, 504, 520, 524])
  func `a gateway that gave up may have handed the mail on`(service: Service, status: Int) throws {
    let scene = try Scene(service)
    try scene.answer(status, "")
    let verdict = scene.deliver()
    #expect(verdict.outcome == .retry)
    #expect(verdict.maybeDelivered == (service != .resend))
  }

  @Test func `what the services ask for is waited`() throws {
    let now: Int64 = 1_796_036_400  // 11:00:00 UTC
    func wait(_ service: Service, _ status: Int, _ body: String = "", _ headers: [String: String] = [:]) -> Duration? {
      Judge(service: service).verdict(on: Self.answer(status, body, headers: headers), attempt: 1, now: now).retryAfter
    }
    #expect(wait(.resend, 429, "", ["Retry-After": "7"]) == .seconds(7))
    #expect(wait(.sendgrid, 429, "", ["X-RateLimit-Reset": "1796036460"]) == .seconds(60))
    #expect(wait(.sendgrid, 429, "", ["X-RateLimit-Reset": "\(Int64.max)"]) == .seconds(86_400))
    for junk in ["soon", "-1", "", "1796036399", "\(Int64.min)", "99999999999999999999"] {
      #expect(wait(.sendgrid, 429, "", ["X-RateLimit-Reset": junk]) == nil, "\(junk)")
    }
    #expect(wait(.postmark, 503, "", ["Retry-After": "Mon, 30 Nov 2026 11:01:40 GMT"]) == .seconds(100))
    let quota = #"{"name": "daily_quota_exceeded", "message": "x"}"#
    #expect(wait(.resend, 429, quota) == .seconds(13 * 3600))
    #expect(wait(.resend, 429, quota, ["Retry-After": "60"]) == .seconds(60))
  }

  @Test(arguments: [
    (Service.resend, 200, "{}"), (.resend, 200, #"{"id": ""}"#), (.resend, 200, #"{"id": "a"#),
    (.resend, 202, #"{"id": "a"}"#), (.resend, 200, #"{"data": {"id": "a"}}"#), (.resend, 200, "<html>ok</html>"),
    (.sendgrid, 200, ""), (.sendgrid, 204, ""), (.postmark, 200, ""), (.postmark, 200, #"{"MessageID": "a"}"#),
    (.postmark, 200, #"{"ErrorCode": "0"}"#), (.postmark, 200, #"{"ErrorCode": 0, "MessageID"#),
    (.postmark, 202, #"{"ErrorCode": 0}"#),
  ])
  func `a success without proof is none`(service: Service, status: Int, body: String) throws {
    let scene = try Scene(service)
    try scene.answer(status, body)
    let verdict = scene.deliver()
    #expect(verdict.outcome == .retry)
    #expect(verdict.maybeDelivered == (service != .resend))
  }

  @Test func `Postmark's word on recipients that it leaves out is passed on`() throws {
    let scene = try Scene(.postmark, ["to": ["ada@example.net", "inactive@example.net"]])
    let verdict = scene.deliver()
    #expect(verdict.outcome == .delivered)
    #expect(verdict.message.contains("inactive@example.net"))
  }

  @Test(arguments: Service.allCases)
  func `keys and senders that the service doesn't know need attention and keep the mail`(service: Service) throws {
    let wrong = try Scene(service, key: "wrong-key-1234")
    let verdict = wrong.deliver()
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.reason == .credentials)
    #expect(!verdict.message.contains("wrong-key-1234"))
    let foreign = try Scene(service, ["from": "me@elsewhere.example"])
    #expect(foreign.deliver().outcome == .needsAttention)
    #expect(foreign.deliver().reason == .settings)
    #expect(try wrong.mails().isEmpty && foreign.mails().isEmpty)
  }

  @Test func `five refusals in a row need attention`() throws {
    let scene = try Scene(.sendgrid)
    var outcomes: [Verdict.Outcome] = []
    for _ in 1...5 {
      try scene.answer(400, "")
      outcomes.append(scene.deliver().outcome)
    }
    #expect(outcomes == [.refused, .refused, .refused, .refused, .needsAttention])
  }
}
