// SPDX-License-Identifier: Apache-2.0

/// A machine of the network that answers for a local name: this one, by tests' own program.
package final class LocalMachine: Sendable {
  private static let program =
    #filePath.split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/Fixtures/servers/mdns_peer.py"

  /// Whether messages to all machines of the network come back to this one.
  package static let isPossible = (try? Child.run(["python3", program, "possible"]))?.status == 0

  private let child: Child

  /// - Parameter troubles: what it answers wrongly before the right answer (mdns_peer.py).
  package init(_ name: String, address: String = "127.0.0.1", _ troubles: [String] = []) throws {
    child = try Child(["python3", Self.program, name, address] + troubles)
    guard child.line() == "ready" else { throw Child.NotStarted(program: Self.program) }
  }

  /// One that nobody else asks for.
  package static func newName() -> String { "relay-test-\(UInt32.random(in: .min ... .max)).local" }
}
