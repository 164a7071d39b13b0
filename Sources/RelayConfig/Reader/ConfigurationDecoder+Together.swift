// SPDX-License-Identifier: Apache-2.0
import RelayJSON

extension ConfigurationDecoder {
  /// What no key is wrong with by itself: pairs that don't go together, and pipelines that get in each other's way.
  mutating func checkTogether(_ configuration: Configuration) {
    for (node, pipeline) in zip(pipelineNodes, configuration.pipelines) {
      switch pipeline.extract {
      case .health(let health): checkHealth(node, pipeline, health)
      case .inbox: checkInbox(node)
      }
      checkDelivery(node["delivery"], pipeline.delivery)
    }
    checkIDs()
    checkFolders(configuration)
    checkNotify(configuration)
    tellWhatWaits(configuration)
  }

  /// Keys that are checked and mean nothing yet: better said than found out.
  private mutating func tellWhatWaits(_ configuration: Configuration) {
    note(root.member("server"), "nothing listens")
    note(root.member("weekStart"), "no health data is gathered into weeks")
    note(root.member("sourceOrder"), "no health data is merged")
    for (node, pipeline) in zip(pipelineNodes, configuration.pipelines) {
      note(node.member("notify"), "nobody is told")
      note(node["delivery"]?.member("keepDelivered"), "what was delivered is removed")
      noteEncoding(node["delivery"]?.member("encode"), pipeline)
      guard case .inbox = pipeline.extract else { continue }
      switch pipeline.trigger {
      case .arrival, .every: break
      default: note(node.member("trigger"), "the inbox folder is not looked at; `relay-host submit` works")
      }
    }
  }

  private mutating func noteEncoding(_ member: JSONMember?, _ pipeline: PipelineConfiguration) {
    guard let member, targets.first(where: { $0.id == pipeline.load.targetID })?.unit == .artifact else { return }
    problems.add(
      .configEncodeBundles,
      "target \"\(pipeline.load.targetID)\" takes an artifact as one: \"encode\" has no effect where several files go as a "
        + "ZIP, which is compressed already", at: member.nameRange)
  }

  private mutating func note(_ member: JSONMember?, _ consequence: String) {
    guard let member else { return }
    problems.add(
      .configNotYet, "key \"\(member.name)\" has no effect in this version: \(consequence)", at: member.nameRange)
  }

  private mutating func checkHealth(_ node: JSONNode, _ pipeline: PipelineConfiguration, _ health: HealthExtract) {
    let extract = node["extract"]
    guard extract?["from"]?.string == "health" else { return }
    problems.add(
      .configHealthNotRun,
      "this version doesn't read health data yet: pipeline \"\(pipeline.id)\" is checked and not run",
      at: extract?["from"]?.range)
    if let directory = extract?.member("directory") {
      problems.add(
        .configKeyNeedsInbox, "key \"directory\" belongs to an inbox and this pipeline reads health data",
        hint: "remove it", at: directory.nameRange)
    }
    if pipeline.trigger == .arrival {
      problems.add(
        .configArrivalNeedsInbox, "trigger \"arrival\" waits for files and this pipeline reads health data",
        hint: "use \"health-changes\", {\"every\": …} or {\"at\": …}", at: node["trigger"]?.range)
    }
    if health.range == .ask, pipeline.trigger != .manual {
      problems.add(
        .configAskNeedsManual, "range \"ask\" is given by a person, so nothing else can start a run",
        hint: "set \"trigger\" to \"manual\" or choose another range", at: extract?["range"]?.range)
    }
    if case .dates(let from, let to) = health.range, to < from {
      problems.add(
        .configReversedRange, "the range ends on \(to.text), before it starts on \(from.text)",
        hint: "swap the two", at: extract?["range"]?.range)
    }
    if pipeline.transform == .native { checkNative(extract, health) }
  }

  private mutating func checkNative(_ extract: JSONNode?, _ health: HealthExtract) {
    if health.range != .changedDays {
      problems.add(
        .configNativeNeedsChangedDays, "the native format needs range \"changed-days\"",
        hint: "set that range, or name a template in \"transform\"", at: extract?["range"]?.range)
    }
    if let sections = extract?["sections"], Set(health.sections) != Set(HealthSection.allCases) {
      problems.add(
        .configNativeNeedsAllSections,
        "the native format takes all sections: one that is left out would be erased at the receiver",
        hint: "remove \"sections\", or name a template in \"transform\"", at: sections.range)
    }
  }

  private mutating func checkInbox(_ node: JSONNode) {
    guard node["extract"]?["from"]?.string == "inbox" else { return }
    for member in node["extract"]?.object ?? [] where PipelinesFile.healthKeys.contains(member.name) {
      problems.add(
        .configKeyNeedsHealth, "key \"\(member.name)\" says how health data is read and this pipeline has an inbox",
        hint: "remove it", at: member.nameRange)
    }
    if let transform = node.member("transform") {
      problems.add(
        .configInboxTakesNoTransform, "files from an inbox are delivered as they are", hint: "remove \"transform\"",
        at: transform.nameRange)
    }
  }

  private mutating func checkDelivery(_ node: JSONNode?, _ delivery: DeliveryConfiguration) {
    guard delivery.retryMax < delivery.retryFirst else { return }
    problems.add(
      .configOutOfRange,
      "the longest wait, \(Quantity.text(milliseconds: delivery.retryMax)), is shorter than the first, "
        + Quantity.text(milliseconds: delivery.retryFirst), hint: "make \"retryMax\" the larger of the two",
      at: (node?["retryMax"] ?? node?["retryFirst"])?.range)
  }

  private mutating func checkIDs() {
    var seen: Set<String> = []
    for node in pipelineNodes {
      guard let place = node["id"], let id = place.string, !seen.insert(id).inserted else { continue }
      problems.add(
        .configDuplicateID, "another pipeline above has the id \(quoted(id)) too", hint: "give this one another id",
        at: place.range)
    }
  }

  private mutating func checkNotify(_ configuration: Configuration) {
    let ids = configuration.pipelines.map(\.id)
    for (node, pipeline) in zip(pipelineNodes, configuration.pipelines) {
      guard let through = pipeline.notify.through, let place = node["notify"]?["through"] else { continue }
      if through == pipeline.id {
        problems.add(
          .configNotifyItself, "a pipeline can't tell of its own failure through itself",
          hint: "name another pipeline", at: place.range)
      } else if !ids.contains(through) {
        problems.add(
          .configUnknownPipeline, "there is no pipeline \(quoted(through))",
          hint: Suggestion.hint(for: through, among: ids.filter { $0 != pipeline.id }), at: place.range)
      }
    }
  }
}

extension JSONNode {
  fileprivate func member(_ name: String) -> JSONMember? { object?.first { $0.name == name } }
}
