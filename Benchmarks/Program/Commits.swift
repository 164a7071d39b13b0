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
            try one(folders[number], source)
            count += 1
          }
          total.withLock { $0 += count }
        }
        let taken = Double(monotonic() - start) / 1e9
        print("{\"round\":\(round),\"waiting\":\(threads),\"perSecond\":\(Double(total.withLock { $0 }) / taken)}")
      }
    }
  }

  private static func one(_ folder: PipelineFolder, _ source: Descriptor) throws(QueueError) {
    let artifact = try folder.stage(ArtifactDescription(), limits: QueueLimits(artifacts: .max))
    try artifact.addPart(name: "part.bin", from: source)
    _ = try artifact.commit()
  }
}
