// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// An object's values with the defaults of its declaration. What is of the wrong type counts as absent: it was told
/// already.
struct DeclaredObject {
  let node: JSONNode?
  let declaration: ObjectDeclaration

  init(_ node: JSONNode?, _ declaration: ObjectDeclaration) {
    self.node = node
    self.declaration = declaration
  }

  func value(_ key: String) -> JSONNode? {
    node?[key] ?? declaration[key]?.defaultValue.map { JSONNode($0) }
  }

  func text(_ key: String) -> String? { value(key)?.string ?? fallback(key)?.string }
  func flag(_ key: String) -> Bool { value(key)?.bool ?? fallback(key)?.bool ?? false }
  func integer(_ key: String) -> Int64? { value(key)?.integer ?? fallback(key)?.integer }
  func duration(_ key: String) -> Int64? { text(key).flatMap(Quantity.duration) }
  func size(_ key: String) -> Int64? { text(key).flatMap(Quantity.size) }

  func texts(_ key: String) -> [String]? { value(key)?.array?.compactMap(\.string) }

  func word<Word: RawRepresentable>(_ key: String, _ type: Word.Type = Word.self) -> Word?
  where Word.RawValue == String {
    text(key).flatMap(Word.init) ?? fallback(key)?.string.flatMap(Word.init)
  }

  func object(_ key: String, _ declaration: ObjectDeclaration) -> DeclaredObject {
    DeclaredObject(value(key), declaration)
  }

  private func fallback(_ key: String) -> JSONNode? { declaration[key]?.defaultValue.map { JSONNode($0) } }
}
