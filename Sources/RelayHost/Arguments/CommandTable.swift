// SPDX-License-Identifier: Apache-2.0
import RelayPipelines

/// All commands: what each takes and what runs it.
enum CommandTable {
  struct Entry: Sendable {
    var syntax: CommandSyntax
    var run: @Sendable (Session, ParsedArguments) -> Ending
  }

  private static let pipeline = CommandSyntax.Operand(name: "PIPELINE")
  private static let artifact = CommandSyntax.Operand(name: "ARTIFACT")

  static let entries: [Entry] = [
    Entry(
      syntax: CommandSyntax(
        "check", "Tells whether the configuration is good, and what each target may touch.",
        options: [
          .init(name: "--online", value: nil, help: "also ask each destination whether it would take a delivery"),
          CommandSyntax.json,
        ], details: "All mistakes are told at once, with line and column. Exit code 2 if there is one.",
        example: "relay-host check --config pipelines.json"), run: CheckCommand.run),
    Entry(
      syntax: CommandSyntax(
        "submit", "Hands over files as one artifact of a pipeline.",
        operands: [pipeline, .init(name: "FILE", isRepeated: true)], options: [CommandSyntax.json],
        details: "When it ends with 0, the files are copied and on the disk. Works without a running daemon.",
        example: "relay-host submit scans letter.pdf"), run: SubmitCommand.run),
    Entry(
      syntax: CommandSyntax(
        "status", "Shows how the pipelines stand.", operands: [.init(name: "PIPELINE", isOptional: true)],
        options: [CommandSyntax.json],
        details: "Exit code 3 if something waits to be tried again, 4 if something needs you.",
        example: "relay-host status"), run: StatusCommand.run),
    Entry(
      syntax: CommandSyntax(
        "queue", "Lists what waits in a pipeline, since when and why.", operands: [pipeline],
        options: [CommandSyntax.json], details: "`relay-host queue drop` sets one of them aside.",
        example: "relay-host queue scans"), run: QueueCommands.list),
    Entry(
      syntax: CommandSyntax(
        "queue drop", "Sets a waiting artifact aside in refused/; nothing is deleted.", operands: [pipeline, artifact],
        options: [CommandSyntax.json], example: "relay-host queue drop scans 0193f0e2-5b1c-7e4a-9d1f-0a1b2c3d4e5f"),
      run: QueueCommands.drop),
    Entry(
      syntax: CommandSyntax(
        "refused", "Lists what was set aside and why.", operands: [pipeline], options: [CommandSyntax.json],
        details: "`relay-host refused resend` puts one back into the queue, `relay-host refused delete` deletes it.",
        example: "relay-host refused scans"), run: QueueCommands.refused),
    Entry(
      syntax: CommandSyntax(
        "refused resend", "Puts an artifact that was set aside back at the end of the queue.",
        operands: [pipeline, artifact], options: [CommandSyntax.json],
        example: "relay-host refused resend scans 0000000012"), run: QueueCommands.resend),
    Entry(
      syntax: CommandSyntax(
        "refused delete", "Deletes an artifact that was set aside, for good.", operands: [pipeline, artifact],
        options: [CommandSyntax.json], example: "relay-host refused delete scans 0000000012"),
      run: QueueCommands.delete),
    Entry(
      syntax: CommandSyntax(
        "log", "Shows the last deliveries of a pipeline; 50 are kept.", operands: [pipeline],
        options: [.init(name: "-n", value: "N", help: "how many (20)"), CommandSyntax.json],
        example: "relay-host log scans -n 5"), run: QueueCommands.log),
    Entry(
      syntax: CommandSyntax(
        "pause", "Stops sending until `resume`; files go on gathering.", operands: [pipeline],
        options: [CommandSyntax.json], example: "relay-host pause scans"), run: SteeringCommands.pause),
    Entry(
      syntax: CommandSyntax(
        "resume", "Goes on after `pause` or after something that needed you.", operands: [pipeline],
        options: [CommandSyntax.json], example: "relay-host resume scans"), run: SteeringCommands.resume),
    Entry(
      syntax: CommandSyntax(
        "retry", "Tries what waits now instead of at the end of its wait.", operands: [pipeline],
        options: [CommandSyntax.json], example: "relay-host retry scans"), run: SteeringCommands.retry),
    Entry(
      syntax: CommandSyntax(
        "remove", "Deletes a pipeline's folder: its queue, what was set aside, its log.", operands: [pipeline],
        options: [
          .init(name: "--yes", value: nil, help: "don't ask"), CommandSyntax.json,
        ],
        details:
          "Meant for a pipeline that has left the configuration. One that is still in it begins again from nothing.",
        example: "relay-host remove old-scans --yes"), run: SteeringCommands.remove),
    Entry(
      syntax: CommandSyntax(
        "test", "Delivers an empty test, marked as one, and shows the receiver's answer.", operands: [pipeline],
        options: [CommandSyntax.json], details: "One that passes also ends \"needs attention\".",
        example: "relay-host test scans"), run: SteeringCommands.test),
    Entry(
      syntax: CommandSyntax(
        "targets", "Lists the targets that were found, and why one can't be used.", options: [CommandSyntax.json],
        example: "relay-host targets"), run: TargetCommands.list),
    Entry(
      syntax: CommandSyntax(
        "schema", "Prints the JSON Schema of pipelines.json with the targets that were found.",
        example: "relay-host schema > pipelines.schema.json"), run: TargetCommands.schema),
    Entry(
      syntax: CommandSyntax(
        "secret set", "Stores a secret; its value is read from standard input.", operands: [.init(name: "NAME")],
        details: "On a terminal the value is asked for and not shown. One final newline is dropped.",
        example: "printf %s \"$TOKEN\" | relay-host secret set ha"), run: SecretCommands.set),
    Entry(
      syntax: CommandSyntax(
        "secret list", "Lists the names of the stored secrets.", options: [CommandSyntax.json],
        example: "relay-host secret list"), run: SecretCommands.list),
    Entry(
      syntax: CommandSyntax(
        "secret remove", "Removes a stored secret.", operands: [.init(name: "NAME")],
        example: "relay-host secret remove ha"), run: SecretCommands.remove),
    Entry(
      syntax: CommandSyntax(
        "backup", "Writes a backup of the state folder into a folder, while deliveries go on.",
        operands: [.init(name: "FOLDER")],
        options: [
          .init(name: "--with-secrets", value: nil, help: "also the secrets, which otherwise stay out"),
          .init(name: "--verify", value: nil, help: "write nothing: check every byte of the backup in FOLDER"),
          CommandSyntax.json,
        ],
        details: """
          FOLDER must be empty or not be there yet. It holds a backup once it holds backup.json; one that was cut short is
          cleared by the next into the same folder. Works with and without a running daemon, and changes nothing.
          """, example: "relay-host backup /mnt/backup/relay-$(date +%F)"), run: BackupCommand.run),
    Entry(
      syntax: CommandSyntax(
        "restore", "Puts a backup back into an empty state folder.", operands: [.init(name: "FOLDER")],
        options: [
          .init(
            name: "--state", value: "PATH", help: "the state folder to fill (the one that the configuration names)"),
          CommandSyntax.json,
        ],
        details: """
          For a stopped daemon, as its user. Checks the whole backup first. Cut short, it is simply run again; until it has
          come to its end no daemon starts with that state folder. What was delivered since the backup is sent again, with
          the same identities.
          """, example: "relay-host restore /mnt/backup/relay-2026-11-30 --config /etc/relay-host/pipelines.json"),
      run: RestoreCommand.run),
    Entry(
      syntax: CommandSyntax(
        "reload", "Reads the configuration again and tells whether it is in force.", options: [CommandSyntax.json],
        details: "Saving the file does the same by itself.", example: "relay-host reload"),
      run: SteeringCommands.reload),
    Entry(
      syntax: CommandSyntax(
        "version", "Prints the version.", options: [CommandSyntax.json], example: "relay-host version"),
      run: { _, arguments in
        Ending.print(
          arguments.has("--json") ? "{\"version\":\"\(UseCases.version)\"}" : "relay-host \(UseCases.version)")
      }),
  ]

