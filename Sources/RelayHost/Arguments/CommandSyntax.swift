// SPDX-License-Identifier: Apache-2.0

/// What a command takes, told once: parsing, `--help` and the list of commands all come from it.
struct CommandSyntax: Sendable {
  struct Option: Sendable {
    /// With its hyphens, for example `--json` or `-n`.
    var name: String
    /// What stands for the value in the help; nil for a flag.
    var value: String?
    var help: String
  }

  struct Operand: Sendable {
    var name: String
    var isRepeated = false
    var isOptional = false
  }

  /// One word, or two for a part of a command such as `queue drop`.
  var name: String
  var summary: String
  var details: String
  var operands: [Operand]
  var options: [Option]
  var example: String

  init(
    _ name: String, _ summary: String, operands: [Operand] = [], options: [Option] = [], details: String = "",
    example: String
  ) {
    self.name = name
    self.summary = summary
    self.details = details
    self.operands = operands
    self.options = options
    self.example = example
  }

  /// What every command takes.
  static let common: [Option] = [
    Option(name: "--config", value: "FILE", help: "the pipelines.json to use"),
    Option(name: "--help", value: nil, help: "this text"),
  ]

  static let json = Option(name: "--json", value: nil, help: "print the result as JSON")

  var usage: String {
    var text = "relay-host \(name)"
    for operand in operands {
      let word = operand.isRepeated ? operand.name + "…" : operand.name
      text += operand.isOptional ? " [\(word)]" : " \(word)"
    }
    for option in options { text += " [\(option.name)\(option.value.map { " \($0)" } ?? "")]" }
    return text
  }

  var help: String {
    let more = details.isEmpty ? "" : "\n\(details)\n"
    return "\(summary)\n\nUsage: \(usage)\n" + more + Self.optionsHelp(options) + "\nExample:\n  \(example)\n"
  }

  /// For the first word alone of commands that have two.
  static func help(of parts: [CommandSyntax]) -> String {
    var text = parts.map(\.summary).joined(separator: "\n") + "\n\n"
    for (place, part) in parts.enumerated() { text += "\(place == 0 ? "Usage: " : "       ")\(part.usage)\n" }
    var options: [Option] = []
    for option in parts.flatMap(\.options) where !options.contains(where: { $0.name == option.name }) {
      options.append(option)
    }
    return text + optionsHelp(options) + "\nExamples:\n" + parts.map { "  \($0.example)\n" }.joined()
  }

  private static func optionsHelp(_ options: [Option]) -> String {
    var text = "\nOptions:\n"
    let all = options + common
    let names = all.map { $0.name + ($0.value.map { " \($0)" } ?? "") }
    let width = names.map(\.count).max() ?? 0
    for (name, option) in zip(names, all) {
      text += "  \(name)\(String(repeating: " ", count: width - name.count + 2))\(option.help)\n"
    }
    return text
  }
}
