// SPDX-License-Identifier: Apache-2.0
import Foundation
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@testable import FolderTargetLogic

/// Whether this process may mount.
private let canMount: Bool = {
  guard let place = try? Place(), (try? MountTests.mount(["-t", "tmpfs", "none", place.path])) == 0 else {
    return false
  }
  return unmount(place.path) == 0
}()

private let hasVFAT: Bool = {
  let known = FileManager.default.contents(atPath: "/proc/filesystems").map { String(decoding: $0, as: UTF8.self) }
  return known?.contains("vfat") == true && access("/sbin/mkfs.vfat", X_OK) == 0
}()

/// File systems of the test's own; they need root.
@Suite(.serialized, .enabled(if: canMount, "mounting needs root"))
struct MountTests {
  static func mount(_ words: [String]) throws -> Int32 {
    try Child.run(["mount"] + words).status
  }

  @Test func `a full disk is a retry that leaves nothing behind`() throws {
    let place = try Place()
    try #require(try Self.mount(["-t", "tmpfs", "-o", "size=1m", "none", place.path]) == 0)
    defer { unmount(place.path) }
    for settings: [(String, FakeValue)] in [[], [("append", true)], [("existing", "keep-both")]] {
      let verdict = place.host(settings).deliver(FakeDelivery(FakeSource(zeros: 2 << 20)))
      #expect(verdict.outcome == .retry)
      #expect(verdict.reason == .receiverFull)
      #expect(verdict.status == ENOSPC)
    }
    #expect(place.names.allSatisfy { $0 == "steps.json" && place.read($0) == "" })
    #expect(place.host().deliver(file("fits")).outcome == .delivered)
  }

  @Test func `with requireMount a missing disk needs attention and nothing is written`() throws {
    let place = try Place()
    let host = place.host([("requireMount", true)])
    try #require(try Self.mount(["-t", "tmpfs", "none", place.path]) == 0)
    #expect(host.deliver(file("one")).outcome == .delivered)
    #expect(place.names == ["steps.csv"])
    #expect(unmount(place.path) == 0)
    let verdict = host.deliver(file("two"))
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.reason == .notFound)
    #expect(place.names.isEmpty)
  }

  @Test func `a bind mount counts, and a mount further up does not hide that it is gone`() throws {
    let outer = try Place()
    let other = try Place()
    try #require(try Self.mount(["-t", "tmpfs", "none", outer.path]) == 0)
    defer { unmount(outer.path) }
    let inner = "\(outer.path)/disk"
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    try #require(try Self.mount(["--bind", other.path, inner]) == 0)
    try FileManager.default.createDirectory(atPath: "\(inner)/scans", withIntermediateDirectories: false)
    let host = FakeHost(settings: ["directory": .text("\(inner)/scans"), "requireMount": true])
    #expect(host.deliver(file("one")).outcome == .delivered)
    #expect(unmount(inner) == 0)
    try FileManager.default.createDirectory(atPath: "\(inner)/scans", withIntermediateDirectories: false)
    #expect(host.deliver(file("two")).outcome == .needsAttention)
  }

  @Test(.enabled(if: hasVFAT, "this kernel mounts no vfat, or dosfstools is not installed"))
  func `where names cannot be linked or are without case, files are still delivered`() throws {
    let place = try Place()
    let image = "\(place.path)-image"
    defer { unlink(image) }
    let made = try Child.run(["sh", "-c", "truncate -s 8M '\(image)' && /sbin/mkfs.vfat '\(image)' >&2"])
    try #require(made.status == 0)
    try #require(try Self.mount(["-o", "loop", image, place.path]) == 0)
    defer { unmount(place.path) }
    for text in ["one", "two"] {
      #expect(place.host([("existing", "keep-both")]).deliver(file(text, id: text)).outcome == .delivered)
    }
    #expect(place.names == ["steps (2).csv", "steps.csv"])
  }
}

/// Takes a mount away, also while a process that another test is starting holds it open for a moment.
@discardableResult private func unmount(_ path: String) -> Int32 { umount2(path, Int32(MNT_DETACH)) }
