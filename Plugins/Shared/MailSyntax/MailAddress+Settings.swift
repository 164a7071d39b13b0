// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// Addresses as settings hold them: one text, or a list of texts.
extension MailAddress {
  /// The one address of a setting that must be there.
  package static func one(_ host: Host, _ setting: String) throws(Verdict) -> MailAddress {
    guard let text = try host.text(setting), !text.isEmpty else { throw MailSettingFault.missing(setting).verdict }
    return try read(text, setting)
  }

  /// All addresses of a setting, in order; none when it isn't set, nil when they are more than `most`.
  package static func all(_ host: Host, _ setting: String, most: Int) throws(Verdict) -> [MailAddress]? {
    var count: UInt64?
    var isList = true
    do throws(Verdict) {
      count = try host.count(setting)
    } catch {
      // Something is set and it is no list.
      isList = false
    }
    guard isList, let count else {
      guard let text = try host.text(setting) else { return [] }
      return [try read(text, setting)]
    }
    guard count <= UInt64(clamping: most) else { return nil }
    var found: [MailAddress] = []
    for index in 0..<count {
      let place = "\(setting)/\(index)"
      if let text = try host.text(place) { found.append(try read(text, place)) }
    }
    return found
  }

  private static func read(_ text: String, _ setting: String) throws(Verdict) -> MailAddress {
    guard !FieldText.hasControl(text) else { throw MailSettingFault.controlCharacter(setting).verdict }
    if let address = MailAddress(text) { return address }
    let isList = text.count { $0 == "@" } > 1 && text.contains { $0 == "," || $0 == ";" }
    throw (isList ? MailSettingFault.severalInOne(setting) : MailSettingFault.notAnAddress(setting)).verdict
  }
}
