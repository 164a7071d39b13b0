// SPDX-License-Identifier: Apache-2.0
import RelayOracle
import Testing

/// Each promise, kept and broken: a judge that never finds anything proves nothing.
@Suite struct `The oracle` {
  private var oracle = Oracle()

  private mutating func accept(_ artifact: Int, parts: Int = 1, pipeline: Int = 1) {
    oracle.note(.handed(pipeline: pipeline, artifact: artifact, digests: (1...parts).map { "\(artifact).\($0)" }))
    oracle.note(.acknowledged(pipeline: pipeline, artifact: artifact))
  }

  private mutating func receive(
    _ artifact: Int, _ part: Int = 1, accepted: Bool = true, identity: String? = nil, digest: String? = nil
  ) {
    oracle.note(
      .received(
        ProofItem(pipeline: 1, artifact: artifact, part: part), identity: identity ?? "id \(artifact).\(part)",
        digest: digest ?? "\(artifact).\(part)", accepted: accepted))
  }

  private var broken: [Violation.Promise] { oracle.verdict().map(\.promise) }

  @Test mutating func `has nothing to say of a run that kept its promises`() {
    for artifact in 1...3 { accept(artifact, parts: 2) }
    receive(1, 1)
    receive(1, 2, accepted: false)
    receive(1, 2)
    oracle.note(.broke(pipeline: 1))
    receive(1, 2)
    oracle.note(.surfaced(pipeline: 1, artifact: 2))
    receive(3, 1)
    receive(3, 2)
    oracle.note(.idle(descriptors: 20, threads: 20, residentBytes: 20 << 20))
    oracle.note(.idle(descriptors: 25, threads: 20, residentBytes: 21 << 20))
    oracle.note(.idleLoad(0.001))
    #expect(broken == [])
    #expect(oracle.counts == (3, 4, 1, 1))
  }

  @Test mutating func `misses what was accepted and never came, but not what nobody promised`() {
    accept(1)
    oracle.note(.handed(pipeline: 1, artifact: 2, digests: ["2.1"]))
    #expect(broken == [.nothingLost])
    oracle.terms.isDrained = false
    #expect(broken == [])
  }

  @Test mutating func `sees half an artifact, promised or not`() {
    oracle.note(.handed(pipeline: 1, artifact: 1, digests: ["1.1", "1.2"]))
    receive(1, 1)
    #expect(broken == [.nothingLost])
  }

  @Test mutating func `sees the order broken between artifacts, between parts, and by a late repeat`() {
    accept(1)
    accept(2, parts: 2)
    receive(2, 2)
    receive(2, 1)
    #expect(broken.contains(.inOrder))
    receive(1)
    #expect(broken.filter { $0 == .inOrder }.count >= 2)
    oracle.note(.broke(pipeline: 1))
    receive(2, 1)
    #expect(oracle.verdict().contains { $0.words.contains("came again after") })
  }

  @Test mutating func `lets artifacts that were handed over side by side come in any order`() {
    for artifact in 1...2 { oracle.note(.handed(pipeline: 1, artifact: artifact, digests: ["\(artifact).1"])) }
    for artifact in 1...2 { oracle.note(.acknowledged(pipeline: 1, artifact: artifact)) }
    receive(2)
    receive(1)
    #expect(broken == [])
  }

  @Test mutating func `sees an artifact cut in two by another`() {
    accept(1, parts: 2)
    accept(2)
    receive(1, 1)
    receive(2)
    receive(1, 2)
    #expect(broken.contains(.inOrder))
  }

  @Test mutating func `sees other bytes, another identity, and one identity for two`() {
    accept(1)
    accept(2)
    receive(1, accepted: false, digest: "other")
    receive(1, identity: "new")
    receive(2, identity: "new")
    #expect(broken == [.sameEachTime, .sameEachTime, .sameEachTime])
  }

  @Test mutating func `sees what nobody handed over`() {
    accept(1)
    receive(1)
    receive(1, 2)
    receive(9)
    #expect(broken == [.nothingInvented, .nothingInvented])
  }

  @Test mutating func `counts repeats against what explains them`() {
    accept(1)
    for _ in 0..<3 { receive(1) }
    oracle.note(.broke(pipeline: 1))
    #expect(broken == [.fewRepeats])
    oracle.note(.broke(pipeline: 1))
    #expect(broken == [])
  }

  @Test mutating func `sees two at a time, haste, growth and unrest`() {
    oracle.terms.spacing = 1000
    oracle.note(.overlapped(pipeline: 1))
    oracle.note(.gap(pipeline: 1, milliseconds: 999))
    oracle.note(.gap(pipeline: 1, milliseconds: 1000))
    oracle.note(.idle(descriptors: 20, threads: 20, residentBytes: 20 << 20))
    oracle.note(.idle(descriptors: 37, threads: 29, residentBytes: 40 << 20))
    oracle.note(.idleLoad(0.5))
    #expect(broken == [.oneAtATime, .oneAtATime, .noGrowth, .noGrowth, .noGrowth, .calmWhenIdle])
  }
}
