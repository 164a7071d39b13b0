// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayPipelines
import RelaySystem

/// Hands files to a running daemon over its control socket, for each pipeline one thread that waits for each answer.
enum Submitting {
  /// Prints when the first began and when the last was durable.
  static func run(_ arguments: inout Arguments) throws {
    let (path, artifacts) = (arguments.text("STATE"), arguments.count("ARTIFACTS"))
    let (parts, size) = (arguments.count("PARTS"), arguments.count("SIZE"))
    let pipelines = arguments.remaining("PIPELINE")
    let source = try Crew.sample(in: try Directory(path), size: size)
    let start = monotonic()
    Crew.run(pipelines.count) { number in
      guard let client = try ControlClient(stateFolder: path) else { Arguments.end("no daemon listens there") }
      for artifact in 0..<artifacts {
        let names = (0..<parts).map { "\(artifact)-\($0)" }
        let reply = try client.submit(pipelines[number], names: names) { _ in source }
        if let refusal = reply.refusal { throw refusal }
      }
    }
    print("{\"began\":\(start),\"durable\":\(monotonic())}")
  }
}
