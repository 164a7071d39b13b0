// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem
import RelayTemplates

/// Rendering of the settings that hold a template: once, when an artifact is made, and kept with it.
enum SettingsTemplates {
  /// What is wrong with a template in a setting, for `check`.
  static func problem(_ path: String, _ text: String) -> ConfigurationEnvironment.TemplateFault? {
    do throws(TemplateError) {
      let template = try TemplateEngine.parse(text)
      guard path == "url", template.leavesAuthorityOpen else { return nil }
      return .init(
        line: 1, column: 1, message: "scheme, host and port of a url must be plain text, before the first {{")
    } catch {
      return .init(line: error.line, column: error.column, message: error.message, code: error.code)
    }
  }

  /// A part's rendered settings.
  static func render(
    _ pipeline: PipelineConfiguration, _ context: TemplateContext
  ) throws(Refusal) -> [Manifest.Setting] {
    var rendered: [Manifest.Setting] = []
    for setting in pipeline.load.settings.templated {
      do throws(TemplateError) {
        // A value must stay what it is in its place: one piece of a path or query.
        let escaping: Template.Escaping = setting.path == "url" ? .urlComponent : .none
        let text = try TemplateEngine.parse(setting.text).render(context, escaping: escaping)
        rendered.append(Manifest.Setting(path: setting.path, text: text))
      } catch {
        throw Refusal(
          .needsYou, error.code,
          "The template in \"\(setting.path)\" of pipeline \(pipeline.id) can't be rendered for \(context.fileName): "
            + error.message, hint: "mend it in the configuration; nothing was taken")
      }
    }
    return rendered
  }

  /// The settings that hold a template, as a test delivery has them.
  static func renderForTest(_ pipeline: PipelineConfiguration) throws(SecretProblem) -> [SettingEntry] {
    let context = context(
      pipeline, fileName: DeliveryEngine.testName, artifact: Identifier.timed(at: .now).description, part: 1, of: 1,
      created: .now)
    do throws(Refusal) {
      return try render(pipeline, context).map { SettingEntry(path: $0.path, value: .text($0.text)) }
    } catch {
      throw SecretProblem(message: error.message)
    }
  }

  /// What a part's manifest doesn't hold, because the target, and so which settings are templates, wasn't known when the
  /// part was handed over. Made from what the manifest fixes alone, so that every attempt gets the same.
  static func renderLate(
    _ pipeline: PipelineConfiguration, _ manifest: Manifest, _ index: Int
  ) throws(SecretProblem) -> [SettingEntry] {
    guard let part = manifest.parts.first(where: { $0.index == index }) else { return [] }
    let known = Set(part.settings.map(\.path))
    guard pipeline.load.settings.templated.contains(where: { !known.contains($0.path) }) else { return [] }
    var context = context(pipeline, manifest, part)
    context.now = context.created
    do throws(Refusal) {
      return try render(pipeline, context).filter { !known.contains($0.path) }.map {
        SettingEntry(path: $0.path, value: .text($0.text))
      }
    } catch {
      throw SecretProblem(message: error.message)
    }
  }

  /// What the templates of a delivery are rendered with: a part's own facts, or those of all parts as one.
  static func context(
    _ pipeline: PipelineConfiguration, _ manifest: Manifest, _ part: Manifest.Part
  ) -> TemplateContext {
    let isOne = manifest.isBundled(for: manifest.unit)
    return context(
      pipeline, fileName: isOne ? manifest.bundleName : part.name, artifact: manifest.artifactID.description,
      part: isOne ? 1 : part.index, of: isOne ? 1 : manifest.parts.count, created: manifest.createdAt)
  }

  private static func context(
    _ pipeline: PipelineConfiguration, fileName: String, artifact: String, part: Int, of count: Int, created: WallTime
  ) -> TemplateContext {
    TemplateContext(
      fileName: fileName, artifactID: artifact, partIndex: part, partCount: count, pipelineID: pipeline.id,
      pipelineName: pipeline.name, now: created.milliseconds, created: created.milliseconds,
      zoneOffset: Int64(created.localOffset))
  }
}

extension TemplateError {
  fileprivate var code: DiagnosticCode {
    if case .unknownName = kind { .templateUnknownName } else { .templateSyntax }
  }
}
