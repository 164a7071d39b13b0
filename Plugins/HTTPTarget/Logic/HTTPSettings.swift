// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// The settings that hold no template, read once when the target opens.
struct HTTPSettings {
  enum Body: Equatable {
    case raw
    case multipart(field: String)
  }

  struct Signing {
    enum Over: String { case sent, uncompressed }
    var key: [UInt8]
    var header: String
    var over: Over
  }

  var method: String
  var authorization: String?
  var body: Body
  var signing: Signing?
  var webhookKey: [UInt8]?
  /// nil sends none.
  var idempotencyHeader: String?
  var automationHeaders: Bool
  /// Empty: every 2xx.
  var successStatuses: Set<Int>
  var conflictIsSuccess: Bool
  var transport = TransportOptions()

  init(host: Host) throws(Verdict) {
    method = try host.text("method") ?? "POST"
    body = try host.text("body") == "multipart" ? .multipart(field: host.text("field") ?? "file") : .raw
    automationHeaders = try host.flag("automationHeaders") ?? true
    conflictIsSuccess = try host.flag("conflictIsSuccess") ?? false
    transport.httpVersion = try host.text("httpVersion") ?? "1.1"
    transport.proxy = try host.textOrSecret("proxy")
    transport.tls = try TLSFiles(host: host)
    authorization = try Self.authorization(host)
    signing = try Self.signing(host)
    webhookKey = try Self.webhookKey(host)
    let name = try host.text("idempotencyHeader") ?? "Idempotency-Key"
    idempotencyHeader = name.isEmpty ? nil : name
    if let idempotencyHeader { try HeaderFields.check(name: idempotencyHeader) }
    var statuses: Set<Int> = []
    for index in 0..<(try host.count("successStatuses") ?? 0) {
      if let status = try host.integer("successStatuses/\(index)") { statuses.insert(Int(clamping: status)) }
    }
    successStatuses = statuses
    transport.mayRepeat = idempotencyHeader != nil || method == "PUT"
  }

  private static func authorization(_ host: Host) throws(Verdict) -> String? {
    if let token = try host.secret("bearer") { return "Bearer \(token)" }
    guard try host.count("basic") != nil else { return nil }
    guard let username = try host.text("basic/username"), let password = try host.secret("basic/password") else {
      throw HTTPFault.basicIncomplete.verdict
    }
    guard !username.contains(":") else { throw HTTPFault.colonInUsername.verdict }
    return "Basic \(Base64.encode(Array("\(username):\(password)".utf8)))"
  }

  private static func signing(_ host: Host) throws(Verdict) -> Signing? {
    guard let secret = try host.secret("hmac/secret") else { return nil }
    let header = try host.text("hmac/header") ?? "X-Signature"
    try HeaderFields.check(name: header)
    let over = try host.text("hmac/over").flatMap { Signing.Over(rawValue: $0) } ?? .sent
    return Signing(key: Array(secret.utf8), header: header, over: over)
  }

  private static func webhookKey(_ host: Host) throws(Verdict) -> [UInt8]? {
    guard let secret = try host.secret("standardWebhooks/secret") else { return nil }
    let prefix = "whsec_"
    guard secret.hasPrefix(prefix), let key = Base64.decode(secret.dropFirst(prefix.count)), key.count >= 24,
      key.count <= 64
    else { throw HTTPFault.webhookSecret.verdict }
    return key
  }
}
