// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol
import TargetABI

/// Why a target couldn't be loaded.
package enum LoadFailure: Int32, Sendable, Equatable {
  case cannotLoad = 1
  case missingSymbol = 2
  case abiMismatch = 3
  case badPath = 4
  case unconfined = 5
  /// May pass by itself.
  case notNow = 6
}

/// Which of a pipeline's two tables a saved value is in.
package enum StateScope: Int32, Sendable, Equatable {
  case pipeline = 0
  case delivery = 1
}

/// What the target did with a part's bytes through `relay_host.read`.
package enum SourceUse: UInt32, Sendable, Equatable {
  case untouched = 0
  case partly = 1
  case whole = 2
  case failed = 3
}

/// A frame from a worker.
///
/// It may have been forged by the target: nothing in it is to be believed beyond its form.
package struct WorkerFrame: Sendable, Equatable {
  /// The host's request that this answers; for state, scratch and verify the worker's own, to be repeated in the answer.
  package var requestID: UInt64
  package var message: WorkerMessage

  package init(requestID: UInt64, message: WorkerMessage) {
    self.requestID = requestID
    self.message = message
  }
}

/// What a worker says to the host.
package enum WorkerMessage: Sendable, Equatable {
  case hello(version: UInt32)
  /// What is in force before the target is loaded. So many descriptors travel along: where its calls can be
  /// heard of, and its memory.
  case confined([KernelConfinement.Piece], descriptors: Int)
  case loaded(abi: UInt32, hasCheck: Bool, hasClose: Bool)
  case loadFailed(LoadFailure, String)
  /// JSON, at most 256 KiB, not looked at.
  case manifest([UInt8])
  case described(returnCode: Int32)
  /// Open if `returnCode` and the verdict's code are 0.
  case opened(returnCode: Int32, WireVerdict)
  /// `deliveryID` is empty for a check.
  case result(deliveryID: String, returnCode: Int32, WireVerdict, SourceUse)
  /// `level` is `RELAY_LOG_DEBUG` and so on; any number is possible.
  case log(level: Int32, String)
  case progress(done: UInt64, total: UInt64)
  case stateGet(StateScope, key: String)
  case statePut(StateScope, key: String, value: [UInt8])
  case stateDelete(StateScope, key: String)
  case stateNext(StateScope, after: String)
  /// 0 bytes: as the host likes.
  case scratch(maximum: UInt64)
  case verify(checksum: UInt64)
}

extension WireReader {
  /// The whole payload as a message of this reader's type.
  mutating func message() throws(WireError) -> WorkerMessage {
    let message = try body()
    try finish()
    return message
  }

  private mutating func body() throws(WireError) -> WorkerMessage {
    switch UInt32(type) {
    case RELAY_FRAME_HELLO: return .hello(version: try u32())
    case RELAY_FRAME_LOADED:
      let abi = try u32()
      let bits = try u32()
      let known = RELAY_TARGET_HAS_CHECK | RELAY_TARGET_HAS_CLOSE
      guard bits & ~known == 0 else { throw .badField(type: type, value: Int64(bits)) }
      return .loaded(
        abi: abi, hasCheck: bits & RELAY_TARGET_HAS_CHECK != 0, hasClose: bits & RELAY_TARGET_HAS_CLOSE != 0)
    case RELAY_FRAME_CONFINED:
      let pieces = try u32()
      guard pieces & ~UInt32(RELAY_CONFINE_ALL) == 0 else { throw .badField(type: type, value: Int64(pieces)) }
      let listens = try u32()
      guard listens <= 2 else { throw .badField(type: type, value: Int64(listens)) }
      return .confined(KernelConfinement.Piece.allCases.filter { pieces & $0.bit != 0 }, descriptors: Int(listens))
    case RELAY_FRAME_LOAD_FAILED: return .loadFailed(try member(try i32()), try text(limit: Self.messageLimit))
    case RELAY_FRAME_MANIFEST: return .manifest(try data(limit: Int(RELAY_MAXIMUM_MANIFEST)))
    case RELAY_FRAME_DESCRIBED: return .described(returnCode: try i32())
    case RELAY_FRAME_OPENED:
      let code = try i32()
      var verdict = try verdict()
      verdict.message = try text(limit: Self.messageLimit)
      return .opened(returnCode: code, verdict)
    case RELAY_FRAME_RESULT: return try result()
    case RELAY_FRAME_LOG: return .log(level: try i32(), try text(limit: Self.messageLimit))
    case RELAY_FRAME_PROGRESS: return .progress(done: try u64(), total: try u64())
    case RELAY_FRAME_STATE_GET, RELAY_FRAME_STATE_PUT, RELAY_FRAME_STATE_DELETE, RELAY_FRAME_STATE_NEXT:
      return try state()
    case RELAY_FRAME_SCRATCH: return .scratch(maximum: try u64())
    case RELAY_FRAME_VERIFY: return .verify(checksum: try u64())
    default: throw .unknownType(type)
    }
  }

  private mutating func result() throws(WireError) -> WorkerMessage {
    let deliveryID = try text(limit: 255)
    let code = try i32()
    var verdict = try verdict()
    verdict.message = try text(limit: Self.messageLimit)
    verdict.receipt = try text(limit: Int(RELAY_MAXIMUM_RECEIPT))
    let use = try u32()
    guard let source = SourceUse(rawValue: use) else { throw .badField(type: type, value: Int64(use)) }
    return .result(deliveryID: deliveryID, returnCode: code, verdict, source)
  }

  private mutating func verdict() throws(WireError) -> WireVerdict {
    WireVerdict(
      code: try i32(), reason: try i32(), status: try i32(), retryAfterMilliseconds: try u64(), bytesSent: try u64(),
      flags: try u32())
  }

  private mutating func state() throws(WireError) -> WorkerMessage {
    let scope: StateScope = try member(try i32())
    let key = try text(limit: Int(RELAY_MAXIMUM_STATE_KEY))
    let value = try data(limit: Int(RELAY_MAXIMUM_STATE_VALUE))
    switch UInt32(type) {
    case RELAY_FRAME_STATE_GET: return .stateGet(scope, key: key)
    case RELAY_FRAME_STATE_PUT: return .statePut(scope, key: key, value: value)
    case RELAY_FRAME_STATE_DELETE: return .stateDelete(scope, key: key)
    default: return .stateNext(scope, after: key)
    }
  }

  private func member<Value: RawRepresentable<Int32>>(_ raw: Int32) throws(WireError) -> Value {
    guard let value = Value(rawValue: raw) else { throw .badField(type: type, value: Int64(raw)) }
    return value
  }

  private static var messageLimit: Int { Int(RELAY_MAXIMUM_MESSAGE) }
}
