// SPDX-License-Identifier: Apache-2.0
import RelaySystem

package enum ArchiveError: Error, Equatable, Sendable {
  /// The source or the destination failed.
  case system(SystemError)
  /// OpenSSL has no SHA-256 for us: its configuration forbids it, or there is no memory.
  case hashUnavailable
  /// A library refused: its name, and what it said.
  case library(String, String)
  /// An archive does not hold what it should.
  case content(String)
  /// Whoever asked for the work doesn't want it any more.
  case stopped

  package var message: String {
    switch self {
    case .system(let error): error.message
    case .hashUnavailable: "OpenSSL offers no SHA-256; check its configuration (openssl.cnf)"
    case .library(let name, let text): "\(name): \(text)"
    case .content(let text): text
    case .stopped: "it was stopped before it was done"
    }
  }
}
