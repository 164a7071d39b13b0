// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// The last attempts of a pipeline: one JSON object a line in `deliveries.ndjson`.
///
/// A cache: it isn't synced, a line that can't be read is passed over, and losing it loses no data. The file is open
/// only while a line is written.
package final class DeliveryLog: Sendable {
  static let fileName = "deliveries.ndjson"
  /// So many are kept.
  package static let kept = 50
  /// With so many lines the file is cut back.
  static let mostLines = 200
  /// In bytes; a file that is larger was not written by this program.
  static let largestFile = 16 << 20

  private struct State {
    var lines: Int
    /// The last line has no end, because a crash cut it.
    var isTorn: Bool
  }

  private let folder: Directory
  /// nil until the first append, and after one that failed.
  private let state = Mutex<State?>(nil)

  init(in folder: Directory) { self.folder = folder }

  package func append(_ record: DeliveryRecord) throws(SystemError) {
    try state.withLock { (state: inout State?) throws(SystemError) in
      var known: State
      if let state { known = state } else { known = try look() }
      state = nil
      let file = try folder.openOrCreateFile(Self.fileName, append: true)
      // Somebody deleted the file: a new one has begun.
      if try file.status().size == 0 { known = State(lines: 0, isTorn: false) }
      try file.write((known.isTorn ? [10] : []) + record.line() + [10])
      known.isTorn = false
      known.lines += 1
      state = known
      if known.lines >= Self.mostLines {
        state = nil
        try cutBack()
      }
    }
  }

  /// The last attempts, the oldest first.
  package func last(_ count: Int = DeliveryLog.kept) throws(SystemError) -> [DeliveryRecord] {
    Self.records(in: try content()).suffix(max(0, count))
  }

  private func content() throws(SystemError) -> [UInt8] {
    do {
      return try folder.content(of: Self.fileName, limit: Self.largestFile) ?? []
    } catch {
      guard error.code == EFBIG else { throw error }
      return []
    }
  }

  private static func records(in bytes: [UInt8]) -> [DeliveryRecord] {
    bytes.split(separator: 10).suffix(2 * mostLines).compactMap { DeliveryRecord(line: $0) }.suffix(kept)
  }

  private func look() throws(SystemError) -> State {
    let bytes = try content()
    let lines = bytes.count { $0 == 10 }
    if lines >= Self.mostLines { try cutBack() }
    return State(
      lines: lines >= Self.mostLines ? Self.kept : lines, isTorn: bytes.last.map { $0 != 10 } ?? false)
  }

  private func cutBack() throws(SystemError) {
    var lines: [UInt8] = []
    for record in Self.records(in: try content()) { lines += record.line() + [10] }
    try folder.replace(Self.fileName, with: lines, durable: false)
  }
}
