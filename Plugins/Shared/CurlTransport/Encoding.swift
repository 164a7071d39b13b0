// SPDX-License-Identifier: Apache-2.0
import COpenSSL

package enum Hex {
  package static func encode(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

/// Base64 of RFC 4648 with padding.
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count))
    return String(decoding: text.prefix(Int(count)), as: UTF8.self)
  }

  /// nil for what is not whole, padded base64.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard !characters.isEmpty, characters.count.isMultiple(of: 4), characters.count < 1 << 20 else { return nil }
    var bytes = [UInt8](repeating: 0, count: characters.count / 4 * 3)
    let count = EVP_DecodeBlock(&bytes, characters, Int32(characters.count))
    let padding = characters.suffix(2).count { $0 == UInt8(ascii: "=") }
    guard count >= padding else { return nil }
    return Array(bytes.prefix(Int(count) - padding))
  }
}
