// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayPipelines
import RelaySystem

/// Finds the command among the words, runs it and ends with its exit code.
func begin(_ words: [String]) -> Outcome {
  if words == ["--help"] || words == ["-h"] || words == ["help"] {
    return Ending.print(CommandTable.overview).finish()
  }
  if words == ["--version"] { return Ending.print("relay-host \(UseCases.version)").finish() }
  // Options may stand before the command; their values are no commands.
  var place = 0
  while place < words.count, words[place].hasPrefix("-") {
    let name = String(words[place].prefix { $0 != "=" })
    // One that nobody knows is told, before a word behind it is taken for a command.
    guard CommandTable.optionNames.contains(name) else { return DaemonCommand.run([words[place]]) }
    place += CommandTable.optionsWithValue.contains(words[place]) ? 2 : 1
  }
  guard place < words.count else { return DaemonCommand.run(words) }
  if words[place] == "help" {
    let rest = Array(words[(place + 1)...])
    if let code = HelpOnCodes.text(rest.first) { return Ending.print(code).finish() }
    return begin(rest + ["--help"])
  }
  let two = place + 1 < words.count ? "\(words[place]) \(words[place + 1])" : ""
  let entry =
    CommandTable.entries.first { $0.syntax.name == two }
    ?? CommandTable.entries.first { $0.syntax.name == words[place] }
  guard let entry else {
    let parts = CommandTable.entries.filter { $0.syntax.name.hasPrefix(words[place] + " ") }
    if parts.isEmpty { return Ending.unknown(words[place]).finish() }
    let help = CommandSyntax.help(of: parts.map(\.syntax))
    let asked = words.contains("--help") || words.contains("-h")
    return (asked ? Ending.print(help) : Ending(problems: "Which one?\n" + help, outcome: .usage)).finish()
  }
  let length = entry.syntax.name == two ? 2 : 1
  let rest = Array(words[..<place] + words[(place + length)...])
  do throws(UsageError) {
    let arguments = try entry.syntax.parse(rest)
    if arguments.has("--help") { return Ending.print(entry.syntax.help).finish() }
    return entry.run(Session(configuration: arguments["--config"]), arguments).finish()
  } catch {
    return Ending.usage(error).finish()
  }
}

// Closed standard descriptors would go to the first files that are opened, and what is printed into those.
for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
  _ = open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
}
// What it makes it must be able to read again itself, whatever the umask of whoever starts it takes away from all.
let mask = umask(0o077)
_ = umask(mask & ~0o700)
Glibc.exit(Int32(begin(Array(CommandLine.arguments.dropFirst())).rawValue))
