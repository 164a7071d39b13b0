// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// Who started whom.
package enum ProcessTree {
  /// Whether a process is this one, or was started by it or by what it started, as far as is known now.
  ///
  /// nil when the process, or one on the way up from it, is gone or hidden: then nobody can say. 0 is a process that this
  /// one can't see because it lives in a namespace around its own, and so is none of its children.
  package static func descends(_ process: pid_t) -> Bool? {
    var current = process
    let own = getpid()
    // Deeper than any tree that a person makes; a loop, which a number given anew could make, ends too.
    for _ in 0..<256 {
      if current == own { return true }
      if current <= 1 { return false }
      guard let parent = parent(of: current) else { return nil }
      current = parent
    }
    return nil
  }

  static func parent(of process: pid_t) -> pid_t? {
    guard let folder = try? Directory("/proc/\(process)"), let bytes = try? folder.content(of: "stat", limit: 4096)
    else {
      return nil
    }
    // The second field is a name in parentheses, which may hold any of them itself.
    guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? pid_t(String(fields[1])) : nil
  }

  /// From now on what loses its parent becomes this process's child, however often it forked before.
  package static func adoptOrphans() { _ = relay_adopt_orphans() }

  /// Takes the ends of adopted processes off the kernel's table; those in `kept` are left to whoever waits for them.
  package static func buryOrphans(except kept: Set<pid_t>) {
    while let ended = ended(), !kept.contains(ended) {
      var status: Int32 = 0
      guard waitpid(ended, &status, WNOHANG) == ended else { return }
    }
  }

  /// A child that has ended and wasn't waited for yet.
  private static func ended() -> pid_t? {
    let found = relay_ended_child()
    return found > 0 ? found : nil
  }
}
