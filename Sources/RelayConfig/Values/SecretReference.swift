// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// `{"secret": "name"}` in a file.
enum SecretReference {
  case name(String)
  /// Something else.
  case none

  init(_ node: JSONNode) {
    if let members = node.object, members.count == 1, members[0].name == "secret", let name = members[0].node.string {
      self = .name(name)
    } else {
      self = .none
    }
  }

  static func badNameMessage(_ name: String) -> String {
    "\"\(name)\" can't name a secret: names are a to z, 0 to 9 and -, at most 63, not starting with -"
  }
}
