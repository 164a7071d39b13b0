// SPDX-License-Identifier: Apache-2.0
import RelayConfig

/// A pipeline's settings in the order and form in which a worker looks them up.
enum SettingsTable {
  /// Members of an object follow it in the order of the file; those that are secret or rendered later hold their place.
  static func entries(_ settings: ResolvedSettings) -> [SettingEntry] {
    var values: [String: RelayConfig.SettingValue] = [:]
    var roots: [String] = []
    func note(_ path: String) {
      let root = String(path.prefix { $0 != "/" })
      if !roots.contains(root) { roots.append(root) }
    }
    for entry in settings.entries {
      values[entry.path] = entry.value
      note(entry.path)
    }
    let secrets = Set(settings.secrets.map(\.path))
    let templated = Set(settings.templated.map(\.path))
    for path in settings.secrets.map(\.path) + settings.templated.map(\.path) { note(path) }
    var table: [SettingEntry] = []
    func emit(_ path: String) {
      if secrets.contains(path) { return table.append(SettingEntry(path: path, value: .secret)) }
      if templated.contains(path) { return table.append(SettingEntry(path: path, value: .template)) }
      switch values[path] {
      case .object(let names)?:
        table.append(SettingEntry(path: path, value: .object(count: UInt64(names.count))))
        for name in names { emit("\(path)/\(escaped(name))") }
      case .list(let count)?:
        table.append(SettingEntry(path: path, value: .list(count: UInt64(max(0, count)))))
        for index in 0..<max(0, count) { emit("\(path)/\(index)") }
      case .text(let text)?: table.append(SettingEntry(path: path, value: .text(text)))
      case .integer(let number)?: table.append(SettingEntry(path: path, value: .integer(number)))
      case .real(let number)?: table.append(SettingEntry(path: path, value: .real(number)))
      case .flag(let flag)?: table.append(SettingEntry(path: path, value: .flag(flag)))
      case .null?: table.append(SettingEntry(path: path, value: .null))
      case nil: break
      }
    }
    for root in roots { emit(root) }
    return table
  }

  private static func escaped(_ name: String) -> String {
    var text = ""
    for character in name.unicodeScalars {
      switch character {
      case "~": text += "~0"
      case "/": text += "~1"
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}
