// SPDX-License-Identifier: Apache-2.0
import Glibc
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

  /// Who does what a command asks for.
  enum Way {
    case daemon(ControlClient)
    /// With the workshop that found the targets and keeps their copies.
    case alone(UseCases, Workshop)
  }

  /// How long a command waits for another one, or for a daemon that starts or stops, in milliseconds.
  private static let patience: Int64 = 20_000

  /// Asks the daemon, or does it alone.
  ///
  /// - Parameter needsOwner: whether it changes something, so that without a daemon the state folder has to be locked.
  func ask(_ request: ControlRequest, needsOwner: Bool) throws(Refusal) -> ControlReply {
    let noFiles = { () throws(Refusal) -> Descriptor in
      throw Refusal(.fault, .commandFault, "This command hands over no files.")
    }
    switch try way(needsOwner: needsOwner) {
    case .daemon(let client): return try client.ask(request)
    case .alone(let useCases, let workshop):
      guard case .test(let pipeline) = request else { return useCases.answer(request, nextFile: noFiles) }
      return try workshop.withTestEngine(useCases.context, pipeline: pipeline) { $0.answer(request, nextFile: noFiles) }
    }
  }

  /// The daemon where one answers, else the state folder itself. One that is in use without a daemon that answers is
  /// another command's, or a daemon's that starts or stops: that is waited for.
  func way(needsOwner: Bool) throws(Refusal) -> Way {
    let file = try file()
    let places = try file.places()
    if let client = try Self.client(of: places.state) { return .daemon(client) }
    if needsOwner { try Self.refuseForeignState(places.state) }
    let (configuration, catalogue, workshop) = try read(file, places.targets)
    let deadline = BootTime.now.advanced(milliseconds: Self.patience)
    while true {
      do throws(StateError) {
        let state = try Self.open(configuration.state, needsOwner: needsOwner)
        return .alone(
          UseCases(.init(configuration: configuration, state: state, catalogue: catalogue)), workshop)
      } catch {
        guard case .inUse = error, BootTime.now < deadline else { throw Refusal(error) }
      }
      if let client = try Self.client(of: places.state) { return .daemon(client) }
      usleep(20_000)
    }
  }

  /// The daemon of a state folder; nil when none listens there. Whoever waits for it is told so after a while.
  static func client(of stateFolder: String) throws(Refusal) -> ControlClient? {
    guard let client = try ControlClient(stateFolder: stateFolder) else { return nil }
    client.onSilence = {
      let text =
        "The daemon has not answered yet; this goes on waiting. It is busy, or has run out of something: see its log.\n"
      let bytes = Array(text.utf8)
      _ = write(STDERR_FILENO, bytes, bytes.count)
    }
    return client
  }

  /// What root writes into the state folder of a daemon that runs as somebody else, that daemon can't read.
  static func refuseForeignState(_ path: String) throws(Refusal) {
    guard geteuid() == 0, let owner = try? Directory(path).descriptor.status().owner, owner != 0 else { return }
    let name = getpwuid(owner).map { String(cString: $0.pointee.pw_name) } ?? "#\(owner)"
    throw Refusal(
      .needsYou, .stateUnusable, "\(path) belongs to \(name); what root writes there \(name)'s daemon couldn't read.",
      hint: "run this as that user: sudo -u \(name) relay-host …")
  }

  private func read(
    _ file: ConfigurationFile, _ targets: [String]
  ) throws(Refusal) -> (Configuration, TargetCatalogue, Workshop) {
    // Before the workshop's threads: templates show dates in the configured zone.
    if let early = file.read(try file.bytes(), targets: []).0 { ProcessTimeZone.adopt(early) }
    let workshop = try Workshop(for: file)
    let catalogue = workshop.targets(in: targets)
    let (configuration, problems) = file.read(try file.bytes(), targets: catalogue.manifests)
    guard let configuration else {
      let errors = problems.filter { $0.severity == .error }
      throw Refusal(
        .usage, errors.first?.code ?? .configBadValue,
        "\(file.path) has \(ConfigurationFile.count(errors)). The first: \(errors.first?.headline ?? "")",
        hint: "relay-host check shows all of them")
    }
    return (configuration, catalogue, workshop)
  }

  private static func open(_ path: String, needsOwner: Bool) throws(StateError) -> StateFolder {
    if needsOwner { return try StateFolder.open(path) }
    do {
      return try StateFolder.open(path, access: .observer)
    } catch {
      guard case .system(let cause) = error, cause.isMissing else { throw error }
    }
    // Before its first start there is nothing to look at, and looking makes nothing: a folder that is gone again.
    let made: String
    do throws(SystemError) { made = try Directory.makeTemporary() } catch { throw .system(error) }
    defer { try? Directory.removeTree(at: made) }
    return try StateFolder.open(made, access: .observer)
  }
}

extension Ending {
  /// Runs a body that may refuse.
  static func of(json: Bool, _ body: () throws(Refusal) -> Ending) -> Ending {
    do { return try body() } catch { return refused(error, json: json) }
  }
}
