// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol

@testable import RelayDelivery

extension WorkerFrame {
  /// The frame as a worker would send it.
  func encoded() throws -> [UInt8] {
    var writer = WireWriter()
    let type = message.encode(into: &writer)
    return try writer.frame(type: type, requestID: requestID)
  }

  /// One of each kind, with every field set to something.
  static var samples: [WorkerFrame] {
    let verdict = WireVerdict(
      code: 2, reason: 3, status: 429, retryAfterMilliseconds: .max, bytesSent: 77, flags: 1, message: "später, 請")
    var full = verdict
    full.receipt = "id-1"
    let messages: [WorkerMessage] = [
      .hello(version: 1), .loaded(abi: 0x1_0002, hasCheck: true, hasClose: false),
      .confined([.calls], descriptors: 2), .confined([], descriptors: 0),
      .loadFailed(.missingSymbol, "no x"),
      .manifest(Array("{}".utf8)), .described(returnCode: -1), .opened(returnCode: 0, verdict),
      .result(deliveryID: "0189-a", returnCode: 0, full, .whole), .log(level: 2, "a line"),
      .progress(done: 3, total: .max), .stateGet(.pipeline, key: "etag"),
      .statePut(.delivery, key: "offset", value: [0, 255, 7]), .stateDelete(.pipeline, key: "k"),
      .stateNext(.delivery, after: ""), .scratch(maximum: 1 << 40), .verify(checksum: 0x0102_0304_0506_0708),
    ]
    return messages.enumerated().map { WorkerFrame(requestID: UInt64($0.offset) &* 0x1_0000_0001, message: $0.element) }
  }
}

extension WorkerMessage {
  fileprivate func encode(into writer: inout WireWriter) -> UInt32 {
    switch self {
    case .hello(let version):
      writer.u32(version)
      return RELAY_FRAME_HELLO
    case .confined(let pieces, let descriptors):
      writer.u32(pieces.reduce(0) { $0 | $1.bit })
      writer.u32(UInt32(descriptors))
      return RELAY_FRAME_CONFINED
    case .loaded(let abi, let hasCheck, let hasClose):
      writer.u32(abi)
      writer.u32((hasCheck ? RELAY_TARGET_HAS_CHECK : 0) | (hasClose ? RELAY_TARGET_HAS_CLOSE : 0))
      return RELAY_FRAME_LOADED
    case .loadFailed(let failure, let text):
      writer.i32(failure.rawValue)
      writer.text(text)
      return RELAY_FRAME_LOAD_FAILED
    case .manifest(let json):
      writer.data(json)
      return RELAY_FRAME_MANIFEST
    case .described(let code):
      writer.i32(code)
      return RELAY_FRAME_DESCRIBED
    case .opened(let code, let verdict):
      writer.i32(code)
      writer.verdict(verdict)
      writer.text(verdict.message)
      return RELAY_FRAME_OPENED
    case .result(let deliveryID, let code, let verdict, let source):
      writer.text(deliveryID)
      writer.i32(code)
      writer.verdict(verdict)
      writer.text(verdict.message)
      writer.text(verdict.receipt)
      writer.u32(source.rawValue)
      return RELAY_FRAME_RESULT
    case .log(let level, let text):
      writer.i32(level)
      writer.text(text)
      return RELAY_FRAME_LOG
    case .progress(let done, let total):
      writer.u64(done)
      writer.u64(total)
      return RELAY_FRAME_PROGRESS
    case .stateGet(let scope, let key): return writer.state(RELAY_FRAME_STATE_GET, scope, key)
    case .statePut(let scope, let key, let value): return writer.state(RELAY_FRAME_STATE_PUT, scope, key, value)
    case .stateDelete(let scope, let key): return writer.state(RELAY_FRAME_STATE_DELETE, scope, key)
    case .stateNext(let scope, let after): return writer.state(RELAY_FRAME_STATE_NEXT, scope, after)
    case .scratch(let maximum):
      writer.u64(maximum)
      return RELAY_FRAME_SCRATCH
    case .verify(let checksum):
      writer.u64(checksum)
      return RELAY_FRAME_VERIFY
    }
  }
}

extension WireWriter {
  fileprivate mutating func verdict(_ verdict: WireVerdict) {
    i32(verdict.code)
    i32(verdict.reason)
    i32(verdict.status)
    u64(verdict.retryAfterMilliseconds)
    u64(verdict.bytesSent)
    u32(verdict.flags)
  }

  fileprivate mutating func state(_ type: UInt32, _ scope: StateScope, _ key: String, _ value: [UInt8] = []) -> UInt32 {
    i32(scope.rawValue)
    text(key)
    data(value)
    return type
  }
}
