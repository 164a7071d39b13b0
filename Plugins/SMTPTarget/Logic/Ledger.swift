// SPDX-License-Identifier: Apache-2.0
import MailSyntax
import TargetKit

/// Who has a mail already and who will never take it: kept with the delivery, so that a repeat goes to the others alone.
struct Ledger: Equatable {
  enum End: Equatable {
    case has
    /// With the server's words.
    case refused(String)
  }

  private static let key = "recipients"
  /// Most bytes of a server's words that are kept for each.
  private static let longestWords = 400

  /// By mailbox.
  private(set) var ends: [String: End] = [:]

  init() {}

  init(host: Host) throws(Verdict) {
    guard let bytes = try host.state(.delivery).get(Self.key) else { return }
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      switch fields[0] {
      case "has": ends[String(fields[1])] = .has
      case "refused": ends[String(fields[1])] = .refused(String(fields[2]))
      default: break
      }
    }
  }

  func save(host: Host) throws(Verdict) {
    let lines = ends.sorted { $0.key < $1.key }.map { mailbox, end in
      switch end {
      case .has: "has\t\(mailbox)\t"
      case .refused(let words): "refused\t\(mailbox)\t\(words)"
      }
    }
    try host.state(.delivery).put(Self.key, lines.joined(separator: "\n"))
  }

  /// Those to whom the mail still has to go.
  func open(_ recipients: [MailAddress]) -> [MailAddress] { recipients.filter { ends[$0.mailbox] == nil } }

  /// Enters what came of one mail to `told`, and returns the verdict on the delivery.
  ///
  /// `verdict` is that on the mail for those whom the server took.
  mutating func enter(
    _ verdict: Verdict, told: [MailAddress], replies: [Reply?], all: [MailAddress], judge: Judge
  ) -> Verdict {
    var waiting: [Verdict] = []
    var refusal: Verdict?
    for (index, address) in told.enumerated() {
      var own = verdict
      var words = verdict.message
      if index < replies.count, let reply = replies[index], !reply.isPositive {
        own = judge.verdict(.recipient, reply)
        own.message = "\(address.mailbox): \(own.message)"
        words = reply.words
      }
      switch own.outcome {
      case .delivered: ends[address.mailbox] = .has
      case .refused:
        ends[address.mailbox] = .refused(Self.cut(words))
        refusal = own
      default: waiting.append(own)
      }
    }
    if verdict.outcome == .cancelled, !waiting.isEmpty { return verdict }
    var result = waiting.isEmpty ? closing(verdict, all, refusal: refusal) : Self.worst(waiting)
    if !waiting.isEmpty {
      let having = all.count { ends[$0.mailbox] == .has }
      if having > 0 { result.message = "\(having) of \(all.count) have it; \(result.message)" }
    }
    result.bytesSent = verdict.bytesSent
    return result
  }

  /// The verdict when nobody waits any more.
  ///
  /// One recipient who has it makes it delivered: to set the artifact aside would send it to that one again. Who was refused
  /// is named.
  func closing(_ verdict: Verdict, _ all: [MailAddress], refusal: Verdict? = nil) -> Verdict {
    let refused = refusals(all)
    guard !refused.isEmpty else { return verdict }
    let names = refused.joined(separator: ", ")
    let having = all.count - refused.count
    guard having > 0 else {
      // The mail itself was refused, and its verdict says why; or each recipient was.
      if verdict.outcome == .refused { return verdict }
      return .refused(
        refusal?.reason ?? .notFound, status: refusal?.status ?? 0,
        "the server takes it for nobody: \(names); check \"to\", \"cc\" and \"bcc\"")
    }
    var result = Verdict.delivered(status: verdict.outcome == .delivered ? verdict.status : 0)
    result.message =
      "\(having) of \(all.count) have it; refused for good: \(names); correct or remove them in the settings"
    result.receipt = verdict.receipt
    return result
  }

  /// Who will never take it, with the server's words.
  func refusals(_ all: [MailAddress]) -> [String] {
    all.compactMap { address in
      if case .refused(let words) = ends[address.mailbox] { "\(address.mailbox) (\(words))" } else { nil }
    }
  }

  /// The one verdict on several recipients who still wait.
  private static func worst(_ verdicts: [Verdict]) -> Verdict {
    let attention = verdicts.first { $0.outcome == .needsAttention }
    guard var worst = attention ?? verdicts.first else { return .cancelled }
    worst.maybeDelivered = attention == nil && verdicts.contains(where: \.maybeDelivered)
    worst.retryAfter = verdicts.compactMap(\.retryAfter).max()
    return worst
  }

  private static func cut(_ words: String) -> String {
    var cut = ""
    for character in words {
      if cut.utf8.count + character.utf8.count > longestWords { break }
      cut.append(character == "\t" || character == "\n" || character == "\r\n" ? " " : character)
    }
    return cut
  }
}
