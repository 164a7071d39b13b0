// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelayQueue
import RelaySystem
import RelayTestSupport
import Testing

/// Commits an artifact whose parts go as one, and opens it.
private func commit(
  _ parts: [(name: String, bytes: [UInt8])], to pipeline: PipelineFolder, encode: PartEncoding? = nil,
  at created: WallTime = WallTime(milliseconds: 1_700_000_000_000)
) throws -> QueuedArtifact {
  let staged = try pipeline.stage(ArtifactDescription(createdAt: created, unit: .artifact))
  for part in parts {
    try staged.addPart(name: part.name, from: try file(part.bytes, in: pipeline.folder, ".test-source"), encode: encode)
  }
  return try pipeline.openArtifact(try staged.commit().sequence)
}

private func parts(_ names: String...) -> [(name: String, bytes: [UInt8])] {
  names.enumerated().map { ($1, Array("part \($0 + 1) of the artifact\n".utf8)) }
}

/// Names of all files in the artifact's folder.
private func files(of artifact: QueuedArtifact, _ pipeline: PipelineFolder) throws -> [String] {
  try artifact.folder.names()
}

@Suite struct `A bundle` {
  @Test func `is one ZIP beside the parts, named after pipeline and time, and in the manifest from then on`() throws {
    try withPipeline { pipeline in
      let artifact = try commit(parts("a.txt", "b.txt"), to: pipeline)
      #expect(try artifact.needsBundle(for: .part))
      let bundled = try artifact.makeBundle()
      let bundle = try #require(bundled.manifest.bundle)
      #expect(bundle.name == "scans-2023-11-14-221320.zip")
      #expect(bundle.mediaType == "application/zip")
      #expect(
        try files(of: artifact, pipeline)
          == ["000000-scans-2023-11-14-221320.zip", "000001-a.txt", "000002-b.txt", "manifest.json"])
      let found = try SHA256Hasher.digest(of: try bundled.openBundle())
      #expect((found.digest, found.size) == (bundle.stored.sha256, bundle.stored.size))
      let reread = try pipeline.openArtifact(artifact.sequence)
      #expect(reread.manifest == bundled.manifest)
      #expect(try !reread.needsBundle(for: .part))
      #expect(Set(reread.manifest.parts.map(\.deliveryID)).count == 1)
      // What counts are the parts; the bundle is made of them.
      #expect(try pipeline.measure().parts == 2)
    }
  }

  @Test func `isn't made of a single part, nor of several for a target that takes each by itself`() throws {
    try withPipeline { pipeline in
      #expect(try !commit(parts("a.txt"), to: pipeline).needsBundle(for: .artifact))
      let two = try pipeline.openArtifact(try submit(["x", "y"], to: pipeline).sequence)
      #expect(try !two.needsBundle(for: .part))
      #expect(try two.needsBundle(for: .artifact))
    }
  }

  @Test func `holds what was handed in where the parts are kept packed`() throws {
    try withPipeline { pipeline in
      let content = [UInt8](repeating: 7, count: 600_000)
      let artifact = try commit([("a.bin", content), ("b.bin", [1])], to: pipeline, encode: .gzip)
      let bundled = try artifact.makeBundle()
      let reader = try ZipReader(try bundled.openBundle())
      #expect(try reader.next()?.size == 600_000)
    }
  }

  @Test func `of a thousand parts, some of them empty, is read back whole`() throws {
    try withPipeline(in: "/dev/shm") { pipeline in
      var given: [(name: String, bytes: [UInt8])] = []
      for number in 0..<1000 {
        given.append(("\(number).bin", (0..<(number % 10) * 700).map { UInt8(truncatingIfNeeded: $0 &* number) }))
      }
      let bundled = try commit(given, to: pipeline).makeBundle()
      let listed = try Command.run(["unzip", "-t", "-q", try path(of: bundled)])
      #expect(listed.status == 0, "\(listed.output)")
      #expect(try Unpacked.byPython(try path(of: bundled)).count == 1000)
    }
  }

  @Test func `comes out the same in any time zone and locale`() throws {
    try withFolder { folder in
      for (name, text) in [("Grüße.txt", "one"), ("🎉.csv", "two")] { try folder.replace(name, with: Array(text.utf8)) }
      var digests: Set<String> = []
      let places = [("UTC", "C"), ("Asia/Tokyo", "C.UTF-8"), ("America/St_Johns", "POSIX"), ("", "en_US.ISO-8859-1")]
      for (place, (zone, locale)) in places.enumerated() {
        let made = try Command.run([
          "env", "TZ=\(zone)", "LC_ALL=\(locale)", "\(Repository.products)/relay-bench", "bundle",
          "\(folder.path)/state-\(place)", "20000", "\(folder.path)/Grüße.txt", "\(folder.path)/🎉.csv",
        ])
        #expect(made.status == 0, "\(made.output)")
        let file = try #require(made.output.split(separator: "\"").last { $0.hasSuffix(".zip") })
        #expect(file.hasSuffix("000000-bench-2024-10-04-123456.zip"))
        digests.insert(try SHA256Hasher.digest(of: try File.bytes(of: String(file))).hex)
      }
      #expect(digests.count == 1)
    }
  }
}

