// SPDX-License-Identifier: Apache-2.0

/// What is to be delivered.
public struct Delivery {
  /// As the receiver should see it; no slash, no control characters.
  public var fileName: String
  public var mediaType: String
  /// "gzip" where the bytes are stored so.
  public var contentEncoding: String?
  public var pipelineID: String
  public var pipelineName: String
  public var artifactID: String
  /// The same over all attempts: the idempotency key.
  public var deliveryID: String
  /// RFC 5322 form with angle brackets; the same over all attempts.
  public var messageID: String
  /// Bytes to send, exactly.
  public var length: UInt64
  /// Of these bytes.
  public var sha256: [UInt8]
  /// From 1.
  public var partIndex: UInt32
  public var partCount: UInt32
  /// From 1.
  public var attempt: UInt32
  /// A person pressed Test; mark it for the receiver where the protocol can.
  public var isTest: Bool
  /// Milliseconds since 1970; Date and boundary derive from it.
  public var created: Int64
  public var firstAttempt: Int64
  /// Becomes readable when the host wants the call to end; -1 when the host has none.
  public var cancelDescriptor: Int32
  /// Rendered settings, days covered, aggregation, period, tags.
  public var attributes: [(name: String, value: String)]
  /// The bytes.
  public var source: Source

  /// The first attribute of that name.
  public func attribute(_ name: String) -> String? {
    attributes.first { $0.name == name }?.value
  }
}

/// The bytes of a delivery, in order.
///
/// Reading counts as progress.
///
/// The last chunk comes only once the host has found the whole to be what the manifest says, so a receiver that is told
/// the length never takes damaged bytes as complete.
public struct Source {
  let host: Host

  /// Fills the front of `buffer`; 0 is the end.
  ///
  /// Throws the verdict to end with when the source is damaged or the host wants the call to end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(Verdict) -> Int {
    let count = host.withTable { $0.read(buffer) } ?? -1
    if count >= 0, count <= Int64(buffer.count) { return Int(count) }
    throw host.shouldStop ? .cancelled : .retry(.source, "the bytes to deliver do not match their length or hash")
  }

  /// The next chunk of at most `size` bytes; nil at the end.
  public func next(upTo size: Int = 65_536) throws(Verdict) -> [UInt8]? {
    var failure: Verdict?
    let chunk = [UInt8](unsafeUninitializedCapacity: max(1, size)) { buffer, count in
      do throws(Verdict) {
        count = try read(into: UnsafeMutableRawBufferPointer(buffer))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return chunk.isEmpty ? nil : chunk
  }

  /// Starts again from the first byte.
  public func rewind() throws(Verdict) {
    guard host.withTable({ $0.rewind() }) == true else {
      throw .retry(.source, "the host could not read the bytes to deliver from their start again")
    }
  }
}
