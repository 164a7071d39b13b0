// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem
import RelayTestSupport
import Testing

@Suite struct `A ZIP of a file beyond 4 GiB` {
  private static let size: Int64 = 1 << 32 + 1
  /// Of so many zeros; by `sha256sum`.
  private static let digest = "fbb82f7b353676bb562eb82157fcf0ea42c36492ca13ee56dbf82c08b6802c5c"

  private func write(to folder: Directory) throws {
    let time = WallTime(milliseconds: 1_700_000_000_000)
    let writer = try ZipWriter(into: try folder.createFile("a.zip"), modified: time)
    let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { zeros.deallocate() }
    _ = zeros.initializeMemory(as: UInt8.self, repeating: 0)
    try writer.begin("zeros", size: Self.size)
    for start in stride(from: 0, to: Self.size, by: zeros.count) {
      let count = Int(min(Int64(zeros.count), Self.size - start))
      try writer.write(UnsafeRawBufferPointer(rebasing: zeros[..<count]))
    }
    try writer.end()
    try writer.begin("after", size: 0)
    try writer.end()
    _ = try writer.finish()
  }

  /// A quarter of a minute of one processor for each reader; `unzip` and `7z` read the same.
  @Test(.enabled(if: !Sanitizer.isOn, "it takes minutes with a sanitizer"))
  func `is read by its directory and as a stream`() throws {
    try withFolder { folder in
      try write(to: folder)
      let script = """
        import zipfile
        zip = zipfile.ZipFile("\(folder.path)/a.zip")
        print(zip.testzip(), [(e.filename, e.file_size, e.extract_version) for e in zip.infolist()])
        """
      try folder.replace("list.py", with: Array(script.utf8))
      let listed = try output(of: "python3 \(folder.path)/list.py")
      #expect(listed == "None [('zeros', \(Self.size), 45), ('after', 0, 20)]\n")
      let list = Repository.path("Tests/Fixtures/zip/ListZip.java")
      let streamed = try output(of: "java \(list) \(folder.path)/a.zip")
      #expect(streamed.hasPrefix("7a65726f73 \(Self.digest)\n"))
      #expect(streamed.split(separator: "\n").count == 2)
    }
  }
}
