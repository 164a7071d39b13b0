// SPDX-License-Identifier: Apache-2.0
import CCurl
import TargetKit

/// What came of one exchange, before anyone judges it.
package struct Answer {
  /// libcurl's result.
  package var code: CURLcode
  /// libcurl's own words for it.
  package var words: String
  /// The final status; 0 when none came.
  package var status: Int
  /// What a proxy answered to CONNECT; 0 when none was asked.
  package var proxyStatus: Int
  /// Bytes of the body that left.
  package var sent: UInt64
  /// Whether the whole request left, so that the receiver may have acted on it.
  package var allSent: Bool
  /// Whether it left before, on a connection that died.
  package var sentBefore = false
  package var head: AnswerHead
  package var body: [UInt8]
  /// The host wanted the call to end.
  package var stopped: Bool
  /// The verdict of a source that could not be read to its end.
  package var sourceFailure: Verdict?

  package init(
    code: CURLcode, words: String = "", status: Int = 0, proxyStatus: Int = 0, sent: UInt64 = 0, allSent: Bool = false,
    sentBefore: Bool = false, head: AnswerHead = AnswerHead(), body: [UInt8] = [], stopped: Bool = false,
    sourceFailure: Verdict? = nil
  ) {
    self.code = code
    self.words = words
    self.status = status
    self.proxyStatus = proxyStatus
    self.sent = sent
    self.allSent = allSent
    self.sentBefore = sentBefore
    self.head = head
    self.body = body
    self.stopped = stopped
    self.sourceFailure = sourceFailure
  }
}
