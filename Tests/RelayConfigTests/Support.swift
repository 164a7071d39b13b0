// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayJSON
import RelaySystem
import Testing

enum Samples {
  static let httpText = #"""
    {
      "id": "http", "name": "HTTP", "version": "1.0.0", "license": "Apache-2.0", "unit": "part", "idempotent": true,
      "finalAnswer": 120,
      "settings": {
        "type": "object", "required": ["url"], "additionalProperties": false,
        "properties": {
          "url": {"type": "string", "minLength": 1, "title": "Address", "x-relay-template": true, "x-relay-secret": "allowed"},
          "method": {"enum": ["POST", "PUT", "PATCH"], "default": "POST"},
          "headers": {"type": "object", "additionalProperties": {"type": "string", "x-relay-secret": "allowed"}},
          "bearer": {"type": "string", "x-relay-secret": "required"},
          "basic": {"type": "object", "required": ["username", "password"], "additionalProperties": false,
            "properties": {"username": {"type": "string"}, "password": {"type": "string", "x-relay-secret": "required"}}},
          "field": {"type": "string", "default": "file"},
          "retries": {"type": "integer", "minimum": 0, "maximum": 9},
          "ratio": {"type": "number"},
          "callback": {"type": "string", "x-relay-url": ["https", "http"], "x-relay-template": true},
          "successStatuses": {"type": "array", "items": {"type": "integer", "minimum": 100, "maximum": 599}},
          "standardWebhooks": {"type": "object", "required": ["secret"], "additionalProperties": false,
            "properties": {"secret": {"type": "string", "x-relay-secret": "required"}}},
          "tls": {"type": "object", "additionalProperties": false,
            "properties": {"ca": {"type": "string", "x-relay-access": "read"}}}
        }
      }
    }
    """#

  static let folderText = #"""
    {
      "id": "folder", "name": "Folder", "version": "1.0.0", "unit": "part", "idempotent": true,
      "settings": {
        "type": "object", "required": ["directory"], "additionalProperties": false,
        "properties": {
          "directory": {"type": "string", "x-relay-access": "write"},
          "cache": {"type": "string", "x-relay-access": "write", "default": "/srv/default"},
          "file": {"type": "string", "x-relay-template": true, "default": "{{ file.name }}"}
        }
      }
    }
    """#

  static var targets: [TargetManifest] {
    [httpText, folderText].compactMap { TargetManifest.read(Array($0.utf8), origin: "test").manifest }
  }

  /// Reads a file as it would lie in /srv/relay.
  static func read(
    _ text: String, file: String = "pipelines.json", environment: ConfigurationEnvironment? = nil
  ) -> (configuration: Configuration?, problems: [Diagnostic]) {
    ConfigurationReader.read(
      bytes: Array(text.utf8), file: file, targets: targets,
      environment: environment ?? ConfigurationEnvironment(currentDirectory: "/srv/relay"))
  }

  /// A file with one pipeline to a folder; `pipeline` is put among its keys and `root` among the file's.
  static func file(
    pipeline: String = "", extract: String = #"{"from": "inbox"}"#,
    load: String = #"{"target": "folder", "settings": {"directory": "/srv/out"}}"#, root: String = ""
  ) -> String {
    #"{\#(root) "pipelines": [{"id": "a", "extract": \#(extract), "load": \#(load)\#(pipeline.isEmpty ? "" : ", " + pipeline)}]}"#
  }

  static func codes(_ text: String) -> [String] { read(text).problems.map(\.code.rawValue) }

  /// Without what only says that a key has no effect yet.
  static func mistakes(_ text: String) -> [String] { codes(text).filter { $0 != "config.not-yet" } }
}

/// A folder of its own for a test, gone with its end.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = Array("/tmp/relay-config-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    path = PathRules.resolvingLinks(String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  deinit {
    try? Directory("/tmp").removeTree(String(path.split(separator: "/").last ?? ""))
  }

  func write(_ name: String, _ text: String, mode: UInt32 = 0o600) throws {
    try Directory(path).replace(name, with: Array(text.utf8), mode: mode)
  }
}

/// Compares with a file beside the tests; writes it instead when RELAY_UPDATE_GOLDEN is set.
func expectGolden(_ text: String, _ name: String, from root: String = #filePath, in folder: String = "Golden") throws {
  let beside = PathRules.parent(of: root)
  let directory = try Directory.ensure("\(beside)/\(folder)", mode: 0o755)
  if getenv("RELAY_UPDATE_GOLDEN") != nil {
    try directory.replace(name, with: Array(text.utf8), mode: 0o644)
  }
  let golden = try #require(try directory.content(of: name), "\(name) is missing; scripts/update-docs makes it")
  #expect(text == String(decoding: golden, as: UTF8.self), "\(name) is stale; scripts/update-docs renews it")
}

func symlinked(_ target: String, at path: String) -> Bool { symlink(target, path) == 0 }
