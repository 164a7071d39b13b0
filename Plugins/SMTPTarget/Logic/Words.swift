// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import TargetKit

/// What people read about a conversation.
enum Words {
  /// "the server answered the login with 535 5.7.8 bad password".
  static func said(_ phase: Conversation.Phase, _ reply: Reply) -> String {
    switch phase {
    case .greeting: "the server greeted with \(reply.words)"
    case .hello: "the server answered our greeting with \(reply.words)"
    case .startTLS: "the server answered STARTTLS with \(reply.words)"
    case .login: "the server answered the login with \(reply.words)"
    case .sender: "the server answered the sender with \(reply.words)"
    case .recipient: "the server answered a recipient with \(reply.words)"
    case .data: "the server answered DATA with \(reply.words)"
    case .mail: "the server answered the mail with \(reply.words)"
    case .noop, .quit: "the server answered \(reply.words)"
    }
  }

  static func verdict(on fault: Conversation.Fault, _ settings: SMTPSettings, _ outcome: Outcome) -> Verdict {
    switch fault {
    case .noStartTLS:
      .needsAttention(
        .tls,
        "\(place(settings)) offers no STARTTLS, so nothing was sent: set \"security\" to tls if the port is one for TLS from "
          + "the start, or to none if the way there is safe")
    case .noLogin(let offered):
      .needsAttention(
        .credentials,
        "a password is set, but \(place(settings)) "
          + (offered.isEmpty
            ? "offers no login"
            : "offers only \(offered.prefix(10).joined(separator: ", ")) to log in, none of PLAIN, LOGIN")
          + ", so nothing was sent: check \"port\" and \"security\", or remove \"username\" and \"password\" if it needs none"
      )
    case .noUTF8:
      .refused(
        .settings,
        "an address in \"from\", \"to\", \"cc\" or \"bcc\" has letters before the @ that are not ASCII, and "
          + "\(place(settings)) does not offer SMTPUTF8; use another address")
    case .tooLarge(let most):
      .refused(
        .tooLarge,
        "the mail would have \(outcome.conversation.needs.size) bytes, a third more than the file, and \(place(settings)) takes "
          + "\(most) at most; nothing was sent")
    case .closing, .nonsense:
      .retry(.receiver, "what \(place(settings)) answers is no SMTP; are \"port\" and \"security\" right?")
    }
  }

  /// The verdict when no reply says why it ended.
  static func verdict(onFailure outcome: Outcome, _ settings: SMTPSettings) -> Verdict {
    let answer = Answer(code: outcome.code, words: outcome.words)
    switch outcome.code {
    case CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR:
      return .retry(
        .tls, "no encrypted connection to \(place(settings)): \(outcome.words); is \"security\" right for \"port\"?")
    case CURLE_WEIRD_SERVER_REPLY, CURLE_OK, CURLE_WRITE_ERROR:
      return .retry(.receiver, "what \(place(settings)) answers is no SMTP: \(outcome.words)")
    default:
      var verdict = TransportFailure.verdict(on: answer, address: "host")
      if verdict.outcome == .retry { verdict.message += " (\(place(settings)))" }
      return verdict
    }
  }

  /// Where a conversation stood that the host ended, most often because nothing moved; empty where that says nothing.
  static func stopped(_ conversation: Conversation, _ settings: SMTPSettings) -> String {
    guard conversation.phase == .greeting, conversation.lastAnswered == nil else { return "" }
    let silent = "\(place(settings)) has said nothing yet"
    return settings.security == .tls
      ? silent
      : "\(silent); is \"security\" right for \"port\"? A server that expects TLS from the start waits for it (\"tls\")"
  }

  /// What a check found.
  static func offer(_ conversation: Conversation, _ settings: SMTPSettings, loggedIn: Bool) -> String {
    let offered = conversation.capabilities
    var parts = [
      "reachable, " + (conversation.isEncrypted ? "encrypted" : "without encryption"),
      loggedIn ? "logged in as \(settings.username ?? "")" : "without a login",
    ]
    if !offered.logins.isEmpty {
      parts.append("offers the logins \(offered.logins.prefix(10).joined(separator: ", "))")
    }
    if !conversation.isEncrypted { parts.append(offered.startsTLS ? "offers STARTTLS" : "offers no STARTTLS") }
    parts.append(offered.largest.map { "takes mails of \($0) bytes at most" } ?? "names no largest mail")
    if offered.takesUTF8 { parts.append("takes addresses that are not ASCII") }
    return parts.joined(separator: "; ")
  }

  static func place(_ settings: SMTPSettings) -> String { "\(settings.host):\(settings.port)" }
}
