// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem

/// Short forms for the results that commands print with `--json`.
extension JSONNode {
  static func object(_ members: KeyValuePairs<String, JSONNode>) -> JSONNode {
    JSONNode(.object(members.map { JSONMember(name: $0.key, node: $0.value) }))
  }

  static func array(_ elements: [JSONNode]) -> JSONNode { JSONNode(.array(elements)) }

  static func text(_ text: String?) -> JSONNode { JSONNode(text.map { .string($0) } ?? .null) }

  static func integer(_ number: some BinaryInteger) -> JSONNode {
    JSONNode(.number(JSONNumber(Int64(clamping: number))))
  }

  static func flag(_ flag: Bool) -> JSONNode { JSONNode(.bool(flag)) }

  static func time(_ time: WallTime?) -> JSONNode { text(time?.text()) }
}
