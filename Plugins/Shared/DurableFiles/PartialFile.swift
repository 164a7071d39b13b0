// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// A file that gathers bytes under a name of its own, so that its final name can go to it in one step once it is whole.
package struct PartialFile {
  /// Bytes between syncs, so that the last one does not stall.
  private static let syncStride = 64 << 20

  private let kernel: Kernel
  private let file: Descriptor
  private var unsynced = 0

  /// Makes it; what an earlier attempt left under this name goes first.
  package init(_ name: String, in folder: Descriptor, kernel: Kernel) throws(CallFailure) {
    try Self.remove(name, in: folder, kernel: kernel)
    self.kernel = kernel
    file = try kernel.create(name, in: folder)
    kernel.admitReaders(to: file, of: folder)
  }

  /// Removes what stands under this name, if anything does.
  package static func remove(_ name: String, in folder: Descriptor, kernel: Kernel) throws(CallFailure) {
    if try kernel.look(name, in: folder) != nil { try kernel.unlink(name, in: folder) }
  }

  package mutating func write(_ chunk: [UInt8]) throws(CallFailure) {
    var failure: CallFailure?
    chunk.withUnsafeBytes { bytes in
      do throws(CallFailure) {
        try kernel.write(bytes, to: file)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    unsynced += chunk.count
    guard unsynced >= Self.syncStride else { return }
    try kernel.sync(file)
    unsynced = 0
  }

  /// After this all of it is on disk.
  package func finish() throws(CallFailure) {
    try kernel.sync(file)
    try kernel.close(file)
  }
}
