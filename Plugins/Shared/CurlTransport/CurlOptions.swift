// SPDX-License-Identifier: Apache-2.0
import CCurl

/// Sets options and remembers the first that libcurl did not take.
package struct CurlOptions {
  package let handle: UnsafeMutableRawPointer
  /// What it was that libcurl did not take.
  package private(set) var rejected: String?

  package init(handle: UnsafeMutableRawPointer) {
    self.handle = handle
  }

  package mutating func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
    note(relay_curl_set_pointer(handle, option, pointer), "an option (\(option.rawValue))")
  }

  package mutating func set(_ option: CURLoption, _ value: Int) {
    note(relay_curl_set_long(handle, option, value), "an option (\(option.rawValue))")
  }

  package mutating func set(_ option: CURLoption, _ value: String, _ what: String) {
    note(relay_curl_set_text(handle, option, value), what)
  }

  package mutating func set(_ option: CURLoption, offset: UInt64) {
    note(relay_curl_set_offset(handle, option, curl_off_t(clamping: offset)), "an option (\(option.rawValue))")
  }

  package mutating func note(_ code: CURLcode, _ what: String) {
    if code != CURLE_OK, rejected == nil { rejected = what }
  }

  mutating func address(_ request: Request) {
    set(CURLOPT_URL, request.url, "the address")
    guard let body = request.body else {
      if request.method == "HEAD" {
        set(CURLOPT_NOBODY, 1)
      } else {
        set(CURLOPT_HTTPGET, 1)
        set(CURLOPT_CUSTOMREQUEST, request.method, "the method")
      }
      return
    }
    // A POST under another name: libcurl then sends Content-Length and asks for 100 Continue above 1 MiB only.
    set(CURLOPT_POST, 1)
    set(CURLOPT_CUSTOMREQUEST, request.method, "the method")
    set(CURLOPT_POSTFIELDSIZE_LARGE, offset: body.length)
  }

  /// On a kept connection that turns out dead libcurl sends a POST again by itself; only a receiver that can recognise
  /// the repeat may get it.
  mutating func reuse(allowed: Bool, now: Bool) {
    set(CURLOPT_FRESH_CONNECT, now ? 0 : 1)
    set(CURLOPT_FORBID_REUSE, allowed ? 0 : 1)
  }

  mutating func rules(_ rules: TransportOptions) {
    set(CURLOPT_PROTOCOLS_STR, "http,https", "the protocols")
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_CONNECTTIMEOUT, 30)
    // Shorter than the shortest `delivery.timeout`: to wait for the leave to go on is no progress.
    set(CURLOPT_EXPECT_100_TIMEOUT_MS, 500)
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_UPLOAD_BUFFERSIZE, 256 * 1024)
    // An empty proxy also keeps libcurl from looking at the environment.
    set(CURLOPT_PROXY, rules.proxy ?? "", "\"proxy\"")
    set(CURLOPT_NOPROXY, "", "\"proxy\"")
    // The head with which a proxy answers CONNECT isn't the receiver's.
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    switch rules.httpVersion {
    case "auto", "2": set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    default: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    }
  }

  package mutating func encryption(_ files: TLSFiles) {
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    if let ca = files.ca {
      set(CURLOPT_CAINFO, ca, "\"tls/ca\"")
      note(relay_curl_set_text(handle, CURLOPT_CAPATH, nil), "\"tls/ca\"")
    }
    if let certificate = files.certificate { set(CURLOPT_SSLCERT, certificate, "\"tls/certificate\"") }
    if let key = files.key { set(CURLOPT_SSLKEY, key, "\"tls/key\"") }
  }

  mutating func callbacks(_ exchange: Exchange) {
    let context = Unmanaged.passUnretained(exchange).toOpaque()
    for option in [CURLOPT_READDATA, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_SEEKDATA, CURLOPT_XFERINFODATA] {
      set(option, pointer: context)
    }
    set(CURLOPT_NOPROGRESS, 0)
    note(
      relay_curl_set_transfer(handle, CURLOPT_READFUNCTION) { bytes, size, count, context in
        Exchange.from(context)?.read(bytes, size * count) ?? Int(CURL_READFUNC_ABORT)
      }, "a callback")
    note(
      relay_curl_set_transfer(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
        Exchange.from(context)?.receive(bytes, size * count) ?? 0
      }, "a callback")
    note(
      relay_curl_set_transfer(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
        Exchange.from(context)?.head.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
        return size * count
      }, "a callback")
    note(
      relay_curl_set_seek(handle) { context, offset, origin in
        Exchange.from(context)?.seek(offset, origin) ?? CURL_SEEKFUNC_FAIL
      }, "a callback")
    note(
      relay_curl_set_progress(handle) { context, _, down, total, up in
        Exchange.from(context)?.moved(down: down, up: up, of: total) ?? 1
      }, "a callback")
  }
}
