// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// Counts refusals in a row over restarts: one artifact can be bad, five in a row mean that the settings are.
package enum RefusalStreak {
  static let most = 5
  private static let key = "refusals-in-a-row"

  /// `advice` says what a person may have set wrong: "check address, method and template".
  package static func count(_ verdict: Verdict, advice: String, host: Host) -> Verdict {
    let state = host.state(.pipeline)
    do throws(Verdict) {
      switch verdict.outcome {
      case .delivered:
        if try state.get(key) != nil { try state.delete(key) }
      case .refused where verdict.reason != .tooLarge:
        let before = try state.get(key).flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
        guard before >= most - 1 else {
          try state.put(key, "\(before + 1)")
          return verdict
        }
        try state.delete(key)
        var stopped = verdict
        stopped.outcome = .needsAttention
        stopped.reason = .settings
        stopped.message += "; the receiver refused \(most) deliveries in a row, so \(advice)"
        return stopped
      default: break
      }
    } catch {
      // A streak that cannot be kept changes no verdict.
      host.log(.warning, error.message)
    }
    return verdict
  }
}
