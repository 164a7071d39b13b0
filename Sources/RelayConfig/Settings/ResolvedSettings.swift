// SPDX-License-Identifier: Apache-2.0

/// A setting's value as a target asks for it.
package enum SettingValue: Equatable, Sendable {
  case text(String)
  case integer(Int64)
  case real(Double)
  case flag(Bool)
  case null
  /// How many entries; each has a path of its own.
  case list(count: Int)
  /// The names of the members in order; each has a path of its own.
  case object(names: [String])
}

/// A pipeline's settings for its target: checked against the manifest, defaults filled in, flattened.
///
/// A path is a JSON Pointer without its first slash: `url`, `tls/ca`, `to/0`, `headers/X-Key`.
package struct ResolvedSettings: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    package var path: String
    package var value: SettingValue

    package init(
      path: String, value: SettingValue
    ) {
      self.path = path
      self.value = value
    }
  }

  package struct Templated: Equatable, Sendable {
    package var path: String
    package var text: String

    package init(
      path: String, text: String
    ) {
      self.path = path
      self.text = text
    }
  }

  package struct SecretReference: Equatable, Sendable {
    package var path: String
    /// The secret's name.
    package var name: String

    package init(
      path: String, name: String
    ) {
      self.path = path
      self.name = name
    }
  }

  /// All but templates and secrets.
  package var entries: [Entry] = []
  /// Settings that hold `{{ … }}`, rendered for each part.
  package var templated: [Templated] = []
  package var secrets: [SecretReference] = []
  /// What the target may open; only what a person typed.
  package var access: [AccessPath] = []
  /// The domain of the address that mail comes from, in lower case; nil where the target sends none, or it isn't in ASCII.
  package var senderDomain: String?
  /// All of it as compact JSON, secrets as references, templates as written.
  package var json: [UInt8] = Array("{}".utf8)

  package init() {}
}
