// SPDX-License-Identifier: Apache-2.0
import CCurl
import TargetKit

/// libcurl's handle; what it keeps open serves the next delivery.
package final class Connection {
  private let handle: UnsafeMutableRawPointer
  /// The receiver said that the kept connection is not for this address (421).
  private var isMisdirected = false

  package init() throws(Verdict) {
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let handle = curl_easy_init() else {
      throw .retry(.other, "libcurl could not be started")
    }
    self.handle = handle
  }

  deinit { curl_easy_cleanup(handle) }

  /// Sends one request and gathers what came back.
  ///
  /// Throws only for settings that libcurl does not take.
  package func exchange(_ request: Request, options rules: TransportOptions, host: Host) throws(Verdict) -> Answer {
    curl_easy_reset(handle)
    let exchange = Exchange(host: host, request: request)
    var list: UnsafeMutablePointer<curl_slist>?
    // A name without a value takes away what libcurl would add.
    let lines = request.headers.lines + (request.asksFirst ? [] : ["Expect:"])
    for line in lines { list = curl_slist_append(list, line) ?? list }
    defer { curl_slist_free_all(list) }
    let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    defer { words.deallocate() }

    var options = CurlOptions(handle: handle)
    options.set(CURLOPT_ERRORBUFFER, pointer: words)
    options.set(CURLOPT_HTTPHEADER, pointer: list)
    options.address(request)
    options.rules(rules)
    options.reuse(allowed: rules.mayRepeat, now: rules.mayRepeat && !isMisdirected)
    options.encryption(rules.tls)
    options.callbacks(exchange)
    if let rejected = options.rejected { throw TransportFault.library(rejected).verdict }

    let code = withExtendedLifetime(exchange) {
      options.perform(url: request.url, proxy: rules.proxy, words: words, host: host)
    }
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
      // A head that broke off is no answer: what it would have said further is not known.
      status: exchange.head.isComplete ? status : 0, proxyStatus: number(CURLINFO_HTTP_CONNECTCODE), sent: sent,
      allSent: number(CURLINFO_REQUEST_SIZE) > 0 && sent >= length, sentBefore: exchange.wasComplete,
      head: exchange.head, body: exchange.captured, stopped: exchange.stopped, sourceFailure: exchange.sourceFailure)
  }

  private func number(_ info: CURLINFO) -> Int {
    var value = 0
    relay_curl_get_long(handle, info, &value)
    return value
  }
}
