// SPDX-License-Identifier: Apache-2.0
import Dispatch
import DurableFiles
import Foundation
import Synchronization
import TargetKit
import TargetKitTesting
import Testing

@testable import FolderTargetLogic

@Suite struct WholeFileTests {
  let place: Place

  init() throws {
    place = try Place()
  }

  @Test func `a file appears under its name with its bytes, and nothing else`() {
    let verdict = place.host().deliver(file("a,b\n"))
    #expect(verdict.outcome == .delivered)
    #expect(verdict.receipt == "steps.csv")
    #expect(verdict.bytesSent == 4)
    #expect(place.names == ["steps.csv"])
    #expect(place.read("steps.csv") == "a,b\n")
  }

  @Test func `a new file takes the place of the old one`() throws {
    try place.write("steps.csv", "old")
    #expect(place.host().deliver(file("new")).outcome == .delivered)
    #expect(place.names == ["steps.csv"])
    #expect(place.read("steps.csv") == "new")
  }

  @Test func `a link at the name is replaced and what it leads to stays`() throws {
    try place.write("goal", "precious")
    try FileManager.default.createSymbolicLink(atPath: "\(place.path)/steps.csv", withDestinationPath: "goal")
    #expect(place.host().deliver(file("new")).outcome == .delivered)
    #expect(place.read("goal") == "precious")
    #expect(place.read("steps.csv") == "new")
  }

  @Test func `a folder at the name needs attention`() throws {
    try FileManager.default.createDirectory(
      atPath: "\(place.path)/steps.csv", withIntermediateDirectories: false)
    #expect(place.host().deliver(file("new")).outcome == .needsAttention)
    #expect(place.names == ["steps.csv"])
  }

  @Test func `both are kept with a number before the extension`() throws {
    try place.write("steps.csv", "old")
    let settings: [(String, FakeValue)] = [("existing", "keep-both")]
    #expect(place.host(settings).deliver(file("new")).receipt == "steps (2).csv")
    #expect(place.host(settings).deliver(file("newer", id: "b")).receipt == "steps (3).csv")
    #expect(place.names == ["steps (2).csv", "steps (3).csv", "steps.csv"])
    #expect(place.read("steps.csv") == "old")
  }

