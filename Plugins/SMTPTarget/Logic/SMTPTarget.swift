// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// Delivers each artifact as one mail with an attachment.
///
/// Nothing of a mail, and no password, is told to a server before it has offered what the settings ask for.
package struct SMTPTarget: CheckableTarget {
  package static let manifest = SMTPManifest.json

  let settings: SMTPSettings
  private let connection: MailConnection

  package init(host: Host) throws(Verdict) {
    settings = try SMTPSettings(host: host)
    connection = try MailConnection()
    if settings.security == .none {
      host.log(
        .warning,
        "mails go to \(Words.place(settings)) without encryption, as \"security\" says: who is on the way can read and change them"
      )
    }
  }

  package mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
    let letter = try Letter(settings, delivery, host: host)
    let judge = Judge(settings: settings, attempt: delivery.attempt)
    let recipients = settings.recipients
    var ledger = try Ledger(host: host)
    let told = ledger.open(recipients)
    guard !told.isEmpty else {
      return warned(ledger.closing(.delivered(message: "everyone has it already"), recipients), ledger, host)
    }
    let message = MailMessage(letter, delivery)
    guard let length = message.length(withFileOf: delivery.length) else {
      return .refused(.tooLarge, "no mail can hold a file of \(delivery.length) bytes")
    }
    let errand = MailConnection.Errand(
      body: MailBody(message, delivery, length: length), recipients: told, needsUTF8: settings.needsUTF8)
    let outcome = try connection.converse(errand, settings, password: SMTPSettings.password(host), host: host)
    let before = ledger
    let verdict = ledger.enter(
      judge.verdict(on: outcome), told: told, replies: outcome.conversation.recipients, all: recipients, judge: judge)
    let isFinal = verdict.outcome == .delivered || verdict.outcome == .refused
    if !isFinal, ledger != before { try ledger.save(host: host) }
    return warned(verdict, ledger, host)
  }

  package mutating func check(host: Host) throws(Verdict) -> Verdict {
    let errand = MailConnection.Errand(needsUTF8: settings.needsUTF8)
    let password = try SMTPSettings.password(host)
    let outcome = try connection.converse(errand, settings, password: password, host: host)
    return Judge(settings: settings, attempt: 3).reachable(outcome, loggedIn: password != nil)
  }

  /// Says in the log, too, that somebody will never get what counts as delivered.
  private func warned(_ verdict: Verdict, _ ledger: Ledger, _ host: Host) -> Verdict {
    if verdict.outcome == .delivered, !ledger.refusals(settings.recipients).isEmpty {
      host.log(.warning, verdict.message)
    }
    return verdict
  }
}
