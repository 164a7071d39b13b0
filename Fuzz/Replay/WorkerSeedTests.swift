// SPDX-License-Identifier: Apache-2.0
import CFuzzWorker
import RelayTestSupport
import RelayWorkerProtocol
import Testing

struct WorkerSeedTests {
  /// A seed of an older protocol would end at its first frame, and the fuzzer with it.
  @Test(arguments: [("describe", 1), ("deliver", 2), ("check", 2), ("state-scratch-verify", 3)])
  func `the seeds of the worker get as far as the target`(name: String, calls: UInt32) throws {
    let bytes = try File.bytes(of: Repository.path("Fuzz/corpus/worker/\(name)"))
    let result = fuzz_worker_run(bytes, bytes.count, 0)
    #expect(result.calls == calls && result.exit == RELAY_EXIT_DONE)
    #expect(result.broken == nil)
  }
}
