// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc

/// Names of domains as protocols carry them.
package enum DomainName {
  /// Longest name (RFC 5321, section 4.5.3.1), in bytes.
  private static let longest = 255

  /// A name in ASCII and lower case, internationalized ones in punycode; nil if it is none.
  package static func ascii(_ name: String) -> String? {
    guard !name.isEmpty, name.utf8.count <= longest, !name.utf8.contains(where: { "[]:%/?#@".utf8.contains($0) }) else {
      return nil
    }
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    guard let ascii = isASCII ? name.lowercased() : punycode(name) else { return nil }
    let labels = ascii.split(separator: ".", omittingEmptySubsequences: false)
    guard ascii.utf8.count <= longest, labels.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 63 }),
      ascii.utf8.allSatisfy(isDomainText)
    else { return nil }
    return ascii
  }

  private static func punycode(_ name: String) -> String? {
    // libcurl's converter takes the bytes for those of the thread's locale, which is C unless someone sets it.
    guard let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil) else { return nil }
    let previous = uselocale(locale)
    defer {
      uselocale(previous)
      freelocale(locale)
    }
    guard let parser = curl_url() else { return nil }
    defer { curl_url_cleanup(parser) }
    guard curl_url_set(parser, CURLUPART_SCHEME, "smtp", 0) == CURLUE_OK,
      curl_url_set(parser, CURLUPART_HOST, name.lowercased(), 0) == CURLUE_OK
    else { return nil }
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(parser, CURLUPART_HOST, &text, UInt32(CURLU_PUNYCODE)) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text).lowercased()
  }

  private static func isDomainText(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
  }
}
