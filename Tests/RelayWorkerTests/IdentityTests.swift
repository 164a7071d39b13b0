// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelaySystem
import RelayTestSupport
import TargetABI
import Testing

@testable import RelayDelivery

@Suite(.enabled(if: geteuid() == 0, "only root can be somebody else")) struct `A worker of a host that runs as root` {
  private func fields(_ worker: WorkerUnderTest, _ identity: WorkerIdentity?) throws -> [String: String] {
    // Where everybody may read it: the folder of this test run is its user's own.
    let copy = "/tmp/relay-probe-\(Identifier.random()).so"
    defer { unlink(copy) }
    #expect(try Command.run(["install", "-m", "555", FixtureTarget.compile("probe"), copy]).status == 0)
    let surroundings = WorkerSurroundings(
      policy: ConfinementPolicy(kernel: .ofThisMachine, configured: .bestEffort, isRoot: true), identity: identity,
      protected: .none, runtimeFolder: nil)
    let confinement = surroundings.confinement(copy: copy, isShipped: false)
    try worker.send(.load(path: copy, pipelineID: "p", limits: .ofTargets, confinement: confinement), request: 1)
    let answer = try worker.receive { if case .loaded = $0 { true } else { false } }
    try #require(answer != nil, "\(worker.frames)")
    let text = String(decoding: try File.bytes(of: "/proc/\(worker.pid)/status"), as: UTF8.self)
    let pairs = text.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
    return Dictionary(pairs.map { (String($0[0]), $0.count > 1 ? String($0[1]) : "") }) { first, _ in first }
  }

  private func words(_ text: String?) -> [String] {
    (text ?? "").split(whereSeparator: \.isWhitespace).map(String.init)
  }

  @Test func `is the owner of the state folder, with that one's groups and nothing of root's`() throws {
    let worker = try WorkerUnderTest()
    let fields = try fields(worker, WorkerIdentity(user: 65534, group: 65534, groups: [65534, 4]))
    #expect(words(fields["Uid"]) == Array(repeating: "65534", count: 4))
    #expect(words(fields["Gid"]) == Array(repeating: "65534", count: 4))
    #expect(Set(words(fields["Groups"])) == ["65534", "4"])
    #expect(words(fields["CapPrm"]) == ["0000000000000000"] && words(fields["CapEff"]) == ["0000000000000000"])
    #expect(words(fields["Seccomp"]) == ["2"])
    #expect(try worker.end() == 0)
  }

  @Test func `stays root where root owns it, with powers over files alone`() throws {
    let worker = try WorkerUnderTest()
    let fields = try fields(worker, nil)
    #expect(words(fields["Uid"]).first == "0")
    // CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
    #expect(words(fields["CapPrm"]) == ["000000000000000f"] && words(fields["CapEff"]) == ["000000000000000f"])
  }

  @Test func `is told the groups that the machine's users have`() throws {
    let daemon = try #require(getpwnam("daemon")).pointee
    let identity = WorkerIdentity.of(user: daemon.pw_uid, otherwiseGroup: 7)
    #expect(identity.user == daemon.pw_uid && identity.group == daemon.pw_gid)
    #expect(identity.groups.contains(daemon.pw_gid))
    // Somebody whom no database knows.
    #expect(WorkerIdentity.of(user: 3_999_999, otherwiseGroup: 7) == .init(user: 3_999_999, group: 7, groups: []))
  }
}