  @Test func `fifty deliveries of one name at once are fifty files`() {
    let path = place.path
    let failures = Mutex<[Verdict]>([])
    DispatchQueue.concurrentPerform(iterations: 50) { number in
      let host = FakeHost(settings: ["directory": .text(path), "existing": "keep-both"])
      let verdict = host.deliver(file("content \(number)", id: "id-\(number)"))
      if verdict.outcome != .delivered { failures.withLock { $0.append(verdict) } }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(place.names.count == 50)
    #expect(Set(place.names.compactMap { place.read($0) }) == Set((0..<50).map { "content \($0)" }))
  }

  @Test func `a file system that cannot rename without replacing is served by a link`() throws {
    try place.write("steps.csv", "old")
    let kernel = Kernel { $0 == .renameNew ? EINVAL : nil }
    let verdict = place.host([("existing", "keep-both")]).deliver(file("new"), kernel: kernel)
    #expect(verdict.receipt == "steps (2).csv")
    #expect(place.names == ["steps (2).csv", "steps.csv"])
  }

  @Test func `a file system without either needs attention and keeps the old file`() throws {
    try place.write("steps.csv", "old")
    let kernel = Kernel { $0 == .renameNew ? EINVAL : $0 == .link ? EPERM : nil }
    let verdict = place.host([("existing", "keep-both")]).deliver(file("new"), kernel: kernel)
    #expect(verdict.outcome == .needsAttention)
    #expect(place.names == ["steps.csv"])
  }

  @Test(arguments: ["replace", "keep-both"], [false, true])
  func `a machine that stops at any call leaves old or new, and the next attempt makes it one`(
    existing: String, linking: Bool
  ) throws {
    for calls in 0..<200 {
      let place = try Place()
      try place.write("steps.csv", "old")
      let host = place.host([("existing", .text(existing))])
      let cut = PowerCut(after: calls, host)
      let inner = cut.kernel
      let kernel = Kernel { call in inner.fault(call) ?? (linking && call == .renameNew ? EINVAL : nil) }
      let first = host.deliver(file("new"), kernel: kernel)
      #expect(place.names.filter { !$0.hasPrefix(".") }.allSatisfy { ["old", "new"].contains(place.read($0)) })
      if cut.happened {
        #expect(first.outcome == .retry)
        host.stateFails = false
        #expect(host.deliver(file("new")).outcome == .delivered)
      }
      #expect(place.names == (existing == "replace" ? ["steps.csv"] : ["steps (2).csv", "steps.csv"]), "\(calls)")
      #expect(place.read(existing == "replace" ? "steps.csv" : "steps (2).csv") == "new")
      if !cut.happened { return }
    }
    Issue.record("the delivery never came to its end")
  }

  @Test func `damaged or missing bytes never get a name`() {
    var delivery = file("new")
    delivery.source.isDamaged = true
    let verdict = place.host().deliver(delivery)
    #expect(verdict.outcome == .retry)
    #expect(verdict.reason == .source)
    #expect(place.names.isEmpty)
  }

  @Test func `stopping leaves nothing behind`() {
    let host = place.host()
    host.stopWhen = { $0.bytesRead > 100_000 }
    #expect(host.deliver(FakeDelivery(FakeSource(zeros: 1 << 20))).outcome == .cancelled)
    #expect(place.names.isEmpty)
  }

  @Test func `a link in the place of the part is removed, not followed`() throws {
    try place.write("goal", "precious")
    let name = try #require(FileName("steps.csv")).partial("d1")
    try FileManager.default.createSymbolicLink(atPath: "\(place.path)/\(name)", withDestinationPath: "goal")
    #expect(place.host().deliver(file("new", id: "d1")).outcome == .delivered)
    #expect(place.read("goal") == "precious")
    #expect(place.names == ["goal", "steps.csv"])
  }

  @Test func `a test replaces nothing`() throws {
    try place.write("steps.csv", "old")
    var delivery = file("shape")
    delivery.isTest = true
    #expect(place.host([("append", true)]).deliver(delivery).outcome == .delivered)
    #expect(place.names == ["steps.csv", "test-steps.csv"])
    #expect(place.read("steps.csv") == "old")
  }

  @Test func `gzip shows in the name`() {
    var delivery = file("packed")
    delivery.contentEncoding = "gzip"
    #expect(place.host().deliver(delivery).receipt == "steps.csv.gz")
    #expect(place.host([("append", true)]).deliver(delivery).outcome == .needsAttention)
  }

  @Test(arguments: [(0o700, 0o600), (0o755, 0o644), (0o2775, 0o664), (0o777, 0o664), (0o750, 0o640)], [false, true])
  func `who may read the folder may read its files`(modes: (folder: Int, file: Int), append: Bool) throws {
    #expect(chmod(place.path, mode_t(modes.folder)) == 0)
    #expect(place.host([("append", .flag(append))]).deliver(file("new")).outcome == .delivered)
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(place.path)/steps.csv")
    #expect(attributes[.posixPermissions] as? Int == modes.file)
  }

  @Test func `a folder behind a link is where both part and file go`() throws {
    let other = try Place()
    try FileManager.default.createSymbolicLink(
      atPath: "\(place.path)/link", withDestinationPath: other.path)
    let host = FakeHost(settings: ["directory": .text("\(place.path)/link")])
    #expect(host.deliver(file("new")).outcome == .delivered)
    #expect(other.names == ["steps.csv"])
  }

  @Test func `a check makes and removes a file`() throws {
    #expect(try place.host().open(FolderTarget.self).check().outcome == .delivered)
    #expect(place.names.isEmpty)
    let missing = FakeHost(settings: ["directory": "/nowhere/at/all"])
    #expect(try missing.open(FolderTarget.self).check().reason == .notFound)
  }
}
