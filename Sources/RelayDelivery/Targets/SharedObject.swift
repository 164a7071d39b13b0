// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// What can be told of a shared object from its first bytes, before anything of it runs.
package enum SharedObject {
  /// Why a file can't be loaded on this machine, for people; nil when it looks whole and right.
  ///
  /// Looks at the ELF header and at whether the tables it names lie inside the file: a copy under way doesn't.
  package static func problem(header: [UInt8], size: Int64) -> String? {
    guard header.count >= 64, header[0..<4] == [0x7F, 0x45, 0x4C, 0x46] else {
      return "It is no shared object (no ELF header). Build it with -shared."
    }
    guard header[4] == 2, header[5] == 1 else {
      return "It is built for another kind of machine (not 64-bit little-endian)."
    }
    let kind = Int(header[16]) | Int(header[17]) << 8
    let machine = Int(header[18]) | Int(header[19]) << 8
    guard machine == Self.machine else {
      return "It is built for another machine (\(name(of: machine)), this is \(name(of: Self.machine)))."
    }
    guard kind == 3 else { return "It is an ELF file but no shared object. Build it with -shared." }
    func number(_ place: Int, _ bytes: Int) -> UInt64 {
      (0..<bytes).reduce(0) { $0 | UInt64(header[place + $1]) << UInt64(8 * $1) }
    }
    let tables = [(number(32, 8), number(54, 2), number(56, 2)), (number(40, 8), number(58, 2), number(60, 2))]
    for (offset, entry, count) in tables {
      let (end, overflow) = offset.addingReportingOverflow(entry * count)
      if overflow || end > UInt64(max(0, size)) { return "It is not whole: it ends before its own tables do." }
    }
    return nil
  }

  /// ELF's number for the machine this program runs on.
  private static var machine: Int {
    #if arch(x86_64)
      62
    #elseif arch(arm64)
      183
    #else
      0
    #endif
  }

  private static func name(of machine: Int) -> String {
    switch machine {
    case 62: "x86-64"
    case 183: "AArch64"
    case 3: "x86"
    case 40: "ARM"
    case 243: "RISC-V"
    default: "machine \(machine)"
    }
  }
}
