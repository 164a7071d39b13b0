// SPDX-License-Identifier: Apache-2.0

/// How much a log entry matters; the raw value is syslog's priority.
package enum LogLevel: Int, Comparable, Sendable, CaseIterable {
  case error = 3
  case warning = 4
  case notice = 5
  case info = 6
  case debug = 7

  package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue > right.rawValue }

  package var name: String {
    switch self {
    case .error: "error"
    case .warning: "warning"
    case .notice: "notice"
    case .info: "info"
    case .debug: "debug"
    }
  }
}

/// One event of the program's own log: a sentence and what it is about. Never a health value, a secret or a rendered setting.
package struct LogEntry: Sendable, Equatable {
  package var level: LogLevel
  package var message: String
  package var fields: [Field]

  package struct Field: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package init(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    self.level = level
    self.message = message
    self.fields = fields.map { Field(name: $0.key, value: $0.value) }
  }
}

/// Takes log entries from any thread.
package protocol LogSink: Sendable {
  func log(_ entry: LogEntry)
}

/// For where nobody listens.
package struct NoLog: LogSink {
  package init() {}
  package func log(_ entry: LogEntry) {}
}
