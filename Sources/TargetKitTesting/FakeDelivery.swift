// SPDX-License-Identifier: Apache-2.0
import TargetABI
public import TargetKit

/// What a fake host asks a target to deliver.
public struct FakeDelivery {
  public var source: FakeSource
  public var sha256 = [UInt8](repeating: 0, count: 32)
  public var fileName = "steps.json"
  public var mediaType = "application/json"
  public var contentEncoding: String?
  public var pipelineID = "steps"
  public var pipelineName = "Steps"
  public var artifactID = "0193a6d2-4f6e-7c11-8a5b-0f3e5d7c9b21"
  public var deliveryID = "6a1f3d0e-52c7-4b58-9d43-0e2b8f7a6c15"
  public var messageID = "<0193a6d2-4f6e-7c11-8a5b-0f3e5d7c9b21@example.org>"
  public var attempt: UInt32 = 1
  public var isTest = false
  public var created: Int64 = 1_796_036_400_000
  public var attributes: [(name: String, value: String)] = []

  public init(_ bytes: [UInt8]) { source = FakeSource(bytes: bytes) }
  public init(_ text: String) { source = FakeSource(bytes: Array(text.utf8)) }
  public init(_ source: FakeSource) { self.source = source }
}

extension FakeHost {
  /// An open target, to be delivered with several times over one worker's life.
  public final class Session<Implementation: Target> {
    let host: FakeHost
    var instance: UnsafeMutableRawPointer?

    init(_ host: FakeHost, _ instance: UnsafeMutableRawPointer) {
      self.host = host
      self.instance = instance
    }

    deinit { TargetEntry<Implementation>.close(instance) }

    public func deliver(_ delivery: FakeDelivery) -> Verdict {
      host.source = delivery.source
      host.offset = 0
      return host.verdict { table, verdict in
        host.withDelivery(delivery) { TargetEntry<Implementation>.deliver(table, instance, $0, verdict) }
      }
    }
  }

  /// Opens a target; throws the verdict with which it declined.
  public func open<Implementation: Target>(_ target: Implementation.Type) throws(Verdict) -> Session<Implementation> {
    var instance: UnsafeMutableRawPointer?
    let verdict = verdict { TargetEntry<Implementation>.open($0, &instance, $1) }
    guard let instance else { throw verdict }
    return Session(self, instance)
  }

  /// Opens a target that is made in another way than by its `init(host:)`, with doubles inside, say.
  public func open<Implementation: Target>(
    _ make: (Host) throws(Verdict) -> Implementation
  ) throws(Verdict) -> Session<Implementation> {
    var instance: UnsafeMutableRawPointer?
    let verdict = verdict { TargetEntry<Implementation>.open($0, &instance, $1, make: make) }
    guard let instance else { throw verdict }
    return Session(self, instance)
  }

  /// Opens a target and delivers once; a target that declines to open gives that verdict.
  public func deliver<Implementation: Target>(_ target: Implementation.Type, _ delivery: FakeDelivery) -> Verdict {
    do throws(Verdict) {
      return try open(target).deliver(delivery)
    } catch {
      return error
    }
  }

  /// The manifest that a target hands over.
  public func describe<Implementation: Target>(_ target: Implementation.Type) -> String? {
    var table = makeTable()
    return TargetEntry<Implementation>.describe(&table) == RELAY_OK ? manifest : nil
  }

  fileprivate func verdict(
    _ body: (UnsafePointer<relay_host>, UnsafeMutablePointer<relay_verdict>) -> Int32
  ) -> Verdict {
    forgetTexts()
    var table = makeTable()
    var verdict = relay_verdict()
    verdict.size = UInt32(MemoryLayout<relay_verdict>.size)
    let code = body(&table, &verdict)
    guard let outcome = Verdict.Outcome(rawValue: verdict.code) else {
      return .retry(.other, "the target gave no verdict (code \(verdict.code), returned \(code))")
    }
    return Verdict(
      outcome, reason: Verdict.Reason(rawValue: verdict.reason) ?? .other, status: verdict.status, message: message,
      receipt: receipt,
      retryAfter: verdict.retry_after_ms == 0 ? nil : .milliseconds(Int64(clamping: verdict.retry_after_ms)),
      maybeDelivered: verdict.flags & RELAY_MAYBE_DELIVERED != 0, bytesSent: verdict.bytes_sent)
  }

  fileprivate func withDelivery(_ fake: FakeDelivery, _ body: (UnsafePointer<relay_delivery>) -> Int32) -> Int32 {
    var delivery = relay_delivery()
    delivery.size = UInt32(MemoryLayout<relay_delivery>.size)
    delivery.fd = -1
    delivery.cancel_fd = -1
    delivery.length = fake.source.length
    withUnsafeMutableBytes(of: &delivery.sha256) { $0.copyBytes(from: fake.sha256.prefix(32)) }
    delivery.file_name = lend(fake.fileName)
    delivery.media_type = lend(fake.mediaType)
    if let encoding = fake.contentEncoding { delivery.content_encoding = lend(encoding) }
    delivery.pipeline_id = lend(fake.pipelineID)
    delivery.pipeline_name = lend(fake.pipelineName)
    delivery.artifact_id = lend(fake.artifactID)
    delivery.delivery_id = lend(fake.deliveryID)
    delivery.message_id = lend(fake.messageID)
    delivery.part_index = 1
    delivery.part_count = 1
    delivery.attempt = fake.attempt
    delivery.flags = fake.isTest ? RELAY_IS_TEST : 0
    delivery.created_unix_ms = fake.created
    delivery.first_attempt_unix_ms = fake.created
    let pairs = fake.attributes.map { relay_pair(name: lend($0.name), value: lend($0.value)) }
    return pairs.withUnsafeBufferPointer { buffer in
      delivery.attributes = buffer.baseAddress
      delivery.attribute_count = UInt64(buffer.count)
      return body(&delivery)
    }
  }
}

extension FakeHost.Session where Implementation: CheckableTarget {
  public func check() -> Verdict {
    host.verdict { TargetEntry<Implementation>.check($0, instance, $1) }
  }
}
