// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import CurlTransport

/// The names of one event of one pipeline: the same at each delivery, on every machine.
struct EventIdentity: Equatable {
  let pipeline: String
  /// 32 hexadecimal digits of pipeline and key together, so that two pipelines never meet in one calendar.
  let digest: String

  init(pipeline: String, key: String) {
    self.pipeline = pipeline
    digest = String(Self.sha256("\(pipeline)\n\(key)").prefix(32))
  }

  /// `revision` counts from 1; a later one stands for a UID that the server gives to nobody any more.
  func uid(revision: Int) -> String { "\(stem(revision))@\(pipeline)" }

  func fileName(revision: Int) -> String { "\(stem(revision)).ics" }

  private func stem(_ revision: Int) -> String { revision > 1 ? "\(digest)-r\(revision)" : digest }

  /// In hexadecimal.
  static func sha256(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
    return Hex.encode(digest)
  }
}
