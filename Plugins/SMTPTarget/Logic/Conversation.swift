// SPDX-License-Identifier: Apache-2.0

/// Follows one conversation with a server line by line, and says when it must not go on.
///
/// libcurl leads it; but libcurl goes on without a login when none is offered, and tells of a refusal no more than one number.
struct Conversation {
  /// Most lines of one reply: endless ones would keep us here for ever.
  static let mostLines = 500

  /// What the next reply answers.
  enum Phase: String, CaseIterable {
    case greeting, hello, startTLS, login, sender, recipient, data
    /// The mail itself, up to the dot.
    case mail
    /// NOOP, in a check.
    case noop
    case quit
  }

  /// What has to hold before anything of a mail is told.
  struct Needs {
    var startTLS = false
    var login = false
    var utf8 = false
    /// Bytes of the mail.
    var size: UInt64 = 0
  }

  enum Fault: Equatable {
    case noStartTLS
    case noLogin(offered: [String])
    case noUTF8
    case tooLarge(most: UInt64)
    /// Said 421: it is about to close.
    case closing
    /// What comes is no SMTP.
    case nonsense
  }

  let needs: Needs
  private let isTLSFromStart: Bool
  private(set) var phase = Phase.greeting
  private(set) var isEncrypted: Bool
  private(set) var capabilities: Capabilities
  private(set) var fault: Fault?
  /// The last reply of each phase; of recipients see `recipients`.
  private(set) var replies: [Phase: Reply] = [:]
  /// The phase of the last reply.
  private(set) var lastAnswered: Phase?
  /// Replies to the recipients in the order in which they were told; nil while one is awaited.
  private(set) var recipients: [Reply?] = []
  /// Whether it began with a greeting: on a connection that was kept it does not.
  private(set) var isFresh = false
  /// Whether the server began to wait for the mail.
  private(set) var isMailAsked = false
  private var lines: [[UInt8]] = []
  private var lineCount = 0
  /// A challenge was received, so what is sent next is no command.
  private var isChallenged = false

  /// `kept` is what the server offered when the connection was made that may be used again. Until there is a greeting, the
  /// conversation counts as one that goes on there.
  init(needs: Needs, isTLSFromStart: Bool, kept: Capabilities = Capabilities()) {
    self.needs = needs
    self.isTLSFromStart = isTLSFromStart
    isEncrypted = isTLSFromStart || needs.startTLS
    capabilities = kept
  }

  /// Whether a mail may go out: the server asked for it, and the login that was wanted took place.
  var mayMail: Bool {
    isMailAsked && (!needs.login || !isFresh || replies[.login]?.code == 235) && (!needs.startTLS || isEncrypted)
  }

  /// Whether the server answered what it was told last.
  var isSettled: Bool { lastAnswered == phase }

  /// Whether a conversation that goes on where another stopped has come to nothing without a refusal.
  var endedBetween: Bool {
    guard !isFresh, !isMailAsked else { return false }
    guard let last = lastAnswered.flatMap({ replies[$0] }) else { return true }
    return last.isPositive || last.code == 421
  }

  /// The answer to the mail.
  var final: Reply? { replies[.mail] }

  /// Takes a line that was sent.
  mutating func sent(_ line: some Collection<UInt8>) {
    guard !isChallenged else { return }
    let verb = String(decoding: line.prefix(9).prefix { $0 > 0x20 }, as: UTF8.self).uppercased()
    switch verb {
    case "EHLO", "HELO": phase = .hello
    case "STARTTLS": phase = .startTLS
    case "AUTH": phase = .login
    case "MAIL":
      phase = .sender
      recipients = []
    case "RCPT":
      phase = .recipient
      recipients.append(nil)
    case "DATA": phase = .data
    case "NOOP": phase = .noop
    case "QUIT": phase = .quit
    default: break
    }
  }

  /// Takes a line that was received; false when the conversation must end here.
  mutating func received(_ bytes: some Collection<UInt8>) -> Bool {
    guard fault == nil else { return false }
    lineCount += 1
    guard lineCount <= Self.mostLines else { return end(.nonsense) }
    guard let line = ReplyLine(bytes) else { return true }
    if lines.count < 100 { lines.append(line.text) }
    guard line.isFinal else { return true }
    let reply = Reply(code: line.code, lines: lines)
    defer {
      lines = []
      lineCount = 0
    }
    return answered(reply)
  }

  private mutating func answered(_ reply: Reply) -> Bool {
    guard phase != .quit else { return true }
    replies[phase] = reply
    lastAnswered = phase
    isChallenged = phase == .login && reply.code == 334
    if reply.code == 421 {
      if phase == .recipient, let last = recipients.indices.last { recipients[last] = reply }
      return end(.closing)
    }
    switch phase {
    case .greeting:
      isFresh = true
      isEncrypted = isTLSFromStart
      capabilities = Capabilities()
    case .hello where reply.isPositive:
      capabilities = Capabilities(lines: lines)
      if let fault = missing { return end(fault) }
    case .startTLS: isEncrypted = reply.code == 220
    case .recipient:
      if let last = recipients.indices.last { recipients[last] = reply }
    case .data where reply.code == 354:
      phase = .mail
      isMailAsked = true
    default: break
    }
    return true
  }

  /// What the server's offer lacks.
  var missing: Fault? {
    if needs.startTLS, !isEncrypted { return capabilities.startsTLS ? nil : .noStartTLS }
    if needs.login, !capabilities.canLogIn { return .noLogin(offered: capabilities.logins) }
    if needs.utf8, !capabilities.takesUTF8 { return .noUTF8 }
    if let most = capabilities.largest, needs.size > most { return .tooLarge(most: most) }
    return nil
  }

  /// Ends it because the mail is asked for although it may not go out.
  mutating func refuseMail() {
    fault = needs.login ? .noLogin(offered: capabilities.logins) : .nonsense
  }

  private mutating func end(_ fault: Fault) -> Bool {
    self.fault = fault
    return false
  }
}
