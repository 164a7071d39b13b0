// SPDX-License-Identifier: Apache-2.0
public import TargetABI

/// The exported functions of a target, ready to be forwarded to from `@c` functions.
public enum TargetEntry<Implementation: Target> {
  private final class Instance {
    var target: Implementation
    init(_ target: Implementation) { self.target = target }
  }

  public static func abi() -> UInt32 {
    UInt32(RELAY_TARGET_ABI_MAJOR) << 16 | UInt32(RELAY_TARGET_ABI_MINOR)
  }

  public static func describe(_ host: UnsafePointer<relay_host>?) -> Int32 {
    HostTable(host)?.emitManifest(Implementation.manifest) ?? RELAY_FAILED
  }

  public static func open(
    _ host: UnsafePointer<relay_host>?, _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ verdict: UnsafeMutablePointer<relay_verdict>?
  ) -> Int32 {
    open(host, instance, verdict) { host throws(Verdict) in try Implementation(host: host) }
  }

  /// Opens a target that is made in another way, as tests do.
  package static func open(
    _ host: UnsafePointer<relay_host>?, _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ verdict: UnsafeMutablePointer<relay_verdict>?, make: (Host) throws(Verdict) -> Implementation
  ) -> Int32 {
    guard let table = HostTable(host), let instance else { return RELAY_FAILED }
    let host = Host(table)
    defer { host.end() }
    do throws(Verdict) {
      let opened = Instance(try make(host))
      instance.pointee = Unmanaged.passRetained(opened).toOpaque()
      return RELAY_OK
    } catch {
      // 1 says that it didn't open and that the verdict tells why.
      error.hand(to: table, verdict)
      return 1
    }
  }

  public static func deliver(
    _ host: UnsafePointer<relay_host>?, _ instance: UnsafeMutableRawPointer?,
    _ delivery: UnsafePointer<relay_delivery>?, _ verdict: UnsafeMutablePointer<relay_verdict>?
  ) -> Int32 {
    guard let table = HostTable(host), let instance, let delivery else { return RELAY_FAILED }
    let opened = Unmanaged<Instance>.fromOpaque(instance).takeUnretainedValue()
    return call(table, verdict) { host throws(Verdict) in
      try opened.target.deliver(Delivery(delivery, host: host), host: host)
    }
  }

  public static func close(_ instance: UnsafeMutableRawPointer?) {
    guard let instance else { return }
    Unmanaged<Instance>.fromOpaque(instance).release()
  }

  private static func call(
    _ table: HostTable, _ verdict: UnsafeMutablePointer<relay_verdict>?,
    _ body: (Host) throws(Verdict) -> Verdict
  ) -> Int32 {
    let host = Host(table)
    defer { host.end() }
    let result: Verdict
    do throws(Verdict) {
      result = try body(host)
    } catch {
      result = error
    }
    result.hand(to: table, verdict)
    return RELAY_OK
  }
}

extension TargetEntry where Implementation: CheckableTarget {
  public static func check(
    _ host: UnsafePointer<relay_host>?, _ instance: UnsafeMutableRawPointer?,
    _ verdict: UnsafeMutablePointer<relay_verdict>?
  ) -> Int32 {
    guard let table = HostTable(host), let instance else { return RELAY_FAILED }
    let opened = Unmanaged<Instance>.fromOpaque(instance).takeUnretainedValue()
    return call(table, verdict) { host throws(Verdict) in try opened.target.check(host: host) }
  }
}

extension Verdict {
  /// Writes as much of the verdict as the host has room for, and hands over its texts.
  fileprivate func hand(to table: HostTable, _ pointer: UnsafeMutablePointer<relay_verdict>?) {
    if !message.isEmpty { table.setMessage(message) }
    if let receipt { table.setReceipt(receipt) }
    guard let pointer else { return }
    let room = UnsafeMutableRawPointer(pointer)
    var value = relay_verdict()
    value.size = room.loadUnaligned(as: UInt32.self)
    value.code = outcome.rawValue
    value.reason = reason.rawValue
    value.status = status
    value.retry_after_ms = retryAfter.map { Self.milliseconds($0) } ?? 0
    value.bytes_sent = bytesSent
    value.flags = maybeDelivered ? RELAY_MAYBE_DELIVERED : 0
    withUnsafeBytes(of: value) { own in
      UnsafeMutableRawBufferPointer(start: room, count: min(Int(value.size), own.count))
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: own.prefix(Int(value.size))))
    }
  }

  private static func milliseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard let whole = UInt64(exactly: seconds), attoseconds >= 0 else { return 0 }
    let scaled = whole.multipliedReportingOverflow(by: 1000)
    guard !scaled.overflow else { return .max }
    let sum = scaled.partialValue.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000_000_000))
    return sum.overflow ? .max : sum.partialValue
  }
}

extension Delivery {
  fileprivate init(_ pointer: UnsafePointer<relay_delivery>, host: Host) {
    var value = relay_delivery()
    value.fd = -1
    value.cancel_fd = -1
    copySized(from: pointer, into: &value)
    fileName = value.file_name.string ?? ""
    mediaType = value.media_type.string ?? ""
    contentEncoding = value.content_encoding.string
    pipelineID = value.pipeline_id.string ?? ""
    pipelineName = value.pipeline_name.string ?? ""
    artifactID = value.artifact_id.string ?? ""
    deliveryID = value.delivery_id.string ?? ""
    messageID = value.message_id.string ?? ""
    length = value.length
    sha256 = withUnsafeBytes(of: value.sha256) { Array($0) }
    partIndex = value.part_index
    partCount = value.part_count
    attempt = value.attempt
    isTest = value.flags & RELAY_IS_TEST != 0
    created = value.created_unix_ms
    firstAttempt = value.first_attempt_unix_ms
    cancelDescriptor = value.cancel_fd
    attributes =
      value.attributes.map { start in
        UnsafeBufferPointer(start: start, count: Int(clamping: value.attribute_count))
          .map { ($0.name.string ?? "", $0.value.string ?? "") }
      } ?? []
    source = Source(host: host)
  }
}
