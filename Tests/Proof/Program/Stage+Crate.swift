// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayOracle
import RelaySystem
import ScenarioSupport

/// What came as one: each delivery is a single item, whose bytes are those of all its parts.
extension Stage {
  func noteCrated(_ crate: Crate) throws {
    for delivery in try crate.deliveries() {
      let files = delivery.text("type") == "application/zip" ? try unpacked(delivery.bytes) : [delivery.bytes]
      let words = String(decoding: files.first?.prefix(40) ?? [], as: UTF8.self).split(separator: " ")
      guard words.count > 1, let artifact = Int(words[1]), let pipeline = pipeline(of: artifact) else {
        throw ScenarioProblem("the target got something that nobody handed over: \(words)")
      }
      guard delivery.number("index") == 1, delivery.number("count") == 1 else {
        throw ScenarioProblem("artifact \(artifact) came as \(delivery.number("index")) of \(delivery.number("count"))")
      }
      let identity = "\(delivery.text("delivery")) \(try Fingerprint.sha256(delivery.bytes))"
      let digests = try files.map { try Fingerprint.sha256($0) }
      note(
        .received(
          ProofItem(pipeline: pipeline, artifact: artifact, part: 1), identity: identity,
          digest: try Self.digest(ofAll: digests), accepted: delivery.isTaken))
    }
  }

  private func unpacked(_ zip: [UInt8]) throws -> [[UInt8]] {
    let name = ".unpacking"
    try host.folder.replace(name, with: zip, durable: false)
    let reader = try ZipReader(try host.folder.openFile(name))
    var files: [[UInt8]] = []
    while try reader.next() != nil {
      var bytes: [UInt8] = []
      while true {
        let piece = try reader.read()
        if piece.isEmpty { break }
        bytes += piece
      }
      files.append(bytes)
    }
    return files
  }
}
