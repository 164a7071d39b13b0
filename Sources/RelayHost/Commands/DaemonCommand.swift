// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayPipelines
import RelaySystem

/// `relay-host --config FILE`: the daemon.
enum DaemonCommand {
  static func run(_ words: [String]) -> Outcome {
    do throws(UsageError) {
      let arguments = try CommandTable.daemon.parse(words)
      if arguments.has("--help") { return Ending.print(CommandTable.overview).finish() }
      let named = arguments["--log"]
      guard let form = named == nil ? defaultForm : ProgramLog.Form(rawValue: named ?? "") else {
        throw UsageError(message: "--log takes text, json or journal", usage: "relay-host [--log FORM]")
      }
      let level = arguments["--log-level"] ?? "info"
      guard let least = LogLevel.allCases.first(where: { $0.name == level }) else {
        throw UsageError(
          message: "--log-level takes error, warning, notice, info or debug", usage: "relay-host [--log-level LEVEL]")
      }
      do throws(Refusal) {
        let file = try ConfigurationFile.find(named: arguments["--config"])
        try Session.refuseForeignState(try file.places().state)
        return Daemon.run(file, log: ProgramLog(form: form, least: least))
      } catch {
        return Ending.refused(error, json: false).finish()
      }
    } catch {
      return Ending.usage(error).finish()
    }
  }

  /// systemd tells by this variable that standard error is the journal.
  private static var defaultForm: ProgramLog.Form { getenv("JOURNAL_STREAM") == nil ? .text : .journal }
}
