// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Synchronization
import Testing

/// A folder for one test, removed afterwards.
///
/// - Parameter parent: `/dev/shm` where the disk would only slow the test down.
func withFolder<T>(in parent: String = "/tmp", _ body: (Directory) throws -> T) throws -> T {
  var template = Array("\(parent)/relay-queue-XXXXXX".utf8CString)
  let path = String(cString: try #require(mkdtemp(&template)))
  defer { try? Directory(parent).removeTree(String(path.dropFirst(parent.utf8.count + 1))) }
  return try body(try Directory(path))
}

/// A state folder with one pipeline, opened for one test.
func withPipeline<T>(in parent: String = "/tmp", _ body: (PipelineFolder) throws -> T) throws -> T {
  try withFolder(in: parent) { folder in
    let state = try StateFolder.open(folder.path + "/state")
    return try body(try state.pipeline("scans"))
  }
}

/// The same folder as a new process would see it: counters and marks are read again.
func reopened(_ pipeline: PipelineFolder) throws -> PipelineFolder {
  let path = pipeline.folder.path
  let parent = try Directory(String(path.dropLast(pipeline.id.count + 1)))
  return try PipelineFolder(
    id: pipeline.id, in: parent, committer: try Committer(fileSystem: parent), makes: true)
}

/// A file with these bytes, open for reading.
func file(_ bytes: [UInt8], in folder: Directory, _ name: String = "source") throws -> Descriptor {
  try folder.replace(name, with: bytes, durable: false)
  return try folder.openFile(name)
}

func file(_ text: String, in folder: Directory, _ name: String = "source") throws -> Descriptor {
  try file(Array(text.utf8), in: folder, name)
}

/// Commits an artifact of one part for each text.
@discardableResult
func submit(_ texts: [String], to pipeline: PipelineFolder) throws -> CommittedArtifact {
  let staged = try pipeline.stage()
  for (place, text) in texts.enumerated() {
    try staged.addPart(name: "part \(place + 1).txt", from: try file(text, in: pipeline.folder, ".test-source"))
  }
  return try staged.commit()
}

func content(of artifact: QueuedArtifact, _ index: Int) throws -> String {
  String(decoding: try artifact.openPart(index).readAll(limit: 1 << 20), as: UTF8.self)
}

func damage(of pipeline: PipelineFolder, _ sequence: UInt64) -> ArtifactDamage? {
  do throws(ArtifactDamage) {
    _ = try pipeline.openArtifact(sequence)
    return nil
  } catch {
    return error
  }
}
