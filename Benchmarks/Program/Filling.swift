// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayQueue
import RelaySystem
import Synchronization

/// Makes long backlogs fast: the same files that commits leave, but synced once, at the end.
enum Filling {
  /// Fills the queues of pipelines named `bench-0`, `bench-1`, … while no daemon runs.
  static func run(_ arguments: inout Arguments) throws {
    let (path, pipelines) = (arguments.text("STATE"), arguments.count("PIPELINES"))
    let (artifacts, parts) = (arguments.count("ARTIFACTS"), arguments.count("PARTS"))
    let bytes = [UInt8](repeating: 0x61, count: arguments.count("SIZE"))
    let state = try StateFolder.open(path)
    let folders = try (0..<pipelines).map { try state.pipeline("bench-\($0)") }
    let content = Manifest.Content(size: Int64(bytes.count), sha256: try SHA256Hasher.digest(of: bytes))
    let next = Atomic<Int>(0)
    Crew.run(4) { _ in
      while true {
        let number = next.add(1, ordering: .relaxed).oldValue
        guard number < pipelines * artifacts else { return }
        let pipeline = folders[number % pipelines]
        let name = SequenceName.name(UInt64(number / pipelines) + 1)
        try pipeline.queue.makeFolder(name)
        let folder = try pipeline.queue.folder(name)
        let manifest = manifest(of: pipeline.id, number, parts, content)
        for part in manifest.parts { try folder.createFile(part.file).write(bytes) }
        try folder.createFile(Manifest.fileName).write(try manifest.bytes())
      }
    }
    try state.root.descriptor.syncFileSystem()
  }

  private static func manifest(
    of pipeline: String, _ number: Int, _ parts: Int, _ content: Manifest.Content
  ) -> Manifest {
    let id = Identifier.timed(at: .now)
    return Manifest(
      artifactID: id, createdAt: .now, pipeline: pipeline, messageID: "<\(id)@relay-host.invalid>", unit: .part,
      parts: (1...parts).map { index in
        let name = "\(number)-\(index).bin"
        return Manifest.Part(
          index: index, file: PartName.onDisk(index: index, display: name), name: name,
          mediaType: "application/octet-stream", stored: content, deliveryID: .random())
      })
  }
}
