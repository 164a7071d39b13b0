// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem

/// What a pipeline remembers besides its queue and marks; the file `pipeline.json`.
///
/// Members that this version doesn't know are kept, so that an older program doesn't lose a newer one's.
package struct PipelineState: Equatable, Sendable {
  /// Why nothing is sent until a person acts.
  package struct Attention: Equatable, Sendable {
    package var code: String
    package var message: String
    package var since: WallTime
    /// Of the pipeline's settings and secrets then: when it changes, delivery goes on by itself.
    package var settingsFingerprint: String

    package init(code: String, message: String, since: WallTime, settingsFingerprint: String) {
      self.code = code
      self.message = message
      self.since = since
      self.settingsFingerprint = settingsFingerprint
    }
  }

  package var attention: Attention?
  package var pausedByCommand = false
  package var lastSuccess: WallTime?
  /// All other members, in the order of the file.
  private var others: [JSONMember] = []

  package init() {}

  /// A member that this module leaves to others (position, days owed); nil removes it. Names of this module's own members
  /// are passed over.
  package subscript(_ name: String) -> JSONNode? {
    get { others.first { $0.name == name }?.node }
    set {
      guard !Self.known.contains(name) else { return }
      let place = others.firstIndex { $0.name == name }
      switch (place, newValue) {
      case (let place?, let node?): others[place].node = node
      case (let place?, nil): others.remove(at: place)
      case (nil, let node?): others.append(JSONMember(name: name, node: node))
      case (nil, nil): break
      }
    }
  }
}

extension PipelineState {
  private static let known: Set<String> = ["attention", "pausedByCommand", "lastSuccess"]

  func bytes() -> [UInt8] {
    var json = JSONWriter(style: .pretty)
    json.beginObject()
    if let attention {
      json.name("attention")
      json.beginObject()
      json.member("code", attention.code)
      json.member("message", attention.message)
      json.member("since", attention.since.text(milliseconds: true))
      json.member("settingsFingerprint", attention.settingsFingerprint)
      json.endObject()
    }
    if pausedByCommand {
      json.name("pausedByCommand")
      json.value(true)
    }
    if let lastSuccess { json.member("lastSuccess", lastSuccess.text(milliseconds: true)) }
    for member in others {
      json.name(member.name)
      json.raw(member.node)
    }
    json.endObject()
    return json.take()
  }

  /// nil when these bytes are no state of a pipeline.
  init?(_ bytes: [UInt8]) {
    guard let root = try? JSONTree.parse(bytes), let members = root.object else { return nil }
    if let node = root["attention"], !node.isNull {
      guard let code = node["code"]?.string, let message = node["message"]?.string,
        let since = node["since"]?.string.flatMap(WallTime.init),
        let fingerprint = node["settingsFingerprint"]?.string
      else { return nil }
      attention = Attention(code: code, message: message, since: since, settingsFingerprint: fingerprint)
    }
    if let node = root["pausedByCommand"] {
      guard let flag = node.bool else { return nil }
      pausedByCommand = flag
    }
    if let node = root["lastSuccess"], !node.isNull {
      guard let time = node.string.flatMap(WallTime.init) else { return nil }
      lastSuccess = time
    }
    others = members.filter { !Self.known.contains($0.name) }
  }
}
