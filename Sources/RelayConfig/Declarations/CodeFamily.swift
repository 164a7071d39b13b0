// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// The codes under which the checks of a declaration are told.
struct CodeFamily: Sendable {
  var unknownKey: DiagnosticCode
  var duplicateKey: DiagnosticCode
  var missingKey: DiagnosticCode
  var wrongType: DiagnosticCode
  /// For values of the right type: nil stands for a code of the value's own kind.
  var badValue: DiagnosticCode?

  static let config = CodeFamily(
    unknownKey: .configUnknownKey, duplicateKey: .configDuplicateKey, missingKey: .configMissingKey,
    wrongType: .configWrongType, badValue: nil)

  static let manifest = CodeFamily(
    unknownKey: .manifestUnknownKey, duplicateKey: .manifestDuplicateKey, missingKey: .manifestMissingKey,
    wrongType: .manifestWrongType, badValue: .manifestBadValue)
}
