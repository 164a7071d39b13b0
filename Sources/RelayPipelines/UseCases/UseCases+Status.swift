// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem

extension UseCases {
  /// How everything stands, or one pipeline.
  func status(_ id: String?) throws(Refusal) -> ControlReply {
    if let id { _ = try pipeline(id) }
    let snapshots = context.engine?.ask { $0.snapshots() } ?? [:]
    var entries: [JSONNode] = []
    var worst = Outcome.done
    for pipeline in context.configuration.pipelines where id == nil || pipeline.id == id {
      let snapshot = snapshots[pipeline.id] ?? offlineSnapshot(pipeline)
      var entry = Self.json(pipeline, snapshot)
      entry.append("confinement", .text(mode(of: pipeline).rawValue))
      let inboxProblem = context.inboxProblems[pipeline.id]
      if snapshot.trouble == nil, let inboxProblem { entry.append("trouble", .text(inboxProblem)) }
      let corrupt = (try? context.state.pipeline(pipeline.id).corruptCount()) ?? 0
      entry.append("refused", .integer((try? context.state.pipeline(pipeline.id).refusedCount()) ?? 0))
      entry.append("corrupt", .integer(corrupt))
      entries.append(entry)
      let isStuck = snapshot.state == .waiting || snapshot.state == .late
      if snapshot.state == .needsAttention || corrupt > 0 {
        worst = .needsYou
      } else if isStuck || snapshot.trouble != nil || inboxProblem != nil, worst == .done {
        worst = .waits
      }
    }
    var result = JSONNode.object([
      "version": .text(Self.version), "daemon": .flag(context.engine != nil), "pipelines": .array(entries),
    ])
    result.append("confinement", Confinement.json)
    if id == nil {
      let left = unconfigured()
      result.append("unconfigured", .array(left))
      // Nobody will deliver it until a person has decided.
      if worst == .done, left.contains(where: { ($0["queuedArtifacts"]?.integer ?? 0) > 0 }) { worst = .waits }
    }
    if let problem = context.reloadProblem {
      result.append("configurationProblem", .text(problem))
      worst = .needsYou
    }
    return ControlReply(result, worst)
  }

  /// Whether a pipeline's target may run where the kernel can't confine it.
  private func mode(of pipeline: PipelineConfiguration) -> ConfinementMode {
    let isShipped = context.catalogue[pipeline.load.targetID]?.isShipped ?? false
    return Confinement.policy(context.configuration).mode(isShipped: isShipped)
  }

  /// Pipelines that left the configuration and still have a folder.
  private func unconfigured() -> [JSONNode] {
    let known = Set(context.configuration.pipelines.map(\.id))
    return ((try? context.state.pipelineIDsOnDisk()) ?? []).filter { !known.contains($0) }.map { id in
      let folder = try? context.state.pipeline(id)
      return .object([
        "id": .text(id), "queuedArtifacts": .integer((try? folder?.sequences().count) ?? 0),
        "refused": .integer((try? folder?.refusedCount()) ?? 0),
      ])
    }
  }

  private static func json(_ pipeline: PipelineConfiguration, _ snapshot: PipelineSnapshot) -> JSONNode {
    var node = JSONNode.object([
      "id": .text(pipeline.id), "name": .text(pipeline.name), "state": .text(snapshot.state.rawValue),
      "queued": snapshot.totals.map {
        .object(["artifacts": .integer($0.artifacts), "parts": .integer($0.parts), "bytes": .integer($0.bytes)])
      } ?? JSONNode(.null),
      "lastSuccess": .time(snapshot.lastSuccess), "lastVerdict": verdict(snapshot.lastVerdict),
      "attempts": .integer(snapshot.attempts), "nextAttempt": .time(snapshot.nextAttempt),
      "stuckSince": .time(snapshot.stuckSince),
      "attention": snapshot.attention.map {
        .object([
          "code": .text($0.code), "message": .text($0.message), "since": .time($0.since),
          "remedy": .text(Remedy.text(for: $0.code, pipeline: pipeline.id)),
        ])
      } ?? JSONNode(.null),
      "nextRun": JSONNode(.null), "owedDays": .integer(0),
    ])
    if pipeline.needsHealthStore { node.append("notRun", .text("it reads health data, which this version can't yet")) }
    if let trouble = snapshot.trouble { node.append("trouble", .text(trouble)) }
    node.append(
      "access",
      .array(
        pipeline.access.map(Confinement.json)))
    return node
  }

  private static func verdict(_ record: DeliveryRecord?) -> JSONNode {
    guard let record else { return JSONNode(.null) }
    return .object([
      "code": .text(record.verdict), "status": .integer(record.status), "message": .text(record.message),
      "at": .time(record.at),
    ])
  }

  /// What the disk alone tells while no daemon runs.
  private func offlineSnapshot(_ pipeline: PipelineConfiguration) -> PipelineSnapshot {
    var snapshot = PipelineSnapshot(id: pipeline.id, state: pipeline.paused ? .paused : .idle, totals: QueueTotals())
    let folder: PipelineFolder
    do throws(StateError) { folder = try context.state.pipeline(pipeline.id) } catch {
      // Before the first start there is none.
      if case .system(let cause) = error, cause.isMissing { return snapshot }
      snapshot.totals = nil
      snapshot.trouble = "its folder can't be read: \(error.message). Mend that."
      return snapshot
    }
    let record = folder.marks.current
    let totals = (try? folder.measure()) ?? folder.totals
    snapshot.totals = totals
    snapshot.lastVerdict = (try? folder.deliveryLog.last(1))?.last
    snapshot.lastSuccess = (try? folder.deliveryLog.last())?.last { $0.verdict == "delivered" }?.at
    snapshot.attempts = record.attempts
    snapshot.stuckSince = record.stuckSince
    let state = try? folder.stateFile.load().state
    if let attention = state?.attention {
      snapshot.attention = (attention.code, attention.message, attention.since)
      snapshot.state = .needsAttention
    } else if state?.pausedByCommand == true || pipeline.paused {
      snapshot.state = .paused
    } else if totals.artifacts > 0 {
      snapshot.state = record.attempts > 0 ? .waiting : .queued
      snapshot.nextAttempt = record.attempts > 0 ? record.nextAttempt : nil
    }
    return snapshot
  }
}

extension JSONNode {
  /// Adds a member to an object.
  mutating func append(_ name: String, _ node: JSONNode) {
    guard case .object(var members) = value else { return }
    members.append(JSONMember(name: name, node: node))
    value = .object(members)
  }
}
