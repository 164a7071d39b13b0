// SPDX-License-Identifier: Apache-2.0
import CMosquitto

/// Why there is no TLS.
enum TLSTrouble: Equatable {
  /// The chain does not lead to an authority that is trusted, has expired and the like; OpenSSL's words.
  case untrusted(String)
  case otherHost
  /// The broker turned our certificate down, or wants one.
  case ours(String)
  /// The files of the settings do not go together.
  case files(String)
  /// The handshake ended without a reason that concerns certificates.
  case brokenOff(String)

  /// What the library says only in its complaints.
  ///
  /// - Parameter end: how the connection ended, for want of other words.
  static func of(_ told: Told, end: String = "") -> TLSTrouble {
    switch told.verification {
    case Int(X509_V_OK): break
    case Int(X509_V_ERR_HOSTNAME_MISMATCH), Int(X509_V_ERR_IP_ADDRESS_MISMATCH): return .otherHost
    default: return .untrusted(String(cString: X509_verify_cert_error_string(told.verification)))
    }
    let words = reasons(told).joined(separator: "; ")
    if let trouble = saidByBroker(told) { return trouble }
    if told.complaints.contains(where: { $0.contains("Unable to load") || $0.contains("inconsistent") }) {
      return .files(words)
    }
    return .brokenOff(words.isEmpty ? end : words)
  }

  /// The broker's alert about our certificate; with TLS 1.3 it comes after the handshake.
  static func saidByBroker(_ told: Told) -> TLSTrouble? {
    let reasons = reasons(told)
    let alerts = [
      "certificate required", "bad certificate", "unknown ca", "certificate unknown", "certificate expired",
      "certificate revoked", "handshake failure",
    ]
    let ours = reasons.first { reason in reason.contains("alert") && alerts.contains { reason.contains($0) } }
    return ours.map { .ours($0) }
  }

  /// "error:0A000086:SSL routines::certificate verify failed" without what only programmers read.
  private static func reasons(_ told: Told) -> [String] {
    told.complaints.map { line in
      guard line.hasPrefix("OpenSSL Error"), let start = line.firstRange(of: "::")?.upperBound else { return line }
      return String(line[start...])
    }
  }
}
