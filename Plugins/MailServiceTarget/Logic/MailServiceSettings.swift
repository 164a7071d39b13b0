// SPDX-License-Identifier: Apache-2.0
import CurlTransport
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
      throw MailServiceFault.missing("service").verdict
    }
    self.service = service
    endpoint = try Self.endpoint(host.text("endpoint") ?? service.endpoint)
    guard let sender = try host.text("from"), !sender.isEmpty else { throw MailServiceFault.missing("from").verdict }
    from = try Self.address(sender, "from")
    to = try Self.recipients(host)
    guard !to.isEmpty else { throw MailServiceFault.missing("to").verdict }
    if let subject = try host.text("subject"), MailAddress.hasControl(subject) {
      throw MailServiceFault.controlCharacter("subject").verdict
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
    var count: UInt64?
    do throws(Verdict) {
      count = try host.count("to")
    } catch {
      // Something is set and it is no list.
    }
    guard let count else {
      guard let text = try host.text("to") else { return [] }
      return [try address(text, "to")]
    }
    guard count <= mostRecipients else { throw MailServiceFault.tooManyRecipients.verdict }
    var found: [MailAddress] = []
    var seen: Set<String> = []
    for index in 0..<count {
      guard let text = try host.text("to/\(index)") else { continue }
      let address = try address(text, "to/\(index)")
      // SendGrid refuses a mail that names a mailbox twice.
      if seen.insert(address.mailbox.lowercased()).inserted { found.append(address) }
    }
    return found
  }

  private static func address(_ text: String, _ setting: String) throws(Verdict) -> MailAddress {
    do throws(MailServiceFault) {
      return try MailAddress(text, setting: setting)
    } catch {
      throw error.verdict
    }
  }
}
