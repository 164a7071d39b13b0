// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// What a target says of itself.
package struct TargetManifest: Equatable, Sendable {
  package enum Unit: String, CaseIterable, Sendable {
    /// Each part is delivered on its own.
    case part
    /// One delivery for the whole run; several parts come as one ZIP.
    case artifact
  }

  package var id: String
  package var name: String
  package var version: String
  package var license: String?
  package var unit: Unit
  /// In bytes; nil when it depends on settings.
  package var maximumBytes: Int64?
  /// Whether the receiver recognises a repeat.
  package var isIdempotent: Bool
  /// The longest silence to bear after everything was sent, in milliseconds.
  package var finalAnswer: Int64
  package var settings: JSONSchema
  package var minimumHost: String?

  package init(
    id: String, name: String, version: String, license: String? = nil, unit: Unit, maximumBytes: Int64? = nil,
    isIdempotent: Bool, finalAnswer: Int64, settings: JSONSchema, minimumHost: String? = nil
  ) {
    self.id = id
    self.name = name
    self.version = version
    self.license = license
    self.unit = unit
    self.maximumBytes = maximumBytes
    self.isIdempotent = isIdempotent
    self.finalAnswer = finalAnswer
    self.settings = settings
    self.minimumHost = minimumHost
  }
}
