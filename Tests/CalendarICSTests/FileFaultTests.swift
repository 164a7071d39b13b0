// SPDX-License-Identifier: Apache-2.0
import DurableFiles
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@testable import CalendarICSLogic

extension FakeHost {
  /// Delivers with a kernel whose calls can fail.
  func deliver(_ delivery: FakeDelivery, kernel: Kernel) -> Verdict {
    do throws(Verdict) {
      return try open { host throws(Verdict) in try CalendarTarget(host: host, kernel: kernel) }.deliver(delivery)
    } catch {
      return error
    }
  }
}

@Suite struct FileFaultTests {
  @Test(arguments: [Kernel.Call.openFolder, .create, .write, .sync, .close, .rename, .look])
  func `a call that fails leaves the old file and no part`(call: Kernel.Call) throws {
    let place = try FilePlace()
    let host = place.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    let before = try place.bytes()
    let next = try part([Listed(title: "Other"), Listed(key: "run-2")])
    for code in [ENOSPC, EIO, EROFS] {
      let verdict = host.deliver(next, kernel: Kernel { $0 == call ? code : nil })
      #expect(verdict.outcome == (code == EROFS ? .needsAttention : .retry))
      #expect(verdict.status == code)
      #expect(try place.bytes() == before)
      #expect(place.names == ["health.ics"])
    }
    #expect(host.deliver(next).outcome == .delivered)
    #expect(try place.events().map(\.title) == ["Other", "Run"])
    #expect(try place.events().map(\.sequence) == [1, 0])
  }

  @Test func `after a stop at any call the next attempt brings the whole picture`() throws {
    let reference = try FilePlace()
    let first = try part([Listed(), Listed(key: "run-2")])
    let second = try part([Listed(title: "Other"), Listed(key: "run-3")], created: 1_796_040_000_000)
    let untroubled = reference.host()
    #expect(untroubled.deliver(first).outcome == .delivered)
    #expect(untroubled.deliver(second).outcome == .delivered)
    let expected = try reference.bytes()
    for calls in 0... {
      let place = try FilePlace()
      let host = place.host()
      #expect(host.deliver(first).outcome == .delivered)
      let before = try place.bytes()
      var left = calls
      var stopped = false
      let kernel = Kernel { _ in
        left -= 1
        stopped = stopped || left < 0
        return stopped ? EIO : nil
      }
      let verdict = host.deliver(second, kernel: kernel)
      if !stopped {
        #expect(verdict.outcome == .delivered)
        break
      }
      #expect(verdict.outcome == .retry)
      let between = try place.bytes()
      #expect(between == before || between == expected)
      #expect(host.deliver(second).outcome == .delivered)
      #expect(try place.bytes() == expected)
      #expect(place.names == ["health.ics"])
    }
  }

  @Test func `a state that cannot be saved is a retry and leaves the file`() throws {
    let place = try FilePlace()
    let host = place.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    let before = try place.bytes()
    host.stateFails = true
    #expect(host.deliver(try part([Listed(title: "Other")])).outcome == .retry)
    #expect(try place.bytes() == before)
  }

  @Test func `a state that is full needs attention and leaves the file`() throws {
    let place = try FilePlace()
    let host = place.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    let before = try place.bytes()
    host.stateIsFull = true
    #expect(host.deliver(try part([Listed(key: "run-2")])).outcome == .needsAttention)
    #expect(try place.bytes() == before)
  }

  @Test func `a stop in the middle is cancelled, and the next attempt goes on`() throws {
    let place = try FilePlace()
    let host = place.host()
    let many = try part((0..<50).map { Listed(key: "k\($0)") })
    host.stopWhen = { $0.statePuts.count >= 20 }
    #expect(host.deliver(many).outcome == .cancelled)
    #expect(place.names.isEmpty)
    host.stopWhen = { _ in false }
    #expect(host.deliver(many).message == "events: 30 made, 20 unchanged")
    #expect(try place.events().count == 50)
  }

  @Test(.enabled(if: getuid() == 0, "mounting needs root"))
  func `a full disk is a retry that leaves the old file`() throws {
    let place = try FilePlace()
    guard try Command.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place.folder]).status == 0 else { return }
    defer { _ = try? Command.run(["umount", place.folder]) }
    let host = place.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    let before = try place.bytes()
    let large = try part((0..<10).map { Listed(key: "k\($0)", notes: String(repeating: "n", count: 20_000)) })
    let verdict = host.deliver(large)
    #expect(verdict.outcome == .retry)
    #expect(verdict.reason == .receiverFull)
    #expect(try place.bytes() == before)
    #expect(place.names == ["health.ics"])
  }

  @Test(.enabled(if: getuid() != 0, "root may write anywhere"))
  func `a folder that is not ours needs attention`() throws {
    let place = try FilePlace()
    #expect(chmod(place.folder, 0o500) == 0)
    defer { chmod(place.folder, 0o700) }
    #expect(place.host().deliver(try part([Listed()])).status == EACCES)
  }

  @Test(arguments: ["health.ics", "/", "/srv/", "/srv/.."])
  func `a path that names no file needs attention when the target opens`(path: String) throws {
    #expect(FakeHost(settings: ["file": .text(path)]).deliver(try part([])).outcome == .needsAttention)
  }

  @Test func `a folder or a pipe in the file's place stays`() throws {
    let place = try FilePlace()
    #expect(mkdir(place.path, 0o700) == 0)
    #expect(place.host().deliver(try part([Listed()])).outcome == .needsAttention)
    #expect(rmdir(place.path) == 0)
    #expect(mkfifo(place.path, 0o600) == 0)
    #expect(place.host().deliver(try part([Listed()])).outcome == .needsAttention)
  }
}
