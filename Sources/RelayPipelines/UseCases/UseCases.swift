// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem

/// What people and programs ask of Relay Host, the same whether the daemon does it or a command does it alone.
package struct UseCases: Sendable {
  /// What there is to work with.
  package struct Context: Sendable {
    package var configuration: Configuration
    package var state: StateFolder
    package var catalogue: TargetCatalogue
    /// nil when no daemon runs.
    package var engine: DeliveryEngine?
    /// A configuration that was changed but doesn't validate: why the former one is still in force.
    package var reloadProblem: String?
    /// What keeps inbox folders from being looked through, by pipeline.
    package var inboxProblems: [String: String] = [:]

    package init(
      configuration: Configuration, state: StateFolder, catalogue: TargetCatalogue = TargetCatalogue(),
      engine: DeliveryEngine? = nil, reloadProblem: String? = nil
    ) {
      self.configuration = configuration
      self.state = state
      self.catalogue = catalogue
      self.engine = engine
      self.reloadProblem = reloadProblem
    }
  }

  package static let version = "0.1.0"

  package let context: Context

  package init(_ context: Context) { self.context = context }

  /// Does what is asked. `nextFile` hands over the files of a submit, one after another; `isAwaited` says whether whoever
  /// asked is still there; `tell` is told how far a long piece of work has come, and says the same.
  package func answer(
    _ request: ControlRequest, nextFile: () throws(Refusal) -> Descriptor, isAwaited: () -> Bool = { true },
    tell: @escaping (JSONNode) -> Bool = { _ in true }
  ) -> ControlReply {
    do throws(Refusal) {
      switch request {
      case .submit(let pipeline, let names): return try submit(pipeline, names, nextFile, isAwaited)
      case .status(let pipeline): return try status(pipeline)
      case .queue(let pipeline): return try queue(pipeline)
      case .drop(let pipeline, let artifact): return try drop(pipeline, artifact)
      case .refused(let pipeline): return try refused(pipeline)
      case .resendRefused(let pipeline, let artifact): return try resend(pipeline, artifact)
      case .deleteRefused(let pipeline, let artifact): return try deleteRefused(pipeline, artifact)
      case .log(let pipeline, let count): return try log(pipeline, count)
      case .pause(let pipeline): return try pause(pipeline)
      case .resume(let pipeline): return try resume(pipeline)
      case .retry(let pipeline): return try retry(pipeline)
      case .remove(let pipeline): return try remove(pipeline)
      case .test(let pipeline): return try test(pipeline)
      case .targets: return targets()
      case .backup(let path, let withSecrets): return try backup(path, withSecrets, nextFile, tell)
      case .secretChanged(let name) where context.engine == nil: return try secretChanged(name)
      case .reload, .secretChanged:
        throw Refusal(
          .unreachable, .controlUnreachable, "No daemon runs that could do this.",
          hint: "start it with `relay-host --config \(context.configuration.file)`")
      }
    } catch {
      return ControlReply(error)
    }
  }

  /// The pipeline of the configuration with an id.
  func pipeline(_ id: String) throws(Refusal) -> PipelineConfiguration {
    if let found = context.configuration.pipelines.first(where: { $0.id == id }) { return found }
    let known = context.configuration.pipelines.map(\.id)
    throw Refusal(
      .usage, .pipelineUnknown, "No pipeline has the id \"\(id)\" in \(context.configuration.file).",
      hint: Suggestion.hint(for: id, among: known) ?? "there are: \(known.joined(separator: ", "))")
  }

  /// The pipeline's folder for looking: also of one that has left the configuration; nil before its first start.
  func existing(_ id: String) throws(Refusal) -> PipelineFolder? {
    let isOnDisk = ((try? context.state.pipelineIDsOnDisk()) ?? []).contains(id)
    if !isOnDisk { _ = try pipeline(id) }
    return isOnDisk ? try folder(id) : nil
  }

  /// The pipeline's folder, made when it isn't there (as far as this process owns the state folder).
  func folder(_ id: String) throws(Refusal) -> PipelineFolder {
    do { return try context.state.pipeline(id) } catch { throw Refusal(error) }
  }
}
