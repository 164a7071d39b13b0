// SPDX-License-Identifier: Apache-2.0
import CCurl
import TargetKit

/// Verdicts on exchanges that brought no answer.
package enum TransportFailure {
  /// `address` is the setting that holds the address.
  package static func verdict(on answer: Answer, address: String = "url") -> Verdict {
    if answer.proxyStatus >= 400 { return proxy(answer, address) }
    switch answer.code {
    case CURLE_PEER_FAILED_VERIFICATION:
      return .needsAttention(
        .tls, "the receiver's certificate is not trusted (\(answer.words)); check \"\(address)\" and \"tls/ca\"")
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_INVALIDCERTSTATUS:
      return .needsAttention(.tls, "a certificate file cannot be used (\(answer.words)); check \"tls\"")
    case CURLE_URL_MALFORMAT: return TransportFault.addressUnusable(address).verdict
    case CURLE_SSL_CONNECT_ERROR: return retry(.tls, answer)
    case CURLE_OPERATION_TIMEDOUT: return retry(.timeout, answer)
    case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: return retry(.other, answer)
    case CURLE_OK, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: return retry(.receiver, answer)
    default: return retry(.network, answer)
    }
  }

  private static func retry(_ reason: Verdict.Reason, _ answer: Answer) -> Verdict {
    .retry(reason, Words.noAnswer(answer), maybeDelivered: answer.allSent || answer.sentBefore)
  }

  private static func proxy(_ answer: Answer, _ address: String) -> Verdict {
    let status = Int32(answer.proxyStatus)
    let said = "the proxy answered \(status)"
    switch answer.proxyStatus {
    case 407: return .needsAttention(.credentials, status: status, "\(said); check the user and password in \"proxy\"")
    case 500...599, 408, 429: return .retry(.network, status: status, said)
    default: return .needsAttention(.settings, status: status, "\(said); check \"proxy\" and \"\(address)\"")
    }
  }
}