/// Where the bundle lies.
private func path(of artifact: QueuedArtifact) throws -> String {
  try artifact.folder.path + "/" + (artifact.manifest.bundle?.file ?? "none")
}

/// What the tools of others find in a ZIP: names and content.
private enum Unpacked {
  static func by(_ tool: [String], _ zip: String, in folder: Directory) throws -> [String: [UInt8]] {
    try folder.makeFolder(tool[0])
    let result = try Command.run(["env", "-C", "\(folder.path)/\(tool[0])", "LC_ALL=C.UTF-8"] + tool + [zip])
    #expect(result.status == 0, "\(result.output)")
    let inner = try folder.folder(tool[0])
    var found: [String: [UInt8]] = [:]
    for file in try inner.names() { found[file] = try inner.content(of: file) }
    return found
  }

  static func byPython(_ zip: String) throws -> [String: [UInt8]] {
    let script = """
      import sys, zipfile
      z = zipfile.ZipFile(sys.argv[1])
      assert z.testzip() is None
      for e in z.infolist(): print(e.filename.encode().hex(), z.read(e).hex(), sep=":")
      """
    return try pairs(try Command.run(["python3", "-c", script, zip]), ":") { $0 }
  }

  /// Digests instead of content.
  static func byJava(_ zip: String) throws -> [String: [UInt8]] {
    try pairs(try Command.run(["java", Repository.path("Tests/Fixtures/zip/ListZip.java"), zip]), " ") { $0 }
  }

  private static func pairs(
    _ result: (status: Int32, output: String), _ separator: Character, _ value: ([UInt8]) -> [UInt8]
  ) throws -> [String: [UInt8]] {
    #expect(result.status == 0, "\(result.output)")
    var found: [String: [UInt8]] = [:]
    for line in result.output.split(separator: "\n") {
      let words = line.split(separator: separator, omittingEmptySubsequences: false)
      guard words.count == 2 else { continue }
      found[String(decoding: bytes(ofHex: words[0]), as: UTF8.self)] = bytes(ofHex: words[1])
    }
    return found
  }

  private static func bytes(ofHex text: Substring) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
  }
}

@Suite struct `Names in a bundle` {
  /// As handed in, and as they must be unpacked.
  static let names: [(given: String, expected: String)] = [
    ("plain.csv", "plain.csv"), ("plain.csv", "plain (2).csv"), ("PLAIN.CSV", "PLAIN (3).CSV"),
    ("plain (2).csv", "plain (2) (2).csv"), ("Müller Übersicht.txt", "Müller Übersicht.txt"),
    // Written with the accent by itself, it is the same name to a Mac.
    ("Mu\u{308}ller U\u{308}bersicht.txt", "Mu\u{308}ller U\u{308}bersicht (2).txt"),
    ("🎉 party 👩‍👩‍👧.json", "🎉 party 👩‍👩‍👧.json"), ("日本語.pdf", "日本語.pdf"), ("a/b\\c.txt", "a_b_c.txt"),
    ("../../etc/passwd", ".._.._etc_passwd"), ("..", "unnamed"), ("CON", "_CON"), ("nul.tar.gz", "_nul.tar.gz"),
    ("com1 .txt", "_com1 .txt"), ("comet.txt", "comet.txt"), ("what?<>:\"|*.txt", "what_______.txt"),
    ("dot.", "dot_"), ("space ", "space_"), (".hidden", ".hidden"), (".hidden", ".hidden (2)"),
    ("line\nbreak.txt", "line_break.txt"),
    // As long as file systems allow, and longer.
    (String(repeating: "x", count: 251) + ".csv", String(repeating: "x", count: 251) + ".csv"),
    (String(repeating: "x", count: 251) + ".csv", String(repeating: "x", count: 236) + " (2).csv"),
    (String(repeating: "ü", count: 300) + ".csv", String(repeating: "ü", count: 125) + ".csv"),
    ("con." + String(repeating: "y", count: 251), "_con." + String(repeating: "y", count: 250)),
    // One character to the eye, 257 bytes.
    ("o" + String(repeating: "\u{30A}", count: 128), "o" + String(repeating: "\u{30A}", count: 127)),
  ]

