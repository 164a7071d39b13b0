// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// How connections are made, other than what one request says.
package struct TransportOptions {
  /// "1.1", "2" or "auto".
  package var httpVersion = "1.1"
  /// nil goes directly; the environment is never asked.
  package var proxy: String?
  package var tls = TLSFiles()
  /// Whether sending the same request again by itself does no harm: only then is a connection used again, since libcurl repeats a
  /// request on its own when a kept connection turns out dead.
  package var mayRepeat = false

  package init() {}
}

/// The PEM files of a target's `tls` setting.
package struct TLSFiles {
  /// Replaces the system's authorities.
  package var ca: String?
  package var certificate: String?
  package var key: String?

  package init() {}

  package init(host: Host) throws(Verdict) {
    ca = try host.text("tls/ca")
    certificate = try host.text("tls/certificate")
    key = try host.text("tls/key")
  }
}
