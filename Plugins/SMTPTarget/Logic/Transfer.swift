// SPDX-License-Identifier: Apache-2.0
import CCurl
import TargetKit

/// What libcurl's callbacks work on during one conversation.
final class Transfer {
  let host: Host
  let body: MailBody?
  private(set) var conversation: Conversation
  private(set) var stopped = false
  private(set) var sourceFailure: Verdict?
  private var moved: curl_off_t = 0

  init(host: Host, conversation: Conversation, body: MailBody?) {
    self.host = host
    self.conversation = conversation
    self.body = body
  }

  static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Hands out the mail; a number that libcurl can't take for bytes ends the transfer before the dot.
  func read(_ bytes: UnsafeMutablePointer<CChar>?, _ room: Int) -> Int {
    guard let body, conversation.mayMail else {
      conversation.refuseMail()
      return Int(CURL_READFUNC_ABORT)
    }
    do throws(Verdict) {
      return try body.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: room))
    } catch {
      if error.outcome == .cancelled { stopped = true } else { sourceFailure = error }
      return Int(CURL_READFUNC_ABORT)
    }
  }

  func sent(_ line: UnsafeRawBufferPointer) { conversation.sent(line) }

  /// Not `count` ends the conversation before anything else is sent.
  func received(_ line: UnsafeRawBufferPointer) -> Int {
    // An answer is as much progress as bytes that leave.
    tellProgress()
    return conversation.received(line) ? line.count : 0
  }

  /// Called about once a second and whenever bytes moved; not 0 ends the conversation.
  func moved(up: curl_off_t) -> Int32 {
    if up != moved {
      moved = up
      tellProgress()
    }
    if host.shouldStop {
      stopped = true
      return 1
    }
    return 0
  }

  private func tellProgress() { host.progress(UInt64(clamping: moved), of: body?.length ?? 0) }
}
