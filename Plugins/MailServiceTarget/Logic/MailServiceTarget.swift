// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// Delivers each artifact as one mail through the API of a mail service.
///
/// A mail is the same bytes at each attempt. Where the service recognises a repeat it is told what one is.
package struct MailServiceTarget: CheckableTarget {
  package static let manifest = MailServiceManifest.json

  private let settings: MailServiceSettings
  private let connection: Connection
  private let transport: TransportOptions
  private let judge: Judge

  package init(host: Host) throws(Verdict) {
    settings = try MailServiceSettings(host: host)
    connection = try Connection()
    judge = Judge(service: settings.service)
    var transport = TransportOptions()
    transport.mayRepeat = settings.service.recognisesRepeats
    self.transport = transport
  }

  package mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
    try deliver(delivery, host: host, now: Clock.now())
  }

  /// `now` is in seconds since 1970.
  mutating func deliver(_ delivery: Delivery, host: Host, now: Int64) throws(Verdict) -> Verdict {
    var request = try request(delivery, host: host)
    let window = settings.service.recognisesRepeats ? try RepeatWindow(host, now: now) : nil
    var answer = try connection.exchange(request, options: transport, host: host)
    if answer.status == 417, answer.sent == 0 {
      // Something on the way takes no "Expect: 100-continue", which large bodies begin with.
      try delivery.source.rewind()
      request.asksFirst = false
      answer = try connection.exchange(request, options: transport, host: host)
    }
    let verdict = judge.verdict(on: answer, attempt: delivery.attempt, now: Clock.now())
    if judge.cannotHaveTaken(answer) { window?.close(host) }
    return RefusalStreak.count(verdict, advice: "check \"from\", \"to\", \"subject\" and \"text\"", host: host)
  }

  package mutating func check(host: Host) throws(Verdict) -> Verdict {
    var request = Request(
      url: settings.endpoint + settings.service.checkPath, method: "GET", headers: try headers(host), body: nil)
    request.keeps = ServiceAnswer.longest
    let answer = try connection.exchange(request, options: transport, host: host)
    return ServiceCheck(judge: judge).verdict(on: answer, now: Clock.now())
  }

  private func request(_ delivery: Delivery, host: Host) throws(Verdict) -> Request {
    let service = settings.service
    let letter = try Letter(settings, delivery, host: host)
    guard delivery.length <= service.largestFile else {
      let name = Attachment.name(of: delivery)
      throw MailServiceFault.fileTooLarge(service, name: name, bytes: delivery.length).verdict
    }
    if service == .resend, let ending = letter.attachment?.ending, ResendEndings.notSent.contains(ending) {
      throw MailServiceFault.endingNotSent(service, ending).verdict
    }
    // An empty file isn't attached; that it really is empty its source must say.
    if letter.attachment == nil, try delivery.source.next() != nil {
      throw .retry(.source, "the bytes to deliver are not as many as announced")
    }
    let body = MailForm(letter, for: service).body(delivery)
    guard body.length <= service.largestMail else {
      throw MailServiceFault.mailTooLarge(service, bytes: body.length).verdict
    }
    var headers = try headers(host)
    headers.setCleaned("Content-Type", body.contentType)
    if service.recognisesRepeats { headers.setCleaned("Idempotency-Key", delivery.deliveryID) }
    var request = Request(
      url: settings.endpoint + service.sendPath, method: "POST", headers: headers, body: body)
    request.keeps = ServiceAnswer.longest
    return request
  }

  private func headers(_ host: Host) throws(Verdict) -> HeaderFields {
    var headers = HeaderFields()
    headers.setCleaned("User-Agent", "relay-host-mail-service/\(MailServiceManifest.version)")
    headers.setCleaned("Accept", "application/json")
    settings.service.authorize(&headers, try MailServiceSettings.key(host))
    return headers
  }
}
