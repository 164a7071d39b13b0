// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import MailServiceTargetLogic

/// A conversation that ends at any point, and what the next attempt makes of it.
@Suite struct CutTests {
  static let cuts = ["head", "body", "before", "after", "line", "fields", "within", "garbage"]

  static func rule(_ cut: String) -> String { cut == "garbage" ? #"{"garbage": true}"# : "{\"cut\": \"\(cut)\"}" }

  /// Larger than what the kernel keeps of a connection, so that it isn't sent before it is read.
  static let bytes = (0..<6_900_000).map { UInt8(truncatingIfNeeded: $0 &* 131 &>> 3) }
  static var delivery: FakeDelivery { FakeDelivery(bytes) }

  @Test(arguments: Service.allCases, cuts)
  func `a cut is a retry with the same bytes and the same key`(service: Service, cut: String) throws {
    let scene = try Scene(service)
    try scene.next(Self.rule(cut))
    let first = scene.deliver(Self.delivery)
    // SendGrid's 202 has no body to be cut.
    let isWhole = service == .sendgrid && cut == "within"
    #expect(first.outcome == (isWhole ? .delivered : .retry))
    let wasSent = !["head", "body"].contains(cut)
    #expect(first.maybeDelivered == (wasSent && !isWhole && service != .resend))
    if isWhole { return }
    #expect(scene.deliver(Self.delivery).outcome == .delivered)
    let requests = try scene.requests()
    #expect(requests.count == 2)
    #expect(Set(requests.map { $0["Idempotency-Key"] }) == [service == .resend ? Self.delivery.deliveryID : nil])
    #expect(Set(requests.map(\.length)).count == 1)
    if wasSent { #expect(Set(requests.map(\.sha256)).count == 1) }
    let wasTaken = !["head", "body", "before"].contains(cut)
    let mails = try scene.mails()
    // Resend recognises the repeat; the other two have no way to.
    #expect(mails.count == (wasTaken && service != .resend ? 2 : 1))
    #expect(Set(mails.map { $0.headers["X-Entity-Ref-ID"] }) == [Self.delivery.deliveryID])
    #expect(Set(mails.map { $0.headers["Message-ID"] }).count == 1)
  }

  @Test(arguments: Service.allCases)
  func `a connection that breaks at any byte of the request or the answer loses no mail`(service: Service) throws {
    let proxy = try CuttingProxy(to: Peer.shared.get().port)
    var outcomes: [Verdict.Outcome: Int] = [:]
    for bytes in Array(stride(from: 0, to: 1200, by: 97)) {
      for way in ["up", "down"] {
        let scene = try Scene(service)
        scene.host.settings.set(
          "endpoint", .text("http://127.0.0.1:\(proxy.port)/" + (scene.world.split(separator: "/").last ?? "")))
        try proxy.obey("\(way) \(bytes)")
        let first = scene.deliver()
        outcomes[first.outcome, default: 0] += 1
        try proxy.obey("pass")
        if first.outcome == .delivered {
          #expect(try scene.mails().count == 1, "\(way) \(bytes)")
          continue
        }
        #expect(first.outcome == .retry, "\(way) \(bytes)")
        let taken = try scene.mails().count
        if taken == 1 { #expect(first.maybeDelivered == (service != .resend), "\(way) \(bytes)") }
        #expect(scene.deliver().outcome == .delivered, "\(way) \(bytes)")
        #expect(try scene.mails().count == (service == .resend ? 1 : taken + 1), "\(way) \(bytes)")
      }
    }
    #expect(outcomes[.retry, default: 0] > 5)
  }

  @Test func `a key that is under way is waited for`() throws {
    let scene = try Scene(.resend)
    try scene.next(#"{"cut": "after"}"#, #"{"busy": true}"#)
    #expect(scene.deliver().outcome == .retry)
    #expect(scene.deliver().outcome == .retry)
    let verdict = scene.deliver()
    #expect(verdict.outcome == .delivered)
    #expect(try scene.mails().map(\.id) == [verdict.receipt])
  }

  @Test func `a mail that a person changed after it was sent needs attention, not a new key`() throws {
    let scene = try Scene(.resend)
    try scene.next(#"{"cut": "after"}"#)
    #expect(scene.deliver().outcome == .retry)
    scene.host.settings.set("text", "Changed")
    let verdict = scene.deliver()
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.status == 409)
    #expect(verdict.message.contains("was changed after a mail for this artifact was sent"))
    #expect(try scene.mails().count == 1)
  }

  @Test(arguments: Service.allCases)
  func `stopping while the answer is awaited may have delivered`(service: Service) throws {
    let scene = try Scene(service)
    let silent = try SilentListener()
    scene.host.settings.set("endpoint", .text("http://127.0.0.1:\(silent.port)"))
    scene.host.stopWhen = { host in host.progressed.last.map { $0.done > 0 && $0.done == $0.total } ?? false }
    let verdict = scene.deliver()
    #expect(verdict.outcome == .retry)
    #expect(verdict.maybeDelivered == (service != .resend))
    scene.host.stopWhen = { _ in true }
    #expect(scene.deliver().outcome == .cancelled)
  }

  @Test(arguments: Service.allCases)
  func `nobody there is a retry in which nothing was sent`(service: Service) throws {
    let scene = try Scene(service)
    scene.host.settings.set("endpoint", "http://127.0.0.1:1")
    let verdict = scene.deliver()
    #expect(verdict.outcome == .retry)
    #expect(verdict.reason == .network)
    #expect(!verdict.maybeDelivered)
    #expect(scene.host.deliveryState.isEmpty)
  }

  @Test func `a dead kept connection is made good only where a repeat is recognised`() throws {
    for service in Service.allCases {
      let scene = try Scene(service)
      let session = try scene.host.open(MailServiceTarget.self)
      #expect(session.deliver(FakeDelivery("1")).outcome == .delivered)
      scene.host.eraseDeliveryState()
      var second = FakeDelivery("2")
      second.deliveryID = "5d1d2f52-6f5f-4a3c-b0b5-4b8c6e5f7a90"
      try scene.next(#"{"cut": "after"}"#)
      let verdict = session.deliver(second)
      #expect(verdict.outcome == (service == .resend ? .delivered : .retry))
      #expect(verdict.maybeDelivered == (service != .resend))
      #expect(try scene.mails().count == 2)
    }
  }
}

/// A socket that takes connections and never says a word.
final class SilentListener {
  let port: Int
  private let descriptor: Int32

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listens = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
          && getsockname(descriptor, address, &size) == 0
      }
    }
    self.descriptor = descriptor
    try #require(listens)
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }

  /// Whether anybody connected.
  var hasCaller: Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return Glibc.poll(&poll, 1, 0) == 1
  }
}

/// cutting_proxy.py before a server.
final class CuttingProxy {
  let port: Int
  private let child: pid_t
  private let rules: Int32
  private let answers: Int32

  init(to server: Int) throws {
    let (input, output) = (try Channel.pipe(), try Channel.pipe())
    // Connections that are cut while it ends make Python complain.
    let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(nothing) }
    let script = Repository.path("Tests/Fixtures/servers/cutting_proxy.py")
    child = try Command.spawn(["python3", script, "\(server)"], [(input.read, 0), (output.write, 1), (nothing, 2)])
    close(input.read)
    close(output.write)
    (rules, answers) = (input.write, output.read)
    port = try #require(Int(Self.line(answers)))
  }

  deinit {
    close(rules)
    close(answers)
    _ = Command.wait(for: child)
  }

  func obey(_ rule: String) throws {
    let bytes = Array("\(rule)\n".utf8)
    try #require(write(rules, bytes, bytes.count) == bytes.count && Self.line(answers) == "ok")
  }

  private static func line(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
