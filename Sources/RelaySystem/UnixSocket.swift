// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// Stream sockets between processes of one machine, and the descriptors that travel over them.
package enum UnixSocket {
  /// The most descriptors that go with one message.
  package static let mostDescriptors = 64

  package static func pair() throws(SystemError) -> (Descriptor, Descriptor) {
    var numbers: [Int32] = [-1, -1]
    try invoke(.socket, on: "socketpair") { Int(relay_socket_pair(&numbers)) }
    return (
      Descriptor(owning: numbers[0], path: "(socket)"), Descriptor(owning: numbers[1], path: "(socket)")
    )
  }

  /// A pipe: what is written to the second can be read from the first.
  package static func pipe() throws(SystemError) -> (read: Descriptor, write: Descriptor) {
    var numbers: [Int32] = [-1, -1]
    try invoke(.socket, on: "pipe") { Int(relay_pipe(&numbers)) }
    return (Descriptor(owning: numbers[0], path: "(pipe)"), Descriptor(owning: numbers[1], path: "(pipe)"))
  }

  /// Listens under a name in a folder, replacing a socket that is left there. The path may be longer than the 107
  /// bytes a socket address holds: it is reached through the folder's descriptor.
  package static func listen(in folder: Directory, _ name: String, mode: UInt32) throws(SystemError) -> Descriptor {
    do {
      try folder.remove(name)
    } catch {
      guard error.code == ENOENT else { throw error }
    }
    let path = "/proc/self/fd/\(folder.descriptor.number)/\(name)"
    let number = try invoke(.listen, on: folder.path + "/" + name) { Int(relay_listen_unix(path, mode, 128)) }
    return Descriptor(owning: Int32(number), path: folder.path + "/" + name)
  }

  package static func connect(in folder: Directory, _ name: String) throws(SystemError) -> Descriptor {
    let path = "/proc/self/fd/\(folder.descriptor.number)/\(name)"
    let number = try invoke(.connect, on: folder.path + "/" + name) { Int(relay_connect_unix(path)) }
    return Descriptor(owning: Int32(number), path: folder.path + "/" + name)
  }

  /// The next waiting connection; nil when there is none.
  package static func accept(_ listener: Descriptor) throws(SystemError) -> Descriptor? {
    do {
      let number = try invoke(.accept, on: listener.path) { Int(relay_accept(listener.number)) }
      return Descriptor(owning: Int32(number), path: listener.path)
    } catch {
      if error.code == EAGAIN || error.code == ECONNABORTED { return nil }
      throw error
    }
  }

  /// Who is at the other end, as the kernel knows it.
  package static func peer(_ socket: Descriptor) throws(SystemError) -> (pid: pid_t, user: UInt32, group: UInt32) {
    var pid: pid_t = 0
    var user: uid_t = 0
    var group: gid_t = 0
    try invoke(.status, on: socket.path) { Int(relay_peer(socket.number, &pid, &user, &group)) }
    return (pid, user, group)
  }
}

extension Descriptor {
  /// One send with descriptors on the first byte; how many bytes went, or nil when the socket is full (non-blocking).
  package func send(_ bytes: ArraySlice<UInt8>, with descriptors: [Descriptor] = []) throws(SystemError) -> Int? {
    let numbers = descriptors.map(\.number)
    do {
      return try invoke(.send, on: path) {
        bytes.withUnsafeBytes { relay_send(number, $0.baseAddress, $0.count, numbers, numbers.count) }
      }
    } catch {
      if error.code == EAGAIN { return nil }
      throw error
    }
  }

  /// One receive; an empty array of bytes is the end, nil means nothing is there yet (non-blocking).
  package func receive(
    limit: Int = 64 * 1024
  ) throws(SystemError) -> (bytes: ArraySlice<UInt8>, descriptors: [Descriptor])? {
    var room = [UInt8](repeating: 0, count: limit)
    var numbers = [Int32](repeating: -1, count: UnixSocket.mostDescriptors)
    var count = numbers.count
    let got: Int
    do {
      got = try invoke(.receive, on: path) {
        count = numbers.count
        return relay_receive(number, &room, room.count, &numbers, &count)
      }
    } catch {
      if error.code == EAGAIN { return nil }
      throw error
    }
    return (room[..<got], numbers.prefix(count).map { Descriptor(owning: $0, path: "(received)") })
  }

  /// How long a blocking receive or send waits before it fails with EAGAIN; in milliseconds.
  package func setTimeouts(milliseconds: Int64) throws(SystemError) {
    var wait = timeval(tv_sec: Int(milliseconds / 1000), tv_usec: Int(milliseconds % 1000) * 1000)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      try invoke(.status, on: path) {
        Int(setsockopt(number, SOL_SOCKET, option, &wait, socklen_t(MemoryLayout<timeval>.size)))
      }
    }
  }
}
