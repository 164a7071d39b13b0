// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// Makes values of a tree that was checked. Where a check failed it goes on with defaults, so that later checks find
/// their problems too.
struct ConfigurationDecoder {
  let file: String
  let folder: String
  let targets: [TargetManifest]
  let environment: ConfigurationEnvironment
  let root: JSONNode
  let state: String
  let protected: ProtectedPaths
  var problems: DiagnosticList

  init(
    file: String, targets: [TargetManifest], environment: ConfigurationEnvironment, problems: DiagnosticList,
    root: JSONNode
  ) {
    self.file = PathRules.absolute(file, in: environment.currentDirectory)
    self.folder = PathRules.parent(of: self.file)
    self.targets = targets
    self.environment = environment
    self.root = root
    self.problems = problems
    let named = root["state"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    state =
      named.map { [folder] in PathRules.absolute($0, in: folder) } ?? environment.defaultState(forFileIn: folder)
    protected = ProtectedPaths(
      state: state, configurationFile: self.file,
      targets: (root["targets"]?.array ?? []).compactMap { [folder] in
        $0.string.map { PathRules.absolute($0, in: folder) }
      } + (environment.programTargets.map { [$0] } ?? []), credentialsDirectory: environment.credentialsDirectory)
  }

  /// The pipelines' nodes that are objects with an id, in the order of the file; the rest was told already.
  var pipelineNodes: [JSONNode] { (root["pipelines"]?.array ?? []).filter { $0["id"]?.string != nil } }

  mutating func configuration() -> Configuration {
    let object = DeclaredObject(root, PipelinesFile.root)
    var pipelines: [PipelineConfiguration] = []
    for node in pipelineNodes { pipelines.append(pipeline(node)) }
    return Configuration(
      file: file, state: state, targets: (object.texts("targets") ?? []).map { PathRules.absolute($0, in: folder) },
      timeZone: timeZone(object.value("timeZone")), weekStart: object.word("weekStart") ?? .monday,
      workers: object.integer("workers").flatMap { Int(exactly: $0) } ?? 64, confinement: object.word("confinement"),
      mailDomain: object.text("mailDomain"), sourceOrder: object.texts("sourceOrder") ?? [],
      server: root["server"].flatMap(server), pipelines: pipelines)
  }

  private func timeZone(_ node: JSONNode?) -> TimeZoneSetting {
    guard let node else { return .machine }
    if let name = node.string { return .zone(name) }
    let periods = (node.array ?? []).compactMap { entry -> ZonePeriod? in
      guard let from = entry["from"]?.string.flatMap(CalendarDate.init), let zone = entry["zone"]?.string else {
        return nil
      }
      return ZonePeriod(from: from, zone: zone)
    }
    return .periods(periods.sorted { $0.from < $1.from })
  }

  private func server(_ node: JSONNode) -> ServerConfiguration? {
    let object = DeclaredObject(node, PipelinesFile.server)
    guard let listen = object.text("listen").flatMap(ListenAddress.init) else { return nil }
    var tls: ServerConfiguration.TLS?
    if let node = object.value("tls") {
      if node.string != nil { tls = .selfSigned }
      if let certificate = node["certificate"]?.string, let key = node["key"]?.string {
        tls = .files(
          certificate: PathRules.absolute(certificate, in: folder), key: PathRules.absolute(key, in: folder))
      }
    }
    var address = listen
    if case .unix(let path) = listen { address = .unix(path: PathRules.absolute(path, in: folder)) }
    return ServerConfiguration(
      listen: address, tokenSecret: object.value("token")?["secret"]?.string, tls: tls,
      publicURL: object.text("publicUrl"), maxBody: object.size("maxBody") ?? 256_000_000)
  }

  private mutating func pipeline(_ node: JSONNode) -> PipelineConfiguration {
    let object = DeclaredObject(node, PipelinesFile.pipeline)
    let id = object.text("id") ?? ""
    let extract = extract(node["extract"], id: id)
    let isInbox = if case .inbox = extract { true } else { false }
    let load = load(node["load"], id: id, isInbox: isInbox)
    return PipelineConfiguration(
      id: id, name: object.text("name") ?? id, paused: object.flag("paused"),
      trigger: trigger(node["trigger"], isInbox: isInbox), extract: extract,
      transform: isInbox ? nil : node["transform"]?["template"]?.string.map(Transform.template) ?? .native,
      load: load, delivery: delivery(node["delivery"]),
      notify: notify(node["notify"]),
      fingerprint: Fingerprint.of(["load", "delivery", "transform"].map { node[$0] }),
      messageDomain: root["mailDomain"]?.string ?? load.settings.senderDomain ?? PipelineConfiguration.noMessageDomain)
  }

  private func trigger(_ node: JSONNode?, isInbox: Bool) -> Trigger {
    if let every = node?["every"]?.string.flatMap(Quantity.duration) { return .every(milliseconds: every) }
    if let at = node?["at"]?.string.flatMap(TimeOfDay.init) {
      let named = (node?["days"]?.array ?? []).compactMap(\.string).compactMap(Weekday.init(name:))
      return .at(at, days: named.isEmpty ? Weekday.allCases : Weekday.allCases.filter(named.contains))
    }
    switch node?.string {
    case "manual": return .manual
    case "arrival": return .arrival
    case "health-changes": return .healthChanges
    default: return isInbox ? .arrival : .manual
    }
  }

  private mutating func load(_ node: JSONNode?, id: String, isInbox: Bool) -> Load {
    let node = node ?? JSONNode(.object([]))
    let targetID = node["target"]?.string ?? ""
    guard let target = targets.first(where: { $0.id == targetID }) else {
      if let place = node["target"], Names.isTargetID(targetID) {
        problems.add(
          .configUnknownTarget, "no target \"\(targetID)\" was found",
          hint: Suggestion.hint(for: targetID, among: targets.map(\.id))
            ?? "relay-host targets lists those that were found", at: place.range)
      }
      var settings = ResolvedSettings()
      if let written = node["settings"] {
        settings.json = written.bytes()
        problems.mask(textsIn: written)
      }
      return Load(target: .unknown(targetID), settings: settings)
    }
    var environment = environment
    // What a template of health data may ask for is known only to the version that reads health data.
    if !isInbox { environment.checkTemplate = { _, _ in nil } }
    var resolver = SettingsResolver(
      target: target, pipelineID: id, folder: folder, protected: protected, environment: environment,
      problems: problems)
    resolver.resolve(node["settings"], load: node)
    problems = resolver.problems
    return Load(target: .known(targetID), settings: resolver.result)
  }

  private func delivery(_ node: JSONNode?) -> DeliveryConfiguration {
    let object = DeclaredObject(node, PipelinesFile.delivery)
    let queued = object.object("maxQueued", PipelinesFile.maxQueued)
    var keep = DeliveryConfiguration.Keep.none
    if let count = object.integer("keepDelivered") { keep = count > 0 ? .artifacts(count) : .none }
    if let span = object.duration("keepDelivered") { keep = .milliseconds(span) }
    return DeliveryConfiguration(
      spacing: object.duration("spacing") ?? 0, retryFirst: object.duration("retryFirst") ?? 0,
      retryMax: object.duration("retryMax") ?? 0, timeout: object.duration("timeout") ?? 0,
      compressesGzip: object.text("encode") == "gzip", onUnsure: object.word("onUnsure") ?? .retry,
      maxQueuedBytes: queued.size("bytes") ?? 0, maxQueuedArtifacts: queued.integer("artifacts") ?? 0,
      keepDelivered: keep, maxRefusedBytes: object.size("maxRefused") ?? 0)
  }

  private func notify(_ node: JSONNode?) -> NotifyConfiguration {
    let object = DeclaredObject(node, PipelinesFile.notify)
    return NotifyConfiguration(
      failed: object.flag("failed"), finished: object.flag("finished"), ready: object.flag("ready"),
      overdue: object.duration("overdue"), through: object.text("through"))
  }
}
