// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the kernel knows about a connection that the library drives.
struct TCPSocket {
  let descriptor: Int32

  /// The error that ended the connection or an attempt at one, 0 for none; asking clears it.
  var error: Int32 {
    var number: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 ? number : errno
  }

  var isIPv6: Bool {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return code == 0 && address.ss_family == sa_family_t(AF_INET6)
  }

  /// Bytes that the other side's machine has acknowledged.
  ///
  /// The library does not tell how much of a message has left; the kernel does.
  var acknowledged: UInt64 {
    // Where tcpi_bytes_acked is in linux/tcp.h, which glibc's own declaration does not reach.
    let offset = 120
    var info = [UInt8](repeating: 0, count: 256)
    var size = socklen_t(info.count)
    guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0, Int(size) >= offset + 8 else {
      return 0
    }
    return info.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
  }

  /// Bytes in the kernel that were not acknowledged yet.
  var waiting: Int32 {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
  }

  /// What happened within so many milliseconds; an empty set if nothing did.
  static func wait(
    _ descriptor: Int32, _ events: Int32, or cancel: Int32, milliseconds: Int64
  ) -> Int16 {
    var places = [
      pollfd(fd: descriptor, events: Int16(events), revents: 0), pollfd(fd: cancel, events: Int16(POLLIN), revents: 0),
    ]
    // A signal ends the wait early, which is as good as time that passed.
    guard poll(&places, nfds_t(places.count), Int32(clamping: milliseconds)) > 0 else { return 0 }
    return places[0].revents
  }
}
