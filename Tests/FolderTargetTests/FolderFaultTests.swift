// SPDX-License-Identifier: Apache-2.0
import DurableFiles
import Foundation
import RelayConfig
import TargetKit
import TargetKitTesting
import Testing

@testable import FolderTargetLogic

@Suite struct FolderFaultTests {
  static let retried = [
    ENOSPC, EDQUOT, EAGAIN, ESTALE, EIO, ETIMEDOUT, EHOSTDOWN, ENOTCONN, ENOMEM, EMFILE, ENFILE, EPROTO,
  ]
  static let forPeople = [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ELOOP, EXDEV, EBUSY, EISDIR, ENOTEMPTY]
  static let refused = [ENAMETOOLONG, EFBIG, EILSEQ]

  @Test func `every errno has its verdict, with its number and its name`() {
    for (codes, outcome) in [
      (Self.retried, Verdict.Outcome.retry), (Self.forPeople, .needsAttention), (Self.refused, .refused),
    ] {
      for code in codes {
        let verdict = ErrnoTable.verdict(on: CallFailure(call: .create, code: code), subject: "a.csv")
        #expect(verdict.outcome == outcome, "errno \(code)")
        #expect(verdict.status == code)
        #expect(verdict.message.contains(String(cString: strerror(code))))
      }
    }
    #expect(ErrnoTable.verdict(on: CallFailure(call: .rename, code: EINVAL), subject: "a").outcome == .refused)
    #expect(ErrnoTable.verdict(on: CallFailure(call: .write, code: EINVAL), subject: "a").outcome == .retry)
    #expect(ErrnoTable.verdict(on: CallFailure(call: .write, code: ENOSPC), subject: "a").reason == .receiverFull)
  }

  @Test func `the page's table says what the code does`() throws {
    let numbers = [
      "ENOSPC": ENOSPC, "EDQUOT": EDQUOT, "EIO": EIO, "ESTALE": ESTALE, "ETIMEDOUT": ETIMEDOUT, "EHOSTDOWN": EHOSTDOWN,
      "ENOTCONN": ENOTCONN, "EAGAIN": EAGAIN, "ENOMEM": ENOMEM, "EMFILE": EMFILE, "ENFILE": ENFILE, "EACCES": EACCES,
      "EPERM": EPERM, "EROFS": EROFS, "ENOENT": ENOENT, "ENOTDIR": ENOTDIR, "ELOOP": ELOOP, "EXDEV": EXDEV,
      "EBUSY": EBUSY, "EISDIR": EISDIR, "ENOTEMPTY": ENOTEMPTY, "ENAMETOOLONG": ENAMETOOLONG, "EILSEQ": EILSEQ,
      "EFBIG": EFBIG,
    ]
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(
      contentsOf: tests.deletingLastPathComponent().appending(path: "docs/targets/folder.md"), encoding: .utf8)
    var seen: Set<String> = []
    for row in page.split(separator: "\n").map({ $0.split(separator: "|") }) where row.count == 2 {
      for word in row[0].split(whereSeparator: { $0 == "," || $0 == " " }) {
        guard let number = numbers[String(word)] else { continue }
        seen.insert(String(word))
        let outcome = ErrnoTable.verdict(on: CallFailure(call: .write, code: number), subject: "a").outcome
        let expected = [Verdict.Outcome.retry: "retry", .refused: "refused"][outcome] ?? "needs attention"
        #expect(row[1].drop { $0 == " " }.hasPrefix(expected), "\(word)")
      }
    }
    #expect(seen.count == numbers.count)
  }

  @Test(arguments: [Kernel.Call.openFolder, .create, .write, .sync, .close, .rename, .look])
  func `a call that fails leaves the old file and no part`(call: Kernel.Call) throws {
    for code in [ENOSPC, EIO, EROFS, EFBIG] {
      let place = try Place()
      try place.write("steps.csv", "old")
      let verdict = place.host().deliver(file("new"), kernel: Kernel { $0 == call ? code : nil })
      #expect(verdict.outcome != .delivered)
      #expect(verdict.status == code)
      #expect(place.names == ["steps.csv"])
      #expect(place.read("steps.csv") == "old")
    }
  }

