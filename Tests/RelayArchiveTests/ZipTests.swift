// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem
import Testing

@Suite struct `A ZIP` {
  private let noon = WallTime(milliseconds: 1_700_000_001_999)

  private func write(
    _ files: [(String, [UInt8])], _ folder: Directory, _ name: String = "a.zip", modified: WallTime? = nil
  ) throws -> ZipWriter.Outcome {
    let writer = try ZipWriter(into: try folder.createFile(name), modified: modified ?? noon)
    for (name, bytes) in files {
      try writer.begin(name, size: Int64(bytes.count))
      for start in stride(from: 0, to: bytes.count, by: 5000) {
        try write(Array(bytes[start..<min(start + 5000, bytes.count)]), to: writer)
      }
      try writer.end()
    }
    return try writer.finish()
  }

  private func write(_ bytes: [UInt8], to writer: ZipWriter) throws {
    try bytes.withUnsafeBytes { raw in Result { () throws(ArchiveError) in try writer.write(raw) } }.get()
  }

  private func read(_ reader: ZipReader) throws -> [(ZipReader.Entry, [UInt8])] {
    var found: [(ZipReader.Entry, [UInt8])] = []
    while let entry = try reader.next() {
      var bytes: [UInt8] = []
      while true {
        let piece = try reader.read()
        if piece.isEmpty { break }
        bytes += piece
      }
      found.append((entry, bytes))
    }
    return found
  }

  private func noise(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
  }

  @Test func `holds what was written, read from its end and from its beginning`() throws {
    try withFolder { folder in
      let files = [("one.txt", Array("one".utf8)), ("Grüße 🎉.bin", noise(300_000)), ("nothing", [])]
      let outcome = try write(files, folder)
      let file = try folder.openFile("a.zip")
      #expect(try SHA256Hasher.digest(of: file) == (outcome.digest, outcome.size))
      let whole = try read(try ZipReader(file))
      #expect(whole.map(\.1) == files.map(\.1))
      #expect(whole.map(\.0.size) == files.map { Int64($0.1.count) })
      #expect(whole.allSatisfy { $0.0.modified == 1_700_000_001 })
      let size = outcome.size
      #expect(try read(try ZipReader(file) { _ in size }).map(\.1) == files.map(\.1))
      #expect(try write(files, folder, "b.zip") == outcome)
    }
  }