  /// The first part is empty.
  private static func content(_ place: Int) -> [UInt8] { place == 0 ? [] : Array("content \(place)".utf8) }

  @Test func `are right in unzip, bsdtar, 7z, Python and Java`() throws {
    try withPipeline { pipeline in
      let given = Self.names.enumerated().map { ($1.given, Self.content($0)) }
      let bundled = try commit(given, to: pipeline).makeBundle()
      var expected: [String: [UInt8]] = [:]
      for (place, name) in Self.names.enumerated() { expected[name.expected] = Self.content(place) }
      let zip = try path(of: bundled)
      for tool in [["unzip", "-q"], ["bsdtar", "-xf"], ["7z", "x", "-bd", "-bso0"]] {
        #expect(try Unpacked.by(tool, zip, in: pipeline.folder) == expected, "\(tool)")
      }
      #expect(try Unpacked.byPython(zip) == expected)
      #expect(try Unpacked.byJava(zip) == expected.mapValues { try SHA256Hasher.digest(of: $0).bytes })
      let tested = try Command.run(["unzip", "-t", zip])
      #expect(tested.output.contains("No errors detected"), "\(tested.output)")
    }
  }

  @Test func `that are all the same are told apart, ten thousand of them`() throws {
    try withPipeline(in: "/dev/shm") { pipeline in
      let staged = try pipeline.stage(ArtifactDescription(unit: .artifact))
      let source = try file("x", in: pipeline.folder, ".test-source")
      for _ in 0..<Manifest.mostParts { try staged.addPart(name: "same.txt", from: source) }
      let bundled = try pipeline.openArtifact(try staged.commit().sequence).makeBundle()
      let found = try Unpacked.byPython(try path(of: bundled))
      #expect(found.count == Manifest.mostParts)
      #expect(found["same (10000).txt"] == Array("x".utf8))
    }
  }
}

@Suite struct `The making of a bundle` {
  private let given = parts("a.txt", "b.txt", "c.txt")

  /// What must hold whatever broke a try: nothing half is left or sent, and the next try gives the same bundle.
  private func expectMended(_ artifact: QueuedArtifact, _ pipeline: PipelineFolder, _ whole: Manifest.Bundle) throws {
    let folder = try reopened(pipeline)
    #expect(try folder.recover().problems.isEmpty)
    let again = try folder.openArtifact(artifact.sequence)
    if again.manifest.bundle == nil {
      #expect(try again.folder.names().filter { $0.hasSuffix(".zip") || $0.hasPrefix(".bundle") } == [])
    }
    let made = try again.needsBundle(for: .part) ? again.makeBundle() : again
    #expect(made.manifest.bundle == whole)
    #expect(try SHA256Hasher.digest(of: try made.openBundle()).digest == whole.stored.sha256)
    #expect(try again.folder.names().count == 5)
    try folder.remove(artifact.sequence)
  }

  /// What comes of the parts when nothing disturbs.
  private func undisturbed(_ pipeline: PipelineFolder) throws -> Manifest.Bundle {
    let made = try commit(given, to: pipeline).makeBundle()
    try pipeline.remove(made.sequence)
    return try #require(made.manifest.bundle)
  }

