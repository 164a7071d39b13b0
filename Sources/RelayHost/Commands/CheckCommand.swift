// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayPipelines
import RelaySystem

/// `relay-host check`: is this file good, what may each target touch, and do the destinations answer.
enum CheckCommand {
  static func run(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let json = arguments.has("--json")
    return Ending.of(json: json) { () throws(Refusal) in
      let file = try session.file()
      let bytes = try file.bytes()
      let workshop = try Workshop(for: file)
      let catalogue = workshop.targets(in: (try? file.places().targets) ?? [])
      let (configuration, problems) = file.read(bytes, targets: catalogue.manifests)
      var answers: [String: DeliveryVerdict?] = [:]
      let secrets = configuration.map { SecretKeeper(stateFolder: $0.state, log: NoLog()) }
      let missing = configuration.map { Self.missingSecrets($0, secrets) } ?? []
      if arguments.has("--online"), let configuration, let secrets {
        for pipeline in configuration.pipelines {
          guard let target = catalogue[pipeline.load.targetID] else { continue }
          answers[pipeline.id] = workshop.check(pipeline, target, secrets, stateFolder: configuration.state)
        }
      }
      let isValid = configuration != nil && !problems.contains { $0.severity == .error }
      let outcomes = answers.values.compactMap { $0.map(Outcome.init(of:)) }
      let outcome: Outcome =
        !isValid ? .usage : outcomes.contains(.needsYou) ? .needsYou : outcomes.contains(.waits) ? .waits : .done
      let unconfined = configuration.map { Self.unconfined($0, catalogue) } ?? []
      let absent = missing + (configuration.map(missingInboxes) ?? []) + unconfined
      if json { return .print(self.json(file, isValid, problems, configuration, answers, absent), outcome) }
      var ending = words(file, isValid, problems, configuration, catalogue, answers, outcome)
      if let warning = configuration.flatMap({ Confinement.policy($0).warning }) {
        ending.problems += "warning: \(warning)\n"
      }
      ending.problems += absent.map { "warning: pipeline \($0.pipeline): \($0.message)\n" }.joined()
      return ending
    }
  }

  /// What a pipeline needs and isn't there yet, outside the file.
  private struct Absence {
    var pipeline: String
    var message: String
  }

  /// Secrets that a pipeline names and nobody has set yet; with them set, the file is as good as it is.
  private static func missingSecrets(_ configuration: Configuration, _ secrets: SecretKeeper?) -> [Absence] {
    configuration.pipelines.flatMap { pipeline in
      pipeline.load.settings.secrets.compactMap { secret in
        do throws(SecretProblem) {
          _ = try secrets?.value(secret.name)
          return nil
        } catch {
          return Absence(pipeline: pipeline.id, message: error.message)
        }
      }
    }
  }

  /// Inboxes that somebody named and that aren't there: their disk may come later, or the name is wrong.
  private static func missingInboxes(_ configuration: Configuration) -> [Absence] {
    configuration.pipelines.compactMap { pipeline in
      guard case .inbox(let directory) = pipeline.extract, !isThere(directory),
        !PathRules.isInside(directory, configuration.state)
      else { return nil }
      return Absence(
        pipeline: pipeline.id, message: "its inbox \(directory) is not there; nothing is taken until it is.")
    }
  }

  /// Pipelines whose target may not run, because the kernel can't confine it.
  private static func unconfined(_ configuration: Configuration, _ catalogue: TargetCatalogue) -> [Absence] {
    let policy = Confinement.policy(configuration)
    return configuration.pipelines.compactMap { pipeline in
      guard let target = catalogue[pipeline.load.targetID] else { return nil }
      return policy.refusal(isShipped: target.isShipped).map { Absence(pipeline: pipeline.id, message: $0) }
    }
  }

  private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private static func words(
    _ file: ConfigurationFile, _ isValid: Bool, _ problems: [Diagnostic], _ configuration: Configuration?,
    _ catalogue: TargetCatalogue, _ answers: [String: DeliveryVerdict?], _ outcome: Outcome
  ) -> Ending {
    var ending = Ending(problems: problems.map(\.text).joined(), outcome: outcome)
    let errors = problems.count { $0.severity == .error }
    for target in catalogue.found {
      if case .broken(let reason) = target.state { ending.problems += "warning: \(target.file): \(reason)\n" }
    }
    guard let configuration, isValid else {
      ending.problems += "\(file.path): \(Words.count(Int64(errors), "mistake", "mistakes"))\n"
      return ending
    }
    ending.output +=
      "\(file.path) is good: \(Words.count(Int64(configuration.pipelines.count), "pipeline", "pipelines")).\n"
    for pipeline in configuration.pipelines {
      let access = pipeline.access.map(Confinement.words)
      ending.output +=
        "  \(pipeline.id) → \(pipeline.load.targetID): \(access.isEmpty ? "touches no files of yours" : access.joined(separator: ", "))\n"
      guard let answer = answers[pipeline.id] else { continue }
      switch answer {
      case nil: ending.output += "    its target can't ask beforehand\n"
      case let verdict?:
        let told = verdict.message.isEmpty ? "" : ": \(verdict.message)"
        ending.output += verdict.code == .delivered ? "    answers\(told)\n" : "    \(verdict.code.rawValue)\(told)\n"
      }
    }
    if !configuration.pipelines.isEmpty { ending.output += Confinement.summary }
    return ending
  }

  private static func json(
    _ file: ConfigurationFile, _ isValid: Bool, _ problems: [Diagnostic], _ configuration: Configuration?,
    _ answers: [String: DeliveryVerdict?], _ absent: [Absence]
  ) -> String {
    var writer = JSONWriter(style: .pretty)
    writer.beginObject()
    writer.name("file")
    writer.value(file.path)
    writer.name("valid")
    writer.value(isValid)
    writer.name("problems")
    writer.beginArray()
    for problem in problems { problem.write(to: &writer) }
    writer.endArray()
    writer.name("confinement")
    writer.raw(Confinement.json)
    writer.name("warnings")
    writer.beginArray()
    for absence in absent {
      writer.beginObject()
      writer.name("pipeline")
      writer.value(absence.pipeline)
      writer.name("message")
      writer.value(absence.message)
      writer.endObject()
    }
    writer.endArray()
    writer.name("pipelines")
    writer.beginArray()
    for pipeline in configuration?.pipelines ?? [] {
      writer.beginObject()
      writer.name("id")
      writer.value(pipeline.id)
      writer.name("target")
      writer.value(pipeline.load.targetID)
      writer.name("access")
      writer.beginArray()
      for access in pipeline.access { writer.raw(Confinement.json(access)) }
      writer.endArray()
      if let answer = answers[pipeline.id] {
        writer.name("online")
        if let verdict = answer {
          writer.beginObject()
          writer.name("verdict")
          writer.value(verdict.code.rawValue)
          writer.name("status")
          writer.value(Int64(verdict.status))
          writer.name("message")
          writer.value(verdict.message)
          writer.endObject()
        } else {
          writer.null()
        }
      }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
