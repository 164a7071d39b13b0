// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// What is different from service to service, other than the form of a mail and the meaning of an answer.
enum Service: String, CaseIterable {
  case resend, sendgrid, postmark

  /// What people call it.
  var name: String {
    switch self {
    case .resend: "Resend"
    case .sendgrid: "SendGrid"
    case .postmark: "Postmark"
    }
  }

  /// Where it listens unless "endpoint" says otherwise.
  var endpoint: String {
    switch self {
    case .resend: "https://api.resend.com"
    case .sendgrid: "https://api.sendgrid.com"
    case .postmark: "https://api.postmarkapp.com"
    }
  }

  var sendPath: String {
    switch self {
    case .resend: "/emails"
    case .sendgrid: "/v3/mail/send"
    case .postmark: "/email"
    }
  }

  /// Asks about the key and sends nothing.
  var checkPath: String {
    switch self {
    case .resend: "/domains"
    case .sendgrid: "/v3/scopes"
    case .postmark: "/server"
    }
  }

  /// Largest file that is sent, in bytes as it lies on disk.
  var largestFile: UInt64 {
    switch self {
    case .resend: 25_000_000
    case .sendgrid: 22_000_000
    case .postmark: 7_000_000
    }
  }

  /// What the service takes for one mail with everything in it, in bytes.
  var largestMail: UInt64 {
    switch self {
    case .resend: 40_000_000
    case .sendgrid: 30_000_000
    case .postmark: 10_000_000
    }
  }

  /// Whether a second mail under the same key is recognised, so that sending again does no harm.
  var recognisesRepeats: Bool { self == .resend }

  func authorize(_ headers: inout HeaderFields, _ key: String) {
    switch self {
    case .resend, .sendgrid: headers.setCleaned("Authorization", "Bearer \(key)")
    case .postmark: headers.setCleaned("X-Postmark-Server-Token", key)
    }
  }
}
