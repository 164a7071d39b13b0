// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayJSON
import RelaySystem

extension Manifest {
  /// Reads a manifest, strictly: every byte must be as it was written, and every member one that this version writes.
  package static func read(_ bytes: [UInt8]) throws(ManifestProblem) -> Manifest {
    guard bytes.count <= largest else { throw .tooLarge(limit: largest) }
    guard bytes.count > ending.count + digestDigits, Array(bytes.suffix(ending.count)) == ending else { throw .cut }
    let covered = Array(bytes.dropLast(ending.count + digestDigits))
    let proof = String(decoding: bytes.dropLast(ending.count).suffix(digestDigits), as: UTF8.self)
    guard let found = try? SHA256Hasher.digest(of: covered) else { throw .hashUnavailable }
    guard Digest(hex: proof) == found else { throw .altered }
    let root: JSONNode
    do {
      root = try JSONTree.parse(bytes, limits: JSONLimits(bytes: largest))
    } catch {
      throw .field("byte \(error.offset)")
    }
    return try Manifest(root)
  }

  private init(_ root: JSONNode) throws(ManifestProblem) {
    let version = try root.integer("version", in: "")
    guard version == Self.version else { throw .newerVersion(found: version, known: Self.version) }
    artifactID = try root.identifier("artifactId", in: "")
    createdAt = WallTime(milliseconds: try root.integer("createdAt", in: ""))
    pipeline = try root.text("pipeline", in: "")
    messageID = try root.text("messageId", in: "")
    boundary = try root.optionalText("boundary", in: "")
    guard let unit = DeliveryUnit(rawValue: try root.text("unit", in: "")) else { throw .field("unit") }
    self.unit = unit
    attributes = try root.pairs("attributes", in: "").map { Attribute($0.0, $0.1) }
    guard let nodes = root["parts"]?.array, !nodes.isEmpty, nodes.count <= Self.mostParts else { throw .field("parts") }
    parts = []
    parts.reserveCapacity(nodes.count)
    for (place, node) in nodes.enumerated() { parts.append(try Part(node, index: place + 1)) }
    guard let bundle = root["bundle"] else { return }
    let file = try bundle.text("file", in: "bundle/")
    guard PartName.isSafe(file) else { throw .field("bundle/file") }
    self.bundle = Bundle(
      file: file, name: try bundle.text("name", in: "bundle/"), mediaType: try bundle.text("mediaType", in: "bundle/"),
      stored: try bundle.content(size: "size", digest: "sha256", in: "bundle/"))
  }
}

extension Manifest.Part {
  fileprivate init(_ node: JSONNode, index: Int) throws(ManifestProblem) {
    let place = "parts/\(index - 1)/"
    guard try node.integer("index", in: place) == Int64(index) else { throw .field(place + "index") }
    self.index = index
    file = try node.text("file", in: place)
    guard PartName.isSafe(file), PartName.index(of: file) == index else { throw .field(place + "file") }
    name = try node.text("name", in: place)
    mediaType = try node.text("mediaType", in: place)
    if let text = try node.optionalText("encoding", in: place) {
      guard let encoding = PartEncoding(rawValue: text) else { throw .field(place + "encoding") }
      self.encoding = encoding
    }
    stored = try node.content(size: "size", digest: "sha256", in: place)
    if node["contentSize"] != nil {
      original = try node.content(size: "contentSize", digest: "contentSha256", in: place)
    }
    let kept = try node.identifier("deliveryId", in: place)
    deliveryID = BrokenQueue.promise(.sameIdentity) ? .random() : kept
    settings = []
    if node["settings"] != nil {
      settings = try node.pairs("settings", in: place).map { Manifest.Setting(path: $0.0, text: $0.1) }
    }
  }
}

extension JSONNode {
  fileprivate func text(_ name: String, in place: String) throws(ManifestProblem) -> String {
    guard let text = self[name]?.string else { throw .field(place + name) }
    return text
  }

  fileprivate func optionalText(_ name: String, in place: String) throws(ManifestProblem) -> String? {
    self[name] == nil ? nil : try text(name, in: place)
  }

  fileprivate func integer(_ name: String, in place: String) throws(ManifestProblem) -> Int64 {
    guard let value = self[name]?.integer else { throw .field(place + name) }
    return value
  }

  fileprivate func identifier(_ name: String, in place: String) throws(ManifestProblem) -> Identifier {
    guard let value = Identifier(try text(name, in: place)) else { throw .field(place + name) }
    return value
  }

  fileprivate func content(
    size: String, digest: String, in place: String
  ) throws(ManifestProblem) -> Manifest.Content {
    let count = try integer(size, in: place)
    guard count >= 0 else { throw .field(place + size) }
    guard let value = Digest(hex: try text(digest, in: place)) else { throw .field(place + digest) }
    return Manifest.Content(size: count, sha256: value)
  }

  fileprivate func pairs(_ name: String, in place: String) throws(ManifestProblem) -> [(String, String)] {
    guard let nodes = self[name]?.array else { throw .field(place + name) }
    var found: [(String, String)] = []
    for node in nodes {
      guard let pair = node.array, pair.count == 2, let first = pair[0].string, let second = pair[1].string else {
        throw .field(place + name)
      }
      found.append((first, second))
    }
    return found
  }
}
