// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// `relay-host help CODE`: what a code in brackets stands for.
enum HelpOnCodes {
  static func text(_ word: String?) -> String? {
    guard let word, let code = DiagnosticCode(rawValue: word) else { return nil }
    return "\(code.rawValue) (\(code.severity.rawValue))\n  \(code.meaning)\n"
  }
}
