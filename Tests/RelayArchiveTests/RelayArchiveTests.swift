// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem
import Testing

func withFolder<T>(_ body: (Directory) throws -> T) throws -> T {
  var template = Array("/tmp/relay-archive-XXXXXX".utf8CString)
  let path = String(cString: try #require(mkdtemp(&template)))
  defer { try? Directory("/tmp").removeTree(String(path.dropFirst(5))) }
  return try body(try Directory(path))
}

/// What a program of the distribution prints.
func output(of command: String) throws -> String {
  let stream = try #require(popen(command, "r"))
  defer { pclose(stream) }
  var text = ""
  while let line = readLine(from: stream) { text += line }
  return text
}

private func readLine(from stream: UnsafeMutablePointer<FILE>) -> String? {
  var room = [CChar](repeating: 0, count: 4096)
  guard fgets(&room, Int32(room.count), stream) != nil else { return nil }
  return String(decoding: room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

@Suite struct `Hashes` {
  @Test func `the examples of FIPS 180-4 come out`() throws {
    #expect(
      try SHA256Hasher.digest(of: Array("abc".utf8)).hex
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      try SHA256Hasher.digest(of: []).hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test func `pieces give the digest of the whole, and a file that of its bytes, wherever its offset stands`() throws {
    try withFolder { folder in
      let bytes = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      try folder.replace("file", with: bytes)
      let file = try folder.openFile("file")
      try file.seek(to: 5)
      let whole = try SHA256Hasher.digest(of: bytes)
      let hasher = try SHA256Hasher()
      for start in stride(from: 0, to: bytes.count, by: 1013) {
        try hasher.update(Array(bytes[start..<min(bytes.count, start + 1013)]))
      }
      #expect(try hasher.finish() == whole)
      let found = try SHA256Hasher.digest(of: file)
      #expect(found.digest == whole && found.size == Int64(bytes.count))
      #expect(try file.offset() == 5)
      #expect(try output(of: "sha256sum < \(folder.path)/file").hasPrefix(whole.hex))
    }
  }

  @Test func `a digest reads what it writes and nothing else`() throws {
    let digest = try SHA256Hasher.digest(of: [1])
    #expect(Digest(hex: digest.hex) == digest)
    #expect(Digest(hex: digest.hex.uppercased()) == nil)
    #expect(Digest(hex: String(digest.hex.dropLast())) == nil)
    #expect(Digest(hex: String(repeating: "g", count: 64)) == nil)
  }
}

@Suite struct `Gzip` {
  @Test(arguments: [0, 1, 1000, 1_000_003])
  func `what was compressed is unpacked by gzip, and the same content gives the same bytes`(count: Int) throws {
    try withFolder { folder in
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3 &* 31) }
      try folder.replace("in", with: bytes)
      var outcomes: [GzipWriter.Outcome] = []
      for name in ["a.gz", "b.gz"] {
        outcomes.append(try GzipWriter.compress(try folder.openFile("in"), into: try folder.createFile(name)))
      }
      #expect(outcomes[0] == outcomes[1])
      let packed = try #require(try folder.content(of: "a.gz"))
      #expect(packed == (try folder.content(of: "b.gz")))
      #expect(Int64(packed.count) == outcomes[0].size)
      #expect(try SHA256Hasher.digest(of: packed) == outcomes[0].digest)
      #expect(Array(packed[4..<8]) == [0, 0, 0, 0], "no time in the header")
      let original = try SHA256Hasher.digest(of: bytes).hex
      #expect(try output(of: "gzip -dc \(folder.path)/a.gz | sha256sum").hasPrefix(original))
    }
  }

  @Test func `a full disk is told as such`() throws {
    try withFolder { folder in
      try folder.replace("in", with: (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
      let output = try folder.createFile("out.gz")
      FaultDoor.with([Fault(.write, on: output.path, .fails(ENOSPC))]) {
        #expect(throws: ArchiveError.system(SystemError(call: .write, code: ENOSPC, subject: output.path))) {
          try GzipWriter.compress(try folder.openFile("in"), into: output)
        }
      }
    }
  }
}
