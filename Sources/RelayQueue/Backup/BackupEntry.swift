// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayJSON
import RelaySystem

/// One file of a backup: a line of its list.
struct BackupEntry: Equatable, Sendable {
  /// The folders that lead to it, from the backup's own on.
  var folders: [String]
  /// In any bytes.
  var name: [UInt8]
  var size: Int64
  var sha256: Digest
  /// Nanoseconds since 1970, where that means something: inbox files are taken in the order of their time.
  var modified: Int64?

  /// For people.
  var path: String { (folders + [String(decoding: name, as: UTF8.self)]).joined(separator: "/") }
}

extension BackupEntry {
  /// Folders that a backup consists of; nothing else is put back.
  static let roots: Set<String> = ["pipelines", "secrets", "templates", "certificates"]
  private static let deepest = 8

  func line() -> [UInt8] {
    var json = JSONWriter(style: .compact)
    json.beginObject()
    json.name("folder")
    json.value(folders.joined(separator: "/"))
    if let text = String(validating: name, as: UTF8.self) {
      json.name("name")
      json.value(text)
    } else {
      json.name("bytes")
      json.value(name.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }
    json.name("size")
    json.value(size)
    json.name("sha256")
    json.value(sha256.hex)
    if let modified {
      json.name("modified")
      json.value(modified)
    }
    json.endObject()
    return json.take()
  }

  /// nil for a line that is none, or that leads out of the backup's folders.
  init?(line: [UInt8]) {
    guard let node = try? JSONTree.parse(line), let folder = node["folder"]?.string,
      let size = node["size"]?.integer, size >= 0, let digest = node["sha256"]?.string.flatMap(Digest.init(hex:))
    else { return nil }
    folders = folder.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard let root = folders.first, Self.roots.contains(root), folders.count <= Self.deepest,
      folders.allSatisfy({ Self.isSafe(Array($0.utf8)) })
    else { return nil }
    if let text = node["name"]?.string {
      name = Array(text.utf8)
    } else if let bytes = node["bytes"]?.string.flatMap(Self.bytes(hex:)) {
      name = bytes
    } else {
      return nil
    }
    guard Self.isSafe(name) else { return nil }
    self.size = size
    sha256 = digest
    modified = node["modified"]?.integer
  }

  private static func isSafe(_ name: [UInt8]) -> Bool {
    !name.isEmpty && name.count <= 255 && name != [46] && name != [46, 46] && !name.contains(0) && !name.contains(47)
  }

  private static func bytes(hex: String) -> [UInt8]? {
    let digits = Array(hex.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[place...(place + 1)], as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(byte)
    }
    return bytes
  }
}

/// Reads a file line by line; memory is one line.
struct LineReader {
  /// In bytes: a path, a hash and numbers.
  private static let longest = 64 * 1024

  private let file: Descriptor
  private var offset: Int64 = 0
  private var rest: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  init(_ file: Descriptor) { self.file = file }

  /// The next line without its end; nil behind the last. One that is too long comes in pieces, none of which is a line.
  mutating func next() throws(SystemError) -> [UInt8]? {
    while true {
      if let end = rest[start...].firstIndex(of: 10) {
        defer { start = end + 1 }
        return Array(rest[start..<end])
      }
      if isAtEnd || rest.count - start > Self.longest {
        defer { (rest, start) = ([], 0) }
        return start < rest.count ? Array(rest[start...]) : nil
      }
      rest.removeFirst(start)
      start = 0
      let more = try file.bytes(at: offset, count: Self.longest)
      offset += Int64(more.count)
      isAtEnd = more.isEmpty
      rest += more
    }
  }
}
