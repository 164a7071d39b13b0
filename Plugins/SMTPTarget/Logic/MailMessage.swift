// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import MailSyntax
import TargetKit

/// A mail with one attachment, as bytes that are the same at each attempt: what stands before the file, the file in base64, what
/// stands after it.
///
/// 7 bits throughout, lines end in CRLF and none begins with a dot, so no server needs an extension for it.
struct MailMessage {
  let head: [UInt8]
  let tail: [UInt8]

  init(_ letter: Letter, _ delivery: Delivery) {
    let boundary = "relay-" + delivery.artifactID.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    var lines = Self.fields(letter, delivery)
    lines += ["Content-Type: multipart/mixed; boundary=\"\(boundary)\"", ""]
    if let text = letter.text {
      lines += [
        "--\(boundary)", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "",
        Self.encodedLines(text),
      ]
    }
    let packed = delivery.contentEncoding == "gzip"
    let name = AttachmentName(packed ? delivery.fileName + ".gz" : delivery.fileName)
    lines += [
      "--\(boundary)",
      "Content-Type: \(packed ? "application/gzip" : Self.mediaType(delivery.mediaType));\r\n \(name.typeParameter)",
      "Content-Transfer-Encoding: base64", "Content-Disposition: \(name.disposition)", "", "",
    ]
    head = Array(lines.joined(separator: "\r\n").utf8)
    tail = Array("\r\n--\(boundary)--\r\n".utf8)
  }

  /// Bytes of the whole mail; nil if no number holds it.
  func length(withFileOf count: UInt64) -> UInt64? {
    guard let file = Base64Stream.length(of: count, lineLength: MailBody.lineLength) else { return nil }
    let (sum, overflow) = file.addingReportingOverflow(UInt64(head.count + tail.count))
    return overflow ? nil : sum
  }

  private static func fields(_ letter: Letter, _ delivery: Delivery) -> [String] {
    var fields = [
      "Date: \(MailDate.text(of: delivery.created))", "From: \(letter.from.headerText(at: 6))",
      "To: \(list(letter.to))",
    ]
    if !letter.cc.isEmpty { fields.append("Cc: \(list(letter.cc))") }
    fields += [
      "Message-ID: \(messageID(delivery))", "Subject: \(HeaderText.unstructured(letter.subject, at: 9))",
      // Keeps notes of absence from answering.
      "Auto-Submitted: auto-generated",
    ]
    if delivery.isTest { fields.append("X-Relay-Test: 1") }
    return fields + ["MIME-Version: 1.0"]
  }

  private static func list(_ addresses: [MailAddress]) -> String {
    addresses.map { $0.headerText(at: 5) }.joined(separator: ",\r\n ")
  }

  /// As the host made it; without whatever could end the line.
  private static func messageID(_ delivery: Delivery) -> String {
    delivery.messageID.filter { $0.isASCII && $0 > " " && $0 != "\u{7f}" }
  }

  /// A media type that may carry base64: of messages and multiparts only their bytes are meant (RFC 2046, section 5).
  private static func mediaType(_ type: String) -> String {
    let isGood =
      type.utf8.count <= 200 && type.utf8.allSatisfy { (0x20...0x7e).contains($0) }
      && type.contains("/") && !type.hasSuffix(";")
    let kind = type.lowercased()
    guard isGood, !kind.hasPrefix("message/"), !kind.hasPrefix("multipart/") else { return "application/octet-stream" }
    return type
  }

  /// A text with CRLF as its line ends, in lines of base64.
  private static func encodedLines(_ text: String) -> String {
    var bytes: [UInt8] = []
    for line in text.split(
      omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" || $0 == "\r" })
    {
      bytes += Array(line.utf8) + [0x0d, 0x0a]
    }
    var stream = Base64Stream(lineLength: MailBody.lineLength)
    let encoded = bytes.withUnsafeBytes { stream.encode($0, isLast: true) }
    return String(decoding: encoded, as: UTF8.self)
  }
}
