// SPDX-License-Identifier: Apache-2.0
import CurlTransport

/// One resource of a 207 answer, with the properties that the server has.
struct DAVResource: Equatable {
  var href: String
  /// By name; only those that were found.
  var properties: [String: XMLElement]

  /// Weak or strong, as the server wrote it.
  var tag: String? { properties["getetag"].flatMap { $0.text.isEmpty ? nil : $0.text } }

  static func all(in body: [UInt8]) -> [DAVResource] {
    guard let root = XMLElement.parse(body), root.name == "multistatus" else { return [] }
    return root.children.filter { $0.name == "response" }.compactMap { response in
      guard let href = response.children.first(where: { $0.name == "href" })?.text, !href.isEmpty else { return nil }
      var properties: [String: XMLElement] = [:]
      for group in response.children where group.name == "propstat" {
        let status = group.first("status")?.text ?? ""
        guard status.split(separator: " ").dropFirst().first == "200" else { continue }
        for property in group.first("prop")?.children ?? [] { properties[property.name] = property }
      }
      return DAVResource(href: href, properties: properties)
    }
  }
}

/// What a server says besides its status: the names of broken conditions (RFC 4918, section 16), and words.
struct DAVError: Equatable {
  var conditions: Set<String> = []
  var words: String?

  init(_ answer: Answer) {
    guard let root = XMLElement.parse(answer.body), root.name == "error" else { return }
    conditions = Set(root.children.map(\.name))
    words = ["message", "responsedescription", "human-readable"].lazy
      .compactMap { root.first($0)?.text }.first { !$0.isEmpty }
  }

  /// Another object of this calendar has the UID (CalDAV's condition, or the words of Nextcloud and sabre/dav).
  var isTaken: Bool { conditions.contains("no-uid-conflict") || says("object with uid already exists") }

  /// The object with this UID lies in the trash, which keeps the UID occupied.
  var isInTrash: Bool { says("deleted calendar object with uid already exists") }

  private func says(_ text: String) -> Bool { words?.lowercased().contains(text) == true }
}
