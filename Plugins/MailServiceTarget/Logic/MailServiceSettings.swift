// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import MailSyntax
import TargetKit

/// The settings that hold no template, read once when the target opens.
struct MailServiceSettings {
  static let mostRecipients = 50

  var service: Service
  /// Without a slash at its end.
  var endpoint: String
  var from: MailAddress
  /// Each once.
  var to: [MailAddress]

  init(host: Host) throws(Verdict) {
    guard let service = try host.text("service").flatMap({ Service(rawValue: $0) }) else {
      throw MailSettingFault.missing("service").verdict
    }
    self.service = service
    endpoint = try Self.endpoint(host.text("endpoint") ?? service.endpoint)
    from = try MailAddress.one(host, "from")
    guard !from.needsUTF8 else { throw MailServiceFault.addressNotASCII("from").verdict }
    to = try Self.recipients(host)
    guard !to.isEmpty else { throw MailSettingFault.missing("to").verdict }
    if let subject = try host.text("subject"), FieldText.hasControl(subject) {
      throw MailSettingFault.controlCharacter("subject").verdict
    }
  }

  /// The key, read anew for each call so that it is not kept.
  static func key(_ host: Host) throws(Verdict) -> String {
    guard let key = try host.secret("apiKey"), !key.isEmpty else { throw MailServiceFault.keyMissing.verdict }
    guard key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw MailServiceFault.keyUnusable.verdict }
    return key
  }

  private static func endpoint(_ text: String) throws(Verdict) -> String {
    guard let origin = Address.origin(text) else { throw TransportFault.addressUnusable("endpoint").verdict }
    guard !text.contains("?"), !text.contains("#") else { throw MailServiceFault.endpointNotPlain.verdict }
    guard origin.hasPrefix("https://") || isThisMachine(origin) else { throw MailServiceFault.endpointInClear.verdict }
    var endpoint = text[...]
    while endpoint.hasSuffix("/") { endpoint.removeLast() }
    return String(endpoint)
  }

  /// Whether "http://host:port" never leaves the machine.
  private static func isThisMachine(_ origin: String) -> Bool {
    let host = origin.dropFirst("http://".count)
    if ["localhost", "[::1]"].contains(where: { host == $0 || host.hasPrefix("\($0):") }) { return true }
    let name = host.split(separator: ":", omittingEmptySubsequences: false).first ?? ""
    return name.hasPrefix("127.") && name.utf8.allSatisfy { ("0123456789.").utf8.contains($0) }
  }

  private static func recipients(_ host: Host) throws(Verdict) -> [MailAddress] {
    guard let all = try MailAddress.all(host, "to", most: mostRecipients) else {
      throw MailServiceFault.tooManyRecipients.verdict
    }
    guard !all.contains(where: \.needsUTF8) else { throw MailServiceFault.addressNotASCII("to").verdict }
    var seen: Set<String> = []
    // SendGrid refuses a mail that names a mailbox twice.
    return all.filter { seen.insert($0.mailbox.lowercased()).inserted }
  }
}
