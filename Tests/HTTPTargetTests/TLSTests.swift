// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTargetLogic
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

/// An authority and certificates of the tests' own.
struct Certificates {
  let folder: String

  init() throws {
    // As in a worker: OpenSSL writes to sockets that the other side may have closed.
    signal(SIGPIPE, SIG_IGN)
    folder = TemporaryFolder.shared.path("certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let made = try Child.run(["sh", Peer.fixture("servers/make_certificates.sh"), folder])
    try #require(made.status == 0)
  }

  func file(_ name: String) -> String { "\(folder)/\(name)" }
}

@Suite struct TLSTests {
  let certificates: Certificates

  init() throws {
    certificates = try Certificates()
  }

  func deliver(_ certificate: String, tls: FakeValue?, asksForOurs: Bool = false) throws -> Verdict {
    let files = [certificates.file("\(certificate).pem"), certificates.file("\(certificate).key")]
    let peer = try Peer(tls: asksForOurs ? files + [certificates.file("ca.pem")] : files)
    var settings: FakeValue = ["url": .text(peer.url("/status/200"))]
    if let tls { settings.set("tls", tls) }
    return FakeHost(settings: settings).deliver(HTTPTarget.self, FakeDelivery("{}"))
  }

  @Test func `an authority of one's own is trusted when it is named`() throws {
    #expect(try deliver("good", tls: ["ca": .text(certificates.file("ca.pem"))]).outcome == .delivered)
  }

  @Test func `an unknown authority, another host's and an expired certificate need attention`() throws {
    let ours: FakeValue = ["ca": .text(certificates.file("ca.pem"))]
    for (name, tls) in [("good", nil), ("other", ours), ("expired", ours)] {
      let verdict = try deliver(name, tls: tls)
      #expect(verdict.outcome == .needsAttention, "\(name)")
      #expect(verdict.reason == .tls)
      #expect(verdict.message.contains("certificate"))
    }
  }

  @Test func `a proxy's answer to CONNECT isn't taken for the receiver's`() throws {
    // The receiver takes longer than the time in which an answer's body has to follow its head.
    let peer = try Peer(tls: [certificates.file("good.pem"), certificates.file("good.key")])
    let proxy = try Child(["python3", Repository.path("Tests/Fixtures/servers/connect_proxy.py")])
    let host = FakeHost(settings: [
      "url": .text(peer.url("/pace/400/201")), "proxy": .text("http://127.0.0.1:\(proxy.line())"),
      "tls": ["ca": .text(certificates.file("ca.pem"))],
    ])
    let verdict = host.deliver(HTTPTarget.self, FakeDelivery(FakeSource(zeros: 1_050_000)))
    #expect(verdict.outcome == .delivered, "\(verdict.message)")
    #expect(try peer.requests("/pace/400/201").map(\.length) == [1_050_000])
  }

  @Test func `our certificate is shown to a receiver that asks for one`() throws {
    let ca = FakeValue.text(certificates.file("ca.pem"))
    let ours: FakeValue = [
      "ca": ca, "certificate": .text(certificates.file("client.pem")), "key": .text(certificates.file("client.key")),
    ]
    #expect(try deliver("good", tls: ours, asksForOurs: true).outcome == .delivered)
    #expect(try deliver("good", tls: ["ca": ca], asksForOurs: true).outcome == .retry)
  }

  @Test func `certificate files that cannot be used need attention`() throws {
    let ca = FakeValue.text(certificates.file("ca.pem"))
    for tls: FakeValue in [["ca": "/nowhere.pem"], ["ca": ca, "certificate": "/nowhere.pem", "key": "/nowhere.key"]] {
      let verdict = try deliver("good", tls: tls)
      #expect(verdict.outcome == .needsAttention)
      #expect(verdict.reason == .tls)
    }
  }
}

/// A server that many receivers stand behind.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx"), "nginx is not installed"))
struct NginxTests {
  let certificates: Certificates
  let server: Child
  let plain: String
  let secure: String

  init() throws {
    certificates = try Certificates()
    server = try Child(["sh", Peer.fixture("servers/nginx.sh"), certificates.folder])
    let ports = server.line().split(separator: " ")
    try #require(ports.count == 2)
    plain = "http://127.0.0.1:\(ports[0])"
    secure = "https://127.0.0.1:\(ports[1])"
  }

  func deliver(_ url: String, _ bytes: UInt64 = 2, _ more: [(String, FakeValue)] = []) -> Verdict {
    var settings: FakeValue = ["url": .text(url), "tls": ["ca": .text(certificates.file("ca.pem"))]]
    for (name, value) in more { settings.set(name, value) }
    return FakeHost(settings: settings).deliver(HTTPTarget.self, FakeDelivery(FakeSource(zeros: bytes)))
  }

  @Test func `its limit refuses what is too large with and without TLS and HTTP 2`() {
    #expect(deliver(plain + "/", 1000).outcome == .delivered)
    for (url, version) in [(plain, "1.1"), (secure, "1.1"), (secure, "auto"), (secure, "2")] {
      let verdict = deliver(url + "/", 3 << 20, [("httpVersion", .text(version))])
      #expect(verdict.outcome == .refused, "\(url) \(version)")
      #expect(verdict.status == 413)
      #expect(verdict.message.contains("413 Request Entity Too Large"))
    }
  }

  @Test func `the HTTP version is as configured`() {
    #expect(deliver(secure + "/version").message == "HTTP/1.1")
    #expect(deliver(secure + "/version", 2, [("httpVersion", "auto")]).message == "HTTP/2.0")
    #expect(deliver(plain + "/version", 2, [("httpVersion", "auto")]).message == "HTTP/1.1")
  }

  @Test func `a receiver that speaks no TLS is a retry`() {
    let verdict = deliver(plain.replacing("http:", with: "https:") + "/")
    #expect(verdict.outcome == .retry)
    #expect(!verdict.maybeDelivered)
  }

  @Test func `PUT replaces a file`() throws {
    for (url, bytes, version) in [(plain, 5_000_000, "1.1"), (secure, 70_000, "1.1"), (secure, 5_000_000, "auto")] {
      let verdict = deliver(
        url + "/dav/a.bin", UInt64(bytes), [("method", "PUT"), ("httpVersion", .text(version))])
      #expect(verdict.outcome == .delivered)
      #expect(try Data(contentsOf: URL(filePath: certificates.file("dav/a.bin"))) == Data(count: bytes))
    }
  }

  @Test func `a permanent redirect needs attention`() {
    let verdict = deliver(plain + "/old")
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.message.contains("/new"))
  }
}
