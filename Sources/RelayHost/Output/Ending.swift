// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayPipelines
import RelaySystem

/// What a command prints and how it ends: results on standard output, problems on standard error.
struct Ending: Sendable {
  var output = ""
  var problems = ""
  var outcome = Outcome.done

  static func print(_ text: String, _ outcome: Outcome = .done) -> Ending {
    Ending(output: text.hasSuffix("\n") || text.isEmpty ? text : text + "\n", outcome: outcome)
  }

  static func usage(_ error: UsageError) -> Ending {
    Ending(
      problems: "relay-host: \(error.message) [\(DiagnosticCode.commandUsage.rawValue)]\nUsage: \(error.usage)\n",
      outcome: .usage)
  }

  static func unknown(_ word: String) -> Ending {
    let hint = Suggestion.hint(for: word, among: CommandTable.entries.map(\.syntax.name))
    return Ending(
      problems: "relay-host: there is no command \"\(word)\"\(hint.map { " (\($0))" } ?? "") "
        + "[\(DiagnosticCode.commandUsage.rawValue)]\nSee relay-host --help.\n", outcome: .usage)
  }

  /// A refusal for people, or as an object for programs.
  static func refused(_ refusal: Refusal, json: Bool) -> Ending {
    if json {
      let node = JSONNode(.object([JSONMember(name: "error", node: refusal.json)]))
      return Ending(output: node.text(.compact) + "\n", outcome: refusal.outcome)
    }
    var text = "relay-host: \(refusal.message) [\(refusal.code.rawValue)]\n"
    if let hint = refusal.hint { text += "  \(hint)\n" }
    return Ending(problems: text, outcome: refusal.outcome)
  }

  /// A reply: its JSON for programs, else what `words` makes of it.
  static func reply(_ reply: ControlReply, json: Bool, _ words: (JSONNode) -> String) -> Ending {
    if let refusal = reply.refusal { return refused(refusal, json: json) }
    return print(json ? reply.result.text(.pretty) : words(reply.result), reply.outcome)
  }

  /// Prints and returns the outcome. A reader that went away is no error; a full disk is.
  func finish() -> Outcome {
    _ = signal(SIGPIPE, SIG_IGN)
    let trouble = Self.write(output, to: 1)
    Self.write(problems, to: 2)
    guard let trouble, trouble != EPIPE else { return outcome }
    Self.write("relay-host: what it has to say can't be written: \(SystemError.text(of: trouble)).\n", to: 2)
    return outcome == .done ? .fault : outcome
  }

  /// The errno of a write that failed.
  @discardableResult
  private static func write(_ text: String, to number: Int32) -> Int32? {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count < 0 { return errno }
      if count == 0 { return ENOSPC }
      sent += count
    }
    return nil
  }
}
