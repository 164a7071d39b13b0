// SPDX-License-Identifier: Apache-2.0
import Dispatch
import DurableFiles
import Foundation
import TargetKit
import TargetKitTesting
import Testing

@testable import FolderTargetLogic

@Suite struct GrowingFileTests {
  static let settings: [(String, FakeValue)] = [("append", true), ("file", "log.ndjson")]
  let place: Place

  init() throws {
    place = try Place()
  }

  func deliver(_ text: String, _ id: String, host: FakeHost? = nil) -> Verdict {
    (host ?? place.host(Self.settings)).deliver(file(text, id: id))
  }

  @Test func `lines are added in order and each part ends its line`() {
    #expect(deliver("{\"a\":1}\n", "1").outcome == .delivered)
    #expect(deliver("{\"a\":2}", "2").outcome == .delivered)
    #expect(deliver("", "3").outcome == .delivered)
    #expect(deliver("{\"a\":3}\n", "4").outcome == .delivered)
    #expect(place.read("log.ndjson") == "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n")
    #expect(place.names == ["log.ndjson"])
  }

  @Test func `someone else's torn line is closed before ours`() throws {
    try place.write("log.ndjson", "{\"torn\":")
    #expect(deliver("{\"a\":1}\n", "1").outcome == .delivered)
    #expect(place.read("log.ndjson") == "{\"torn\":\n{\"a\":1}\n")
  }

  @Test(arguments: ["{\"z\":0}\n", "{\"z\":0}", ""], ["{\"a\":\"ä€😀\"}\n{\"a\":2}\n", "{\"a\":\"ä€😀\"}\n{\"a\":2}"])
  func `a file cut anywhere within our lines is mended, and a whole one is not added twice`(
    before: String, text: String
  ) throws {
    if !before.isEmpty { try place.write("log.ndjson", before) }
    let host = place.host(Self.settings)
    #expect(deliver(text, "1", host: host).outcome == .delivered)
    let whole = try #require(place.read("log.ndjson"))
    let lines = [before, text].filter { !$0.isEmpty }.map { $0.hasSuffix("\n") ? $0 : $0 + "\n" }
    #expect(whole == lines.joined())
    for length in before.utf8.count...whole.utf8.count {
      #expect(truncate("\(place.path)/log.ndjson", off_t(length)) == 0)
      #expect(deliver(text, "1", host: host).outcome == .delivered)
      #expect(place.read("log.ndjson") == whole, "cut at \(length)")
    }
  }

  @Test func `a machine that stops at any call adds the lines once after the next attempt`() throws {
    let text = (0..<40_000).map { "line \($0)\n" }.joined()
    for calls in 0..<200 {
      let place = try Place()
      try place.write("log.ndjson", "before")
      let host = place.host(Self.settings)
      let cut = PowerCut(after: calls, host)
      let first = host.deliver(file(text), kernel: cut.kernel)
      if cut.happened {
        #expect(first.outcome == .retry)
        host.stateFails = false
        #expect(host.deliver(file(text)).outcome == .delivered)
      }
      #expect(place.read("log.ndjson") == "before\n" + text, "stopped after \(calls) calls")
      if !cut.happened { return }
    }
    Issue.record("the delivery never came to its end")
  }

  @Test func `no room takes back what was written`() throws {
    try place.write("log.ndjson", "before\n")
    let host = place.host(Self.settings)
    var writes = 0
    let kernel = Kernel { call in
      guard call == .write else { return nil }
      writes += 1
      return writes > 1 ? ENOSPC : nil
    }
    let verdict = host.deliver(FakeDelivery(FakeSource(zeros: 1 << 20)), kernel: kernel)
    #expect(verdict.outcome == .retry)
    #expect(verdict.reason == .receiverFull)
    #expect(place.read("log.ndjson") == "before\n")
  }

  @Test func `damaged bytes take back what was written`() throws {
    try place.write("log.ndjson", "before\n")
    var delivery = FakeDelivery(FakeSource(zeros: 1 << 20))
    delivery.source.isDamaged = true
    #expect(place.host(Self.settings).deliver(delivery).reason == .source)
    #expect(place.read("log.ndjson") == "before\n")
  }

  @Test func `a file that was rotated away is begun anew`() throws {
    let host = place.host(Self.settings)
    #expect(deliver("one\n", "1", host: host).outcome == .delivered)
    try FileManager.default.moveItem(atPath: "\(place.path)/log.ndjson", toPath: "\(place.path)/log.1")
    try place.write("log.ndjson", "x")
    #expect(deliver("one\n", "1", host: host).outcome == .delivered)
    #expect(place.read("log.ndjson") == "x\none\n")
    #expect(place.read("log.1") == "one\n")
  }

  @Test func `lines that others added behind ours stay`() throws {
    let host = place.host(Self.settings)
    #expect(deliver("one\n", "1", host: host).outcome == .delivered)
    try place.write("log.more", "")
    let handle = try #require(FileHandle(forWritingAtPath: "\(place.path)/log.ndjson"))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("theirs\n".utf8))
    #expect(deliver("one\n", "1", host: host).outcome == .delivered)
    #expect(place.read("log.ndjson") == "one\ntheirs\n")
  }

  @Test func `many writers at once keep their lines whole`() {
    let path = place.path
    DispatchQueue.concurrentPerform(iterations: 20) { number in
      let host = FakeHost(settings: ["directory": .text(path), "append": true, "file": "log.ndjson"])
      let lines = (0..<2000).map { "\(number):\($0)\n" }.joined()
      _ = host.deliver(file(lines, id: "id-\(number)"))
    }
    let text = place.read("log.ndjson") ?? ""
    var bytes = 0
    for number in 0..<20 {
      let lines = (0..<2000).map { "\(number):\($0)\n" }.joined()
      #expect(text.contains(lines))
      bytes += lines.utf8.count
    }
    #expect(text.utf8.count == bytes)
  }

  @Test func `a held lock is waited for and then a retry, and stopping ends the wait`() throws {
    let host = place.host(Self.settings)
    host.stopWhen = { _ in true }
    let busy = Kernel { $0 == .lock ? EWOULDBLOCK : nil }
    #expect(host.deliver(file("x"), kernel: busy).outcome == .cancelled)
  }

  @Test func `a link at the name is not followed`() throws {
    try place.write("goal", "precious")
    try FileManager.default.createSymbolicLink(atPath: "\(place.path)/log.ndjson", withDestinationPath: "goal")
    let verdict = deliver("one\n", "1")
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.status == ELOOP)
    #expect(place.read("goal") == "precious")
  }
}
