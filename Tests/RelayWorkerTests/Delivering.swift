// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelaySystem
import RelayTestSupport
import TargetABI

@testable import RelayDelivery

extension DeliveryFields {
  static func sample(length: Int) -> DeliveryFields {
    DeliveryFields(
      length: UInt64(length), sha256: [1] + [UInt8](repeating: 0, count: 30) + [32], fileName: "day.json",
      mediaType: "application/json", pipelineID: "steps", pipelineName: "Steps to the house", artifactID: "artifact-1",
      deliveryID: "delivery-1", messageID: "<artifact-1@example.org>", partIndex: 2, partCount: 3, attempt: 4,
      flags: RELAY_IS_TEST, createdUnixMilliseconds: -5, firstAttemptUnixMilliseconds: 1_700_000_000_000,
      attributes: [DeliveryAttribute(name: "days", value: "2026-01-01")])
  }
}

extension PartChecksum {
  static func of(_ bytes: [UInt8]) -> UInt64 {
    var sum = PartChecksum()
    bytes.withUnsafeBytes { sum.update($0) }
    return sum.value
  }
}

extension HostMessage {
  /// With what the host allows every target, and no kernel too old for it.
  static func load(path: String, pipelineID: String, limits: WorkerLimits) -> HostMessage {
    let surroundings = WorkerSurroundings(
      policy: ConfinementPolicy(kernel: .ofThisMachine, configured: .bestEffort, isRoot: false), identity: nil,
      protected: .none, runtimeFolder: nil)
    let isShipped = path.hasPrefix(Repository.products)
    return .load(
      path: path, pipelineID: pipelineID, limits: limits,
      confinement: surroundings.confinement(copy: path, isShipped: isShipped))
  }
}

/// The result of a delivery, as the worker reported it.
struct Reported: Equatable {
  var deliveryID: String
  var returnCode: Int32
  var verdict: WireVerdict
  var source: SourceUse
}

extension WorkerUnderTest {
  static let deliverRequest: UInt64 = 3

  /// Lets it into a path, before LOAD.
  func open(_ path: String, _ mode: WorkerConfinement.PathMode) throws {
    let opened = try Descriptor.naming(path)
    try send(.access([mode]), request: 0, descriptors: [opened.number])
  }

  /// Sends LOAD and OPEN, without waiting.
  func start(
    _ target: String, mode: String, settings: [SettingEntry] = [], limits: WorkerLimits = WorkerLimits()
  ) throws {
    try send(.load(path: target, pipelineID: "steps", limits: limits), request: 1)
    let entries = [SettingEntry(path: "mode", value: .text(mode))] + settings
    try send(.open(settings: entries, secrets: [], settingsJSON: Array("{}".utf8)), request: 2)
  }

  /// Sends DELIVER for these bytes, without waiting. `length` may lie.
  func deliver(
    _ bytes: [UInt8], length: Int? = nil, verified: Bool = false, checksum: UInt64? = nil, overlay: [SettingEntry] = []
  ) throws {
    let part = try Channel.memoryFile(bytes)
    let cancel = try Channel.pipe()
    defer {
      close(part)
      close(cancel.read)
    }
    let sum = verified ? checksum ?? PartChecksum.of(bytes) : nil
    try send(
      .deliver(.sample(length: length ?? bytes.count), overlay: overlay, verifiedChecksum: sum),
      request: Self.deliverRequest, descriptors: [part, cancel.read])
    keepCancel(cancel.write)
  }

  /// Waits for the next result; nil if the worker ended without one.
  func result(within seconds: Double = 20) throws -> Reported? {
    let message = try receive(within: seconds) { if case .result = $0 { true } else { false } }
    guard case .result(let deliveryID, let code, let verdict, let source)? = message else { return nil }
    return Reported(deliveryID: deliveryID, returnCode: code, verdict: verdict, source: source)
  }
}

/// One worker, one delivery: what `mode` of the hostile target leads to.
func deliver(
  mode: String, _ bytes: [UInt8] = Array("twelve bytes".utf8), limits: WorkerLimits = WorkerLimits()
) throws -> (result: Reported?, worker: WorkerUnderTest) {
  let worker = try WorkerUnderTest()
  try worker.start(FixtureTarget.compile("hostile"), mode: mode, limits: limits)
  try worker.deliver(bytes)
  return (try worker.result(), worker)
}
