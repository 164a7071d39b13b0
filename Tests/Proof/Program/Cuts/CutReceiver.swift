// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayTestSupport

/// A file that is handed over: the JSON of a calendar's events, so that each target takes it.
struct CutFile: Sendable {
  var artifact: Int
  /// From 1.
  var part: Int
  /// Of the same length for all, so that every conversation has as many bytes.
  var name: String { Self.name(artifact, part) }
  /// Begins with the name, so that an event tells which file it is of.
  var title: String { "\(name): what is cut" }

  /// Of an artifact's first part the event is new, of its second one it is there already.
  var content: String {
    let key = part == 1 ? name : "standing"
    return """
      {"events": [{"key": "\(key)", "title": "\(title)", "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T11:00:00Z"}]}

      """
  }

  static func name(_ artifact: Int, _ part: Int) -> String {
    let digits = "\(artifact)"
    return "a" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits + "-n\(part).json"
  }

  /// Artifact and part of a name; nil for any other text.
  static func place(of name: some StringProtocol) -> (artifact: Int, part: Int)? {
    let words = name.split(separator: ".").first?.split(separator: "-") ?? []
    guard words.count == 2, words[0].hasPrefix("a"), words[1].hasPrefix("n"), let artifact = Int(words[0].dropFirst()),
      let part = Int(words[1].dropFirst())
    else { return nil }
    return (artifact, part)
  }
}

/// Something that came to a receiver whole.
struct CutReceipt: Sendable {
  /// The file's, as it came.
  var name: String
  /// What the receiver can tell a repeat by.
  var identity: String
  var digest: String
  /// False for a repeat that the receiver recognised and did not take a second time.
  var isTaken = true
}

/// A server that deliveries go to through the cutting proxy.
protocol CutReceiver: Sendable {
  var port: String { get }
  /// Name and value of the secrets that `load` names.
  var secrets: [String: String] { get }
  /// The pipeline's `load`, to the proxy's port.
  func load(port: String) -> String
  /// What came since this was asked last, in the order in which it came.
  func receipts() throws -> [CutReceipt]
  /// What a receipt of this file has for a digest.
  func digest(of file: CutFile) throws -> String
  /// What is wrong beyond the receipts, at the end; a text each.
  func faults() throws -> [String]
}

extension CutReceiver {
  var secrets: [String: String] { [:] }
  func digest(of file: CutFile) throws -> String { try Fingerprint.sha256(Array(file.content.utf8)) }
  func faults() throws -> [String] { [] }
}

/// The lines of a file that grows, each read once, when it is whole.
struct GrowingFile: Sendable {
  let path: String
  private var done = 0

  init(_ path: String) { self.path = path }

  mutating func lines() throws -> [String] {
    guard File.exists(path) else { return [] }
    let bytes = try File.bytes(of: path, from: done)
    guard let end = bytes.lastIndex(of: 10) else { return [] }
    done += end + 1
    return bytes[..<end].split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The same as JSON.
  mutating func records() throws -> [JSONNode] { try lines().map { try JSONTree.parse(Array($0.utf8)) } }
}
