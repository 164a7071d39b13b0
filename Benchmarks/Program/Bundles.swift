// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// An artifact whose parts go as one, bundled as the daemon does it, without a daemon.
enum Bundles {
  /// Stages the files at 12:34:56 UTC on a day counted from 1970; prints how long the bundle took, from the open artifact to the disk's
  /// word, and where it lies.
  static func run(_ arguments: inout Arguments) throws {
    let path = arguments.text("STATE")
    let created = WallTime(milliseconds: Int64(arguments.count("DAY")) * 86_400_000 + 45_296_000)
    let pipeline = try StateFolder.open(path).pipeline("bench")
    let staged = try pipeline.stage(
      ArtifactDescription(createdAt: created, unit: .artifact), limits: QueueLimits(bytes: .max, artifacts: .max))
    for file in arguments.remaining("FILE") {
      let name = file.split(separator: "/").last.map { Array($0.utf8) } ?? []
      try staged.addPart(name: name, from: try Descriptor.open(named: Array(file.utf8CString)))
    }
    let artifact = try pipeline.openArtifact(try staged.commit().sequence)
    let start = monotonic()
    let bundle = try artifact.makeBundle().manifest.bundle
    let taken = monotonic() - start
    let place = "\(pipeline.queuePath)/\(SequenceName.name(artifact.sequence))/\(bundle?.file ?? "")"
    print("{\"nanoseconds\":\(taken),\"bytes\":\(bundle?.stored.size ?? 0),\"file\":\"\(place)\"}")
  }
}
