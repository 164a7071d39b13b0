// SPDX-License-Identifier: Apache-2.0
import MailSyntax
import TargetKit

/// What one mail says, before it is put into the form of a service.
struct Letter {
  var from: MailAddress
  var to: [MailAddress]
  var subject: String
  /// Never empty: no service takes a mail without a text.
  var text: String
  /// The name by which the receiver recognises a repeat.
  var deliveryID: String
  /// In angle brackets; nil if the host has none that can be sent.
  var messageID: String?
  var isTest: Bool
  /// nil for an empty file, which no service takes.
  var attachment: Attachment?

  /// Reads what may hold a template, which can be read during a delivery only.
  init(_ settings: MailServiceSettings, _ delivery: Delivery, host: Host) throws(Verdict) {
    from = settings.from
    to = settings.to
    deliveryID = delivery.deliveryID
    messageID = Self.messageID(delivery.messageID)
    isTest = delivery.isTest
    let name = Attachment.name(of: delivery)
    let written = try host.text("subject").flatMap { $0.isEmpty ? nil : $0 } ?? name
    guard !FieldText.hasControl(written) else {
      throw MailSettingFault.renderedControlCharacter("subject").verdict
    }
    subject = delivery.isTest ? "[Test] \(written)" : written
    text = try host.text("text").flatMap { $0.isEmpty ? nil : $0 } ?? "\(name), sent by \(delivery.pipelineName)."
    if delivery.length == 0 {
      text += "\n\n\(name) is empty (0 bytes), so there is no attachment."
    } else {
      attachment = Attachment(delivery, name: name)
    }
  }

  private static func messageID(_ text: String) -> String? {
    let isGood =
      text.hasPrefix("<") && text.hasSuffix(">") && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
      && text.utf8.count <= 250
    return isGood ? text : nil
  }
}

/// The file of a mail.
struct Attachment: Equatable {
  private static let unknown = "application/octet-stream"

  var name: String
  /// Without parameters.
  var mediaType: String

  init(_ delivery: Delivery, name: String) {
    self.name = name
    mediaType = delivery.contentEncoding == "gzip" ? "application/gzip" : Self.bare(delivery.mediaType)
  }

  /// As the receiver shall see it; what is packed says so.
  static func name(of delivery: Delivery) -> String {
    let name = delivery.fileName.isEmpty ? "file" : delivery.fileName
    return delivery.contentEncoding == "gzip" ? name + ".gz" : name
  }

  /// After the last dot, in lower case; nil if there is none.
  var ending: String? {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    return name[name.index(after: dot)...].lowercased()
  }

  /// The name in letters that SendGrid doesn't garble.
  var asciiName: String {
    String(
      name.map { character -> Character in
        guard let value = character.asciiValue, (0x20...0x7e).contains(value), !"\";\\".contains(character) else {
          return "_"
        }
        return character
      })
  }

  /// SendGrid changes the character set of text, so text goes as bytes.
  var mediaTypeOfBytes: String { mediaType.hasPrefix("text/") ? Self.unknown : mediaType }

  /// A media type that may carry base64: of messages and multiparts only their bytes are meant (RFC 2046, section 5).
  private static func bare(_ type: String) -> String {
    let bare = type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    let halves = bare.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isTypeText) }),
      halves[0] != "message", halves[0] != "multipart"
    else { return unknown }
    return bare
  }

  /// RFC 6838, section 4.2.
  private static func isTypeText(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default: "!#$&-^_.+".utf8.contains(byte)
    }
  }
}
