// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayPipelines
import RelayQueue
import RelaySystem

/// One command's way to the daemon, or to the state folder where no daemon runs.
struct Session: Sendable {
  /// What `--config` named.
  var configuration: String?

  init(configuration: String?) { self.configuration = configuration }

  func file() throws(Refusal) -> ConfigurationFile { try ConfigurationFile.find(named: configuration) }

  /// Asks the daemon, or does it alone.
  ///
  /// - Parameter needsOwner: whether it changes something, so that without a daemon the state folder has to be locked.
  func ask(_ request: ControlRequest, needsOwner: Bool) throws(Refusal) -> ControlReply {
    let file = try file()
    let places = try file.places()
    if let client = try ControlClient(stateFolder: places.state) { return try client.ask(request) }
    let noFiles = { () throws(Refusal) -> Descriptor in
      throw Refusal(.fault, .commandFault, "This command hands over no files.")
    }
    let (useCases, workshop) = try alone(file, places.targets, needsOwner: needsOwner)
    guard case .test(let pipeline) = request else { return useCases.answer(request, nextFile: noFiles) }
    let context = useCases.context
    return try workshop.withTestEngine(context.configuration, context.state, context.catalogue, pipeline: pipeline) {
      $0.answer(request, nextFile: noFiles)
    }
  }

  /// The use cases over the state folder itself, and the workshop that found the targets.
  func alone(_ file: ConfigurationFile, _ targets: [String], needsOwner: Bool) throws(Refusal) -> (UseCases, Workshop) {
    // Before the workshop's threads: templates show dates in the configured zone.
    if let early = file.read(try file.bytes(), targets: []).0 { ProcessTimeZone.adopt(early) }
    let workshop = try Workshop()
    let catalogue = workshop.targets(in: targets)
    let (configuration, problems) = file.read(try file.bytes(), targets: catalogue.manifests)
    guard let configuration else {
      let errors = problems.filter { $0.severity == .error }
      throw Refusal(
        .usage, errors.first?.code ?? .configBadValue,
        "\(file.path) has \(ConfigurationFile.count(errors)). The first: \(errors.first?.headline ?? "")",
        hint: "relay-host check shows all of them")
    }
    let state: StateFolder
    do throws(StateError) {
      state = try Self.open(configuration.state, needsOwner: needsOwner)
    } catch {
      throw Refusal(error)
    }
    return (UseCases(.init(configuration: configuration, state: state, catalogue: catalogue)), workshop)
  }

  private static func open(_ path: String, needsOwner: Bool) throws(StateError) -> StateFolder {
    if needsOwner { return try StateFolder.open(path) }
    do {
      return try StateFolder.open(path, access: .observer)
    } catch {
      // Before its first start there is nothing to look at: it is made.
      if case .system(let cause) = error, cause.isMissing { return try StateFolder.open(path) }
      throw error
    }
  }
}

extension Ending {
  /// Runs a body that may refuse.
  static func of(json: Bool, _ body: () throws(Refusal) -> Ending) -> Ending {
    do { return try body() } catch { return refused(error, json: json) }
  }
}
