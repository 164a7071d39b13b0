// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import Glibc
import MailSyntax
import TargetKit

/// libcurl's handle; the connection that it keeps open serves the next mail.
final class MailConnection {
  /// Seconds to wait for each answer: servers may take ten minutes over a mail (RFC 5321, section 4.5.3.2.6), and who leaves
  /// earlier sends it twice. The host's own limits are shorter where they should be.
  static let answerTimeout = 600
  /// Seconds to wait for the answer to a goodbye, on which nothing depends; libcurl asks nobody while it waits.
  static let goodbyeTimeout = 2
  /// Seconds for name, connection, greeting, encryption and login together.
  static let connectTimeout = 120

  /// One mail, or none for a check.
  struct Errand {
    var body: MailBody?
    var recipients: [MailAddress] = []
    var needsUTF8 = false
  }

  /// Made when it is needed.
  private var handle: UnsafeMutableRawPointer?
  /// What the server offered when the connection was made that may still be open.
  private var kept = Capabilities()

  init() throws(Verdict) {
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { throw Self.notStarted }
  }

  deinit { discard(sayingGoodbye: true) }

  private static let notStarted = Verdict.retry(.other, "libcurl could not be started")

  /// Forgets the connection. libcurl keeps it even when a conversation was broken off in the middle, and an answer that still comes
  /// would be taken for the next mail's.
  private func discard(sayingGoodbye: Bool) {
    guard let handle else { return }
    var socket = CURL_SOCKET_BAD
    if relay_curl_get_socket(handle, &socket) == CURLE_OK, socket != CURL_SOCKET_BAD {
      // A goodbye leaves, but nobody waits for its answer: a server that hangs would hold us up.
      shutdown(socket, Int32(sayingGoodbye ? SHUT_RD : SHUT_RDWR))
    }
    curl_easy_cleanup(handle)
    self.handle = nil
    kept = Capabilities()
  }

  /// Throws only for settings that libcurl does not take.
  func converse(_ errand: Errand, _ settings: SMTPSettings, password: String?, host: Host) throws(Verdict) -> Outcome {
    let first = try converse(errand, settings, password, host, fresh: errand.body == nil)
    // A kept connection that turns out dead, or whose server has had enough, before it asked for the mail: nothing was taken, and
    // a new connection says how things are.
    guard first.code != CURLE_OK, !first.stopped, first.conversation.endedBetween, errand.body?.handed == 0 else {
      return first
    }
    return try converse(errand, settings, password, host, fresh: true)
  }

  private func converse(
    _ errand: Errand, _ settings: SMTPSettings, _ password: String?, _ host: Host, fresh: Bool
  ) throws(Verdict) -> Outcome {
    let needs = Conversation.Needs(
      startTLS: settings.security == .starttls, login: settings.username != nil, utf8: errand.needsUTF8,
      size: errand.body?.length ?? 0)
    let conversation = Conversation(needs: needs, isTLSFromStart: settings.security == .tls, kept: kept)
    // On a kept connection nobody says again what the server offers.
    let mayReuse = !fresh && conversation.missing == nil
    let transfer = Transfer(host: host, conversation: conversation, body: errand.body)
    guard let handle = handle ?? curl_easy_init() else { throw Self.notStarted }
    self.handle = handle
    curl_easy_reset(handle)
    var list: UnsafeMutablePointer<curl_slist>?
    for recipient in errand.recipients { list = curl_slist_append(list, recipient.mailbox) ?? list }
    defer { curl_slist_free_all(list) }
    let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    defer { words.deallocate() }

    var options = CurlOptions(handle: handle)
    options.set(CURLOPT_ERRORBUFFER, pointer: words)
    options.server(settings, password: password)
    options.encryption(settings.tls)
    options.set(CURLOPT_FRESH_CONNECT, mayReuse ? 0 : 1)
    options.errand(errand, settings, recipients: list)
    options.callbacks(transfer)
    if let rejected = options.rejected { throw TransportFault.library(rejected).verdict }

    let code = withExtendedLifetime(transfer) {
      options.perform(url: settings.url, proxy: nil, words: words, host: host)
    }
    // libcurl keeps these beyond the call.
    relay_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
    relay_curl_set_pointer(handle, CURLOPT_MAIL_RCPT, nil)
    kept = transfer.conversation.capabilities
    let outcome = outcome(code, transfer, handle, String(cString: words))
    if code != CURLE_OK { discard(sayingGoodbye: transfer.conversation.isSettled) }
    return outcome
  }

