// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// What a command line, or any other client on this machine, asks of the daemon.
package enum ControlRequest: Equatable, Sendable {
  /// The files themselves travel as descriptors.
  case submit(pipeline: String, names: [String])
  case status(pipeline: String?)
  case queue(pipeline: String)
  case drop(pipeline: String, artifact: String)
  case refused(pipeline: String)
  case resendRefused(pipeline: String, artifact: String)
  case deleteRefused(pipeline: String, artifact: String)
  case log(pipeline: String, count: Int)
  case pause(pipeline: String)
  case resume(pipeline: String)
  case retry(pipeline: String)
  case remove(pipeline: String)
  case test(pipeline: String)
  case targets
  /// The folder itself travels as a descriptor; its path is for messages.
  case backup(folder: String, withSecrets: Bool)
  case reload
  /// A secret was set or removed: pipelines that use it are to see that.
  case secretChanged(name: String)
}

extension ControlRequest {
  private static let simple: [(name: String, make: @Sendable (String) -> ControlRequest)] = [
    ("queue", { .queue(pipeline: $0) }), ("refused", { .refused(pipeline: $0) }), ("pause", { .pause(pipeline: $0) }),
    ("resume", { .resume(pipeline: $0) }), ("retry", { .retry(pipeline: $0) }), ("remove", { .remove(pipeline: $0) }),
    ("test", { .test(pipeline: $0) }),
  ]
  private static let withArtifact: [(name: String, make: @Sendable (String, String) -> ControlRequest)] = [
    ("drop", { .drop(pipeline: $0, artifact: $1) }), ("refused-resend", { .resendRefused(pipeline: $0, artifact: $1) }),
    ("refused-delete", { .deleteRefused(pipeline: $0, artifact: $1) }),
  ]

  /// Reads one line of the protocol; nil for anything that isn't a request.
  init?(_ node: JSONNode) {
    guard let command = node["command"]?.string else { return nil }
    let pipeline = node["pipeline"]?.string
    if let entry = Self.simple.first(where: { $0.name == command }), let pipeline {
      self = entry.make(pipeline)
      return
    }
    if let entry = Self.withArtifact.first(where: { $0.name == command }), let pipeline,
      let artifact = node["artifact"]?.string
    {
      self = entry.make(pipeline, artifact)
      return
    }
    switch (command, pipeline) {
    case ("submit", let pipeline?):
      guard let names = node["names"]?.array?.map(\.string), !names.contains(nil) else { return nil }
      self = .submit(pipeline: pipeline, names: names.compactMap { $0 })
    case ("status", _): self = .status(pipeline: pipeline)
    case ("log", let pipeline?):
      self = .log(pipeline: pipeline, count: Int(clamping: max(0, node["count"]?.integer ?? 50)))
    case ("targets", _): self = .targets
    case ("backup", _):
      guard let folder = node["folder"]?.string else { return nil }
      self = .backup(folder: folder, withSecrets: node["secrets"]?.bool ?? false)
    case ("reload", _): self = .reload
    case ("secret-changed", _):
      guard let name = node["name"]?.string else { return nil }
      self = .secretChanged(name: name)
    default: return nil
    }
  }

  /// One line of the protocol, with its end.
  var line: [UInt8] {
    var writer = JSONWriter(style: .compact)
    writer.beginObject()
    func member(_ name: String, _ value: String) {
      writer.name(name)
      writer.value(value)
    }
    func request(_ command: String, _ pipeline: String?, artifact: String? = nil) {
      member("command", command)
      if let pipeline { member("pipeline", pipeline) }
      if let artifact { member("artifact", artifact) }
    }
    switch self {
    case .submit(let pipeline, let names):
      request("submit", pipeline)
      writer.name("names")
      writer.beginArray()
      for name in names { writer.value(name) }
      writer.endArray()
    case .status(let pipeline): request("status", pipeline)
    case .queue(let pipeline): request("queue", pipeline)
    case .drop(let pipeline, let artifact): request("drop", pipeline, artifact: artifact)
    case .refused(let pipeline): request("refused", pipeline)
    case .resendRefused(let pipeline, let artifact): request("refused-resend", pipeline, artifact: artifact)
    case .deleteRefused(let pipeline, let artifact): request("refused-delete", pipeline, artifact: artifact)
    case .log(let pipeline, let count):
      request("log", pipeline)
      writer.name("count")
      writer.value(count)
    case .pause(let pipeline): request("pause", pipeline)
    case .resume(let pipeline): request("resume", pipeline)
    case .retry(let pipeline): request("retry", pipeline)
    case .remove(let pipeline): request("remove", pipeline)
    case .test(let pipeline): request("test", pipeline)
    case .targets: request("targets", nil)
    case .backup(let folder, let withSecrets):
      request("backup", nil)
      member("folder", folder)
      writer.name("secrets")
      writer.value(withSecrets)
    case .reload: request("reload", nil)
    case .secretChanged(let name):
      request("secret-changed", nil)
      member("name", name)
    }
    writer.endObject()
    return writer.bytes + [10]
  }
}
