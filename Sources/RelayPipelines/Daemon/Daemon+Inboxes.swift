// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem
import Synchronization

/// The inbox folders of the pipelines: each is looked through when something happens in it, and regularly all the same.
extension Daemon {
  /// What belongs to one pipeline's inbox; used on the loop's thread.
  final class InboxRuntime {
    let pipeline: PipelineConfiguration
    let unit: TargetManifest.Unit
    /// nil until its folders have been opened.
    var inbox: Inbox?
    var schedule = InboxSchedule(now: .now)
    /// Whether the last look ended because the queue was full.
    var foundQueueFull = false

    init(_ pipeline: PipelineConfiguration, unit: TargetManifest.Unit) {
      self.pipeline = pipeline
      self.unit = unit
    }

    var folder: String? { if case .inbox(let directory) = pipeline.extract { directory } else { nil } }
  }

  /// Follows a new configuration: inboxes that changed begin anew, others go on.
  func putInboxes(_ new: Configuration) {
    watchInboxes()
    let wanted = new.pipelines.filter { pipeline in
      guard case .inbox = pipeline.extract else { return false }
      // A person or a later version starts those.
      switch pipeline.trigger {
      case .arrival, .every: return true
      default: return false
      }
    }
    let ids = Set(wanted.map(\.id))
    for id in inboxes.keys where !ids.contains(id) { forgetInbox(id) }
    for pipeline in wanted {
      let unit = catalogue[pipeline.load.targetID]?.manifest.unit ?? .part
      if let known = inboxes[pipeline.id], known.pipeline == pipeline, known.unit == unit { continue }
      let runtime = InboxRuntime(pipeline, unit: unit)
      inboxes[pipeline.id] = runtime
      openInbox(runtime)
    }
  }

  private func forgetInbox(_ id: String) {
    inboxes[id] = nil
    context.withLock { $0.inboxProblems[id] = nil }
    inboxWatch?.remove(id)
    loop.setTimer(TimerKey("inbox \(id)", "look"), at: nil)
  }

  private func watchInboxes() {
    guard inboxWatch == nil, let watch = try? InboxWatch() else { return }
    inboxWatch = watch
    try? loop.watch(watch.descriptor, for: .readable) { [weak self] _ in self?.assumeIsolated { $0.inboxHint() } }
  }

  private func inboxHint() {
    guard let hint = inboxWatch?.takeHint() else { return }
    for (id, runtime) in inboxes {
      if case .pipelines(let ids) = hint, !ids.contains(id) { continue }
      // A schedule of its own is not hurried by what arrives.
      guard runtime.pipeline.trigger == .arrival else { continue }
      runtime.schedule.hinted(now: .now)
      lookLater(runtime)
    }
  }

  /// Looks again into the inboxes whose queue was full and has room now: something was delivered or set aside.
  func takeUpFullInboxes() {
    for (id, runtime) in inboxes where runtime.foundQueueFull {
      let limits = runtime.pipeline.delivery
      guard let totals = try? state.pipeline(id).totals, totals.artifacts < Int(clamping: limits.maxQueuedArtifacts),
        totals.bytes < limits.maxQueuedBytes
      else { continue }
      runtime.foundQueueFull = false
      runtime.schedule.hinted(now: .now)
      lookLater(runtime)
    }
  }

  private func openInbox(_ runtime: InboxRuntime) {
    guard let folder = runtime.folder else { return }
    let (id, state, log, engine, loop) = (runtime.pipeline.id, state, log, engine, loop)
    let forbidden = ForbiddenPlaces(
      own: configuration.protectedPaths(programTargets: layout.targets),
      destinations: runtime.pipeline.access.filter { $0.mode != .read }.map(\.path))
    let intake = ArtifactIntake(state: state, pipeline: runtime.pipeline, unit: runtime.unit)
    threads.run { [weak self] in
      let opened = Result { () throws(StateError) in try state.pipeline(id) }
      guard case .success(let pipelineFolder) = opened else {
        // The engine tells why the folder can't be opened, and tries again; so is this.
        loop.post { [weak self] in self?.assumeIsolated { $0.openInboxLater(id) } }
        return
      }
      var options = InboxOptions(
        folder: folder, isOwn: folder == pipelineFolder.folder.path + "/inbox", pipeline: pipelineFolder
      ) { artifact throws(QueueError) in try intake.stage(artifact, in: pipelineFolder) }
      options.forbidden = forbidden
      options.encode = intake.encoding
      options.finish = { artifact throws(InboxRefusal) in
        do throws(Refusal) { try intake.finish(artifact) } catch { throw .file(error.message) }
      }
      options.committed = { artifact in
        loop.post { engine.assumeIsolated { $0.committed(artifact.sequence, to: id) } }
      }
      let inbox = Inbox(options, log: log)
      loop.post { [weak self] in
        self?.assumeIsolated { me in
          guard let runtime = me.inboxes[id], runtime.pipeline == intake.pipeline else { return }
          runtime.inbox = inbox
          me.lookLater(runtime)
        }
      }
    }
  }

  private func openInboxLater(_ id: String) {
    loop.setTimer(
      TimerKey("inbox \(id)", "look"), at: BootTime.now.advanced(milliseconds: InboxSchedule.regular)
    ) { [weak self] in
      self?.assumeIsolated { me in if let runtime = me.inboxes[id] { me.openInbox(runtime) } }
    }
  }

  private func lookLater(_ runtime: InboxRuntime) {
    let id = runtime.pipeline.id
    guard !inboxesLooking.contains(id), runtime.inbox != nil else { return }
    loop.setTimer(TimerKey("inbox \(id)", "look"), at: runtime.schedule.due) { [weak self] in
      self?.assumeIsolated { me in if let runtime = me.inboxes[id] { me.look(runtime) } }
    }
  }

  private func look(_ runtime: InboxRuntime) {
    let (id, watch) = (runtime.pipeline.id, inboxWatch)
    guard !inboxesLooking.contains(id), let inbox = runtime.inbox, let folder = runtime.folder, !isStopping else {
      return
    }
    // One look a pipeline: the note of what is being taken is the pipeline's, and a second look would take it for a crash's.
    inboxesLooking.insert(id)
    threads.run { [weak self, loop] in
      watch?.add(folder, for: id)
      let result = inbox.look()
      loop.post { [weak self] in
        self?.assumeIsolated { me in
          me.inboxesLooking.remove(id)
          guard let runtime = me.inboxes[id] else { return }
          guard runtime.inbox === inbox else { return me.lookLater(runtime) }
          me.context.withLock { $0.inboxProblems[id] = result.trouble }
          runtime.schedule.looked(result, now: .now)
          if case .queue(.pipelineFull)? = result.problem { runtime.foundQueueFull = true }
          if case .every(let pause) = runtime.pipeline.trigger, result.lookAgain == nil {
            runtime.schedule = InboxSchedule(now: BootTime.now.advanced(milliseconds: pause))
          }
          me.lookLater(runtime)
        }
      }
    }
  }
}
