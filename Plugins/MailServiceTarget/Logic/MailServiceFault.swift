// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What cannot be sent as it is, in the words that people read; what every mail can have wrong is `MailSettingFault`.
enum MailServiceFault: Error, Equatable {
  /// With the setting it is about.
  case addressNotASCII(String)
  case tooManyRecipients
  case endpointNotPlain
  case endpointInClear
  case keyMissing
  case keyUnusable
  case fileTooLarge(Service, name: String, bytes: UInt64)
  case mailTooLarge(Service, bytes: UInt64)
  /// With the ending of the file's name.
  case endingNotSent(Service, String)

  var message: String {
    switch self {
    case .addressNotASCII(let setting):
      "an address in \"\(setting)\" holds letters beyond ASCII before its @, which no mail service takes: use another address"
    case .tooManyRecipients:
      "\"to\" holds more than \(MailServiceSettings.mostRecipients) addresses, which is the most that a mail may have; "
        + "use a mailing list or several pipelines"
    case .endpointNotPlain: "\"endpoint\" must be the service's address alone, without ? and #"
    case .endpointInClear:
      "\"endpoint\" begins with http://, which would send the key and the mail readably: write https://, or an address of "
        + "this machine"
    case .keyMissing:
      "there is no key: set \"apiKey\" to {\"secret\": \"name\"} and store it with relay-host secret set name"
    case .keyUnusable:
      "the key in \"apiKey\" holds a space, a line break or another character that no key has; copy it from the service "
        + "again and store it with relay-host secret set"
    case .fileTooLarge(let service, let name, let bytes):
      "\(name) has \(Self.megabytes(bytes)) MB; \(service.name) takes mails of \(Self.megabytes(service.largestMail)) MB and "
        + "a file grows by a third in a mail, so \(Self.megabytes(service.largestFile)) MB is the most; "
        + Self.smaller(than: service)
    case .mailTooLarge(let service, let bytes):
      "the mail would have \(Self.megabytes(bytes)) MB, \(service.name) takes \(Self.megabytes(service.largestMail)) MB; "
        + "shorten \"text\""
    case .endingNotSent(let service, let ending):
      "\(service.name) sends no files that end in .\(ending); pack the file first, with \"encode\": \"gzip\" in \"delivery\", "
        + "say"
    }
  }

  var verdict: Verdict {
    switch self {
    case .fileTooLarge, .mailTooLarge: .refused(.tooLarge, message)
    case .endingNotSent: .refused(.content, message)
    case .keyMissing, .keyUnusable: .needsAttention(.credentials, message)
    default: .needsAttention(.settings, message)
    }
  }

  private static func smaller(than service: Service) -> String {
    let larger = Service.allCases.filter { $0.largestFile > service.largestFile }
      .map { "\($0.rawValue) (\(megabytes($0.largestFile)) MB)" }
    let gzip = "make smaller files, or pack them with \"encode\": \"gzip\" in \"delivery\""
    return larger.isEmpty ? gzip : "\(gzip), or use \"service\" \(larger.joined(separator: " or "))"
  }

  /// Rounded up to a tenth, so that what is too large never reads like the limit.
  private static func megabytes(_ bytes: UInt64) -> String {
    let tenths = bytes / 100_000 + (bytes % 100_000 == 0 ? 0 : 1)
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
