// SPDX-License-Identifier: Apache-2.0
import CCurl
import TargetKit

/// What is asked of an address before anything is sent to it.
package enum Address {
  /// The address up to its path ("https://example.org:8443"), or nil if it cannot be used.
  package static func origin(_ url: String) -> String? {
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }), let parser = curl_url() else { return nil }
    defer { curl_url_cleanup(parser) }
    guard curl_url_set(parser, CURLUPART_URL, url, 0) == CURLUE_OK,
      let scheme = part(CURLUPART_SCHEME, of: parser), scheme == "http" || scheme == "https",
      let name = part(CURLUPART_HOST, of: parser), !name.isEmpty
    else { return nil }
    guard let port = part(CURLUPART_PORT, of: parser) else { return "\(scheme)://\(name)" }
    return "\(scheme)://\(name):\(port)"
  }

  /// The origin of a templated address in the settings, if it stands wholly before the template's first expression.
  package static func origin(ofTemplateIn json: String) -> String? {
    guard let template = JSONPeek.text(of: ["url"], in: Array(json.utf8)),
      let fixed = template.split(separator: "{{", maxSplits: 1, omittingEmptySubsequences: false).first,
      let start = fixed.firstRange(of: "://")?.upperBound, fixed[start...].contains("/")
    else { return nil }
    return origin(String(fixed))
  }

  /// `setting` is where a person wrote the address.
  package static func check(_ url: String, setting: String = "url") throws(Verdict) {
    guard origin(url) != nil else { throw TransportFault.addressUnusable(setting).verdict }
  }

  private static func part(_ part: CURLUPart, of parser: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(parser, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
