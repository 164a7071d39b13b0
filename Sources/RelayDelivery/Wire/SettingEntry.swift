// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol

/// A setting's value on its way to the worker.
///
/// Lists and objects say how many members they have; the members follow as entries.
package enum SettingValue: Sendable, Equatable {
  case null
  case text(String)
  case integer(Int64)
  case real(Double)
  case flag(Bool)
  case list(count: UInt64)
  case object(count: UInt64)
  /// Holds the place of a member whose value is among the secrets, so that names come in the file's order.
  case secret
  /// Holds the place of a member that is rendered for each delivery.
  case template
}

/// One line of a settings table.
package struct SettingEntry: Sendable, Equatable {
  /// A JSON Pointer without its first slash: `url`, `to/0`, `headers/X-Key`.
  package var path: String
  package var value: SettingValue

  package init(path: String, value: SettingValue) {
    self.path = path
    self.value = value
  }
}

/// The value of a setting that the schema marks as secret.
///
/// Never printed: it describes itself by its path alone.
package struct SecretEntry: Sendable, Equatable {
  package var path: String
  package var value: String

  package init(path: String, value: String) {
    self.path = path
    self.value = value
  }
}

extension SecretEntry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "secret \(path)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["path": path]) }
}

extension WireWriter {
  mutating func settings(_ entries: [SettingEntry]) {
    count(entries.count)
    for entry in entries {
      text(entry.path)
      value(entry.value)
    }
  }

  private mutating func value(_ value: SettingValue) {
    switch value {
    case .null: kind(RELAY_SETTING_NULL)
    case .text(let text):
      kind(RELAY_SETTING_TEXT)
      self.text(text)
    case .integer(let integer):
      kind(RELAY_SETTING_INTEGER)
      i64(integer)
    case .real(let real):
      kind(RELAY_SETTING_REAL)
      u64(real.bitPattern)
    case .flag(let flag):
      kind(RELAY_SETTING_FLAG)
      u8(flag ? 1 : 0)
    case .list(let count):
      kind(RELAY_SETTING_LIST)
      u64(count)
    case .object(let count):
      kind(RELAY_SETTING_OBJECT)
      u64(count)
    case .secret: kind(RELAY_SETTING_SECRET)
    case .template: kind(RELAY_SETTING_TEMPLATE)
    }
  }

  private mutating func kind(_ kind: UInt32) { u8(UInt8(truncatingIfNeeded: kind)) }
}
