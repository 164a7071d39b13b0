// SPDX-License-Identifier: Apache-2.0

/// What is free where a queue lies.
package struct DiskRoom: Equatable, Sendable {
  package var bytes: UInt64
  package var inodes: UInt64

  package init(bytes: UInt64, inodes: UInt64) {
    self.bytes = bytes
    self.inodes = inodes
  }

  /// Whether so many bytes more leave the reserve alone.
  func holds(_ wanted: UInt64, _ limits: QueueLimits) -> Bool {
    let (sum, overflow) = limits.freeBytes.addingReportingOverflow(wanted)
    return !overflow && bytes >= sum && inodes >= limits.freeInodes
  }

  /// Why nothing is taken although something is free.
  func words(_ path: String, _ limits: QueueLimits, _ wanted: UInt64) -> String {
    let needs = wanted == 0 ? "" : " and this needs \(Self.size(wanted))"
    let isAboutFiles = inodes < limits.freeInodes
    let found =
      isAboutFiles
      ? "has room for \(inodes) more files, of which \(limits.freeInodes)"
      : "has \(Self.size(bytes)) free\(needs), but \(Self.size(limits.freeBytes))"
    return "the disk of \(path) \(found) are kept as a reserve, so that what waits can still be delivered and marked; "
      + (isAboutFiles ? "delete some files there, nothing was taken" : "free some space there, nothing was taken")
  }

  /// In megabytes, rounded down: what is told as free must be there.
  private static func size(_ bytes: UInt64) -> String {
    let tenths = bytes / 100_000
    return tenths % 10 == 0 || tenths >= 1000 ? "\(tenths / 10) MB" : "\(tenths / 10).\(tenths % 10) MB"
  }
}
