// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelaySystem

/// Asking a destination when its pipeline is new or changed, while the person who changed it is still there.
extension Daemon {
  /// Each takes a worker; deliveries go first.
  private static let checksAtOnce = 4

  /// Checks the pipelines that a reload brought or changed; what is found is only told.
  func checkChanged(from old: Configuration, to new: Configuration) {
    let known = Dictionary(old.pipelines.map { ($0.id, $0.fingerprint) }) { first, _ in first }
    let changed = new.pipelines.filter { known[$0.id] != $0.fingerprint && !$0.needsHealthStore }
    let ids = Set(new.pipelines.map(\.id)).subtracting(changed.map(\.id))
    // What an earlier reload wanted counts as long as that pipeline is still the same.
    checksWanted = checksWanted.filter { ids.contains($0.id) } + changed
    startChecks()
  }

  private func startChecks() {
    while checksRunning < Self.checksAtOnce, !checksWanted.isEmpty, !isStopping {
      let pipeline = checksWanted.removeFirst()
      guard let target = catalogue[pipeline.load.targetID] else { continue }
      checksRunning += 1
      check(pipeline, target)
    }
  }

  private func check(_ pipeline: PipelineConfiguration, _ target: UsableTarget) {
    let (secrets, loop) = (secrets, loop)
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
      let entries = values
      loop.post { [weak self] in
        self?.assumeIsolated { me in
          TargetCheck(host: me.host).run(pipeline, target, secrets: entries) { [weak self] verdict in
            self?.assumeIsolated { $0.checked(pipeline, verdict) }
          }
        }
      }
    }
  }

  private func checked(_ pipeline: PipelineConfiguration, _ verdict: DeliveryVerdict?) {
    checksRunning -= 1
    startChecks()
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
