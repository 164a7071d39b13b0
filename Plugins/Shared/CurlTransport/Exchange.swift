// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import TargetKit

/// What libcurl's callbacks work on during one exchange.
final class Exchange {
  /// How much of an answer is read before the connection is given up, unless more of it is to be kept.
  static let largestAnswer = 1 << 20
  /// Seconds that an answer's body may take once its head is there: the head says all that matters.
  static let patience: Int64 = 5

  let host: Host
  private(set) var body: RequestBody?
  var head = AnswerHead() {
    didSet { if head.isComplete, headTime == nil { headTime = Clock.monotonic() } }
  }
  private(set) var captured: [UInt8] = []
  private(set) var stopped = false
  private(set) var sourceFailure: Verdict?
  /// All was handed over once, before libcurl began again on a new connection.
  private(set) var wasComplete = false
  private let keeps: Int
  private var received = 0
  private var moved: (down: curl_off_t, up: curl_off_t) = (0, 0)
  private var headTime: Int64?

  init(host: Host, request: Request) {
    self.host = host
    body = request.body
    keeps = request.keeps
  }

  static func from(_ context: UnsafeMutableRawPointer?) -> Exchange? {
    context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
  }

  func read(_ bytes: UnsafeMutablePointer<CChar>?, _ room: Int) -> Int {
    do throws(Verdict) {
      return try body?.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: room)) ?? 0
    } catch {
      if error.outcome == .cancelled { stopped = true } else { sourceFailure = error }
      return Int(CURL_READFUNC_ABORT)
    }
  }

  /// libcurl goes back to the start when it sends a request again.
  func seek(_ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
    if let body, body.offset == body.length { wasComplete = true }
    do throws(Verdict) {
      try body?.rewind()
      return CURL_SEEKFUNC_OK
    } catch {
      sourceFailure = error
      return CURL_SEEKFUNC_FAIL
    }
  }

  func receive(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    let piece = UnsafeRawBufferPointer(start: bytes, count: count)
    captured.append(contentsOf: piece.prefix(keeps - captured.count))
    received += count
    return received > max(Self.largestAnswer, keeps) ? 0 : count
  }

  /// Called about once a second and whenever bytes moved; not 0 ends the exchange.
  func moved(down: curl_off_t, up: curl_off_t, of total: curl_off_t) -> Int32 {
    if (down, up) != moved {
      moved = (down, up)
      host.progress(UInt64(clamping: up), of: body?.length ?? UInt64(clamping: total))
    }
    if host.shouldStop {
      stopped = true
      return 1
    }
    if let headTime, Clock.monotonic() - headTime > Self.patience { return 1 }
    return 0
  }
}
