// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// Tells that something happened in folders (inotify). Only a hint: whoever uses it looks into the folder, and looks
/// again from time to time, since events can be lost.
package final class FolderWatch: Sendable {
  package let descriptor: Descriptor

  package init() throws(SystemError) {
    let number = try invoke(.watch, on: "") { Int(relay_inotify_create()) }
    descriptor = Descriptor(owning: Int32(number), path: "(inotify)")
  }

  /// Watches a folder for files that were written, moved or removed; the number tells it in events.
  package func add(_ path: String) throws(SystemError) -> Int32 {
    let events = UInt32(IN_CLOSE_WRITE) | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
    return Int32(try invoke(.watch, on: path) { Int(relay_inotify_add(descriptor.number, path, events)) })
  }

  /// The numbers of the folders where something happened since the last call; -1 among them: events were lost.
  package func takeEvents() -> Set<Int32> {
    var found: Set<Int32> = []
    var room = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let got = Glibc.read(descriptor.number, &room, room.count)
      guard got > 0 else { return found }
      var place = 0
      // struct inotify_event: watch, mask, cookie, length of the name, name
      while place + 16 <= got {
        let (watch, length) = room.withUnsafeBytes { raw in
          (
            raw.loadUnaligned(fromByteOffset: place, as: Int32.self),
            raw.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)
          )
        }
        found.insert(watch)
        place += 16 + Int(length)
      }
    }
  }
}

/// Signals as events of a descriptor.
package final class SignalWatch: Sendable {
  package let descriptor: Descriptor

  /// Blocks the signals for the process, before any thread is started, and reads them from now on.
  package init(_ signals: [Int32]) throws(SystemError) {
    let number = try invoke(.signal, on: "") { Int(relay_signalfd(signals, signals.count)) }
    descriptor = Descriptor(owning: Int32(number), path: "(signals)")
    // A write beyond RLIMIT_FSIZE and a write to a closed pipe are errors of the call, not ends of the program.
    _ = relay_ignore_signal(SIGPIPE)
    _ = relay_ignore_signal(SIGXFSZ)
    _ = relay_ignore_signal(SIGURG)
  }

  /// The next signal that came; nil when there is none.
  package func next() -> Int32? {
    let signal = relay_next_signal(descriptor.number)
    return signal == 0 ? nil : signal
  }
}
