// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// The file `inbox-taking` in the pipeline's folder: which inbox file is about to become which artifact.
///
/// Written before the file gets its dot name. After a crash it tells the file's true name, and which artifact to look
/// for in the queue: if that is there, the file was taken and is removed; else it gets its name back.
struct TakingNote: Equatable, Sendable {
  static let fileName = "inbox-taking"
  private static let heading = "relay-inbox-taking-1"
  /// In bytes.
  private static let largest = 4096

  var artifactID: Identifier
  /// In any bytes.
  var name: [UInt8]
  var inode: UInt64
  var size: Int64
  var modified: Int64
  /// Before the file got its dot name.
  var changed: Int64

  init(_ file: InboxFile, as id: Identifier) {
    artifactID = id
    name = file.name
    inode = file.status.inode
    size = file.status.size
    modified = file.status.modified
    changed = file.status.changed
  }

  /// What the file is called while it is taken.
  var takenName: [UInt8] { InboxName.taken(artifactID, for: name) }

  /// Whether this is the file as it was before it got its dot name: then the renaming never came, or was undone.
  func isUnmoved(_ status: FileStatus?) -> Bool { isOf(status) && status?.changed == changed }

  /// Whether this is the noted file with the noted content. The time of the last status change is not compared: it moves
  /// with each new name.
  func isOf(_ status: FileStatus?) -> Bool {
    status?.kind == .file && status?.inode == inode && status?.size == size && status?.modified == modified
  }

  func write(in folder: Directory) throws(SystemError) {
    try folder.replace(Self.fileName, with: Array(line.utf8))
  }

  /// The file's content.
  var line: String {
    let hex = name.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    return "\(Self.heading) \(artifactID) \(inode) \(size) \(modified) \(changed) \(hex)\n"
  }

  /// nil when there is none, or none that this program wrote.
  static func read(in folder: Directory) throws(SystemError) -> TakingNote? {
    try folder.content(of: fileName, limit: largest).flatMap { TakingNote(String(decoding: $0, as: UTF8.self)) }
  }

  init?(_ line: String) {
    let fields = line.split(separator: " ", omittingEmptySubsequences: false)
    guard fields.count == 7, fields[0] == Self.heading, let id = Identifier(String(fields[1])),
      let inode = UInt64(fields[2]), let size = Int64(fields[3]), let modified = Int64(fields[4]),
      let changed = Int64(fields[5]), fields[6].last == "\n"
    else { return nil }
    let digits = Array(fields[6].dropLast().utf8)
    guard !digits.isEmpty, digits.count % 2 == 0 else { return nil }
    var name: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[place...(place + 1)], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16), byte != 0, byte != UInt8(ascii: "/") else { return nil }
      name.append(byte)
    }
    self.artifactID = id
    self.name = name
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
  }
}
