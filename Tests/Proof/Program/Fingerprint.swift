// SPDX-License-Identifier: Apache-2.0
import RelayArchive

/// Digests as the receiver writes them.
enum Fingerprint {
  static func sha256(_ bytes: [UInt8]) throws -> String { try SHA256Hasher.digest(of: bytes).description }
}
