// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

@testable import RelayQueue

/// A folder in memory for readers that work on files. Each run has its own, so that several can go on at a time.
struct FuzzFolder {
  let directory: Directory
  let committer: Committer

  /// One for all, as the daemon has one for a file system.
  private static let shared = Result { try Committer(fileSystem: Directory(parent)) }

  private static let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"

  /// Runs with an empty folder that is gone afterwards.
  static func with(_ body: (FuzzFolder) throws -> Void) throws {
    var template = Array("\(parent)/relay-fuzz-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Violation(description: "no folder in \(parent)") }
    let path = String(cString: made)
    defer { try? Directory(parent).removeTree(String(path.dropFirst(parent.utf8.count + 1))) }
    let directory = try Directory(path)
    try body(FuzzFolder(directory: directory, committer: try shared.get()))
  }
}
