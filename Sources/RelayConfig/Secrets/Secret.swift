// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// A secret's value. Printing, interpolating or dumping it shows nothing of it.
package struct Secret: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package let name: String
  /// The value itself; for the worker and the redactor alone.
  package let bytes: [UInt8]

  package init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// Fewer bytes can only be blanked as a whole word.
  package static let shortLimit = 8

  package var isShort: Bool { bytes.count < Self.shortLimit }

  package var description: String { "secret \"\(name)\"" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

package enum SecretError: Error, Equatable, Sendable {
  case badName(String)
  /// In none of the places, which are named for people.
  case notFound(name: String, places: [String])
  /// It is there and can't be read; the cause in words.
  case unreadable(name: String, place: String, cause: String)
  case cannotStore(name: String, cause: String)
  case empty(name: String)
}

extension SecretError {
  package var message: String {
    switch self {
    case .badName(let name): SecretReference.badNameMessage(name)
    case .notFound(let name, let places): "secret \"\(name)\" was not found in \(places.joined(separator: ", nor in "))"
    case .unreadable(let name, let place, let cause): "secret \"\(name)\" can't be read from \(place): \(cause)"
    case .cannotStore(let name, let cause): "secret \"\(name)\" can't be stored: \(cause)"
    case .empty(let name): "secret \"\(name)\" has no value"
    }
  }

  package var hint: String {
    switch self {
    case .badName: "choose another name"
    case .notFound(let name, _): "run \"relay-host secret set \(name)\""
    case .unreadable: "let the owner of the state folder read it"
    case .cannotStore: "see that the state folder is writable and the disk has room"
    case .empty(let name): "run \"relay-host secret set \(name)\""
    }
  }

  package var code: DiagnosticCode {
    switch self {
    case .badName: .secretBadName
    case .notFound: .secretNotFound
    case .unreadable, .cannotStore, .empty: .secretUnreadable
    }
  }

  package var diagnostic: Diagnostic { Diagnostic(code, message, hint: hint) }
}
