// SPDX-License-Identifier: Apache-2.0
import RelayJSON

extension ConfigurationDecoder {
  func extract(_ node: JSONNode?, id: String) -> Extract {
    let object = DeclaredObject(node, PipelinesFile.extract)
    guard object.text("from") != "health" else { return .health(health(object)) }
    let named = object.text("directory").flatMap { $0.isEmpty ? nil : $0 }
    return .inbox(
      directory: named.map { PathRules.absolute($0, in: folder) } ?? "\(state)/pipelines/\(id)/inbox")
  }

  private func health(_ object: DeclaredObject) -> HealthExtract {
    HealthExtract(
      range: range(object.value("range")),
      sections: (object.texts("sections") ?? []).compactMap(HealthSection.init), metrics: object.texts("metrics"),
      workoutTypes: object.texts("workoutTypes"), routes: object.flag("routes"),
      workoutDetail: object.word("workoutDetail") ?? .none, workoutMetadata: object.flag("workoutMetadata"),
      grouping: grouping(object.value("grouping")), sources: sources(object.value("sources")),
      sleep: object.word("sleep") ?? .summarized)
  }

  private func range(_ node: JSONNode?) -> ExtractRange {
    if let days = node?["previousDays"]?.integer.flatMap({ Int(exactly: $0) }) { return .previousDays(days) }
    if let days = node?["lastDays"]?.integer.flatMap({ Int(exactly: $0) }) { return .lastDays(days) }
    if let from = node?["from"]?.string.flatMap(CalendarDate.init),
      let to = node?["to"]?.string.flatMap(CalendarDate.init)
    {
      return .dates(from: from, to: to)
    }
    switch node?.string {
    case "since-last-run": return .sinceLastRun
    case "today": return .today
    case "yesterday": return .yesterday
    case "ask": return .ask
    default: return .changedDays
    }
  }

  private func grouping(_ node: JSONNode?) -> Grouping {
    if let every = node?["every"]?.string.flatMap(Quantity.duration) { return .every(milliseconds: every) }
    return .unit(node?.string.flatMap(GroupingUnit.init) ?? .day)
  }

  private func sources(_ node: JSONNode?) -> SourceChoice {
    if let preferred = node?["preferred"]?.array { return .preferred(preferred.compactMap(\.string)) }
    return node?.string == "each" ? .each : .merged
  }
}
