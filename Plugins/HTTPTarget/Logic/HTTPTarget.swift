// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// Delivers each part as one HTTP request.
///
/// Redirects are never followed, and nothing is sent twice unless the receiver can tell.
package struct HTTPTarget: CheckableTarget {
  package static let manifest = HTTPManifest.json

  let settings: HTTPSettings
  private let connection: Connection
  /// A templated address is not there yet when the target opens.
  private let addressIsTemplate: Bool
  private var judge: Judge

  package init(host: Host) throws(Verdict) {
    settings = try HTTPSettings(host: host)
    let url = try host.textOrSecret("url")
    if let url { try Address.check(url) }
    addressIsTemplate = url == nil
    connection = try Connection()
    judge = Judge(
      successStatuses: settings.successStatuses, conflictIsSuccess: settings.conflictIsSuccess,
      addressIsTemplate: addressIsTemplate)
  }

  package mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
    var request = try request(delivery, host: host)
    try sign(&request, delivery, now: Clock.now())
    var answer = try connection.exchange(request, options: settings.transport, host: host)
    if answer.status == 417, answer.sent == 0 {
      // The receiver takes no "Expect: 100-continue", which large bodies begin with.
      try delivery.source.rewind()
      request.asksFirst = false
      answer = try connection.exchange(request, options: settings.transport, host: host)
    }
    let verdict = judge.verdict(on: answer, attempt: delivery.attempt, now: Clock.now())
    return RefusalStreak.count(verdict, advice: "check address, method and template", host: host)
  }

  package mutating func check(host: Host) throws(Verdict) -> Verdict {
    let url: String
    if let plain = try host.textOrSecret("url") {
      url = plain
    } else if let json = try host.settingsJSON(), let origin = Address.origin(ofTemplateIn: json) {
      url = origin
    } else {
      return .delivered(message: "the address comes from a template, so nothing was asked")
    }
    try Address.check(url)
    var headers = HeaderFields()
    headers.setCleaned("User-Agent", "relay-host-http/\(HTTPManifest.version)")
    try addUserHeaders(to: &headers, host: host)
    let request = Request(url: url, method: "HEAD", headers: headers, body: nil)
    let answer = try connection.exchange(request, options: settings.transport, host: host)
    return judge.reachable(answer, now: Clock.now())
  }
}
