// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// A short text that stands for what is written in some parts of a file.
enum Fingerprint {
  /// The same for the same content in any order of keys and any layout. It recognises change and proves nothing:
  /// FNV-1a, twice.
  static func of(_ nodes: [JSONNode?]) -> String {
    var writer = JSONWriter()
    writer.beginArray()
    for node in nodes { writer.raw((node ?? JSONNode(.null)).withSortedNames) }
    writer.endArray()
    let bytes = writer.take()
    return hash(bytes, from: 0xCBF2_9CE4_8422_2325) + hash(bytes.reversed(), from: 0x6C62_272E_07BB_0142)
  }

  private static func hash(_ bytes: some Sequence<UInt8>, from start: UInt64) -> String {
    let sum = bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let digits = String(sum, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension JSONNode {
  fileprivate var withSortedNames: JSONNode {
    switch value {
    case .array(let elements): JSONNode(.array(elements.map(\.withSortedNames)))
    case .object(let members):
      JSONNode(
        .object(
          members.map { JSONMember(name: $0.name, node: $0.node.withSortedNames) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }))
    default: self
    }
  }
}
