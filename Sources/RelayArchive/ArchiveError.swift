// SPDX-License-Identifier: Apache-2.0
import RelaySystem

package enum ArchiveError: Error, Equatable, Sendable {
  /// The source or the destination failed.
  case system(SystemError)
  /// OpenSSL has no SHA-256 for us: its configuration forbids it, or there is no memory.
  case hashUnavailable
  /// zlib refused.
  case library(String)

  package var message: String {
    switch self {
    case .system(let error): error.message
    case .hashUnavailable: "OpenSSL offers no SHA-256; check its configuration (openssl.cnf)"
    case .library(let text): "zlib: \(text)"
    }
  }
}
