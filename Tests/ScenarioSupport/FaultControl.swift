// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import RelayTestSupport

/// Makes the durable, network and other calls of a program under test fail: it is started with `environment`, and from then on
/// what is written here counts (Tests/Proof/Shim/fault_control.h is the layout).
package final class FaultControl: @unchecked Sendable {
  // Safe to share: plain numbers in memory that another process reads; each is written by one thread of a test.
  private let memory: UnsafeMutableRawPointer
  let path: String

  package enum Effect: Equatable, Sendable, CustomStringConvertible {
    case kill
    case fails(Int32)
    case short
    case powerCut
    case delay(milliseconds: Int64)
    case stop

    package var description: String {
      switch self {
      case .kill: "kill"
      case .fails(let code): Self.names[code] ?? "errno \(code)"
      case .short: "short"
      case .powerCut: "power cut"
      case .delay(let milliseconds): "\(milliseconds) ms late"
      case .stop: "stop"
      }
    }

    private static let names: [Int32: String] = [
      EIO: "EIO", ENOSPC: "ENOSPC", EINTR: "EINTR", EDQUOT: "EDQUOT", EMFILE: "EMFILE", EROFS: "EROFS",
      ENOMEM: "ENOMEM", EAGAIN: "EAGAIN", ECONNRESET: "ECONNRESET",
    ]
  }

  /// Which calls count, as in fault_control.h.
  package struct Kinds: OptionSet, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static let durable = Kinds(rawValue: 1)
    package static let network = Kinds(rawValue: 2)
    package static let read = Kinds(rawValue: 4)
    package static let process = Kinds(rawValue: 8)
    /// Added to others: only the calls that move bytes.
    package static let transfer = Kinds(rawValue: 16)
    /// Likewise: only the calls that put bytes on the disk.
    package static let sync = Kinds(rawValue: 32)
  }

  package enum Call: UInt64, Sendable {
    case any, open, write, sync, syncData, syncAll, rename, unlink, mkdir, truncate, allocate, close, read, socket,
      connect
    case accept, bind, listen, send, receive, spawn, pipe
  }

  private enum Field: Int {
    case count, at, times, effect, value, kinds, call, struck, wallOffset, bootOffset
    var offset: Int { rawValue * 8 }
  }

  private static let folderLength = 512
  private static let traceLength = 65536
  private static let size = 80 + folderLength + traceLength

  /// - Parameter folder: Only files under it count.
  package init(folder: String) throws {
    path = TemporaryFolder.shared.path("faults-\(Identifier.random())")
    try File.write([UInt8](repeating: 0, count: Self.size), to: path)
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw CallError("open \(path)") }
    defer { close(file) }
    guard let mapped = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), mapped != MAP_FAILED else {
      throw CallError("mmap")
    }
    memory = mapped
    let bytes = Array(folder.utf8)
    guard bytes.count < Self.folderLength else { throw ScenarioProblem("too long a path: \(folder)") }
    bytes.withUnsafeBytes {
      (memory + 80).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
    }
  }

  deinit {
    munmap(memory, Self.size)
    unlink(path)
  }

  private subscript(_ field: Field) -> UInt64 {
    get { (memory + field.offset).load(as: UInt64.self) }
    set { (memory + field.offset).storeBytes(of: newValue, as: UInt64.self) }
  }

  /// What a program is started with so that it obeys.
  package var environment: [String: String] {
    get throws { ["LD_PRELOAD": try Self.shim(), "RELAY_FAULTS": path] }
  }

  /// From here on calls are counted, from 1, and none is struck.
  package func count(_ kinds: Kinds, call: Call = .any) {
    self[.at] = 0
    self[.count] = 0
    self[.struck] = 0
    self[.call] = call.rawValue
    self[.kinds] = kinds.rawValue
  }

  /// The Nth call from now on is struck, and so many from there on.
  package func strike(_ effect: Effect, at number: UInt64 = 1, times: UInt64 = .max, _ kinds: Kinds, call: Call = .any)
  {
    self[.at] = 0
    (self[.effect], self[.value]) =
      switch effect {
      case .kill: (1, 0)
      case .fails(let code): (2, UInt64(code))
      case .short: (3, 0)
      case .powerCut: (4, 0)
      case .delay(let milliseconds): (5, UInt64(milliseconds) * 1_000_000)
      case .stop: (6, 0)
      }
    self[.times] = times
    count(kinds, call: call)
    self[.at] = number
  }

  package func stopStriking() { self[.at] = 0 }

  package var counted: UInt64 { self[.count] }
  package var struck: UInt64 { self[.struck] }

  /// Which calls were counted, in order.
  package var trace: [Call] {
    (0..<min(Int(clamping: counted), Self.traceLength)).map { place in
      let raw = (memory + 80 + Self.folderLength + place).load(as: UInt8.self)
      return Call(rawValue: UInt64(raw)) ?? .any
    }
  }

  /// How far the program's wall clock is ahead of this machine's, in milliseconds.
  package func shiftWallClock(milliseconds: Int64) {
    self[.wallOffset] = UInt64(bitPattern: milliseconds &* 1_000_000)
  }

  /// The same for the clocks that count since boot: as after a sleep of the machine.
  package func shiftBootClock(milliseconds: Int64) {
    self[.bootOffset] = UInt64(bitPattern: milliseconds &* 1_000_000)
  }

  /// The shim, compiled at its first use.
  package static func shim() throws -> String {
    try FixtureTarget.compile(source: Repository.path("Tests/Proof/Shim/fault_shim.c"), as: "fault-shim")
  }
}
