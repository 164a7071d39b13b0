// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import MailSyntax
import TargetKit

/// The settings that hold no template, read once when the target opens.
struct SMTPSettings {
  static let mostRecipients = 50

  enum Security: String {
    case starttls, tls, none

    var defaultPort: Int64 {
      switch self {
      case .starttls: 587
      case .tls: 465
      case .none: 25
      }
    }
  }

  var host: String
  var port: Int64
  var security: Security
  var username: String?
  var tls: TLSFiles
  var from: MailAddress
  var to: [MailAddress]
  var cc: [MailAddress]
  var bcc: [MailAddress]

  init(host: Host) throws(Verdict) {
    guard let name = try host.text("host"), !name.isEmpty else { throw MailSettingFault.missing("host").verdict }
    self.host = try Self.serverName(name)
    security = try host.text("security").flatMap { Security(rawValue: $0) } ?? .starttls
    port = try host.integer("port") ?? security.defaultPort
    tls = try TLSFiles(host: host)
    username = try Self.username(host, security)
    from = try MailAddress.one(host, "from")
    to = try Self.addresses(host, "to")
    cc = try Self.addresses(host, "cc")
    bcc = try Self.addresses(host, "bcc")
    guard !to.isEmpty else { throw MailSettingFault.missing("to").verdict }
    guard to.count + cc.count + bcc.count <= Self.mostRecipients else { throw SMTPFault.tooManyRecipients.verdict }
    if let subject = try host.text("subject"), FieldText.hasControl(subject) {
      throw MailSettingFault.controlCharacter("subject").verdict
    }
  }

  /// Where libcurl connects to; the path is the name that we give ourselves.
  var url: String {
    let name = from.domain.contains(".") ? from.domain : ""
    return "\(security == .tls ? "smtps" : "smtp")://\(host):\(port)/\(name)"
  }

  /// Everyone who gets the mail, each once.
  var recipients: [MailAddress] {
    var seen: Set<String> = []
    return (to + cc + bcc).filter { seen.insert($0.mailbox).inserted }
  }

  var needsUTF8: Bool { from.needsUTF8 || (to + cc + bcc).contains(where: \.needsUTF8) }

  /// The password, read anew for each call so that it is not kept.
  static func password(_ host: Host) throws(Verdict) -> String? {
    guard let password = try host.secret("password"), !password.isEmpty else { return nil }
    guard !password.utf8.contains(0) else { throw SMTPFault.zeroInLogin.verdict }
    return password
  }

  private static func username(_ host: Host, _ security: Security) throws(Verdict) -> String? {
    let username = try host.text("username").flatMap { $0.isEmpty ? nil : $0 }
    guard try (username != nil) == (password(host) != nil) else { throw SMTPFault.loginIncomplete.verdict }
    guard let username else { return nil }
    guard !FieldText.hasControl(username) else { throw MailSettingFault.controlCharacter("username").verdict }
    if security == .none, try host.flag("allowPasswordInClear") != true { throw SMTPFault.passwordInClear.verdict }
    return username
  }

  /// A name or address as it stands in a URL.
  private static func serverName(_ name: String) throws(Verdict) -> String {
    guard !FieldText.hasControl(name) else { throw MailSettingFault.controlCharacter("host").verdict }
    let isAddress = name.utf8.count { $0 == UInt8(ascii: ":") } >= 2
    var host = isAddress && !name.hasPrefix("[") ? "[\(name)]" : name
    if !name.utf8.allSatisfy({ $0 < 0x80 }) {
      guard let ascii = DomainName.ascii(name) else { throw SMTPFault.hostUnusable.verdict }
      host = ascii
    }
    guard !name.utf8.contains(where: { " /?#@%\\".utf8.contains($0) }), isAddress || !name.contains(":"),
      let parser = curl_url()
    else { throw SMTPFault.hostUnusable.verdict }
    defer { curl_url_cleanup(parser) }
    guard curl_url_set(parser, CURLUPART_URL, "smtp://\(host)/", 0) == CURLUE_OK else {
      throw SMTPFault.hostUnusable.verdict
    }
    return host
  }

  private static func addresses(_ host: Host, _ setting: String) throws(Verdict) -> [MailAddress] {
    guard let found = try MailAddress.all(host, setting, most: mostRecipients) else {
      throw SMTPFault.tooManyRecipients.verdict
    }
    return found
  }
}

/// What one mail says, without its attachment.
struct Letter {
  var from: MailAddress
  var to: [MailAddress]
  var cc: [MailAddress]
  var subject: String
  /// nil leaves the mail without a text.
  var text: String?

  /// Reads what may hold a template, which can be read during a delivery only.
  init(_ settings: SMTPSettings, _ delivery: Delivery, host: Host) throws(Verdict) {
    from = settings.from
    to = settings.to
    cc = settings.cc
    let written = try host.text("subject").flatMap { $0.isEmpty ? nil : $0 } ?? delivery.fileName
    guard !FieldText.hasControl(written) else { throw MailSettingFault.renderedControlCharacter("subject").verdict }
    subject = delivery.isTest ? "[Test] \(written)" : written
    text = try host.text("text").flatMap { $0.isEmpty ? nil : $0 }
  }
}
