// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

extension HTTPTarget {
  /// The request for one delivery, with everything but signatures.
  ///
  /// What identifies the delivery wins over user headers.
  func request(_ delivery: Delivery, host: Host) throws(Verdict) -> Request {
    guard let url = try host.textOrSecret("url") else { throw HTTPFault.addressMissing.verdict }
    try Address.check(url)
    let body = RequestBody(delivery, form: settings.body)
    var headers = HeaderFields()
    headers.setCleaned("User-Agent", "relay-host-http/\(HTTPManifest.version)")
    headers.setCleaned("Content-Type", body.contentType)
    try addUserHeaders(to: &headers, host: host)
    if let encoding = body.contentEncoding { headers.setCleaned("Content-Encoding", encoding) }
    if settings.automationHeaders { addAutomation(delivery, to: &headers) }
    if let name = settings.idempotencyHeader { headers.setCleaned(name, delivery.deliveryID) }
    if delivery.isTest { headers.setCleaned("X-Relay-Test", "1") }
    return Request(url: url, method: settings.method, headers: headers, body: body)
  }

  func addUserHeaders(to headers: inout HeaderFields, host: Host) throws(Verdict) {
    for name in try host.names("headers") {
      if let value = try host.textOrSecret("headers/\(Host.escape(name))") { try headers.set(name, value) }
    }
    guard let authorization = settings.authorization else { return }
    guard headers["Authorization"] == nil else { throw HTTPFault.authorizationTwice.verdict }
    try headers.set("Authorization", authorization)
  }

  private func addAutomation(_ delivery: Delivery, to headers: inout HeaderFields) {
    headers.setCleaned("automation-name", delivery.pipelineName)
    headers.setCleaned("automation-id", delivery.pipelineID)
    for name in ["aggregation", "period"] {
      if let value = delivery.attribute(name) { headers.setCleaned("automation-\(name)", value) }
    }
    headers.setCleaned("session-id", Self.randomUUID())
  }

  /// A version 4 UUID.
  private static func randomUUID() -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    let hex = Hex.encode(bytes)
    var parts: [Substring] = []
    var rest = hex[...]
    for length in [8, 4, 4, 4, 12] {
      parts.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return parts.joined(separator: "-")
  }
}
