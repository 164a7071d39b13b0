// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

extension Directory {
  /// Makes a folder for what nobody needs later, in `$TMPDIR` or `/tmp`; for this user only. Whoever makes it removes it,
  /// and a signal that ends the process does so as well.
  ///
  /// - Returns: Its path.
  package static func makeTemporary() throws(SystemError) -> String {
    TemporaryFolders.removeWhenEnded
    // Whoever starts the program may have named no folder, or any text: mkdtemp says whether it can be used.
    var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/relay-host-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw SystemError(call: .makeDirectory, code: errno, subject: "a temporary folder")
    }
    let path = String(cString: made)
    TemporaryFolders.made.withLock { _ = $0.insert(path) }
    return path
  }

  /// Removes what stands at a path, with all that is in it.
  package static func removeTree(at path: String) throws(SystemError) {
    defer { TemporaryFolders.made.withLock { _ = $0.remove(path) } }
    guard let slash = path.lastIndex(of: "/") else { return try Directory(".").removeTree(path) }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    try Directory(parent).removeTree(String(path[path.index(after: slash)...]))
  }
}

/// The temporary folders that this process has made and not removed yet.
private enum TemporaryFolders {
  static let made = Mutex<Set<String>>([])

  /// From the first use on, a thread waits for the signals by which people end a command. Those that whoever started it
  /// wants ignored stay ignored.
  static let removeWhenEnded: Void = {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP] {
      var known = sigaction()
      guard sigaction(signal, nil, &known) == 0 else { continue }
      if unsafeBitCast(known.__sigaction_handler.sa_handler, to: Int.self) != 1 { sigaddset(&signals, signal) }
    }
    // Blocked in this thread and in those that it starts from here on, so that the waiting one gets them.
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let awaited = signals
    do throws(SystemError) {
      try startThread("signals") { wait(for: awaited) }
    } catch {
      // Then they end the process as ever, and leave the folders.
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
  }()

  private static func wait(for awaited: sigset_t) {
    var signals = awaited
    var came: Int32 = 0
    guard sigwait(&signals, &came) == 0 else { return }
    for path in made.withLock({ $0 }) { try? Directory.removeTree(at: path) }
    // Ends as if nobody had waited for it, so that a shell sees what ended the command.
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(came)
  }
}
