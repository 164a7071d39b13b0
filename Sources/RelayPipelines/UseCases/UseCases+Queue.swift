// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem

extension UseCases {
  /// The most artifacts that `queue` lists; the number of the rest is told.
  static let mostListed = 1000

  /// What waits in a pipeline, in order.
  func queue(_ id: String) throws(Refusal) -> ControlReply {
    let snapshot = context.engine?.ask { $0.snapshot(of: id) } ?? nil
    guard let folder = try existing(id) else {
      return ControlReply(.object(["pipeline": .text(id), "artifacts": .array([]), "more": .integer(0)]))
    }
    let sequences: [UInt64]
    do { sequences = try folder.sequences() } catch { throw Refusal(error) }
    let done = folder.marks.current
    let waiting = sequences.filter { $0 > done.completedThrough }
    let listed = waiting.prefix(Self.mostListed).map { entry($0, in: folder, done, isSending: snapshot?.sending == $0) }
    return ControlReply(
      .object([
        "pipeline": .text(id), "state": .text(snapshot?.state.rawValue), "artifacts": .array(Array(listed)),
        "more": .integer(waiting.count - listed.count), "nextAttempt": .time(snapshot?.nextAttempt),
        "attempts": .integer(done.attempts), "stuckSince": .time(done.stuckSince),
        "attention": .text(snapshot?.attention?.message),
        "lastMessage": .text(snapshot?.lastVerdict.flatMap { $0.verdict == "delivered" ? nil : $0.message }),
      ]))
  }

  private func entry(
    _ sequence: UInt64, in folder: PipelineFolder, _ record: MarkRecord, isSending: Bool
  ) -> JSONNode {
    do throws(ArtifactDamage) {
      let manifest = try folder.openArtifact(sequence).manifest
      let isHead = record.headSequence == sequence && record.headArtifactID == manifest.artifactID
      return .object([
        "sequence": .integer(sequence), "artifact": .text(manifest.artifactID.description),
        "created": .time(manifest.createdAt), "parts": .integer(manifest.parts.count),
        "delivered": .integer(isHead ? record.headPartsDone : 0), "bytes": .integer(manifest.storedBytes),
        "files": .array(manifest.parts.prefix(10).map { .text($0.name) }), "sending": .flag(isSending),
      ])
    } catch {
      return .object(["sequence": .integer(sequence), "problem": .text(error.message)])
    }
  }

  /// Sets an artifact of the queue aside, because a person says so.
  func drop(_ id: String, _ artifact: String) throws(Refusal) -> ControlReply {
    _ = try pipeline(id)
    let folder = try folder(id)
    let sequence = try sequence(of: artifact, in: folder)
    if let engine = context.engine {
      let done = Reply<String?>()
      engine.loop.post { engine.assumeIsolated { $0.drop(sequence, from: id) { done.set($0) } } }
      if let problem = done.wait() {
        throw Refusal(.needsYou, .deliveryRefusedFull, "Artifact \(artifact) can't be set aside: \(problem)")
      }
    } else {
      do {
        try folder.setAside(sequence, reason: SetAsideReason(verdict: "dropped", message: "Set aside by a person."))
      } catch {
        throw Refusal(error)
      }
    }
    // What was in flight may have been delivered in that moment.
    let isSetAside = ((try? folder.refused()) ?? []).contains { $0.sequence == sequence }
    return ControlReply(
      .object([
        "pipeline": .text(id), "artifact": .text(artifact), "sequence": .integer(sequence),
        "setAside": .flag(isSetAside),
      ]))
  }

  /// The sequence of an artifact that a person named by its id or by its number.
  private func sequence(of name: String, in folder: PipelineFolder) throws(Refusal) -> UInt64 {
    let sequences: [UInt64]
    do { sequences = try folder.sequences() } catch { throw Refusal(error) }
    if let number = UInt64(name), sequences.contains(number) { return number }
    for sequence in sequences {
      if (try? folder.openArtifact(sequence))?.manifest.artifactID.description == name { return sequence }
    }
    throw Refusal(
      .usage, .artifactUnknown, "No artifact \"\(name)\" waits in the queue of \(folder.id).",
      hint: "see `relay-host queue \(folder.id)`")
  }

  /// What was set aside.
  func refused(_ id: String) throws(Refusal) -> ControlReply {
    let folder = try existing(id)
    let found: [RefusedArtifact]
    do { found = try folder?.refused() ?? [] } catch { throw Refusal(error) }
    let entries = found.map { entry in
      JSONNode.object([
        "name": .text(entry.name), "sequence": .integer(entry.sequence),
        "artifact": .text(entry.artifactID?.description), "created": .time(entry.createdAt),
        "parts": .integer(entry.parts), "bytes": .integer(entry.bytes), "verdict": .text(entry.reason?.verdict),
        "message": .text(entry.reason?.message), "status": .integer(entry.reason?.status ?? 0),
        "at": .time(entry.reason?.at), "attempts": .integer(entry.reason?.attempts ?? 0),
        "files": .array(entry.files.prefix(10).map { .text($0) }),
      ])
    }
    return ControlReply(.object(["pipeline": .text(id), "artifacts": .array(entries)]))
  }

  /// Puts what was set aside back into the queue, as its last.
  func resend(_ id: String, _ artifact: String) throws(Refusal) -> ControlReply {
    _ = try pipeline(id)
    let folder = try folder(id)
    let name = try refusedName(artifact, in: folder)
    do throws(ResendError) {
      let committed = try folder.resend(name)
      announce(committed, to: id)
      return ControlReply(
        .object([
          "pipeline": .text(id), "artifact": .text(committed.artifactID.description),
          "sequence": .integer(committed.sequence),
        ]))
    } catch {
      throw Refusal(.needsYou, .artifactDamaged, "Artifact \(artifact): \(error.message).")
    }
  }

  func deleteRefused(_ id: String, _ artifact: String) throws(Refusal) -> ControlReply {
    guard let folder = try existing(id) else { throw unknownRefused(artifact, id) }
    let name = try refusedName(artifact, in: folder)
    do {
      try folder.deleteRefused(name)
    } catch {
      // Somebody else was faster.
      throw error.isMissing ? unknownRefused(artifact, id) : Refusal(error)
    }
    return ControlReply(.object(["pipeline": .text(id), "artifact": .text(artifact)]))
  }

  private func refusedName(_ artifact: String, in folder: PipelineFolder) throws(Refusal) -> String {
    let found: [RefusedArtifact]
    do { found = try folder.refused() } catch { throw Refusal(error) }
    let wanted = found.first {
      $0.name == artifact || $0.artifactID?.description == artifact || UInt64(artifact) == $0.sequence
    }
    if let wanted { return wanted.name }
    throw unknownRefused(artifact, folder.id)
  }

  private func unknownRefused(_ artifact: String, _ id: String) -> Refusal {
    Refusal(
      .usage, .artifactUnknown, "No artifact \"\(artifact)\" was set aside in \(id).",
      hint: "see `relay-host refused \(id)`")
  }

  /// The last deliveries, the latest last.
  func log(_ id: String, _ count: Int) throws(Refusal) -> ControlReply {
    let folder = try existing(id)
    let records: [DeliveryRecord]
    do {
      records = try folder?.deliveryLog.last(min(count, DeliveryLog.kept)) ?? []
    } catch {
      throw Refusal(error)
    }
    let lines = records.compactMap { try? JSONTree.parse($0.line()) }
    return ControlReply(.object(["pipeline": .text(id), "deliveries": .array(lines)]))
  }
}
