// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayDelivery
import RelayJSON
import RelaySystem
import Synchronization

/// Finds secrets' values and keeps every value it ever gave out from being written anywhere.
package final class SecretKeeper: Sendable {
  private struct State {
    var known: [String: Secret] = [:]
    /// Values that were replaced stay blanked: old log lines of a receiver may still quote them.
    var former: [Secret] = []
    var redactor = Redactor([])
    var warned: Set<String> = []
  }

  private let source: SecretSource
  private let log: any LogSink
  private let state = Mutex(State())

  package init(stateFolder: String, log: any LogSink) {
    var environment: [String: String] = [:]
    var place = environ
    while let entry = place.pointee {
      let text = String(cString: entry)
      if text.hasPrefix("RELAY_SECRET_"), let equals = text.firstIndex(of: "=") {
        environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      place += 1
    }
    source = SecretSource(
      credentialsDirectory: getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) },
      stateSecretsFolder: stateFolder + "/secrets", environment: environment)
    self.log = log
  }

  /// A secret's value as text; read anew each time, so that a changed one is seen.
  package func value(_ name: String) throws(SecretProblem) -> String {
    let found: Secret
    do throws(SecretError) {
      let (secret, warnings) = try source.secret(name)
      found = secret
      let isNew = state.withLock { $0.warned.insert(name).inserted }
      if isNew { for warning in warnings { log.log(LogEntry(.warning, warning.headline)) } }
    } catch {
      throw SecretProblem(message: "\(error.message); \(error.hint)", code: error.code)
    }
    guard let text = String(validating: found.bytes, as: UTF8.self) else {
      throw SecretProblem(message: "Secret \"\(name)\" is not UTF-8 text; set it again.", code: .secretUnreadable)
    }
    remember(found)
    return text
  }

  /// Learns the values of the secrets that a configuration names, so that they are blanked before their first use.
  package func learn(_ configuration: Configuration) {
    let names = Set(
      configuration.pipelines.flatMap { $0.load.settings.secrets.map(\.name) }
        + [configuration.server?.tokenSecret].compactMap { $0 })
    for name in names { _ = try? value(name) }
  }

  private func remember(_ secret: Secret) {
    state.withLock { state in
      guard state.known[secret.name] != secret else { return }
      if let old = state.known[secret.name] { state.former.append(old) }
      state.known[secret.name] = secret
      state.redactor = Redactor(Array(state.known.values) + state.former.suffix(100))
    }
  }

  package func blank(_ text: String) -> String { state.withLock { $0.redactor }.redact(text) }
}

extension EngineServices {
  /// What the engine needs, from where this program has it.
  init(_ keeper: SecretKeeper, log: any LogSink, changed: @escaping @Sendable (String) -> Void = { _ in }) {
    self.init(
      secret: { name throws(SecretProblem) in try keeper.value(name) },
      renderForTest: { pipeline throws(SecretProblem) in try SettingsTemplates.renderForTest(pipeline) },
      renderLate: { pipeline, manifest, part throws(SecretProblem) in
        try SettingsTemplates.renderLate(pipeline, manifest, part)
      }, blank: { keeper.blank($0) }, log: log, changed: changed)
  }
}
