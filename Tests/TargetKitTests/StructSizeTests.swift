// SPDX-License-Identifier: Apache-2.0
import Glibc
import TargetABI
import TargetKit
import Testing

/// A host that was compiled with other sizes than this target.
///
/// Each struct ends where its memory ends, so one byte read or written too far is a crash.
@Suite struct StructSizeTests {
  /// Memory behind which nothing may be touched.
  private final class Edge {
    private let pages: UnsafeMutableRawPointer
    let start: UnsafeMutableRawPointer

    init(_ size: Int) throws {
      let page = Int(getpagesize())
      let mapped = mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      pages = try #require(mapped != MAP_FAILED ? mapped : nil)
      try #require(mprotect(pages + page, page, PROT_NONE) == 0)
      start = pages + page - size
    }

    deinit { munmap(pages, 2 * Int(getpagesize())) }
  }

  private struct Probe: CheckableTarget {
    static let manifest = "{}"
    init(host: Host) throws(Verdict) {}

    mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
      // What the host lacks is absent, not a crash.
      host.log(.info, "line")
      host.progress(1, of: 2)
      let text = try host.text("a")
      let names = try host.names("b")
      let next = try host.state(.pipeline).key(after: "")
      let isBare = text == nil && names == [] && next == nil && delivery.attributes.isEmpty
      guard isBare, delivery.length == 7, delivery.fileName == "" else { return .refused(.content, "not as given") }
      return Verdict(
        .retry, reason: .throttled, status: 429, message: "later", retryAfter: .seconds(90), maybeDelivered: true,
        bytesSent: 5)
    }

    mutating func check(host: Host) throws(Verdict) -> Verdict {
      _ = try host.scratch(maximum: 1)
      return .delivered()
    }
  }

  @Test func `structs of an older host are read and written as far as they go`() throws {
    let hostSize = try #require(MemoryLayout<relay_host>.offset(of: \.log))
    let deliverySize = try #require(MemoryLayout<relay_delivery>.offset(of: \.sha256))
    let verdictSize = try #require(MemoryLayout<relay_verdict>.offset(of: \.retry_after_ms))
    let host = try Edge(hostSize)
    let delivery = try Edge(deliverySize)
    let verdict = try Edge(verdictSize)
    for (edge, size) in [(host, hostSize), (delivery, deliverySize), (verdict, verdictSize)] {
      edge.start.storeBytes(of: UInt32(size), as: UInt32.self)
    }
    delivery.start.storeBytes(of: 7, toByteOffset: 8, as: UInt64.self)
    let table = UnsafePointer(host.start.assumingMemoryBound(to: relay_host.self))
    let result = verdict.start.assumingMemoryBound(to: relay_verdict.self)
    var instance: UnsafeMutableRawPointer?
    #expect(TargetEntry<Probe>.open(table, &instance, result) == RELAY_OK)
    defer { TargetEntry<Probe>.close(instance) }
    let given = UnsafePointer(delivery.start.assumingMemoryBound(to: relay_delivery.self))
    #expect(TargetEntry<Probe>.deliver(table, instance, given, result) == RELAY_OK)
    #expect(verdict.start.loadUnaligned(as: UInt32.self) == UInt32(verdictSize))
    #expect(verdict.start.loadUnaligned(fromByteOffset: 4, as: Int32.self) == RELAY_RETRY)
    #expect(verdict.start.loadUnaligned(fromByteOffset: 8, as: Int32.self) == RELAY_REASON_THROTTLED)
    #expect(verdict.start.loadUnaligned(fromByteOffset: 12, as: Int32.self) == 429)
    #expect(TargetEntry<Probe>.check(table, instance, result) == RELAY_OK)
    #expect(verdict.start.loadUnaligned(fromByteOffset: 4, as: Int32.self) == RELAY_RETRY)
  }

  @Test func `a newer host's longer structs are filled in to our end`() {
    let size = MemoryLayout<relay_verdict>.size + 64
    let room = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    defer { room.deallocate() }
    room.initializeMemory(as: UInt8.self, repeating: 0xaa, count: size)
    room.storeBytes(of: UInt32(size), as: UInt32.self)
    var host = relay_host()
    host.size = UInt32(MemoryLayout<relay_host>.size)
    var delivery = relay_delivery()
    delivery.size = UInt32(MemoryLayout<relay_delivery>.size)
    delivery.length = 7
    var instance: UnsafeMutableRawPointer?
    let result = room.assumingMemoryBound(to: relay_verdict.self)
    #expect(TargetEntry<Probe>.open(&host, &instance, result) == RELAY_OK)
    defer { TargetEntry<Probe>.close(instance) }
    #expect(TargetEntry<Probe>.deliver(&host, instance, &delivery, result) == RELAY_OK)
    var verdict = relay_verdict()
    withUnsafeMutableBytes(of: &verdict) { $0.copyMemory(from: UnsafeRawBufferPointer(start: room, count: $0.count)) }
    #expect(verdict.size == UInt32(size))
    #expect(verdict.retry_after_ms == 90_000)
    #expect(verdict.bytes_sent == 5)
    #expect(verdict.flags == RELAY_MAYBE_DELIVERED)
    let beyond = UnsafeRawBufferPointer(start: room, count: size).dropFirst(MemoryLayout<relay_verdict>.size)
    #expect(beyond.allSatisfy { $0 == 0xaa })
  }

  @Test func `missing pointers are an answer, not a crash`() {
    #expect(TargetEntry<Probe>.describe(nil) == RELAY_FAILED)
    #expect(TargetEntry<Probe>.open(nil, nil, nil) == RELAY_FAILED)
    #expect(TargetEntry<Probe>.deliver(nil, nil, nil, nil) == RELAY_FAILED)
    TargetEntry<Probe>.close(nil)
    #expect(TargetEntry<Probe>.abi() == UInt32(RELAY_TARGET_ABI_MINOR))
  }
}
