// SPDX-License-Identifier: Apache-2.0
import RelaySystem

extension SharedObject {
  /// The folders in which a shared object's own header looks for libraries (DT_RUNPATH or DT_RPATH), absolute ones only.
  /// Empty when nothing of the kind can be read. Blocking.
  ///
  /// For targets that came with the program: what another one's header names opens nothing.
  static func searchPath(of path: String) -> [String] {
    guard let slash = path.lastIndex(of: "/"), let folder = try? Directory(String(path[...slash])),
      let file = try? folder.openFile(String(path[path.index(after: slash)...]))
    else { return [] }
    return ELFFile(file: file).searchPath
  }
}

/// Just enough of an ELF file (64-bit, little-endian) to find its search path; whatever doesn't fit reads as absent.
private struct ELFFile {
  let file: Descriptor
  private static let mostEntries: UInt64 = 4096

  private struct Segment {
    var kind: UInt64
    var offset: UInt64
    var address: UInt64
    var size: UInt64
  }

  /// The bytes at a place, or nil where there are fewer.
  private func bytes(at offset: UInt64, _ count: Int) -> [UInt8]? {
    guard let place = Int64(exactly: offset) else { return nil }
    var room = [UInt8](repeating: 0, count: count)
    let got = room.withUnsafeMutableBytes { raw in (try? file.read(into: raw, at: place)) ?? 0 }
    return got == count ? room : nil
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private var segments: [Segment] {
    guard let header = bytes(at: 0, 64), SharedObject.problem(header: header, size: .max) == nil else { return [] }
    let (table, size, count) = (
      Self.number(header[32..<40]), Self.number(header[54..<56]), Self.number(header[56..<58])
    )
    guard size == 56 else { return [] }
    return (0..<count).compactMap { index in
      let (place, overflow) = table.addingReportingOverflow(index * size)
      guard !overflow, let entry = bytes(at: place, 56) else { return nil }
      return Segment(
        kind: Self.number(entry[0..<4]), offset: Self.number(entry[8..<16]), address: Self.number(entry[16..<24]),
        size: Self.number(entry[32..<40]))
    }
  }

  var searchPath: [String] {
    let segments = segments
    guard let dynamic = segments.first(where: { $0.kind == 2 }) else { return [] }
    var names: UInt64?
    var places: [UInt64: UInt64] = [:]
    for index in 0..<min(dynamic.size / 16, Self.mostEntries) {
      guard let entry = bytes(at: dynamic.offset &+ index * 16, 16) else { break }
      let (tag, value) = (Self.number(entry[0..<8]), Self.number(entry[8..<16]))
      if tag == 0 { break }
      if tag == 5 { names = value }
      if tag == 15 || tag == 29 { places[tag] = value }
    }
    guard let names, let place = places[29] ?? places[15],
      let segment = segments.first(where: { $0.kind == 1 && names >= $0.address && names - $0.address < $0.size })
    else { return [] }
    let start = segment.offset &+ (names - segment.address) &+ place
    let text = text(at: start)
    return text.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
  }

  private func text(at start: UInt64) -> String {
    var found: [UInt8] = []
    while found.count < 4096, let byte = bytes(at: start &+ UInt64(found.count), 1)?.first, byte != 0 {
      found.append(byte)
    }
    return String(decoding: found, as: UTF8.self)
  }
}
