// SPDX-License-Identifier: Apache-2.0

/// What people read.
enum Words {
  static let notAbsolute = "\"directory\" must be an absolute path, as /srv/scans"
  static let appendGzip = "\"append\" needs plain text: remove \"encode\" from \"delivery\""
  static let notAFile = "is no regular file; choose another \"file\""
  static let damaged = "the bytes to deliver are not as many as announced"
  static let manyNames = "more than 10000 files have this name; clear the folder or choose another \"file\""
  static let locked = "another program holds the lock of"
  static let moving = "the file was moved away again and again while it was opened:"

  static func notPlain(_ name: String) -> String {
    "\"\(name)\" is no plain file name: \"file\" must not be empty, \".\", \"..\" or hold a slash"
  }

  static func notMounted(_ directory: String) -> String {
    "no disk is mounted at \(directory) or above it; mount it, or turn off \"requireMount\""
  }
}
