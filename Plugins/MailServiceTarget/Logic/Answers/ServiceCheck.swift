// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayJSON
import TargetKit

/// Judges the answer to a question about the key, with which nothing is sent.
struct ServiceCheck {
  let judge: Judge

  func verdict(on answer: Answer, now: Int64) -> Verdict {
    let said = ServiceAnswer(answer, of: judge.service)
    switch (judge.service, answer.status) {
    case (.resend, 401) where said.code == "restricted_api_key":
      // Such a key may not even ask for domains, which is all that this answer says.
      return good(answer, "it may send and nothing else")
    case (.resend, 200), (.sendgrid, 200), (.postmark, 200): return known(answer)
    default: return judge.verdict(onCheck: answer, now: now)
    }
  }

  private func known(_ answer: Answer) -> Verdict {
    guard let node = ServiceAnswer.json(answer) else {
      return .retry(
        .receiver, status: Int32(answer.status),
        "\(judge.service.name) answered \(answer.status) with what isn't its JSON")
    }
    switch judge.service {
    case .resend: return good(answer, "it may do more than send; a key that may only send is enough")
    case .sendgrid:
      let scopes = node["scopes"]?.array?.compactMap(\.string) ?? []
      guard scopes.contains("mail.send") else {
        return .needsAttention(
          .credentials, status: Int32(answer.status),
          "SendGrid knows the key, and it may not send mail: give it the permission Mail Send")
      }
      return good(answer, "it may send mail")
    case .postmark:
      let server = node["Name"]?.string.map { PrintableLine.of($0, most: 200) } ?? "?"
      guard node["DeliveryType"]?.string != "Sandbox" else {
        return good(answer, "its server \(server) is a sandbox, which takes mails and delivers none")
      }
      return good(answer, "it belongs to the server \(server)")
    }
  }

  private func good(_ answer: Answer, _ words: String) -> Verdict {
    .delivered(status: Int32(answer.status), message: "\(judge.service.name) knows the key: \(words)")
  }
}
