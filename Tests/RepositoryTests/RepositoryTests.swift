// SPDX-License-Identifier: Apache-2.0
import RelayTestSupport
import Testing

/// The checks that need nothing but the sources, so that `make test` alone tells when one of them fails.
@Suite struct `The repository keeps its own rules` {
  @Test(arguments: ["sources", "modules", "documents"])
  func `a check finds nothing`(name: String) throws {
    let result = try Command.run(["python3", Repository.path("scripts/checks/\(name).py")])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("\(name): fine"))
  }

  @Test func `the checks find what they are for`() throws {
    let result = try Command.run(["python3", Repository.path("scripts/checks/self_test.py")])
    #expect(result.status == 0, "\(result.output)")
  }
}
