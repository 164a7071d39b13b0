// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

/// Every regular file below a folder by its path, with its bytes; names in any bytes.
func files(below folder: Directory, _ path: String = "") throws -> [String: [UInt8]] {
  var found: [String: [UInt8]] = [:]
  var names: [[UInt8]] = []
  try folder.forEachRawName { names.append($0) }
  for name in names {
    let text = path + "/" + name.map { $0 < 128 ? String(UnicodeScalar($0)) : "%\($0)" }.joined()
    switch try folder.status(ofRaw: name)?.kind {
    case .folder:
      found.merge(try files(below: try folder.folder(String(decoding: name, as: UTF8.self)), text)) { $1 }
    case .file: found[text] = try folder.openFile(raw: name).readAll(limit: 64 << 20)
    default: found[text] = Array("(no file)".utf8)
    }
  }
  return found
}

let options = BackupOptions(program: "test", configuration: Array("{\"pipelines\": []}".utf8))

/// Makes a folder and writes a backup into it.
@discardableResult
func backUp(
  _ state: StateFolder, to path: String, _ options: BackupOptions = options,
  progress: @escaping (BackupProgress) -> Bool = { _ in true }
) throws -> BackupManifest {
  try Backup.write(state, into: try Directory.ensure(path), options, progress: progress)
}

@discardableResult
func putBack(_ path: String, into state: String) throws -> [String] {
  try Restore.run(try BackupReader(try Directory(path)), into: state)
}

func error(of body: () throws -> Void) -> BackupError? {
  do {
    try body()
    return nil
  } catch {
    return error as? BackupError
  }
}

/// Two pipelines with something in each place.
func fill(_ state: StateFolder, parts: Int = 300) throws {
  let scans = try state.pipeline("scans")
  for number in 1...5 { try submit(["artifact \(number)", "", "last part"], to: scans) }
  try scans.setAside(2, reason: SetAsideReason(verdict: "refused", message: "no"))
  try scans.moveToCorrupt(3, reason: "damaged")
  var record = MarkRecord()
  record.completedThrough = 3
  record.pendingRemovals = [.init(sequence: 1, artifactID: try scans.openArtifact(1).manifest.artifactID)]
  record.headSequence = 4
  record.headArtifactID = try scans.openArtifact(4).manifest.artifactID
  record.headPartsDone = 1
  record.attempts = 2
  try scans.marks.write(record)
  try scans.stateFile.update { $0.pausedByCommand = true }
  let (saved, _) = try scans.openTargetState()
  try saved.put(.pipeline, Array("key".utf8), Array("value".utf8))
  try scans.deliveryLog.append(
    DeliveryRecord(
      at: .now, artifact: "a", part: 1, deliveryID: "d", attempt: 1, verdict: "retry", status: 503, message: "later",
      bytes: 1, milliseconds: 2, days: []))
  try scans.folder.replace("marks.damaged-20260101T000000Z", with: [1, 2, 3])
  let inbox = try scans.subfolder("inbox")
  try inbox.replace("waits.pdf", with: Array("waiting".utf8))
  let odd: [UInt8] = [0xFF, 0x20, 0x0A, 0x22]
  do {
    let file = try inbox.createFile(raw: odd)
    try file.write(Array("odd".utf8))
    try file.setModified(1_600_000_000_123_456_789)
  }
  try inbox.replace(".hidden", with: [1])
  try inbox.makeFolder("subfolder")
  // Half an artifact, and one that is being deleted.
  try scans.queue.makeFolder(".in-0193f0e2-5b1c-7e4a-9d1f-0a1b2c3d4e5f")
  try scans.queue.makeFolder(".trash-0000000001")
  _ = try state.pipeline("left")
  try submit([String](repeating: "x", count: parts), to: try state.pipeline("left"))
  try state.secrets.replace("ha", with: Array("s3cretvalue".utf8))
  try state.templates.replace("mail.txt", with: Array("Hello".utf8))
}
