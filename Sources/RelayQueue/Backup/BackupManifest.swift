// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayJSON
import RelaySystem

/// The file `backup.json`, which is written last: what the backup holds, and a hash of the list of its files.
///
/// Its own last member is a hash of all that stands before, so that not one byte can change unseen.
package struct BackupManifest: Equatable, Sendable {
  package static let fileName = "backup.json"
  /// Of this layout.
  static let version: Int64 = 1
  /// In bytes.
  static let largest = 16 << 20

  package struct Pipeline: Equatable, Sendable {
    package var id: String
    package var queued = 0
    package var refused = 0
    package var corrupt = 0
    package var ready = 0
    /// Files that waited in its own inbox.
    package var inbox = 0
    package var files = 0
    package var bytes: Int64 = 0
    /// Paths of what is no file of this program, or was still being written, and so was left out.
    package var leftOut: [String] = []

    package var artifacts: Int { queued + refused + corrupt + ready }
  }

  package var program: String
  /// Of the state folder.
  package var format: UInt64
  package var created: WallTime
  package var hasSecrets: Bool
  package var configuration: Content?
  package var list: Content
  package var pipelines: [Pipeline]

  package struct Content: Equatable, Sendable {
    package var size: Int64
    package var sha256: Digest
  }

  package var artifacts: Int { pipelines.reduce(0) { $0 + $1.artifacts } }
  package var bytes: Int64 { pipelines.reduce(0) { $0.addingReportingOverflow($1.bytes).partialValue } }
}

extension BackupManifest {
  private static let check = ",\n  \"check\": \""
  private static let end = "\"\n}\n"

  func encoded() throws(ArchiveError) -> [UInt8] {
    var json = JSONWriter(style: .pretty)
    json.beginObject()
    json.name("backup")
    json.value(Self.version)
    json.name("program")
    json.value(program)
    json.name("format")
    json.value(format)
    json.name("created")
    json.value(created.text(milliseconds: true))
    json.name("secrets")
    json.value(hasSecrets)
    if let configuration { Self.put(configuration, "configuration", &json) }
    Self.put(list, "list", &json)
    json.name("pipelines")
    json.beginArray()
    for pipeline in pipelines { Self.put(pipeline, &json) }
    json.endArray()
    json.endObject()
    var bytes = json.take()
    while bytes.last == 10 || bytes.last == UInt8(ascii: "}") { bytes.removeLast() }
    let digest = try SHA256Hasher.digest(of: bytes)
    return bytes + Array((Self.check + digest.hex + Self.end).utf8)
  }

  private static func put(_ content: Content, _ name: String, _ json: inout JSONWriter) {
    json.name(name)
    json.beginObject()
    json.name("size")
    json.value(content.size)
    json.name("sha256")
    json.value(content.sha256.hex)
    json.endObject()
  }

  private static func put(_ pipeline: Pipeline, _ json: inout JSONWriter) {
    json.beginObject()
    json.name("id")
    json.value(pipeline.id)
    for (name, count) in [
      ("queued", pipeline.queued), ("refused", pipeline.refused), ("corrupt", pipeline.corrupt),
      ("ready", pipeline.ready), ("inbox", pipeline.inbox), ("files", pipeline.files),
    ] {
      json.name(name)
      json.value(count)
    }
    json.name("bytes")
    json.value(pipeline.bytes)
    json.name("leftOut")
    json.beginArray()
    for path in pipeline.leftOut { json.value(path) }
    json.endArray()
    json.endObject()
  }

  /// What `decode` found wrong.
  enum Problem: Error {
    case damaged(String)
    case newer(Int64)
    case hashUnavailable
  }

  static func decode(_ bytes: [UInt8]) throws(Problem) -> BackupManifest {
    let length = check.utf8.count + 2 * Digest.length + end.utf8.count
    let body = bytes.dropLast(length)
    let tail = String(decoding: bytes.suffix(length), as: UTF8.self)
    guard let root = try? JSONTree.parse(bytes) else { throw .damaged("it is no JSON") }
    // A newer layout may have another check.
    if let found = root["backup"]?.integer, found > version { throw .newer(found) }
    let digest: Digest
    do { digest = try SHA256Hasher.digest(of: Array(body)) } catch { throw .hashUnavailable }
    guard tail == check + digest.hex + end else { throw .damaged("it is not as it was written (its check differs)") }
    guard let manifest = BackupManifest(root) else { throw .damaged("a member is missing or strange") }
    return manifest
  }

  private init?(_ root: JSONNode) {
    guard root["backup"]?.integer == Self.version, let program = root["program"]?.string,
      let format = root["format"]?.integer, format > 0,
      let created = root["created"]?.string.flatMap(WallTime.init), let hasSecrets = root["secrets"]?.bool,
      let list = root["list"].flatMap(Self.content), let pipelines = root["pipelines"]?.array
    else { return nil }
    self.program = program
    self.format = UInt64(clamping: format)
    self.created = created
    self.hasSecrets = hasSecrets
    configuration = root["configuration"].flatMap(Self.content)
    self.list = list
    self.pipelines = []
    for node in pipelines {
      guard let id = node["id"]?.string, StateFolder.isPipelineID(id) else { return nil }
      func count(_ name: String) -> Int { Int(clamping: node[name]?.integer ?? 0) }
      self.pipelines.append(
        Pipeline(
          id: id, queued: count("queued"), refused: count("refused"), corrupt: count("corrupt"), ready: count("ready"),
          inbox: count("inbox"), files: count("files"), bytes: node["bytes"]?.integer ?? 0,
          leftOut: (node["leftOut"]?.array ?? []).compactMap(\.string)))
    }
  }

  private static func content(_ node: JSONNode) -> Content? {
    guard let size = node["size"]?.integer, let digest = node["sha256"]?.string.flatMap(Digest.init(hex:)) else {
      return nil
    }
    return Content(size: size, sha256: digest)
  }
}
