// SPDX-License-Identifier: Apache-2.0
import CCurl
import TargetKit

/// libcurl's handle; what it keeps open serves the next delivery.
final class Connection {
  private let handle: UnsafeMutableRawPointer
  /// The receiver said that the kept connection is not for this address (421).
  private var isMisdirected = false

  init() throws(Verdict) {
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let handle = curl_easy_init() else {
      throw .retry(.other, "libcurl could not be started")
    }
    self.handle = handle
  }

  deinit { curl_easy_cleanup(handle) }

  /// Sends one request and gathers what came back.
  ///
  /// Throws only for settings that libcurl does not take.
  func exchange(_ request: Request, settings: HTTPSettings, host: Host) throws(Verdict) -> Answer {
    curl_easy_reset(handle)
    let exchange = Exchange(host: host, body: request.body)
    var list: UnsafeMutablePointer<curl_slist>?
    // A name without a value takes away what libcurl would add.
    let lines = request.headers.lines + (request.asksFirst ? [] : ["Expect:"])
    for line in lines { list = curl_slist_append(list, line) ?? list }
    defer { curl_slist_free_all(list) }
    let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    defer { words.deallocate() }

    var options = Options(handle: handle)
    options.set(CURLOPT_ERRORBUFFER, pointer: words)
    options.set(CURLOPT_HTTPHEADER, pointer: list)
    options.address(request)
    options.rules(settings)
    options.reuse(allowed: settings.mayRepeat, now: settings.mayRepeat && !isMisdirected)
    options.encryption(settings)
    options.callbacks(exchange)
    if let rejected = options.rejected { throw HTTPFault.library(rejected).verdict }

    let code = withExtendedLifetime(exchange) { curl_easy_perform(handle) }
    // libcurl keeps these beyond the call, and a later reset would not stop a connection from using them.
    relay_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
    relay_curl_set_pointer(handle, CURLOPT_HTTPHEADER, nil)
    let answer = answer(code, exchange, String(cString: words))
    isMisdirected = answer.status == 421
    return answer
  }

  private func answer(_ code: CURLcode, _ exchange: Exchange, _ words: String) -> Answer {
    let status = number(CURLINFO_RESPONSE_CODE)
    var uploaded: curl_off_t = 0
    relay_curl_get_offset(handle, CURLINFO_SIZE_UPLOAD_T, &uploaded)
    let sent = UInt64(clamping: uploaded)
    let length = exchange.body?.length ?? 0
    return Answer(
      code: code, words: words.isEmpty ? String(cString: curl_easy_strerror(code)) : words,
      status: status >= 200 ? status : 0, proxyStatus: number(CURLINFO_HTTP_CONNECTCODE), sent: sent,
      allSent: number(CURLINFO_REQUEST_SIZE) > 0 && sent >= length, sentBefore: exchange.wasComplete,
      head: exchange.head, body: exchange.captured, stopped: exchange.stopped, sourceFailure: exchange.sourceFailure)
  }

  private func number(_ info: CURLINFO) -> Int {
    var value = 0
    relay_curl_get_long(handle, info, &value)
    return value
  }
}

/// Sets options and remembers the first that libcurl did not take.
private struct Options {
  let handle: UnsafeMutableRawPointer
  var rejected: String?

  mutating func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
    note(relay_curl_set_pointer(handle, option, pointer), "an option (\(option.rawValue))")
  }

  mutating func set(_ option: CURLoption, _ value: Int) {
    note(relay_curl_set_long(handle, option, value), "an option (\(option.rawValue))")
  }

  mutating func set(_ option: CURLoption, _ value: String, _ what: String) {
    note(relay_curl_set_text(handle, option, value), what)
  }

  private mutating func note(_ code: CURLcode, _ what: String) {
    if code != CURLE_OK, rejected == nil { rejected = what }
  }

  mutating func address(_ request: Request) {
    set(CURLOPT_URL, request.url, "the address")
    guard let body = request.body else {
      set(CURLOPT_NOBODY, 1)
      return
    }
    // A POST under another name: libcurl then sends Content-Length and asks for 100 Continue above 1 MiB only.
    set(CURLOPT_POST, 1)
    set(CURLOPT_CUSTOMREQUEST, request.method, "the method")
    note(
      relay_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(clamping: body.length)), "the length")
  }

  /// On a kept connection that turns out dead libcurl sends a POST again by itself; only a receiver that can recognise
  /// the repeat may get it.
  mutating func reuse(allowed: Bool, now: Bool) {
    set(CURLOPT_FRESH_CONNECT, now ? 0 : 1)
    set(CURLOPT_FORBID_REUSE, allowed ? 0 : 1)
  }

  mutating func rules(_ settings: HTTPSettings) {
    set(CURLOPT_PROTOCOLS_STR, "http,https", "the protocols")
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_CONNECTTIMEOUT, 30)
    // Shorter than the shortest `delivery.timeout`: to wait for the leave to go on is no progress.
    set(CURLOPT_EXPECT_100_TIMEOUT_MS, 500)
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_UPLOAD_BUFFERSIZE, 256 * 1024)
    // An empty proxy also keeps libcurl from looking at the environment.
    set(CURLOPT_PROXY, settings.proxy ?? "", "\"proxy\"")
    set(CURLOPT_NOPROXY, "", "\"proxy\"")
    switch settings.httpVersion {
    case "auto", "2": set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    default: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    }
  }

  mutating func encryption(_ settings: HTTPSettings) {
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    if let ca = settings.ca {
      set(CURLOPT_CAINFO, ca, "\"tls/ca\"")
      note(relay_curl_set_text(handle, CURLOPT_CAPATH, nil), "\"tls/ca\"")
    }
    if let certificate = settings.certificate { set(CURLOPT_SSLCERT, certificate, "\"tls/certificate\"") }
    if let key = settings.key { set(CURLOPT_SSLKEY, key, "\"tls/key\"") }
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
