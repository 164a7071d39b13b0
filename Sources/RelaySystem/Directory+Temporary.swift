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
    // In one step for the thread that waits for signals: what is there is known.
    return try TemporaryFolders.made.withLock { (known: inout Set<String>) throws(SystemError) -> String in
      guard let made = mkdtemp(&template) else {
        throw SystemError(call: .makeDirectory, code: errno, subject: "a temporary folder")
      }
      let path = String(cString: made)
      known.insert(path)
      return path
    }
  }

  /// Removes what stands at a path, with all that is in it.
  package static func removeTree(at path: String) throws(SystemError) {
    defer { TemporaryFolders.made.withLock { _ = $0.remove(path) } }
    try removeStanding(at: path)
  }

  fileprivate static func removeStanding(at path: String) throws(SystemError) {
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
    // Held to the end of the process: no new one is made.
    made.withLock { known in
      for path in known {
        // Another thread may still be writing into it; each file is the last for some time.
        for _ in 0..<100 where access(path, F_OK) == 0 { try? Directory.removeStanding(at: path) }
      }
      end(by: came, &signals)
    }
  }

  /// As if nobody had waited for it, so that a shell sees what ended the command.
  private static func end(by signal: Int32, _ signals: inout sigset_t) {
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(signal)
  }
}
