// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Standard error as a place for whole lines that never makes anybody wait: neither for a pipe that nobody reads nor for a
/// terminal that was stopped.
enum StandardError {
  /// So much fits in at once where there is room at all (`PIPE_BUF`).
  private static let atOnce = 4096

  /// False if the line, or the rest of it, would have to wait.
  ///
  /// A descriptor that can't be written at all takes everything.
  static func write(_ line: String) -> Bool {
    let bytes = Array(line.utf8)
    var done = 0
    while done < bytes.count {
      var room = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
      guard poll(&room, 1, 0) > 0 else { return false }
      let written = bytes[done...].withUnsafeBytes { Glibc.write(2, $0.baseAddress, min($0.count, atOnce)) }
      if written < 0, errno == EINTR { continue }
      if written < 0, errno == EAGAIN { return false }
      guard written > 0 else { return true }
      done += written
    }
    return true
  }
}
