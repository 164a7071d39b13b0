// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import CurlTransport
import TargetKit

/// HMAC-SHA256 over bytes that come in pieces.
final class MessageCode {
  private let context: OpaquePointer

  init?(key: [UInt8]) {
    guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
    defer { EVP_MAC_free(algorithm) }
    guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
    self.context = context
    var digest = Array("SHA256".utf8CString)
    // OpenSSL keeps the name's pointer as well as the value's: both must outlive the call.
    let started = "digest".withCString { name in
      digest.withUnsafeMutableBufferPointer { value in
        let parameters = [OSSL_PARAM_construct_utf8_string(name, value.baseAddress, 0), OSSL_PARAM_construct_end()]
        return EVP_MAC_init(context, key, key.count, parameters)
      }
    }
    guard started == 1 else { return nil }
  }

  deinit { EVP_MAC_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    EVP_MAC_update(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
  }

  func update(_ text: String) {
    Array(text.utf8).withUnsafeBytes { update($0) }
  }

  func finish() -> [UInt8]? {
    var code = [UInt8](repeating: 0, count: 32)
    var count = 0
    guard EVP_MAC_final(context, &code, &count, code.count) == 1, count == code.count else { return nil }
    return code
  }
}

extension HTTPTarget {
  /// Adds the signatures that the settings ask for.
  ///
  /// They stand before the body, so the body is read once beforehand.
  func sign(_ request: inout Request, _ delivery: Delivery, now: Int64) throws(Verdict) {
    guard settings.signing != nil || settings.webhookKey != nil, var body = request.body else { return }
    let failure = Verdict.retry(.other, "the signature could not be computed")
    var sent: [MessageCode] = []
    var content: MessageCode?
    var signature: MessageCode?
    var webhook: MessageCode?
    if let signing = settings.signing {
      guard let code = MessageCode(key: signing.key) else { throw failure }
      signature = code
      if signing.over == .sent { sent.append(code) } else { content = code }
    }
    if let key = settings.webhookKey {
      guard let code = MessageCode(key: key) else { throw failure }
      code.update("\(delivery.deliveryID).\(now).")
      webhook = code
      sent.append(code)
    }
    try body.feed(sent: sent, content: content, unpacking: delivery.contentEncoding == "gzip")
    request.body = body
    if let signing = settings.signing {
      guard let code = signature?.finish() else { throw failure }
      request.headers.setCleaned(signing.header, "sha256=\(Hex.encode(code))")
    }
    if webhook != nil {
      guard let code = webhook?.finish() else { throw failure }
      request.headers.setCleaned("webhook-id", delivery.deliveryID)
      request.headers.setCleaned("webhook-timestamp", "\(now)")
      request.headers.setCleaned("webhook-signature", "v1,\(Base64.encode(code))")
    }
  }
}

extension RequestBody {
  /// Reads the whole body for its signatures and goes back to its start.
  fileprivate mutating func feed(
    sent: [MessageCode], content: MessageCode?, unpacking: Bool
  ) throws(Verdict) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    defer { buffer.deallocate() }
    var unpacker = content != nil && unpacking ? Gunzip() : nil
    while true {
      let inSource = isInSource
      let count = try read(into: buffer)
      if count == 0 { break }
      let piece = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
      for code in sent { code.update(piece) }
      guard let content, inSource else { continue }
      if unpacker == nil {
        content.update(piece)
      } else if unpacker?.unpack(piece, into: { content.update($0) }) != true {
        throw HTTPFault.notGzip.verdict
      }
    }
    if unpacker?.isComplete == false { throw HTTPFault.notGzip.verdict }
    unpacker = nil
    try rewind()
  }
}
