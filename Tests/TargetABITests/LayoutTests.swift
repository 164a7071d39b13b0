// SPDX-License-Identifier: Apache-2.0
import RelayTestSupport
import TargetABI
import Testing

@Suite struct `The layout of the target ABI` {
  private static let golden: [String: Int] = {
    let text = (try? Repository.text(of: "Tests/TargetABITests/Golden/abi-0.1.txt")) ?? ""
    let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
    return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), Int($0[1]) ?? -1) })
  }()

  @Test(arguments: [["cc"], ["cc", "-fshort-enums"]])
  func `is the golden file's, as a C compiler sees it`(compiler: [String]) throws {
    let program = TemporaryFolder.shared.path("print-layout-\(compiler.count)")
    let built = try Command.run(
      compiler + ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", Repository.abiInclude] + [
        Repository.path("Tests/Fixtures/abi/print_layout.c"), "-o", program,
      ])
    #expect(built.status == 0, "\(built.output)")
    let printed = try Command.run([program])
    #expect(try printed.output == Repository.text(of: "Tests/TargetABITests/Golden/abi-0.1.txt"))
  }

  @Test func `is the golden file's, as Swift imports it`() {
    #expect(Self.golden["relay_text"] == MemoryLayout<relay_text>.size)
    #expect(Self.golden["relay_pair"] == MemoryLayout<relay_pair>.size)
    #expect(Self.golden["relay_verdict"] == MemoryLayout<relay_verdict>.size)
    #expect(Self.golden["relay_delivery"] == MemoryLayout<relay_delivery>.size)
    #expect(Self.golden["relay_host"] == MemoryLayout<relay_host>.size)
    #expect(Self.golden["relay_verdict.retry_after_ms"] == MemoryLayout<relay_verdict>.offset(of: \.retry_after_ms))
    #expect(Self.golden["relay_verdict.flags"] == MemoryLayout<relay_verdict>.offset(of: \.flags))
    #expect(Self.golden["relay_delivery.sha256"] == MemoryLayout<relay_delivery>.offset(of: \.sha256))
    #expect(Self.golden["relay_delivery.delivery_id"] == MemoryLayout<relay_delivery>.offset(of: \.delivery_id))
    #expect(Self.golden["relay_delivery.cancel_fd"] == MemoryLayout<relay_delivery>.offset(of: \.cancel_fd))
    #expect(
      Self.golden["relay_delivery.attribute_count"] == MemoryLayout<relay_delivery>.offset(of: \.attribute_count))
    #expect(Self.golden["relay_host.read"] == MemoryLayout<relay_host>.offset(of: \.read))
    #expect(Self.golden["relay_host.extension"] == MemoryLayout<relay_host>.offset(of: \.extension))
  }

  @Test(arguments: [
    ["cc", "-x", "c", "-std=c11"], ["cc", "-x", "c", "-std=c11", "-fshort-enums"], ["c++", "-x", "c++", "-std=c++17"],
    ["c++", "-x", "c++", "-std=c++17", "-fshort-enums"], ["clang", "-x", "c", "-std=c11"],
  ])
  func `compiles without a warning wherever a target may be written`(compiler: [String]) throws {
    let built = try Command.run(
      compiler + ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I", Repository.abiInclude] + [
        Repository.path("Tests/Fixtures/abi/uses_header.c")
      ])
    #expect(built.status == 0, "\(built.output)")
  }

  @Test func `has the numbers that verdicts are stored under`() {
    #expect(
      [RELAY_NONE, RELAY_DELIVERED, RELAY_RETRY, RELAY_REFUSED, RELAY_NEEDS_ATTENTION, RELAY_CANCELLED]
        == [0, 1, 2, 3, 4, 5])
    #expect([RELAY_OK, RELAY_ABSENT, RELAY_DENIED, RELAY_FAILED] == [0, 1, 2, 3])
    #expect(RELAY_REASON_SOURCE == 12 && RELAY_MAYBE_DELIVERED == 1 && RELAY_IS_TEST == 1)
  }
}
