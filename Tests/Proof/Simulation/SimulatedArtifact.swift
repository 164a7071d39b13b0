// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayQueue
import RelaySystem

/// One artifact in the simulated world: where its folder stands, and what a crash may make of that.
final class SimulatedArtifact {
  enum Place: Equatable {
    /// Staging, or deleted.
    case nowhere
    case queue(UInt64)
    case trash
    case refused
    case corrupt
  }

  let number: Int
  let identifier: Identifier
  let partCount: UInt32
  /// What a process sees now.
  private(set) var place = Place.nowhere
  /// Where it may be found after a power cut: the place that is on the disk, and those it was moved to since.
  private(set) var candidates: [Place] = [.nowhere]
  /// Moved since the folder was last synced.
  private(set) var isDirty = false
  /// `submit` has returned.
  var isAccepted = false
  /// The number that its folder's name holds, wherever it is.
  var lastSequence: UInt64 = 0
  var isContentGone = false
  var isDamaged = false
  /// Can't be read before this moment.
  var unreadableUntil: Int64 = .min
  /// How often the receiver took each part.
  var received: [Int]
  /// Delivery ids as they were read when it was opened last.
  private(set) var openIdentities: [String]
  /// As the program wrote it; empty where identities are simply the artifact's.
  private var manifest: [UInt8] = []
  /// A receiver that will never take it.
  var isPoison = false

  init(number: Int, identifier: Identifier, partCount: UInt32) {
    self.number = number
    self.identifier = identifier
    self.partCount = partCount
    received = Array(repeating: 0, count: Int(partCount))
    openIdentities = (1...partCount).map { "\(number).\($0)" }
  }

  func writeManifest(_ pipeline: String) {
    let digest = Digest(bytes: [UInt8](repeating: 7, count: Digest.length))
    guard let digest else { return }
    let parts = (1...Int(partCount)).map { index in
      Manifest.Part(
        index: index, file: "00000\(index)-part", name: "part \(index)", mediaType: "text/plain",
        stored: .init(size: 1, sha256: digest),
        deliveryID: Identifier(bytes: identifier.bytes.dropLast() + [UInt8(index)]) ?? identifier)
    }
    let whole = Manifest(
      artifactID: identifier, createdAt: WallTime(milliseconds: 1), pipeline: pipeline, messageID: "<\(number)@x>",
      unit: .part, parts: parts)
    manifest = (try? whole.bytes()) ?? []
  }

  func readManifest() {
    guard !manifest.isEmpty else { return }
    let parts = (try? Manifest.read(manifest))?.parts ?? []
    openIdentities = openIdentities.indices.map { index in
      parts.indices.contains(index) ? parts[index].deliveryID.description : "unreadable"
    }
  }

  var sequence: UInt64? { if case .queue(let sequence) = place { sequence } else { nil } }

  var isWhollyReceived: Bool { received.allSatisfy { $0 > 0 } }

  func move(to new: Place) {
    place = new
    candidates.append(new)
    isDirty = true
  }

  /// The folder's sync has ended. One that failed makes the change clean and uncertain for good: the kernel has forgotten
  /// that there is something to write.
  func folderSynced(_ succeeded: Bool) {
    guard isDirty else { return }
    isDirty = false
    if succeeded { candidates = [place] }
  }

  var isCertain: Bool { candidates.count == 1 }

  func powerCut(_ chance: inout SeededChance) {
    if candidates.count > 1 { place = candidates[chance.below(candidates.count)] }
    candidates = [place]
    isDirty = false
    if place == .nowhere, isContentGone { return }
    if isContentGone, place != .trash { isDamaged = true }
  }
}
