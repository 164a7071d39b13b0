// SPDX-License-Identifier: Apache-2.0
import Glibc

extension Directory {
  /// Makes a folder for what nobody needs later, in `$TMPDIR` or `/tmp`; for this user only. Whoever makes it removes it.
  ///
  /// - Returns: Its path.
  package static func makeTemporary() throws(SystemError) -> String {
    // Whoever starts the program may have named no folder, or any text: mkdtemp says whether it can be used.
    var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/relay-host-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw SystemError(call: .makeDirectory, code: errno, subject: "a temporary folder")
    }
    return String(cString: made)
  }

  /// Removes what stands at a path, with all that is in it.
  package static func removeTree(at path: String) throws(SystemError) {
    guard let slash = path.lastIndex(of: "/") else { return try Directory(".").removeTree(path) }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    try Directory(parent).removeTree(String(path[path.index(after: slash)...]))
  }
}
