// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// The program's own log on standard error: a line an event, repeats counted instead of repeated.
package final class ProgramLog: LogSink {
  package enum Form: String, Sendable, CaseIterable {
    /// `time level message key=value…`
    case text
    /// One JSON object a line.
    case json
    /// As `text`, without a time and with the priority that journald reads in front.
    case journal
  }

  /// How long the same event is only counted, in milliseconds.
  package static let quiet: Int64 = 10_000

  private struct State {
    var last: LogEntry?
    var lastTime = BootTime(nanoseconds: .min)
    var repeats = 0
    var lost = 0
    var blank: @Sendable (String) -> String = { $0 }
  }

  private let form: Form
  private let least: LogLevel
  private let state = Mutex(State())
  private let write: @Sendable (String) -> Bool

  /// - Parameter write: takes a line, or says that it can't without waiting.
  package init(
    form: Form, least: LogLevel = .info, write: @escaping @Sendable (String) -> Bool = { StandardError.write($0) }
  ) {
    self.form = form
    self.least = least
    self.write = write
  }

  /// What every text goes through before it is written: it blanks the values of secrets.
  package func setBlanking(_ blank: @escaping @Sendable (String) -> String) { state.withLock { $0.blank = blank } }

  package func log(_ entry: LogEntry) {
    guard entry.level >= least else { return }
    let now = BootTime.now
    let lines: [String] = state.withLock { state in
      if entry == state.last && now.milliseconds(since: state.lastTime) < Self.quiet {
        state.repeats += 1
        return []
      }
      var lines: [String] = []
      if let line = Self.repeated(&state) { lines.append(render(line, state.blank)) }
      state.last = entry
      state.lastTime = now
      lines.append(render(entry, state.blank))
      return lines
    }
    for line in lines { put(line) }
  }

  /// A log that nobody reads must not hold anything up: lines that can't be written at once are counted instead.
  private func put(_ line: String) {
    let lost = state.withLock { $0.lost }
    if lost > 0 {
      let entry = LogEntry(.warning, "\(lost) lines of this log were lost, because nobody took them off")
      guard write(render(entry) { $0 } + "\n") else { return state.withLock { $0.lost += 1 } }
      state.withLock { $0.lost -= lost }
    }
    if !write(line + "\n") { state.withLock { $0.lost += 1 } }
  }

  /// Writes what was only counted so far.
  package func flush() {
    let line = state.withLock { state in Self.repeated(&state).map { render($0, state.blank) } }
    if let line { put(line) }
  }

  private static func repeated(_ state: inout State) -> LogEntry? {
    guard state.repeats > 0, var entry = state.last else { return nil }
    entry.fields.append(.init(name: "repeated", value: "\(state.repeats)"))
    state.repeats = 0
    return entry
  }

  private func render(_ raw: LogEntry, _ blank: (String) -> String) -> String {
    var entry = raw
    entry.message = blank(raw.message)
    entry.fields = raw.fields.map { .init(name: $0.name, value: blank($0.value)) }
    let time = WallTime.now.text(milliseconds: true)
    switch form {
    case .json: return LogLine.json(entry, time: time)
    case .text: return LogLine.text(entry, time: time)
    case .journal: return "<\(entry.level.rawValue)>" + LogLine.text(entry, time: nil)
    }
  }
}