  private func outcome(
    _ code: CURLcode, _ transfer: Transfer, _ handle: UnsafeMutableRawPointer, _ words: String
  ) -> Outcome {
    var uploaded: curl_off_t = 0
    relay_curl_get_offset(handle, CURLINFO_SIZE_UPLOAD_T, &uploaded)
    let sent = UInt64(clamping: uploaded)
    let isComplete = transfer.body.map { $0.isComplete && sent >= $0.length } ?? false
    return Outcome(
      conversation: transfer.conversation, code: code,
      words: words.isEmpty ? String(cString: curl_easy_strerror(code)) : words,
      allSent: isComplete && transfer.conversation.isMailAsked, sent: sent, stopped: transfer.stopped,
      sourceFailure: transfer.sourceFailure)
  }
}

extension CurlOptions {
  fileprivate mutating func server(_ settings: SMTPSettings, password: String?) {
    set(CURLOPT_URL, settings.url, "\"host\"")
    set(CURLOPT_PROTOCOLS_STR, "smtp,smtps", "the protocols")
    set(CURLOPT_USE_SSL, Int((settings.security == .none ? CURLUSESSL_NONE : CURLUSESSL_ALL).rawValue))
    if let username = settings.username, let password {
      set(CURLOPT_USERNAME, username, "\"username\"")
      set(CURLOPT_PASSWORD, password, "\"password\"")
      let logins = Capabilities.usableLogins.map { "AUTH=\($0)" }.joined(separator: ";")
      set(CURLOPT_LOGIN_OPTIONS, logins, "the ways to log in")
    }
    // An empty proxy also keeps libcurl from looking at the environment.
    set(CURLOPT_PROXY, "", "the proxy")
    set(CURLOPT_NOPROXY, "", "the proxy")
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_CONNECTTIMEOUT, MailConnection.connectTimeout)
    set(CURLOPT_SERVER_RESPONSE_TIMEOUT, MailConnection.answerTimeout)
    set(CURLOPT_TCP_KEEPALIVE, 1)
  }

  fileprivate mutating func errand(
    _ errand: MailConnection.Errand, _ settings: SMTPSettings, recipients: UnsafeMutablePointer<curl_slist>?
  ) {
    guard let body = errand.body else {
      // Says something that changes nothing, so that the server answers once more.
      set(CURLOPT_CUSTOMREQUEST, "NOOP", "a command")
      set(CURLOPT_NOBODY, 1)
      set(CURLOPT_FORBID_REUSE, 1)
      return
    }
    set(CURLOPT_MAIL_FROM, settings.from.mailbox, "\"from\"")
    set(CURLOPT_MAIL_RCPT, pointer: recipients)
    set(CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1)
    set(CURLOPT_UPLOAD, 1)
    set(CURLOPT_UPLOAD_BUFFERSIZE, 256 * 1024)
    set(CURLOPT_INFILESIZE_LARGE, offset: body.length)
  }

  fileprivate mutating func callbacks(_ transfer: Transfer) {
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    for option in [CURLOPT_READDATA, CURLOPT_HEADERDATA, CURLOPT_DEBUGDATA, CURLOPT_XFERINFODATA] {
      set(option, pointer: context)
    }
    set(CURLOPT_NOPROGRESS, 0)
    // Without it there is no telling what is sent.
    set(CURLOPT_VERBOSE, 1)
    note(
      relay_curl_set_transfer(handle, CURLOPT_READFUNCTION) { bytes, size, count, context in
        Transfer.from(context)?.read(bytes, size * count) ?? Int(CURL_READFUNC_ABORT)
      }, "a callback")
    note(
      relay_curl_set_transfer(handle, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }, "a callback")
    note(
      relay_curl_set_transfer(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
        Transfer.from(context)?.received(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
      }, "a callback")
    note(
      relay_curl_set_debug(handle) { handle, kind, bytes, count, context in
        guard kind == CURLINFO_HEADER_OUT, let transfer = Transfer.from(context) else { return 0 }
        transfer.sent(UnsafeRawBufferPointer(start: bytes, count: count))
        if transfer.conversation.phase == .quit, let handle {
          relay_curl_set_long(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT, MailConnection.goodbyeTimeout)
        }
        return 0
      }, "a callback")
    note(
      relay_curl_set_progress(handle) { context, _, _, _, up in Transfer.from(context)?.moved(up: up) ?? 1 },
      "a callback")
  }
}
