// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocalNames
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

/// Asks for the name in its setting, and tells what it heard.
private struct Asker: Target {
  static let manifest = "{}"

  init(host: TargetKit.Host) throws(Verdict) {}

  mutating func deliver(_ delivery: Delivery, host: TargetKit.Host) throws(Verdict) -> Verdict {
    guard let name = LocalName(try host.text("name") ?? "") else { return .refused(.settings, "no local name") }
    return .delivered(message: MulticastResolver().addresses(of: name, host: host).joined(separator: " "))
  }
}

@Suite struct MulticastResolverTests {
  private static func resolve(_ name: String, _ host: FakeHost = FakeHost()) throws -> String {
    host.settings = ["name": .text(name)]
    let verdict = host.deliver(Asker.self, FakeDelivery(""))
    #expect(verdict.outcome == .delivered, "\(verdict)")
    return verdict.message
  }

  @Test(.enabled(if: LocalMachine.isPossible, "no network that carries messages to all"))
  func `a machine that knows its name is found, whoever else answers`() throws {
    let name = LocalMachine.newName()
    let machine = try LocalMachine(name, ["garbage", "id", "name", "port", "loop"])
    #expect(try Self.resolve(name.uppercased()) == "127.0.0.1")
    withExtendedLifetime(machine) {}
  }

  @Test func `a name that nobody answers for is given up after two seconds`() throws {
    let start = monotonicSeconds()
    #expect(try Self.resolve(LocalMachine.newName()) == "")
    let passed = monotonicSeconds() - start
    #expect(passed >= 1.9 && passed < 20)
  }

  @Test func `who is to stop stops`() throws {
    let host = FakeHost()
    host.stopWhen = { _ in true }
    let start = monotonicSeconds()
    #expect(try Self.resolve(LocalMachine.newName(), host) == "")
    #expect(monotonicSeconds() - start < 1.5)
  }
}
