// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// A command line that fits its command's syntax.
struct ParsedArguments: Sendable {
  var operands: [String] = []
  var values: [String: String] = [:]
  var flags: Set<String> = []

  func has(_ flag: String) -> Bool { flags.contains(flag) }
  subscript(_ option: String) -> String? { values[option] }
}

/// A command line that doesn't: what is wrong with it and how it should read.
struct UsageError: Error, Equatable {
  var message: String
  var usage: String
}

extension CommandSyntax {
  /// Reads the words after the command. `--` ends options; `--name=value` and `--name value` are the same.
  func parse(_ words: [String]) throws(UsageError) -> ParsedArguments {
    var parsed = ParsedArguments()
    var rest = words[...]
    var optionsEnded = false
    let known = options + Self.common
    while let word = rest.popFirst() {
      guard !optionsEnded, word.hasPrefix("-"), word != "-" else {
        parsed.operands.append(word)
        continue
      }
      if word == "--" {
        optionsEnded = true
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = known.first(where: { $0.name == name || ($0.name == "--help" && name == "-h") }) else {
        let hint = Suggestion.hint(for: name, among: known.map(\.name)).map { " (\($0))" } ?? ""
        throw UsageError(message: "unknown option \(name)\(hint)", usage: usage)
      }
      if option.value == nil {
        guard parts.count == 1 else { throw UsageError(message: "\(name) takes no value", usage: usage) }
        parsed.flags.insert(option.name)
      } else if parts.count == 2 {
        parsed.values[option.name] = String(parts[1])
      } else if let value = rest.first, !known.contains(where: { $0.name == value }) {
        rest.removeFirst()
        parsed.values[option.name] = value
      } else {
        throw UsageError(message: "\(name) needs a value", usage: usage)
      }
    }
    if parsed.flags.contains("--help") { return parsed }
    try check(parsed.operands)
    return parsed
  }

  private func check(_ given: [String]) throws(UsageError) {
    let needed = operands.count { !$0.isOptional }
    if given.count < needed {
      throw UsageError(message: "\(operands[given.count].name) is missing", usage: usage)
    }
    if let empty = given.firstIndex(of: "") {
      let operand = operands.indices.contains(empty) ? operands[empty] : operands.last
      throw UsageError(message: "\(operand?.name ?? "a word") is empty", usage: usage)
    }
    if given.count > operands.count, operands.last?.isRepeated != true {
      throw UsageError(message: "unexpected \"\(given[operands.count])\"", usage: usage)
    }
  }
}