  @Test func `that is broken at any call leaves the parts, and is done again`() throws {
    try withPipeline { pipeline in
      let whole = try undisturbed(pipeline)
      for call in [SystemCall.open, .write, .sync, .rename, .unlink, .list, .read, .spaceLeft] {
        for code in [EIO, ENOSPC] {
          var struck = true
          var after = 0
          while struck && after < 40 {
            let artifact = try commit(given, to: pipeline)
            // Left by a try before.
            _ = try artifact.folder.createFile(".bundle.new")
            // A read or write asks the door twice: whether it is short, and whether it fails.
            let times = call == .read || call == .write ? 2 : 1
            let fault = Fault(call, on: try artifact.folder.path, .fails(code), after: after, times: times)
            struck = false
            FaultDoor.with([fault]) {
              do { _ = try artifact.makeBundle() } catch { struck = true }
            }
            try expectMended(artifact, pipeline, whole)
            after += 1
          }
          #expect((2..<40).contains(after), "\(call) \(code)")
        }
      }
    }
  }

  @Test func `that is ended in the middle leaves nothing`() throws {
    try withPipeline { pipeline in
      let whole = try undisturbed(pipeline)
      let artifact = try commit(given, to: pipeline)
      #expect(throws: BundleError.stopped) { try artifact.makeBundle { false } }
      #expect(try artifact.folder.names().count == 4)
      try expectMended(artifact, pipeline, whole)
    }
  }

  @Test func `finds a part that isn't what was accepted`() throws {
    try withPipeline { pipeline in
      let artifact = try commit(given, to: pipeline)
      let part = artifact.manifest.parts[1]
      try artifact.folder.openFile(part.file, writable: true).write([0], at: 3)
      #expect(throws: BundleError.artifact(.partContent(file: part.file))) { try artifact.makeBundle() }
      #expect(try artifact.folder.names().count == 4)
      try artifact.folder.remove(part.file)
      #expect(throws: BundleError.artifact(.partMissing(file: part.file))) { try artifact.makeBundle() }
    }
  }

  @Test func `is done again when the bundle is gone, cut or damaged, and comes to the same bytes`() throws {
    try withPipeline { pipeline in
      let bundled = try commit(given, to: pipeline).makeBundle()
      let bundle = try #require(bundled.manifest.bundle)
      let bytes = try File.bytes(of: try path(of: bundled))
      for damage in 0..<3 {
        let file = try bundled.folder.openFile(bundle.file, writable: true)
        switch damage {
        case 0: try bundled.folder.remove(bundle.file)
        case 1: try file.truncate(to: 20)
        default: bundled.discardBundle()
        }
        let again = try reopened(pipeline).openArtifact(bundled.sequence)
        #expect(try again.needsBundle(for: .part))
        #expect(try again.makeBundle().manifest == bundled.manifest)
        #expect(try File.bytes(of: try path(of: bundled)) == bytes)
      }
    }
  }

  @Test func `never replaces bytes that may have been sent by others`() throws {
    try withPipeline { pipeline in
      let bundled = try commit(given, to: pipeline).makeBundle()
      // As if another zlib had made it.
      var manifest = bundled.manifest
      manifest.bundle?.stored.sha256 = try SHA256Hasher.digest(of: [1])
      try bundled.folder.replace(Manifest.fileName, with: try manifest.bytes())
      bundled.discardBundle()
      let again = try pipeline.openArtifact(bundled.sequence)
      let file = try #require(manifest.bundle?.file)
      #expect(throws: BundleError.artifact(.bundleContent(file: file))) { try again.makeBundle() }
      #expect(BundleError.artifact(.bundleContent(file: file)).isDamage)
    }
  }

  @Test func `leaves nothing behind where the artifact is set aside in the meantime`() throws {
    try withPipeline { pipeline in
      let artifact = try commit(given, to: pipeline)
      _ = try artifact.folder.createFile(".bundle.new")
      try pipeline.setAside(artifact.sequence, reason: SetAsideReason(verdict: "dropped", message: "x"))
      let folder = try pipeline.folder.folder("refused").folder(SequenceName.name(artifact.sequence))
      #expect(try !folder.names().contains(".bundle.new"))
    }
  }
}
