// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Synchronization

/// Real artifacts of one small part, staged and committed without pause, each thread in a pipeline of its own.
enum Commits {
  /// Prints how many were durable a second with one thread, and with `waiting` threads, by turns.
  static func run(_ arguments: inout Arguments) throws {
    let (path, waiting) = (arguments.text("STATE"), arguments.count("WAITING"))
    let (seconds, size) = (arguments.count("SECONDS"), arguments.count("SIZE"))
    let state = try StateFolder.open(path)
    let folders = try (0..<waiting).map { try state.pipeline("bench-\($0)") }
    for round in 0..<3 {
      for threads in [1, waiting] {
        let start = monotonic()
        let end = start + Int64(seconds) * 1_000_000_000
        let total = Mutex(0)
        Crew.run(threads) { number in
          let source = try Crew.sample(in: state.root, size: size)
          var count = 0
          while monotonic() < end {
            try one(folders[number], source, name: "part.bin", parts: 1)
            count += 1
          }
          total.withLock { $0 += count }
        }
        let taken = Double(monotonic() - start) / 1e9
        print("{\"round\":\(round),\"waiting\":\(threads),\"perSecond\":\(Double(total.withLock { $0 }) / taken)}")
      }
    }
  }

  static func one(_ folder: PipelineFolder, _ source: Descriptor, name: String, parts: Int) throws(QueueError) {
    let artifact = try folder.stage(ArtifactDescription(), limits: QueueLimits(artifacts: .max))
    for _ in 0..<parts { try artifact.addPart(name: name, from: source) }
    _ = try artifact.commit()
  }

  /// Fills the queues of pipelines named `bench-0`, `bench-1`, … while no daemon runs.
  static func fill(_ arguments: inout Arguments) throws {
    let (path, pipelines) = (arguments.text("STATE"), arguments.count("PIPELINES"))
    let (artifacts, parts) = (arguments.count("ARTIFACTS"), arguments.count("PARTS"))
    let size = arguments.count("SIZE")
    let state = try StateFolder.open(path)
    let folders = try (0..<pipelines).map { try state.pipeline("bench-\($0)") }
    let next = Atomic<Int>(0)
    Crew.run(64) { _ in
      let source = try Crew.sample(in: state.root, size: size)
      while true {
        let number = next.add(1, ordering: .relaxed).oldValue
        guard number < pipelines * artifacts else { return }
        try one(folders[number % pipelines], source, name: "part.bin", parts: parts)
      }
    }
  }
}