  @Test func `a folder that cannot be synced is a retry that may have delivered`() throws {
    let place = try Place()
    let verdict = place.host().deliver(file("new"), kernel: Kernel { $0 == .syncFolder ? EIO : nil })
    #expect(verdict.outcome == .retry)
    #expect(verdict.maybeDelivered)
  }

  @Test func `a state that cannot be saved stops keep-both before the file gets its name`() throws {
    let place = try Place()
    let host = place.host([("existing", "keep-both")])
    host.stateFails = true
    #expect(host.deliver(file("new")).outcome == .retry)
    #expect(place.names.isEmpty)
  }

  @Test func `a missing folder is never created`() throws {
    let place = try Place()
    let host = FakeHost(settings: ["directory": .text("\(place.path)/missing")])
    let verdict = host.deliver(file("new"))
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.reason == .notFound)
    #expect(place.names.isEmpty)
  }

  @Test(.enabled(if: getuid() != 0, "root may write anywhere"))
  func `a folder that is not ours needs attention`() throws {
    let place = try Place()
    #expect(chmod(place.path, 0o500) == 0)
    let verdict = place.host().deliver(file("new"))
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.status == EACCES)
    #expect(chmod(place.path, 0o700) == 0)
  }

  @Test func `a relative folder needs attention when the target opens`() {
    #expect(FakeHost(settings: ["directory": "scans"]).deliver(file("x")).outcome == .needsAttention)
  }

  @Test(arguments: ["", ".", "..", "a/b", "../x", "/etc/passwd"])
  func `a rendered name that is no plain name is refused`(name: String) throws {
    let place = try Place()
    let verdict = place.host([("file", .text(name))]).deliver(file("x"))
    #expect(verdict.outcome == .refused)
    #expect(place.names.isEmpty)
  }
}

@Suite struct FileNameTests {
  @Test func `long names are cut at a character and keep extension and number`() throws {
    let name = try #require(FileName(String(repeating: "ä", count: 200) + ".csv"))
    #expect(name.numbered(1).utf8.count <= 255)
    #expect(name.numbered(1).hasSuffix("ä.csv"))
    #expect(name.numbered(1234).hasSuffix("ä (1234).csv"))
    #expect(name.numbered(1234).utf8.count <= 255)
    let partial = name.partial("6a1f3d0e-52c7-4b58-9d43-0e2b8f7a6c15")
    #expect(partial.utf8.count <= 255)
    #expect(partial.hasPrefix(".ä"))
    #expect(partial.hasSuffix(".6a1f3d0e-52c7-4b58-9d43-0e2b8f7a6c15.part"))
  }

  @Test func `control characters and a leading dot are replaced`() {
    #expect(FileName("a\nb\u{0}\u{9f}.csv")?.numbered(1) == "a_b__.csv")
    #expect(FileName(".hidden")?.numbered(1) == "_hidden")
    #expect(FileName("archive.tar.gz")?.numbered(2) == "archive.tar (2).gz")
    #expect(FileName("no extension. but a sentence that goes on and on")?.suffix == "")
  }

  @Test func `an id with odd characters stays within its folder`() {
    #expect(FileName("a.csv")?.partial("../../x") == ".a.csv.x.part")
  }

  @Test func `the host reads the manifest without complaint`() throws {
    let (manifest, problems) = TargetManifest.read(Array(FolderManifest.json.utf8), origin: "libFolderTarget.so")
    #expect(problems.isEmpty)
    #expect(manifest?.id == "folder")
  }

  @Test func `the manifest is JSON and names the settings`() throws {
    let json = try #require(FakeHost().describe(FolderTarget.self))
    let manifest = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let settings = try #require(manifest["settings"] as? [String: Any])
    let properties = try #require(settings["properties"] as? [String: [String: Any]])
    #expect(Set(properties.keys) == ["directory", "file", "existing", "append", "requireMount"])
    #expect(properties["directory"]?["x-relay-access"] as? String == "write")
  }
}
