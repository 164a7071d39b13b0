// SPDX-License-Identifier: Apache-2.0

/// Judges a history by the promises: a producer's duty begins at the acknowledgement, a receiver recorded everything.
///
/// It knows nothing of how the program works. The same judge serves the simulation, the sweeps and the soak.
package struct Oracle: Sendable {
  /// What a run is judged by besides the promises that always hold.
  package struct Terms: Sendable {
    /// Milliseconds between two deliveries of a pipeline.
    package var spacing = 0
    /// How much more than at first may be held at the end.
    package var descriptors = 16
    package var threads = 8
    package var residentBytes = 16 << 20
    /// The share of a processor that doing nothing may take.
    package var idleLoad = 0.01
    /// Whether the run went on until nothing was left: only then is what is missing lost.
    package var isDrained = true

    package init() {}
  }

  private struct Artifact {
    var handed: Int
    var acknowledged: Int?
    var digests: [String]
    var surfaced = false
    /// The parts that were accepted, each with the place of the first time.
    var accepted: [Int: Int] = [:]
    var identities: [Int: String] = [:]
  }

  private struct Key: Hashable {
    var pipeline: Int
    var artifact: Int
  }

  private struct Line {
    /// The part accepted last, and the order of all that were accepted for the first time.
    var last: ProofItem?
    var first: [ProofItem] = []
    var repeats = 0
    var breaks = 0
  }

  package var terms: Terms
  private var step = 0
  private var artifacts: [Key: Artifact] = [:]
  private var lines: [Int: Line] = [:]
  private var owners: [String: ProofItem] = [:]
  private var calm: (descriptors: Int, threads: Int, residentBytes: Int)?
  private var found: [Violation] = []

  package init(_ terms: Terms = Terms()) { self.terms = terms }

  package mutating func note(_ event: HistoryEvent) {
    step += 1
    switch event {
    case .handed(let pipeline, let artifact, let digests):
      artifacts[Key(pipeline: pipeline, artifact: artifact)] = Artifact(handed: step, digests: digests)
    case .acknowledged(let pipeline, let artifact):
      artifacts[Key(pipeline: pipeline, artifact: artifact)]?.acknowledged = step
    case .received(let item, let identity, let digest, let accepted):
      received(item, identity, digest, accepted: accepted)
    case .broke(let pipeline): lines[pipeline, default: Line()].breaks += 1
    case .surfaced(let pipeline, let artifact):
      artifacts[Key(pipeline: pipeline, artifact: artifact)]?.surfaced = true
    case .overlapped(let pipeline): add(.oneAtATime, "pipeline \(pipeline) had two deliveries under way at once")
    case .gap(let pipeline, let milliseconds):
      if milliseconds < terms.spacing {
        add(.oneAtATime, "pipeline \(pipeline): \(milliseconds) ms after the last, spacing is \(terms.spacing)")
      }
    case .idle(let descriptors, let threads, let residentBytes): compare(descriptors, threads, residentBytes)
    case .idleLoad(let share):
      if share > terms.idleLoad { add(.calmWhenIdle, "took \(share) of a processor with nothing to do") }
    }
  }

  private mutating func add(_ promise: Violation.Promise, _ words: String) {
    // A broken run shows the same thing over and over; the first few tell it.
    if found.count < 100 { found.append(Violation(promise, words)) }
  }

  private mutating func received(_ item: ProofItem, _ identity: String, _ digest: String, accepted: Bool) {
    let key = Key(pipeline: item.pipeline, artifact: item.artifact)
    guard let artifact = artifacts[key], artifact.digests.indices.contains(item.part - 1) else {
      return add(.nothingInvented, "\(item) was received, but nobody had handed it over")
    }
    if artifact.digests[item.part - 1] != digest { add(.sameEachTime, "\(item) came with other bytes") }
    if let former = artifact.identities[item.part], former != identity {
      add(.sameEachTime, "\(item) came as \(former), then as \(identity)")
    }
    if let owner = owners[identity], owner != item { add(.sameEachTime, "\(identity) stood for \(owner) and \(item)") }
    owners[identity] = item
    artifacts[key]?.identities[item.part] = identity
    var line = lines[item.pipeline, default: Line()]
    defer { lines[item.pipeline] = line }
    if artifact.accepted[item.part] != nil {
      if line.last != item { add(.inOrder, "\(item) came again after \(line.last?.description ?? "nothing")") }
      if accepted { line.repeats += 1 }
      return
    }
    // Within an artifact part follows part, with nothing in between.
    if item.part > 1 && artifact.accepted[item.part - 1] == nil {
      add(.inOrder, "\(item) came before the part before it")
    }
    if item.part > 1, let last = line.last, last.artifact != item.artifact, accepted {
      add(.inOrder, "\(last) came in between the parts of artifact \(item.artifact)")
    }
    guard accepted else { return }
    artifacts[key]?.accepted[item.part] = step
    line.last = item
    line.first.append(item)
  }

  private mutating func compare(_ descriptors: Int, _ threads: Int, _ residentBytes: Int) {
    guard let calm else { return calm = (descriptors, threads, residentBytes) }
    if descriptors > calm.descriptors + terms.descriptors {
      add(.noGrowth, "\(calm.descriptors) descriptors at first, \(descriptors) now")
    }
    if threads > calm.threads + terms.threads { add(.noGrowth, "\(calm.threads) threads at first, \(threads) now") }
    if residentBytes > calm.residentBytes + terms.residentBytes {
      add(.noGrowth, "\(calm.residentBytes) bytes of memory at first, \(residentBytes) now")
    }
  }
}

