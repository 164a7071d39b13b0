// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import Testing

@testable import RelayDelivery

@Suite struct `The worker's filters` {
  private static let made = WorkerLauncher(program: Repository.worker, runtimeFolder: nil).madeFilter(.ofThisMachine)

  @Test(.enabled(if: KernelConfinement.ofThisMachine.hasFilter, "no seccomp filters here"))
  func `come with the names of the calls that they tell of`() {
    let names = Set(Self.made.names.values)
    #expect(!Self.made.programs.isEmpty)
    for call in ["execve", "kill", "bpf", "clone", "socket", "chroot"] { #expect(names.contains(call)) }
    // Deliveries make these, and libraries try those.
    for call in ["read", "connect", "futex", "keyctl", "getxattr", "clone3"] { #expect(!names.contains(call)) }
  }

  @Test(.enabled(if: KernelConfinement.ofThisMachine.hasFilter, "no seccomp filters here"))
  func `are the same whether the host or the worker makes them`() throws {
    for filter in [Self.made.programs, []] {
      let worker = try WorkerUnderTest()
      var confinement = WorkerConfinement(required: [.calls], filter: filter)
      confinement.paths = [.init("/usr/lib"), .init("/lib")]
      let path = try FixtureTarget.compile("probe")
      try worker.send(.load(path: path, pipelineID: "p", limits: WorkerLimits(), confinement: confinement), request: 1)
      let told = try worker.receive {
        if case .confined = $0 { true } else { false }
      }
      guard case .confined(let pieces, let descriptors)? = told else { return #expect(Bool(false), "\(worker.frames)") }
      #expect(pieces.contains(.calls) && descriptors == 2)
    }
  }

  @Test func `that are no filters aren't put into force, and the target isn't loaded`() throws {
    for filter in [[0], [1, 0, 0, 0], [UInt8](repeating: 255, count: 100)] as [[UInt8]] {
      let worker = try WorkerUnderTest()
      let confinement = WorkerConfinement(required: [.calls], filter: filter)
      let path = try FixtureTarget.compile("probe")
      try worker.send(.load(path: path, pipelineID: "p", limits: WorkerLimits(), confinement: confinement), request: 1)
      let told = try worker.receive {
        if case .loadFailed = $0 { true } else { false }
      }
      guard case .loadFailed(.unconfined, let text)? = told else {
        return #expect(Bool(false), "\(worker.frames)")
      }
      #expect(text.contains("system calls that no target needs (seccomp"), "\(text)")
    }
  }
}
