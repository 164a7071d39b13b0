// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import Testing

/// A backup and what is bundled while it is written.
@Suite struct `A backup beside the making of a bundle` {
  @Test(arguments: [0, 1, 3, 5, 8])
  func `holds the bundle with the manifest that names it, or neither`(after: Int) throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      let pipeline = try state.pipeline("scans")
      for _ in 0..<2 {
        let staged = try pipeline.stage(ArtifactDescription(unit: .artifact))
        for name in ["a.txt", "b.txt", "c.txt"] {
          try staged.addPart(name: name, from: try file("content of \(name)", in: folder))
        }
        _ = try staged.commit()
      }
      var told = 0
      var made: QueuedArtifact?
      try backUp(state, to: folder.path + "/copy") { _ in
        told += 1
        if told > after && made == nil { made = try? pipeline.openArtifact(1).makeBundle() }
        return true
      }
      let bundled = try #require(made, "the backup was over too soon")
      try putBack(folder.path + "/copy", into: folder.path + "/back")
      let restored = try StateFolder.open(folder.path + "/back").pipeline("scans").openArtifact(1)
      if restored.manifest.bundle != nil {
        #expect(restored.manifest == bundled.manifest)
        #expect(try !restored.needsBundle(for: .part))
      }
      #expect(try restored.makeBundle().manifest == bundled.manifest)
      // It was made before the moment that the copy shows, unless that had passed.
      #expect(restored.manifest.bundle != nil || after > 0)
    }
  }
}
