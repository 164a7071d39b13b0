// SPDX-License-Identifier: Apache-2.0
import TargetABI

/// What the host offers during one call.
///
/// A `Host` kept beyond its call answers as if everything were absent.
public final class Host {
  public enum LogLevel: Int32, Sendable {
    case debug = 0
    case info, warning, error
  }

  private var table: HostTable?

  init(_ table: HostTable) {
    self.table = table
  }

  /// Ends the call that this host was handed in for.
  func end() {
    table = nil
  }

  /// A line in the program's log.
  ///
  /// Neither secrets nor what is delivered belong there.
  public func log(_ level: LogLevel, _ line: String) {
    table?.log(level.rawValue, line)
  }

  /// Tells that bytes really moved; the host ends a call in which nothing moves for too long.
  public func progress(_ done: UInt64, of total: UInt64) {
    table?.progress(done, total)
  }

  /// True when the host wants the call to end; answer with `.cancelled` if the receiver cannot have taken it yet.
  public var shouldStop: Bool {
    table?.shouldStop() ?? true
  }

  /// A text setting; nil when it is not set and has no default.
  ///
  /// `path` names a nested setting with slashes (`tls/ca`, `to/0`); see `Host.escape` for names from outside.
  public func text(_ path: String) throws(Verdict) -> String? {
    try bytes(path, of: "setting") { $0.settingText(path) }.map { String(decoding: $0, as: UTF8.self) }
  }

  public func integer(_ path: String) throws(Verdict) -> Int64? {
    try value(path) { $0.settingInteger(path) }
  }

  public func flag(_ path: String) throws(Verdict) -> Bool? {
    try value(path) { $0.settingFlag(path) }
  }

  /// How many elements a list has, or members an object; nil when it is not set.
  public func count(_ path: String) throws(Verdict) -> UInt64? {
    try value(path) { $0.settingCount(path) }
  }

  /// The member names of an object, in the order of the file.
  public func names(_ path: String) throws(Verdict) -> [String] {
    var names: [String] = []
    for index in 0..<(try count(path) ?? 0) {
      guard let name = try bytes(path, of: "setting", read: { $0.settingName(path, index) }) else { break }
      names.append(String(decoding: name, as: UTF8.self))
    }
    return names
  }

  /// All settings as JSON text, secrets as references.
  public func settingsJSON() throws(Verdict) -> String? {
    try bytes("", of: "settings") { $0.settingsJSON() }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The value of a secret setting; nil when it is not set.
  ///
  /// Keep it out of logs and messages.
  public func secret(_ path: String) throws(Verdict) -> String? {
    try bytes(path, of: "secret") { $0.secret(path) }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// A setting that may be written plainly or as a secret.
  public func textOrSecret(_ path: String) throws(Verdict) -> String? {
    guard let table else { return nil }
    switch table.settingText(path) {
    case .value(let bytes): return String(decoding: bytes, as: UTF8.self)
    case .absent, .denied: return try secret(path)
    case .failed: throw Self.failed(path, of: "setting")
    }
  }

  /// An unlinked temporary file of at most `maximum` bytes; closing its descriptor is yours.
  public func scratch(maximum: UInt64) throws(Verdict) -> Int32 {
    guard let table, case .value(let descriptor) = table.scratch(maximum) else {
      throw .retry(.other, "the host gave no temporary file; is its disk full?")
    }
    return descriptor
  }

  /// What the target saved earlier.
  public func state(_ scope: State.Scope) -> State {
    State(scope: scope, host: self)
  }

  /// A member name as one step of a setting's path (`~` and `/` escaped).
  public static func escape(_ name: String) -> String {
    var escaped = ""
    for character in name.unicodeScalars {
      switch character {
      case "~": escaped += "~0"
      case "/": escaped += "~1"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }

  /// Runs `body` on the table while the call lasts.
  func withTable<Value>(_ body: (HostTable) -> Value) -> Value? {
    table.map(body)
  }

  func bytes(
    _ path: String, of kind: String, read: (HostTable) -> HostTable.Answer<[UInt8]>
  ) throws(Verdict) -> [UInt8]? {
    try unwrap(path, kind, read)
  }

  private func value<Value>(
    _ path: String, read: (HostTable) -> HostTable.Answer<Value>
  ) throws(Verdict) -> Value? {
    try unwrap(path, "setting", read)
  }

  private func unwrap<Value>(
    _ path: String, _ kind: String, _ read: (HostTable) -> HostTable.Answer<Value>
  ) throws(Verdict) -> Value? {
    guard let table else { return nil }
    switch read(table) {
    case .value(let value): return value
    case .absent: return nil
    case .denied:
      throw .needsAttention(.settings, "the host does not hand out the \(kind) \"\(path)\"")
    case .failed: throw Self.failed(path, of: kind)
    }
  }

  private static func failed(_ path: String, of kind: String) -> Verdict {
    .retry(.other, "the host could not read the \(kind) \"\(path)\"")
  }
}
