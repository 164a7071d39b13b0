// SPDX-License-Identifier: Apache-2.0
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `A verdict without a message` {
  @Test(arguments: [RELAY_RETRY, RELAY_REFUSED, RELAY_NEEDS_ATTENTION])
  func `says that no reason was given, and what the numbers tell`(code: Int32) {
    func message(_ reason: Int32 = 0, _ status: Int32 = 0, _ said: String = "") -> String {
      DeliveryEngine.verdict(
        of: WireVerdict(code: code, reason: reason, status: status, message: said), returnCode: 0
      ).message
    }
    #expect(message() == "The target gave no reason.")
    #expect(message(0, 503) == "The target gave no reason (status 503).")
    #expect(
      message(RELAY_REASON_THROTTLED, 429) == "The target gave no reason (the receiver asked for less, status 429).")
    #expect(message(99) == "The target gave no reason.")
    #expect(message(RELAY_REASON_NETWORK, 1, "its own words") == "its own words")
    for reason in RELAY_REASON_NETWORK...RELAY_REASON_SOURCE { #expect(message(reason).contains("(")) }
  }

  @Test func `needs none when it was delivered, and ends in no blank when it is nonsense`() {
    #expect(DeliveryEngine.verdict(of: WireVerdict(code: RELAY_DELIVERED), returnCode: 0).message.isEmpty)
    let failed = DeliveryEngine.verdict(of: WireVerdict(code: RELAY_RETRY), returnCode: 3)
    #expect(failed.message == "The target's function returned 3.")
  }
}
