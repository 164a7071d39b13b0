// SPDX-License-Identifier: Apache-2.0
import Glibc
import TargetKit

/// Asks the machines of the network for a local name: once, from a port of its own, so that they answer it alone (RFC 6762, section
/// 5.1). A confined target can't ask Avahi or another program that would know.
package struct MulticastResolver {
  /// Milliseconds after which it is asked, once more and once more again; then that is awaited.
  static let questions: [Int64] = [0, 400, 1000]
  static let patience: Int64 = 2000

  /// Where questions go, and answers come from.
  var port: UInt16 = 5353
  var group = "224.0.0.251"

  package init() {}

  /// Numeric addresses, those of IPv4 first; none when nobody answers in two seconds or the host wants the call to end.
  package func addresses(of name: LocalName, host: Host) -> [String] {
    guard let socket = DatagramSocket() else { return [] }
    let id = UInt16.random(in: .min ... .max)
    let question = MulticastMessage.question(name, id: id)
    let start = Self.now()
    var asked = 0
    while true {
      let passed = Self.now() - start
      guard passed < Self.patience, !host.shouldStop else { return [] }
      if asked < Self.questions.count, passed >= Self.questions[asked] {
        socket.send(question, to: group, port)
        asked += 1
      }
      let next = asked < Self.questions.count ? Self.questions[asked] : Self.patience
      // Small steps, so that the host's wish to stop is seen.
      guard let answer = socket.receive(from: port, within: min(100, max(1, next - passed))) else { continue }
      guard let found = MulticastMessage.addresses(in: answer, for: name, id: id), !found.isEmpty else { continue }
      return found
    }
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// A socket for datagrams that go out on every network that this machine is on.
private final class DatagramSocket {
  private let descriptor: Int32

  init?() {
    descriptor = socket(
      AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    if descriptor < 0 { return nil }
    var hops: Int32 = 255
    setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, &hops, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8], to group: String, _ port: UInt16) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, group, &address.sin_addr) == 1 else { return }
    for interface in Self.interfaces() {
      var interface = interface
      setsockopt(
        descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &interface, socklen_t(MemoryLayout<in_addr>.size))
      withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          _ = sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
  }

  /// What comes from that port within so many milliseconds; nil if nothing does.
  func receive(from port: UInt16, within milliseconds: Int64) -> [UInt8]? {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, Int32(clamping: milliseconds)) > 0 else { return nil }
    var room = [UInt8](repeating: 0, count: 9000)
    var sender = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let got = withUnsafeMutablePointer(to: &sender) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(descriptor, &room, room.count, 0, $0, &size)
      }
    }
    guard got > 0, UInt16(bigEndian: sender.sin_port) == port else { return nil }
    return Array(room.prefix(got))
  }

  /// Our own addresses in the networks that carry messages to all.
  private static func interfaces() -> [in_addr] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var found: [in_addr] = []
    var next = list
    while let entry = next {
      next = entry.pointee.ifa_next
      let flags = entry.pointee.ifa_flags
      guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_MULTICAST) != 0,
        let address = entry.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET), found.count < 32
      else { continue }
      found.append(address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr })
    }
    return found
  }
}
