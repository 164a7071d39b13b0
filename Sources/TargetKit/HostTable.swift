// SPDX-License-Identifier: Apache-2.0
// Pointers from the host are touched here and in TargetEntry alone. A struct whose size the other side chose is never read
// through `pointee`: that would copy as many bytes as this side was compiled with.
import TargetABI

/// Copies a size-prefixed struct: as many bytes as both sides know, the rest stays as `value` had it.
func copySized<Value>(from raw: UnsafeRawPointer, into value: inout Value) {
  let given = Int(raw.loadUnaligned(as: UInt32.self))
  withUnsafeMutableBytes(of: &value) { own in
    own.copyMemory(from: UnsafeRawBufferPointer(start: raw, count: min(given, own.count)))
  }
}

extension relay_text {
  /// A copy of the text; nil when absent.
  var copied: [UInt8]? {
    guard let bytes, let count = Int(exactly: length) else { return nil }
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  var string: String? {
    copied.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// The host's callbacks with Swift values in and out; a callback that the host lacks answers as absent.
struct HostTable {
  enum Answer<Value> {
    case value(Value)
    case absent, denied, failed

    init(_ code: Int32?, _ value: @autoclosure () -> Value?) {
      switch code {
      case RELAY_OK?: self = value().map { .value($0) } ?? .failed
      case RELAY_ABSENT?, nil: self = .absent
      case RELAY_DENIED?: self = .denied
      default: self = .failed
      }
    }
  }

  private let table: relay_host

  init?(_ pointer: UnsafePointer<relay_host>?) {
    guard let pointer else { return nil }
    var copy = relay_host()
    copySized(from: pointer, into: &copy)
    table = copy
  }

  func log(_ level: Int32, _ line: String) {
    Self.withBytes(line) { table.log?(table.context, level, $0, $1) }
  }

  func progress(_ done: UInt64, _ total: UInt64) {
    table.progress?(table.context, done, total)
  }

  func shouldStop() -> Bool {
    (table.should_stop?(table.context) ?? 0) != 0
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int64 {
    table.read?(table.context, buffer.baseAddress, UInt64(buffer.count)) ?? -1
  }

  func rewind() -> Bool {
    table.rewind?(table.context) == RELAY_OK
  }

  func emitManifest(_ json: String) -> Int32 {
    Self.withBytes(json) { table.emit_manifest?(table.context, $0, $1) } ?? RELAY_FAILED
  }

  func settingText(_ path: String) -> Answer<[UInt8]> {
    text { table.setting_text?(table.context, path, $0) }
  }

  func settingInteger(_ path: String) -> Answer<Int64> {
    var value: Int64 = 0
    return Answer(table.setting_integer?(table.context, path, &value), value)
  }

  func settingFlag(_ path: String) -> Answer<Bool> {
    var value: Int32 = 0
    return Answer(table.setting_flag?(table.context, path, &value), value != 0)
  }

  func settingCount(_ path: String) -> Answer<UInt64> {
    var value: UInt64 = 0
    return Answer(table.setting_count?(table.context, path, &value), value)
  }

  func settingName(_ path: String, _ index: UInt64) -> Answer<[UInt8]> {
    text { table.setting_name?(table.context, path, index, $0) }
  }

  func settingsJSON() -> Answer<[UInt8]> {
    text { table.settings_json?(table.context, $0) }
  }

  func secret(_ path: String) -> Answer<[UInt8]> {
    text { table.secret?(table.context, path, $0) }
  }

  func setMessage(_ message: String) {
    Self.withBytes(message) { table.set_message?(table.context, $0, $1) }
  }

  func setReceipt(_ receipt: String) {
    Self.withBytes(receipt) { table.set_receipt?(table.context, $0, $1) }
  }

  func scratch(_ maximum: UInt64) -> Answer<Int32> {
    var descriptor: Int32 = -1
    return Answer(table.scratch?(table.context, maximum, &descriptor), descriptor >= 0 ? descriptor : nil)
  }

  func stateGet(_ scope: Int32, _ key: String) -> Answer<[UInt8]> {
    text { table.state_get?(table.context, scope, key, $0) }
  }

  func statePut(_ scope: Int32, _ key: String, _ value: [UInt8]) -> Int32 {
    value.withUnsafeBytes {
      table.state_put?(
        table.context, scope, key, $0.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64($0.count))
    } ?? RELAY_FAILED
  }

  func stateDelete(_ scope: Int32, _ key: String) -> Int32 {
    table.state_delete?(table.context, scope, key) ?? RELAY_FAILED
  }

  func stateNext(_ scope: Int32, _ key: String) -> Answer<[UInt8]> {
    text { table.state_next?(table.context, scope, key, $0) }
  }

  private func text(_ read: (UnsafeMutablePointer<relay_text>) -> Int32?) -> Answer<[UInt8]> {
    var value = relay_text()
    let code = read(&value)
    return Answer(code, value.copied ?? [])
  }

  private static func withBytes<Value>(_ text: String, _ body: (UnsafePointer<CChar>?, UInt64) -> Value) -> Value {
    var text = text
    return text.withUTF8 { utf8 in
      UnsafeRawBufferPointer(utf8).withMemoryRebound(to: CChar.self) { body($0.baseAddress, UInt64($0.count)) }
    }
  }
}
