// SPDX-License-Identifier: Apache-2.0
import CFuzzWorker
import RelayWorkerProtocol

/// The C worker takes anything for the host's bytes: it ends as the protocol says, and how the bytes are cut makes no difference.
func workerHolds(_ bytes: [UInt8]) throws {
  func serve(_ piece: Int) -> fuzz_worker_result { fuzz_worker_run(bytes, bytes.count, piece) }
  let whole = serve(0)
  if let broken = whole.broken { throw Violation(description: String(cString: broken)) }
  try hold(
    whole.exit == RELAY_EXIT_DONE || whole.exit == RELAY_EXIT_PROTOCOL, "it ends as the protocol says: \(whole.exit)")
  let cut = serve(1 + bytes.count % 7)
  try hold(
    cut.exit == whole.exit && cut.calls == whole.calls && cut.sent == whole.sent && cut.checksum == whole.checksum,
    "how the bytes are cut makes no difference")
}
