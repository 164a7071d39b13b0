// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelaySystem

/// Asking a destination when its pipeline is new or changed, while the person who changed it is still there.
extension Daemon {
  /// Checks the pipelines that a reload brought or changed; what is found is only told.
  func checkChanged(from old: Configuration, to new: Configuration) {
    let known = Dictionary(old.pipelines.map { ($0.id, $0.fingerprint) }) { first, _ in first }
    for pipeline in new.pipelines where known[pipeline.id] != pipeline.fingerprint && !pipeline.needsHealthStore {
      guard let target = catalogue[pipeline.load.targetID] else { continue }
      let (secrets, loop) = (secrets, loop)
      let check = TargetCheck(host: host, surroundings: layout.surroundings(new, filter))
      threads.run { [weak self] in
        var values: [SecretEntry] = []
        do throws(SecretProblem) {
          for secret in pipeline.load.settings.secrets {
            values.append(SecretEntry(path: secret.path, value: try secrets.value(secret.name)))
          }
        } catch {
          let verdict = DeliveryVerdict(.needsAttention, message: error.message)
          return loop.post { [weak self] in self?.assumeIsolated { $0.checked(pipeline, verdict) } }
        }
        let (entries, opened) = (values, check.access(for: pipeline, target))
        loop.post { [weak self] in
          check.run(pipeline, target, opened, secrets: entries) { [weak self] verdict in
            self?.assumeIsolated { $0.checked(pipeline, verdict) }
          }
        }
      }
    }
  }

  private func checked(_ pipeline: PipelineConfiguration, _ verdict: DeliveryVerdict?) {
    guard let verdict else { return }
    let fine = verdict.code == .delivered
    log.log(
      LogEntry(
        fine ? .info : .warning,
        fine
          ? "The destination answers." : "The destination doesn't answer as it should: \(verdict.message)",
        ["pipeline": pipeline.id, "verdict": verdict.code.rawValue]))
  }
}
