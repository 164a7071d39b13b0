// SPDX-License-Identifier: Apache-2.0

/// All of pipelines.json as values. Paths are absolute.
package struct Configuration: Equatable, Sendable {
  /// The file that was read.
  package var file: String
  package var state: String
  package var targets: [String]
  package var timeZone: TimeZoneSetting
  package var weekStart: Weekday
  package var workers: Int
  /// Nil: `best-effort` for targets that come with the program, `required` for others and for all as root.
  package var confinement: ConfinementMode?
  /// Nil: the sender's.
  package var mailDomain: String?
  package var sourceOrder: [String]
  /// Nil: no listener at all.
  package var server: ServerConfiguration?
  package var pipelines: [PipelineConfiguration]

  package init(
    file: String, state: String, targets: [String], timeZone: TimeZoneSetting, weekStart: Weekday, workers: Int,
    confinement: ConfinementMode? = nil, mailDomain: String? = nil, sourceOrder: [String],
    server: ServerConfiguration? = nil, pipelines: [PipelineConfiguration]
  ) {
    self.file = file
    self.state = state
    self.targets = targets
    self.timeZone = timeZone
    self.weekStart = weekStart
    self.workers = workers
    self.confinement = confinement
    self.mailDomain = mailDomain
    self.sourceOrder = sourceOrder
    self.server = server
    self.pipelines = pipelines
  }
}

extension Configuration {
  /// What no target may be let into. Blocking: links are resolved.
  ///
  /// - Parameter programTargets: where the program's own targets lie.
  package func protectedPaths(programTargets: String?) -> ProtectedPaths {
    ProtectedPaths(
      state: state, configurationFile: file, targets: targets + (programTargets.map { [$0] } ?? []),
      credentialsDirectory: ConfigurationEnvironment.ofProcess().credentialsDirectory)
  }
}

package enum ConfinementMode: String, CaseIterable, Sendable {
  case required
  case bestEffort = "best-effort"
}

package enum TimeZoneSetting: Equatable, Sendable {
  case machine
  case zone(String)
  /// By their first day, oldest first.
  case periods([ZonePeriod])
}

package struct ZonePeriod: Equatable, Sendable {
  package var from: CalendarDate
  package var zone: String

  package init(
    from: CalendarDate, zone: String
  ) {
    self.from = from
    self.zone = zone
  }
}

package struct ServerConfiguration: Equatable, Sendable {
  package enum TLS: Equatable, Sendable {
    case selfSigned
    case files(certificate: String, key: String)
  }

  package var listen: ListenAddress
  /// The name of the token's secret.
  package var tokenSecret: String?
  package var tls: TLS?
  package var publicURL: String?
  /// In bytes.
  package var maxBody: Int64

  package init(
    listen: ListenAddress, tokenSecret: String? = nil, tls: TLS? = nil, publicURL: String? = nil, maxBody: Int64
  ) {
    self.listen = listen
    self.tokenSecret = tokenSecret
    self.tls = tls
    self.publicURL = publicURL
    self.maxBody = maxBody
  }
}
