// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayJSON
import RelayQueue
import RelaySystem
import Testing

@Suite struct `Manifests` {
  private func sample() throws -> Manifest {
    let content = Manifest.Content(size: 5, sha256: try SHA256Hasher.digest(of: [1]))
    let id = Identifier.timed(at: WallTime(milliseconds: 1_764_000_000_000))
    return Manifest(
      artifactID: id, createdAt: WallTime(milliseconds: 1_764_000_000_000), pipeline: "scans",
      messageID: "<\(id)@example.org>", boundary: "b", unit: .artifact, attributes: [.init("days", "2026-11-30")],
      parts: [
        Manifest.Part(
          index: 1, file: "000001-a.txt", name: "ä \"quoted\"\u{7}.txt", mediaType: "text/plain", encoding: nil,
          stored: content, original: nil, deliveryID: .random(), settings: []),
        Manifest.Part(
          index: 2, file: "000002-b", name: "b", mediaType: "x/y", encoding: .gzip, stored: content, original: content,
          deliveryID: .random(), settings: [.init(path: "to/0", text: "x\ny")]),
      ],
      bundle: .init(file: "000000-all.zip", name: "all.zip", mediaType: "application/zip", stored: content))
  }

  private func problem(_ bytes: [UInt8]) -> ManifestProblem? {
    do throws(ManifestProblem) {
      _ = try Manifest.read(bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test func `read what was written, which is JSON that a person can read`() throws {
    let manifest = try sample()
    let bytes = try manifest.bytes()
    #expect(try Manifest.read(bytes) == manifest)
    let root = try JSONTree.parse(bytes)
    #expect(root["parts"]?[1]?["deliveryId"]?.string == manifest.parts[1].deliveryID.description)
    #expect(try manifest.bytes() == bytes)
  }

  @Test func `every cut and every flipped bit is found`() throws {
    let bytes = try sample().bytes()
    for length in 0..<bytes.count { #expect(problem(Array(bytes.prefix(length))) != nil) }
    for place in bytes.indices {
      var bad = bytes
      bad[place] ^= 1 << UInt8(place % 8)
      #expect(problem(bad) != nil)
    }
    #expect(problem(bytes + [10]) == .cut)
    #expect(problem([]) == .cut)
  }

  /// A manifest whose proof is right but whose content isn't.
  private func forged(_ change: (inout String) -> Void) throws -> [UInt8] {
    let bytes = try sample().bytes()
    let ending = Array("\"\n}\n".utf8)
    var text = String(decoding: bytes.dropLast(64 + ending.count), as: UTF8.self)
    change(&text)
    let covered = Array(text.utf8)
    return covered + Array(try SHA256Hasher.digest(of: covered).hex.utf8) + ending
  }

  private func replacing(_ old: String, _ new: String) -> (inout String) -> Void {
    { text in
      guard let range = text.firstRange(of: old) else { return }
      text.replaceSubrange(range, with: new)
    }
  }

  @Test(arguments: [
    ("\"000001-a.txt\"", "\"../../../etc/passwd\"", "parts/0/file"),
    ("\"000001-a.txt\"", "\"000002-b\"", "parts/0/file"),
    ("\"000000-all.zip\"", "\"/etc/passwd\"", "bundle/file"),
    ("\"size\": 5", "\"size\": -1", "parts/0/size"),
    ("\"size\": 5", "\"size\": 9223372036854775808", "parts/0/size"),
    ("\"index\": 1", "\"index\": 2", "parts/0/index"),
    ("\"unit\": \"artifact\"", "\"unit\": \"all\"", "unit"),
    ("\"gzip\"", "\"zstd\"", "parts/1/encoding"),
    ("\"parts\"", "\"stuff\"", "parts"),
    ("\"artifactId\": \"", "\"artifactId\": \"x", "artifactId"),
    ("\"createdAt\": 17", "\"createdAt\": \"\", \"x\": 17", "createdAt"),
    ("\"to/0\",", "\"to/0\", \"\",", "parts/1/settings"),
  ])
  func `what is proven but wrong is refused with its place`(old: String, new: String, place: String) throws {
    #expect(problem(try forged { _ in }) == nil)
    #expect(problem(try forged(replacing(old, new))) == .field(place))
  }

  @Test func `a newer version is told as such`() throws {
    #expect(problem(try forged(replacing("\"version\": 1", "\"version\": 2"))) == .newerVersion(found: 2, known: 1))
  }

  @Test(arguments: [
    ("report.pdf", "report.pdf", "000007-report.pdf"), ("a/b\\c", "a_b_c", "000007-a_b_c"),
    ("..", "unnamed", "000007-unnamed"),
    ("", "unnamed", "000007-unnamed"), ("x\n\u{202E}fdp.exe", "x__fdp.exe", "000007-x_fdp.exe"),
    ("日本.csv", "日本.csv", "000007-_.csv"), ("-rf *", "-rf *", "000007--rf_"),
  ])
  func `names are made safe for people and for the disk`(name: String, display: String, file: String) throws {
    #expect(PartName.display(Array(name.utf8)) == display)
    #expect(PartName.onDisk(index: 7, display: display) == file)
    #expect(PartName.isSafe(file))
  }

  @Test func `names of any bytes and any length are taken`() {
    #expect(PartName.display([0x61, 0xFF, 0x2F, 0x62]) == "a\u{FFFD}_b")
    let long = String(repeating: "ä", count: 5000) + ".pdf"
    let display = PartName.display(Array(long.utf8))
    #expect(display.utf8.count <= 1024 && display.hasSuffix("ä.pdf"))
    // One character, whatever its length.
    let accents = PartName.display(Array(("o" + String(repeating: "\u{30A}", count: 5000) + ".pdf").utf8))
    #expect((1023...1024).contains(accents.utf8.count) && accents.count == 5 && accents.hasSuffix(".pdf"))
    let file = PartName.onDisk(index: 10_000, display: String(repeating: "x", count: 255) + ".pdf")
    #expect(file.utf8.count == 100 && file.hasPrefix("010000-x") && file.hasSuffix(".pdf"))
  }

  @Test func `media types come from the ending, in any case`() {
    #expect(MediaType.guess("Scan.PDF") == "application/pdf")
    #expect(MediaType.guess("x.tar.gz") == "application/gzip")
    #expect(["noending", ".json", "x.unheard", "x."].allSatisfy { MediaType.guess($0) == "application/octet-stream" })
  }
}
