// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayJSON
import RelaySystem

extension Manifest {
  /// What follows the digest's digits. The digest is the last member, over all bytes before its digits, so the file proves
  /// that it is whole and stays JSON.
  static let ending = Array("\"\n}\n".utf8)
  static let digestDigits = 2 * Digest.length

  /// The file's bytes.
  package func bytes() throws(ArchiveError) -> [UInt8] {
    var json = JSONWriter(style: .pretty)
    json.beginObject()
    json.member("version", Self.version)
    json.member("artifactId", artifactID.description)
    json.member("createdAt", createdAt.milliseconds)
    json.member("pipeline", pipeline)
    json.member("messageId", messageID)
    if let boundary { json.member("boundary", boundary) }
    json.member("unit", unit.rawValue)
    json.name("attributes")
    json.beginArray()
    for attribute in attributes { json.pair(attribute.name, attribute.value) }
    json.endArray()
    json.name("parts")
    json.beginArray()
    for part in parts { part.write(to: &json) }
    json.endArray()
    if let bundle {
      json.name("bundle")
      json.beginObject()
      json.member("file", bundle.file)
      json.member("name", bundle.name)
      json.member("mediaType", bundle.mediaType)
      json.member(bundle.stored, size: "size", digest: "sha256")
      json.endObject()
    }
    json.member("digest", "")
    json.endObject()
    let text = json.take()
    let covered = Array(text.dropLast(Self.ending.count))
    return covered + Array(try SHA256Hasher.digest(of: covered).hex.utf8) + Self.ending
  }
}

extension Manifest.Part {
  fileprivate func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("index", Int64(index))
    json.member("file", file)
    json.member("name", name)
    json.member("mediaType", mediaType)
    if let encoding { json.member("encoding", encoding.rawValue) }
    json.member(stored, size: "size", digest: "sha256")
    if let original { json.member(original, size: "contentSize", digest: "contentSha256") }
    json.member("deliveryId", deliveryID.description)
    if !settings.isEmpty {
      json.name("settings")
      json.beginArray()
      for setting in settings { json.pair(setting.path, setting.text) }
      json.endArray()
    }
    json.endObject()
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ value: String) {
    self.name(name)
    self.value(value)
  }

  mutating func member(_ name: String, _ value: Int64) {
    self.name(name)
    self.value(value)
  }

  fileprivate mutating func member(_ content: Manifest.Content, size: String, digest: String) {
    member(size, content.size)
    member(digest, content.sha256.hex)
  }

  fileprivate mutating func pair(_ first: String, _ second: String) {
    beginArray()
    value(first)
    value(second)
    endArray()
  }
}