  /// The daemon itself: no command word.
  static let daemon = CommandSyntax(
    "", "Runs the daemon in the foreground.",
    options: [
      .init(name: "--log", value: "FORM", help: "text, json or journal (text; journal under systemd)"),
      .init(name: "--log-level", value: "LEVEL", help: "error, warning, notice, info or debug (info)"),
    ], example: "relay-host --config pipelines.json")

  /// Every option of any command, for those that stand before the command.
  static var optionNames: Set<String> {
    Set((daemon.options + CommandSyntax.common + entries.flatMap(\.syntax.options)).map(\.name) + ["-h", "--version"])
  }

  /// Those that a value follows.
  static var optionsWithValue: Set<String> {
    let all = daemon.options + CommandSyntax.common + entries.flatMap(\.syntax.options)
    return Set(all.filter { $0.value != nil }.map(\.name))
  }

  static var overview: String {
    var text = """
      Relay Host keeps what is handed to it and delivers it: surely, in order, recognisably.

      Usage: relay-host [--config FILE]              run the daemon in the foreground
             relay-host COMMAND … [--config FILE]    see relay-host COMMAND --help
             relay-host help CODE                    what a code in brackets stands for

      Commands:

      """
    let forDaemon = (daemon.options + CommandSyntax.common).map { option in
      (option.name + (option.value.map { " \($0)" } ?? ""), option.help)
    }
    let width = (entries.map(\.syntax.name) + forDaemon.map(\.0)).map(\.count).max() ?? 0
    for entry in entries {
      text += "  \(entry.syntax.name)\(String(repeating: " ", count: width - entry.syntax.name.count + 2))"
      text += "\(entry.syntax.summary)\n"
    }
    text += "\nOptions of the daemon:\n"
    for (name, help) in forDaemon {
      text += "  \(name)\(String(repeating: " ", count: width - name.count + 2))\(help)\n"
    }
    text += """

      Exit codes: 0 done, 1 a fault of ours, 2 usage or configuration, 3 waits and will be tried again,
      4 needs you, 5 the daemon can't be reached and this command needs it.

      Example:
        relay-host --config pipelines.json

      """
    return text
  }
}
