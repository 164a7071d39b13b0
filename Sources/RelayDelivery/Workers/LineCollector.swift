import RelayJSON
// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// Makes log lines of what a worker prints, however much that is: long lines are cut, too many are counted and left out.
package struct LineCollector: Sendable {
  /// The most bytes of a line that are kept.
  package static let longestLine = 1024
  /// Lines that may come at once, and how many a second after that.
  package static let burst = 50.0
  package static let perSecond = 10.0

  private var line: [UInt8] = []
  private var isCut = false
  private var allowance = LineCollector.burst
  private var lastRefill: BootTime
  private var leftOut = 0

  package init(now: BootTime) { lastRefill = now }

  /// Takes bytes in and returns the lines that may be logged.
  package mutating func append(_ bytes: some Sequence<UInt8>, now: BootTime) -> [String] {
    let passed = Double(max(0, now.milliseconds(since: lastRefill))) / 1000
    allowance = min(Self.burst, allowance + passed * Self.perSecond)
    lastRefill = now
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        finish(into: &lines)
      } else if line.count < Self.longestLine {
        line.append(byte)
      } else {
        isCut = true
      }
    }
    return lines
  }

  /// What is left when nothing more comes.
  package mutating func end() -> [String] {
    var lines: [String] = []
    if !line.isEmpty { finish(into: &lines) }
    if leftOut > 0 { lines.append("(\(leftOut) more lines left out)") }
    leftOut = 0
    return lines
  }

  private mutating func finish(into lines: inout [String]) {
    defer {
      line.removeAll(keepingCapacity: true)
      isCut = false
    }
    guard allowance >= 1 else {
      leftOut += 1
      return
    }
    if line.isEmpty { return }
    allowance -= 1
    if leftOut > 0 {
      lines.append("(\(leftOut) lines left out)")
      leftOut = 0
    }
    lines.append(PrintableText.cleaned(String(decoding: line, as: UTF8.self)) + (isCut ? "…" : ""))
  }
}
