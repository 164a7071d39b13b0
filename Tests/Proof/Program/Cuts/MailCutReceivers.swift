// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Synchronization
import TestPrograms

/// aiosmtpd, with STARTTLS and a login or without both.
final class SMTPCutReceiver: CutReceiver {
  let port: String
  private let certificates: String?
  private let record: Mutex<GrowingFile>
  private let server: Child

  /// - Parameter certificates: the folder of those that the server has; nil speaks without TLS.
  init(in folder: String, certificates: String? = nil) throws {
    self.certificates = certificates
    record = Mutex(GrowingFile(folder + "/record"))
    let encryption = certificates.map { [$0 + "/good.pem", $0 + "/good.key"] } ?? []
    server = try Child(
      [Repository.python, Repository.path("Tests/Fixtures/servers/aiosmtpd_peer.py"), folder] + encryption)
    port = server.line()
  }

  var secrets: [String: String] { certificates == nil ? [:] : ["mail": "right"] }

  func load(port: String) -> String {
    let security =
      certificates.map {
        #""security": "starttls", "username": "u", "password": {"secret": "mail"}, "tls": {"ca": "\#($0)/ca.pem"}"#
      } ?? #""security": "none""#
    return """
      {"target": "smtp", "settings": {"host": "127.0.0.1", "port": \(port), "from": "relay@example.org",
       "to": "maria@example.org", "subject": "Cut", \(security)}}
      """
  }

  func receipts() throws -> [CutReceipt] {
    try record.withLock { try $0.records() }.map { mail in
      let files = mail["attachments"]?.array ?? []
      // The Message-ID is what mail programs tell a repeat by; the bytes are promised to be the same as well.
      return CutReceipt(
        name: files.count == 1 ? files[0]["name"]?.string ?? "" : "\(files.count) attachments",
        identity: "\(mail["messageID"]?.string ?? "") \(mail["sha256"]?.string ?? "")",
        digest: files.first?["sha256"]?.string ?? "")
    }
  }
}

/// The stand-in for the mail services.
final class MailServiceCutReceiver: CutReceiver {
  let port: String
  private let service: String
  private let record: Mutex<GrowingFile>
  private let server: Child

  /// - Parameter service: `resend`, which recognises repeats, or `postmark`, which can't.
  init(in folder: String, service: String) throws {
    self.service = service
    let file = folder + "/record"
    record = Mutex(GrowingFile(file))
    server = try Child([
      "python3", Repository.path("Tests/Fixtures/servers/mail_services.py"), "--record", file,
    ])
    port = server.line()
  }

  var secrets: [String: String] { ["mail": service == "resend" ? "re_good" : "pm-good"] }

  func load(port: String) -> String {
    """
    {"target": "mail-service", "settings": {"service": "\(service)", "apiKey": {"secret": "mail"},
     "from": "relay@example.org", "to": "maria@example.org", "subject": "Cut", "endpoint": "http://127.0.0.1:\(port)/cuts"}}
    """
  }

  func receipts() throws -> [CutReceipt] {
    try record.withLock { try $0.records() }.map { mail in
      let files = mail["files"]?.array ?? []
      return CutReceipt(
        name: files.count == 1 ? files[0]["name"]?.string ?? "" : "\(files.count) attachments",
        identity: "\(mail["key"]?.string ?? "") \(mail["sha256"]?.string ?? "")",
        digest: files.first?["sha256"]?.string ?? "", isTaken: mail["isNew"]?.bool == true)
    }
  }
}
