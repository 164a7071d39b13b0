// SPDX-License-Identifier: Apache-2.0
import CCurl
import LocalNames
import TargetKit

/// Names that only the machines of the network know: libcurl asks name servers, and when they know nothing, everybody is asked.
package enum LocalResolution {
  /// What to hand to `CURLOPT_RESOLVE` before the same is tried once more; nil where there is nothing to be gained by that.
  ///
  /// Only for an exchange of which nothing was sent, because a name was unknown.
  ///
  /// - Parameters:
  ///   - code: how it ended.
  ///   - proxy: its address, empty or nil for none.
  package static func entry(
    after code: CURLcode, _ handle: UnsafeMutableRawPointer, url: String, proxy: String?, host: Host
  ) -> String? {
    let proxy = proxy.flatMap { $0.isEmpty ? nil : $0 }
    guard let address = unknown(code, handle, url, proxy), let place = Place(address),
      let name = LocalName(place.host)
    else { return nil }
    let found = MulticastResolver().addresses(of: name, host: host)
    guard !found.isEmpty else { return nil }
    // With a plus it is forgotten after a minute, like any other answer.
    return "+\(place.host):\(place.port):" + found.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
  }

  /// The address whose name was unknown.
  private static func unknown(
    _ code: CURLcode, _ handle: UnsafeMutableRawPointer, _ url: String, _ proxy: String?
  ) -> String? {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST: return url
    case CURLE_COULDNT_RESOLVE_PROXY: return proxy
    case CURLE_OPERATION_TIMEDOUT:
      // Name servers that don't answer at all.
      var microseconds: curl_off_t = 0
      relay_curl_get_offset(handle, CURLINFO_NAMELOOKUP_TIME_T, &microseconds)
      return microseconds == 0 ? proxy ?? url : nil
    default: return nil
    }
  }

  private struct Place {
    var host: String
    var port: String

    init?(_ address: String) {
      guard let parser = curl_url() else { return nil }
      defer { curl_url_cleanup(parser) }
      guard curl_url_set(parser, CURLUPART_URL, address, UInt32(CURLU_DEFAULT_SCHEME)) == CURLUE_OK,
        let host = Self.part(parser, CURLUPART_HOST),
        let port = Self.part(parser, CURLUPART_PORT)
      else { return nil }
      self.host = host
      self.port = port
    }

    private static func part(_ parser: OpaquePointer, _ part: CURLUPart) -> String? {
      var text: UnsafeMutablePointer<CChar>?
      guard curl_url_get(parser, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
      defer { curl_free(text) }
      return String(cString: text)
    }
  }
}

extension CurlOptions {
  /// Performs, and once more when a name is unknown and the network knows it.
  package mutating func perform(url: String, proxy: String?, words: UnsafeMutablePointer<CChar>, host: Host) -> CURLcode
  {
    let code = curl_easy_perform(handle)
    guard code != CURLE_OK, !host.shouldStop,
      let entry = LocalResolution.entry(after: code, handle, url: url, proxy: proxy, host: host)
    else { return code }
    let list = curl_slist_append(nil, entry)
    defer {
      // libcurl keeps it beyond the call.
      relay_curl_set_pointer(handle, CURLOPT_RESOLVE, nil)
      curl_slist_free_all(list)
    }
    set(CURLOPT_RESOLVE, pointer: list)
    words.pointee = 0
    return curl_easy_perform(handle)
  }
}