  @Test func `says of each file: deflated, owner 0, mode 0644, UTF-8 where it matters, and its size and time as UTC`()
    throws
  {
    try withFolder { folder in
      _ = try write([("a.txt", [1, 2, 3]), ("ü.txt", [])], folder)
      let script = """
        import zipfile
        for e in zipfile.ZipFile("\(folder.path)/a.zip").infolist():
            print(e.compress_type, e.flag_bits & 0x800, oct(e.external_attr >> 16), e.file_size, e.date_time,
                  e.extract_version, e.extra.hex(), sep="|")
        """
      try folder.replace("list.py", with: Array(script.utf8))
      // UT: the time alone, in UTC; ux: user and group 0.
      let extra = "5554050001" + "01f15365" + "75780b000104000000000400000000"
      #expect(
        try output(of: "TZ=Asia/Tokyo python3 \(folder.path)/list.py")
          == "8|0|0o100644|3|(2023, 11, 14, 22, 13, 20)|20|\(extra)\n"
          + "8|2048|0o100644|0|(2023, 11, 14, 22, 13, 20)|20|\(extra)\n")
    }
  }

  @Test(arguments: [
    (Int64.min, "(1980, 1, 1, 0, 0, 0)"), (0, "(1980, 1, 1, 0, 0, 0)"),
    (1_709_210_096_000, "(2024, 2, 29, 12, 34, 56)"), (.max, "(2106, 2, 7, 6, 28, 14)"),
  ])
  func `has the nearest time that it can write`(milliseconds: Int64, expected: String) throws {
    try withFolder { folder in
      _ = try write([("a", [1])], folder, modified: WallTime(milliseconds: milliseconds))
      let found = try output(
        of: "python3 -c 'import zipfile; print(zipfile.ZipFile(\"\(folder.path)/a.zip\").infolist()[0].date_time)'")
      #expect(found == expected + "\n")
    }
  }

  @Test func `isn't made of a file that is shorter or longer than was said`() throws {
    try withFolder { folder in
      let short = try ZipWriter(into: try folder.createFile("short.zip"), modified: noon)
      try short.begin("a", size: 3)
      try write([1, 2], to: short)
      #expect(throws: ArchiveError.content("a file is shorter than it was")) { try short.end() }
      let long = try ZipWriter(into: try folder.createFile("long.zip"), modified: noon)
      try long.begin("a", size: 1)
      #expect(throws: ArchiveError.content("a file is longer than it was")) {
        try write([1, 2], to: long)
      }
    }
  }

  @Test func `that fails at any write is told as the kernel told it, and short writes change nothing`() throws {
    try withFolder { folder in
      let files = [("a", noise(700_000)), ("b", noise(100))]
      let whole = try write(files, folder)
      for after in 0..<3 {
        let path = folder.path + "/full-\(after)"
        FaultDoor.with([Fault(.write, on: path, .fails(ENOSPC), after: after)]) {
          #expect(throws: ArchiveError.system(SystemError(call: .write, code: ENOSPC, subject: path))) {
            try write(files, folder, "full-\(after)")
          }
        }
      }
      let slow = try FaultDoor.with([Fault(.write, on: folder.path + "/slow", .short(999))]) {
        try write(files, folder, "slow")
      }
      #expect(slow == whole)
    }
  }

  @Test func `that is cut or damaged anywhere isn't read as if it were whole`() throws {
    try withFolder { folder in
      let content = noise(2000)
      _ = try write([("a", content), ("b", [7])], folder)
      let bytes = try #require(try folder.content(of: "a.zip"))
      for length in stride(from: 0, to: bytes.count, by: 61) {
        let cut = try read(as: Array(bytes[..<length]), in: folder)
        #expect(cut?.map(\.1) != [content, [7]], "cut at \(length)")
      }
      // In the data of the first file; what surrounds it has parts that no reader looks at.
      for place in stride(from: 70, to: 2000, by: 97) {
        var damaged = bytes
        damaged[place] ^= 1
        #expect(try read(as: damaged, in: folder)?.first?.1 != content, "damaged at \(place)")
      }
    }
  }

  private func read(as bytes: [UInt8], in folder: Directory) throws -> [(ZipReader.Entry, [UInt8])]? {
    try folder.replace("tried", with: bytes, durable: false)
    let file = try folder.openFile("tried")
    return try? read(try ZipReader(file))
  }
}

@Suite struct `Unpacking gzip` {
  @Test(arguments: [0, 1, 65_536, 1_000_003])
  func `gives back what was packed`(count: Int) throws {
    try withFolder { folder in
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3 &* 31) }
      try folder.replace("in", with: bytes)
      _ = try GzipWriter.compress(try folder.openFile("in"), into: try folder.createFile("packed"))
      let reader = try GzipReader(try folder.openFile("packed"))
      let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 16)
      defer { room.deallocate() }
      var found: [UInt8] = []
      while true {
        let got = try reader.read(into: room)
        if got == 0 { break }
        found += room[..<got]
      }
      #expect(found == bytes)
    }
  }

  @Test func `of a file that is cut or damaged is an error`() throws {
    try withFolder { folder in
      try folder.replace("in", with: (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })
      _ = try GzipWriter.compress(try folder.openFile("in"), into: try folder.createFile("packed"))
      let bytes = try #require(try folder.content(of: "packed"))
      var damaged = bytes
      damaged[bytes.count - 5] ^= 1
      for wrong in [[], Array(bytes.dropLast()), Array(bytes.prefix(20)), damaged] {
        try folder.replace("wrong", with: wrong)
        let reader = try GzipReader(try folder.openFile("wrong"))
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 16)
        defer { room.deallocate() }
        #expect(throws: ArchiveError.self) { while try reader.read(into: room) > 0 {} }
      }
    }
  }
}
