// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// What is known of an event on a server.
struct ServerRecord: LedgerRecord, Equatable {
  static let prefix = "server/"

  /// The calendar that it was put into; in another one it has yet to be made.
  var calendar: String
  /// The path of its object.
  var path: String
  /// Of its UID.
  var revision: Int
  var sequence: Int64
  /// Digest of what was put there.
  var content: String
  /// As the server wrote it; nil when it told none.
  var tag: String?

  init(calendar: String, path: String, revision: Int, sequence: Int64, content: String, tag: String?) {
    self.calendar = calendar
    self.path = path
    self.revision = revision
    self.sequence = sequence
    self.content = content
    self.tag = tag
  }

  init?(_ node: JSONNode) {
    guard let calendar = node["calendar"]?.string, let path = node["path"]?.string,
      let revision = node["revision"]?.integer, let sequence = node["sequence"]?.integer,
      let content = node["content"]?.string
    else { return nil }
    self.init(
      calendar: calendar, path: path, revision: Int(clamping: revision), sequence: sequence, content: content,
      tag: node["tag"]?.string)
  }

  func write(to writer: inout JSONWriter) {
    writer.member("calendar", calendar)
    writer.member("path", path)
    writer.member("revision", Int64(revision))
    writer.member("sequence", sequence)
    writer.member("content", content)
    writer.member("tag", tag)
  }
}
