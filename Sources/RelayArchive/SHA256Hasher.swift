// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import RelaySystem

/// Computes SHA-256 of bytes that come in pieces. Belongs to one thread at a time.
package final class SHA256Hasher {
  private let context: OpaquePointer

  package init() throws(ArchiveError) {
    guard let context = EVP_MD_CTX_new() else { throw .hashUnavailable }
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      EVP_MD_CTX_free(context)
      throw .hashUnavailable
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  package func update(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { throw .hashUnavailable }
  }

  package func update(_ bytes: [UInt8]) throws(ArchiveError) {
    guard EVP_DigestUpdate(context, bytes, bytes.count) == 1 else { throw .hashUnavailable }
  }

  /// The digest of all that came; begins anew afterwards.
  package func finish() throws(ArchiveError) -> Digest {
    var bytes = [UInt8](repeating: 0, count: Digest.length)
    guard EVP_DigestFinal_ex(context, &bytes, nil) == 1, EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1,
      let digest = Digest(bytes: bytes)
    else { throw .hashUnavailable }
    return digest
  }

  package static func digest(of bytes: [UInt8]) throws(ArchiveError) -> Digest {
    let hasher = try SHA256Hasher()
    try hasher.update(bytes)
    return try hasher.finish()
  }

  /// Hashes a regular file from its beginning without moving its offset; memory is one chunk.
  package static func digest(of file: Descriptor) throws(ArchiveError) -> (digest: Digest, size: Int64) {
    let hasher = try SHA256Hasher()
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { chunk.deallocate() }
    var size: Int64 = 0
    while true {
      let got: Int
      do { got = try file.read(into: chunk, at: size) } catch { throw .system(error) }
      try hasher.update(UnsafeRawBufferPointer(rebasing: chunk[..<got]))
      size += Int64(got)
      if got < chunk.count { return (try hasher.finish(), size) }
    }
  }
}
