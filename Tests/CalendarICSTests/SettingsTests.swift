// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayConfig
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

@Suite struct SettingsTests {
  static func opening(_ settings: FakeValue, password: String? = nil) -> Verdict? {
    let host = FakeHost(settings: settings, secrets: password.map { ["password": $0] } ?? [:])
    do throws(Verdict) {
      _ = try host.open(CalendarTarget.self)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    arguments: [
      ([:], "set \"file\""), (["file": "/a.ics", "url": "https://a/"], "both set"),
      (["url": "https://a/", "username": "ada"], "belong together"),
      (["url": "https://ada:x@a/cal/"], "holds a user or password"), (["url": "https://a/cal/?export"], "holds ? or #"),
      (["url": "ftp://a/cal/"], "cannot be used"), (["url": "https://a/c al/"], "cannot be used"),
    ] as [(FakeValue, String)])
  func `settings that cannot work need attention when the target opens`(settings: FakeValue, words: String) throws {
    let verdict = try #require(Self.opening(settings))
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.message.contains(words), "\(verdict.message)")
  }

  @Test func `a password without a user, or a user with a colon, needs attention`() {
    #expect(Self.opening(["url": "https://a/"], password: "x")?.outcome == .needsAttention)
    #expect(Self.opening(["url": "https://a/", "username": "a:b"], password: "x")?.outcome == .needsAttention)
  }

  @Test func `a password crosses the network in clear only when that is allowed`() {
    for name in [
      "192.168.1.5:5232", "example.org", "127.0.0.1.example.org", "localhost.example.org", "[::2]", "127.evil",
    ] {
      let url = FakeValue.text("http://\(name)/cal/")
      let verdict = Self.opening(["url": url, "username": "ada"], password: "x")
      #expect(verdict?.outcome == .needsAttention, "\(name)")
      #expect(verdict?.message.contains("allowPasswordInClear") == true)
      #expect(Self.opening(["url": url]) == nil)
      #expect(Self.opening(["url": url, "username": "ada", "allowPasswordInClear": true], password: "x") == nil)
    }
    for url in [
      "https://example.org/", "HTTPS://example.org/c", "http://127.0.0.1:5232/c/", "http://localhost/",
      "http://[::1]:8/c",
    ] {
      #expect(Self.opening(["url": .text(url), "username": "ada"], password: "x") == nil, "\(url)")
    }
  }

  @Test func `an object's address is taken only within the calendar`() throws {
    let address = try ServerAddress("https://a:8443/dav/ada/cal")
    #expect(address.url == "https://a:8443/dav/ada/cal/")
    #expect(address.path(of: "/dav/ada/cal/x.ics") == "/dav/ada/cal/x.ics")
    #expect(address.path(of: "https://a:8443/dav/ada/cal/x%20y.ics") == "/dav/ada/cal/x%20y.ics")
    for href in [
      "/dav/ada/cal/", "/dav/ada/other/x.ics", "/dav/ada/cal/../other/x.ics", "/dav/ada/cal/..",
      "https://b/dav/ada/cal/x.ics",
      "https://a:84431/dav/ada/cal/x.ics", "x.ics", "", "/dav/ada/cal/x.ics?y", "/dav/ada/cal/x\r\ny.ics",
      "/dav/ada/cal/ü.ics",
    ] {
      #expect(address.path(of: href) == nil, "\(href)")
    }
  }

  @Test func `the host reads the manifest without complaint`() throws {
    let (manifest, problems) = TargetManifest.read(Array(CalendarManifest.json.utf8), origin: "libCalendarICS.so")
    #expect(problems.isEmpty)
    #expect(manifest?.id == "calendar-ics")
    #expect(manifest?.maximumBytes == Int64(EventPart.most))
  }
}
