// SPDX-License-Identifier: Apache-2.0
import TargetKit
import Testing

@Suite struct PrintableLineTests {
  @Test func `what a receiver said becomes one short line`() {
    #expect(PrintableLine.of(" a\r\n\u{1b}[1m b \u{85} ", most: 100) == "a [1m b")
    #expect(PrintableLine.of(Array("a\u{2028}\u{a0}b\u{0}".utf8) + [0xff], most: 100) == "a b \u{fffd}")
    let long = PrintableLine.of(String(repeating: "ä", count: 1000), most: 500)
    #expect(long.utf8.count <= 501 && long.allSatisfy { $0 == "ä" })
    #expect(PrintableLine.of("", most: 10) == "" && PrintableLine.of(" \n ", most: 10) == "")
  }
}
