// SPDX-License-Identifier: Apache-2.0
/// A destination for Relay Host, written in Swift.
///
/// A target lives in a worker process of its own, for one pipeline; the host calls it once at a time, on the main thread.
/// A target is a value (or a class) with an initializer that reads the settings and a `deliver` that sends one thing:
///
/// ```swift
/// public struct Announcer: Target {
///   public static let manifest = #"{"id": "org.example.announcer", "name": "Announcer", "version": "1.0.0", …}"#
///   public init(host: Host) throws(Verdict) { … }
///   public mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
///     while let chunk = try delivery.source.next() { … }
///     return .delivered(status: 200)
///   }
/// }
/// ```
///
/// The shared object exports C functions; with `TargetEntry` each is one line:
///
/// ```swift
/// @c @implementation public func relay_target_abi() -> UInt32 { TargetEntry<Announcer>.abi() }
/// ```
public protocol Target {
  /// The manifest as JSON text: id, name, version, licence, unit, whether the receiver recognises a repeat, and the
  /// JSON Schema of the settings. Neither files nor the network may be used to make it.
  static var manifest: String { get }

  /// Called once per worker, before the first delivery. Settings that hold a template do not exist yet.
  ///
  /// A thrown verdict is what the host is told: use `.needsAttention` for settings that cannot work.
  init(host: Host) throws(Verdict)

  /// Sends one delivery and says how it went. `.delivered` needs positive proof from the receiver; throw or return the
  /// verdict, whichever reads better.
  mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict
}

/// A target that can be asked whether its destination is reachable and takes its credentials, with nothing delivered.
public protocol CheckableTarget: Target {
  mutating func check(host: Host) throws(Verdict) -> Verdict
}
