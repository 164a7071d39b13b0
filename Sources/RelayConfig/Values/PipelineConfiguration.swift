// SPDX-License-Identifier: Apache-2.0

/// One pipeline as values. Two are equal when nothing that a person wrote for them, and no default, differs.
package struct PipelineConfiguration: Equatable, Sendable {
  package var id: String
  package var name: String
  package var paused: Bool
  package var trigger: Trigger
  package var extract: Extract
  /// Nil for an inbox.
  package var transform: Transform?
  package var load: Load
  package var delivery: DeliveryConfiguration
  package var notify: NotifyConfiguration
  /// Stands for what is written in `load`, `delivery` and `transform`, whatever the order of keys: a pipeline that
  /// needs attention
  /// may try again when it changes. Values of secrets are no part of it.
  package var fingerprint: String
  /// What stands behind the @ of Message-IDs.
  package var messageDomain: String
  /// For who names no domain and sends no mail; no mail comes from there (RFC 6761).
  package static let noMessageDomain = "relay-host.invalid"

  package init(
    id: String, name: String, paused: Bool, trigger: Trigger, extract: Extract, transform: Transform? = nil, load: Load,
    delivery: DeliveryConfiguration, notify: NotifyConfiguration, fingerprint: String,
    messageDomain: String = noMessageDomain
  ) {
    self.id = id
    self.name = name
    self.paused = paused
    self.trigger = trigger
    self.extract = extract
    self.transform = transform
    self.load = load
    self.delivery = delivery
    self.notify = notify
    self.fingerprint = fingerprint
    self.messageDomain = messageDomain
  }

  /// True for what this version checks and leaves alone.
  package var needsHealthStore: Bool {
    if case .health = extract { true } else { false }
  }

  package var access: [AccessPath] { load.settings.access }
}

package enum Trigger: Equatable, Sendable {
  case manual
  case arrival
  case healthChanges
  case every(milliseconds: Int64)
  /// On the given days, all seven if none was named.
  case at(TimeOfDay, days: [Weekday])
}

package enum Extract: Equatable, Sendable {
  /// The folder whose files become artifacts.
  case inbox(directory: String)
  case health(HealthExtract)
}

package enum Transform: Equatable, Sendable {
  case native
  /// A template's name or path, as written.
  case template(String)
}

package struct Load: Equatable, Sendable {
  package enum Target: Equatable, Sendable {
    case known(String)
    /// No such target was found: the pipeline needs attention.
    case unknown(String)
  }

  package var target: Target
  package var settings: ResolvedSettings

  package init(
    target: Target, settings: ResolvedSettings
  ) {
    self.target = target
    self.settings = settings
  }

  package var targetID: String {
    switch target {
    case .known(let id), .unknown(let id): id
    }
  }
}

package enum UnsurePolicy: String, CaseIterable, Sendable {
  case retry
  case hold
}

/// Durations in milliseconds, sizes in bytes.
package struct DeliveryConfiguration: Equatable, Sendable {
  package enum Keep: Equatable, Sendable {
    case none
    case artifacts(Int64)
    case milliseconds(Int64)
  }

  package var spacing: Int64
  package var retryFirst: Int64
  package var retryMax: Int64
  /// Time without progress.
  package var timeout: Int64
  package var compressesGzip: Bool
  package var onUnsure: UnsurePolicy
  package var maxQueuedBytes: Int64
  package var maxQueuedArtifacts: Int64
  package var keepDelivered: Keep
  package var maxRefusedBytes: Int64

  package init(
    spacing: Int64 = 1000, retryFirst: Int64 = 60_000, retryMax: Int64 = 21_600_000, timeout: Int64 = 30_000,
    compressesGzip: Bool = false, onUnsure: UnsurePolicy = .retry, maxQueuedBytes: Int64 = 10_000_000_000,
    maxQueuedArtifacts: Int64 = 10_000, keepDelivered: Keep = .none, maxRefusedBytes: Int64 = 1_000_000_000
  ) {
    self.spacing = spacing
    self.retryFirst = retryFirst
    self.retryMax = retryMax
    self.timeout = timeout
    self.compressesGzip = compressesGzip
    self.onUnsure = onUnsure
    self.maxQueuedBytes = maxQueuedBytes
    self.maxQueuedArtifacts = maxQueuedArtifacts
    self.keepDelivered = keepDelivered
    self.maxRefusedBytes = maxRefusedBytes
  }
}

package struct NotifyConfiguration: Equatable, Sendable {
  package var failed: Bool
  package var finished: Bool
  package var ready: Bool
  /// Milliseconds.
  package var overdue: Int64?
  /// The id of the pipeline that carries messages.
  package var through: String?

  package init(
    failed: Bool = false, finished: Bool = false, ready: Bool = false, overdue: Int64? = nil, through: String? = nil
  ) {
    self.failed = failed
    self.finished = finished
    self.ready = ready
    self.overdue = overdue
    self.through = through
  }
}
