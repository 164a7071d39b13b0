// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// What an answer that is no success means: docs/targets/calendar-ics.md prints the same table.
struct StatusRule: Equatable {
  enum Action: Equatable {
    case retry, needsAttention
    /// This event alone is refused; the part's others go on.
    case refused
  }

  var action: Action
  var reason: Verdict.Reason
  /// What a person can do about it.
  var advice: String

  private init(_ action: Action, _ reason: Verdict.Reason, _ advice: String = "") {
    self.action = action
    self.reason = reason
    self.advice = advice
  }

  /// Conditions that speak of the event itself (RFC 4791, section 5.3.2.1), whatever the status.
  private static let ofContent: Set<String> = [
    "valid-calendar-data", "valid-calendar-object-resource", "supported-calendar-data", "max-resource-size",
    "min-date-time", "max-date-time", "max-instances", "max-attendees-per-instance",
  ]

  static func rule(for status: Int, _ error: DAVError) -> StatusRule {
    if status == 403 || status == 409, !error.conditions.isDisjoint(with: ofContent) {
      return StatusRule(.refused, .content, "the server does not take this event")
    }
    if error.conditions.contains("supported-calendar-component") {
      return StatusRule(.needsAttention, .settings, "the calendar takes no events; choose another")
    }
    if let rule = special[status] { return rule }
    switch status {
    case 300...399: return StatusRule(.needsAttention, .settings, "set \"url\" to the calendar's present address")
    case 400...499: return StatusRule(.refused, .content, "the server does not take this event")
    default: return StatusRule(.retry, .receiver)
    }
  }

  private static let special: [Int: StatusRule] = {
    let missing = StatusRule(
      .needsAttention, .notFound, "is the calendar at \"url\" still there? It is never created")
    let account = StatusRule(.needsAttention, .other, "the server has suspended or limited this account")
    let noCalDAV = StatusRule(.needsAttention, .settings, "is \"url\" really a CalDAV calendar?")
    return [
      401: StatusRule(
        .needsAttention, .credentials, "check \"username\" and \"password\"; many servers want an app password here"),
      402: account,
      403: StatusRule(.needsAttention, .credentials, "may this user write to the calendar?"),
      404: missing,
      405: noCalDAV,
      407: StatusRule(.needsAttention, .credentials, "a proxy wants a sign-in"),
      408: StatusRule(.retry, .timeout),
      409: missing,
      410: missing,
      413: StatusRule(.refused, .tooLarge, "shorten \"notes\", or raise the server's limit"),
      421: StatusRule(.retry, .receiver),
      423: StatusRule(.retry, .receiver, "the calendar is locked"),
      425: StatusRule(.retry, .receiver),
      426: StatusRule(.needsAttention, .settings, "the server wants https or another version of HTTP"),
      429: StatusRule(.retry, .throttled),
      451: account,
      501: noCalDAV,
      503: StatusRule(.retry, .throttled),
      505: noCalDAV,
      507: StatusRule(.retry, .receiverFull, "the server has no room"),
      511: StatusRule(.retry, .network, "the network wants a sign-in"),
    ]
  }()
}