// MARK: The verdict

extension Oracle {
  /// Everything that is wrong with the history so far.
  package func verdict() -> [Violation] {
    var all = found
    for (pipeline, line) in lines.sorted(by: { $0.key < $1.key }) {
      if line.repeats > line.breaks {
        all.append(
          Violation(
            .fewRepeats, "pipeline \(pipeline): \(line.repeats) repeats, \(line.breaks) breaks that explain one"))
      }
      all += outOfOrder(line)
    }
    if terms.isDrained { all += missing() }
    return all
  }

  /// Artifacts of which one was acknowledged before the other was handed over leave in that order.
  ///
  /// Those handed over side by side have no order of their own.
  private func outOfOrder(_ line: Line) -> [Violation] {
    var earliest = (acknowledged: Int.max, item: ProofItem?.none)
    var all: [Violation] = []
    for item in line.first.reversed() {
      guard let artifact = artifacts[Key(pipeline: item.pipeline, artifact: item.artifact)] else { continue }
      if earliest.acknowledged < artifact.handed, let other = earliest.item {
        all.append(Violation(.inOrder, "\(item) came before \(other), which was accepted earlier"))
      }
      if let acknowledged = artifact.acknowledged, acknowledged < earliest.acknowledged {
        earliest = (acknowledged, item)
      }
    }
    return all
  }

  private func missing() -> [Violation] {
    artifacts.sorted { ($0.key.pipeline, $0.key.artifact) < ($1.key.pipeline, $1.key.artifact) }.compactMap {
      key, artifact in
      guard !artifact.surfaced else { return nil }
      let name = "pipeline \(key.pipeline) artifact \(key.artifact)"
      let (accepted, parts) = (artifact.accepted.count, artifact.digests.count)
      if artifact.acknowledged != nil && accepted < parts {
        return Violation(
          .nothingLost, "\(name) was accepted, but \(parts - accepted) of its \(parts) parts never arrived")
      }
      // What wasn't acknowledged is there whole or not at all.
      if accepted > 0 && accepted < parts {
        return Violation(.nothingLost, "\(name) wasn't accepted, yet \(accepted) of its \(parts) parts arrived")
      }
      return nil
    }
  }

  /// What was seen, for a summary.
  package var counts: (acknowledged: Int, accepted: Int, repeats: Int, breaks: Int) {
    (
      artifacts.values.count { $0.acknowledged != nil }, lines.values.reduce(0) { $0 + $1.first.count },
      lines.values.reduce(0) { $0 + $1.repeats }, lines.values.reduce(0) { $0 + $1.breaks }
    )
  }
}
