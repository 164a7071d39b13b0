// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import Glibc
import TargetKit

/// One connection to the broker: a client object of the library, driven by a loop of our own.
///
/// The library's own loops connect again by themselves, for ever and with a refused password too. Its keep-alive isn't used either:
/// it would end a connection over which one large message takes long. So long as a message moves no ping is due, and a connection
/// at rest is not used again once the broker may have given it up.
final class Link {
  /// How the work on a connection can end before it is done.
  enum End: Error, Equatable {
    /// The host wants the call to end.
    case stopped
    /// Nothing moved for too long.
    case silent
    case nameUnknown(String)
    /// No connection: an errno.
    case unreachable(Int32)
    case tls(TLSTrouble)
    /// The broker closed the connection, or it broke.
    case closed
    /// What came is no MQTT.
    case nonsense(String)
    /// The broker said why it ends the connection (MQTT 5).
    case farewell(Int32)
    /// The library does not take it.
    case library(Int32)
  }

  /// The longest that one wait lasts: so often the host's wish to stop is looked at where it has no descriptor for it.
  static let tick: Int64 = 250

  let client: OpaquePointer
  let told: Told
  let host: String
  /// Where to connect instead of asking for the host's name.
  private let address: String?
  let usesTLS: Bool
  let speaks5: Bool
  /// The handshake of TCP is under way.
  private(set) var isConnecting = false
  private var isVerified: Bool

  /// `client` is this object's from here.
  init(client: OpaquePointer, told: Told, settings: MQTTSettings, speaks5: Bool, address: String?) {
    self.client = client
    self.told = told
    self.address = address
    host = settings.host
    usesTLS = settings.tls != nil
    self.speaks5 = speaks5
    isVerified = !usesTLS
  }

  deinit { mosquitto_destroy(client) }

  /// -1 when there is no connection.
  var descriptor: Int32 { mosquitto_socket(client) }

  /// All that was to be sent is in the kernel's hands.
  var isWritten: Bool { !isConnecting && isVerified && !mosquitto_want_write(client) }

  /// "TLSv1.3"; empty without TLS.
  var tlsVersion: String { String(cString: relay_tls_version(client)) }

  /// Begins to connect and queues CONNECT; `from` limits it to one family of addresses ("0.0.0.0" or "::").
  ///
  /// Looking up the name waits: the library does it.
  func begin(port: Int32, keepAlive: Int32, from local: String?) throws(End) {
    let code = mosquitto_connect_bind_async(client, address ?? host, port, keepAlive, local)
    let number = errno
    isConnecting = true
    switch mosq_err_t(rawValue: code) {
    case MOSQ_ERR_SUCCESS, MOSQ_ERR_CONN_PENDING: return
    case MOSQ_ERR_EAI: throw .nameUnknown(String(cString: gai_strerror(number)))
    case MOSQ_ERR_TLS: throw .tls(TLSTrouble.of(told))
    case MOSQ_ERR_ERRNO: throw unconnected(number)
    // No address of the family.
    case MOSQ_ERR_INVAL where local != nil: throw .unreachable(EADDRNOTAVAIL)
    default: throw .library(code)
    }
  }

  /// Serves the connection until `isDone`.
  ///
  /// `moved` is told the bytes that the other side has, whenever there are more of them.
  func serve(
    _ watch: Watch, patience limit: Int64, tick: Int64 = Link.tick, moved: (UInt64) -> Void = { _ in },
    until isDone: () -> Bool
  ) throws(End) {
    var patience = Patience(milliseconds: limit, now: Clock.monotonic())
    while !isDone() {
      if let code = told.farewell { throw .farewell(code) }
      let descriptor = descriptor
      guard descriptor >= 0 else { throw isVerified ? .closed : .tls(.brokenOff("")) }
      if watch.host.shouldStop { throw .stopped }
      guard let left = patience.remaining(now: Clock.monotonic()) else { throw .silent }
      let events = TCPSocket.wait(
        descriptor, interest, or: watch.cancel, milliseconds: min(left, tick))
      if watch.host.shouldStop { throw .stopped }
      try step(Int32(events))
      guard self.descriptor >= 0 else { continue }
      let bytes = TCPSocket(descriptor: descriptor).acknowledged
      if patience.saw(bytes, now: Clock.monotonic()) { moved(bytes) }
    }
  }

  /// Takes in what came while nobody looked.
  func catchUp() throws(End) {
    // What the broker says at an end and the end itself come as two.
    for _ in 0..<4 {
      guard descriptor >= 0 else { break }
      let events = TCPSocket.wait(descriptor, POLLIN, or: -1, milliseconds: 0)
      if events == 0 { return }
      try step(Int32(events) & ~POLLOUT)
    }
    if let code = told.farewell { throw .farewell(code) }
    if descriptor < 0 { throw .closed }
  }

  private var interest: Int32 {
    if isConnecting { return POLLOUT }
    // The library goes on asking to write while the handshake waits for the other side.
    if !isVerified { return relay_tls_wants_to_write(client) == 1 ? POLLIN | POLLOUT : POLLIN }
    return mosquitto_want_write(client) ? POLLIN | POLLOUT : POLLIN
  }

  private func step(_ events: Int32) throws(End) {
    guard events != 0 else { return }
    if isConnecting {
      let error = TCPSocket(descriptor: descriptor).error
      if error != 0 { throw unconnected(error) }
      guard events & POLLOUT != 0 else { throw .closed }
      isConnecting = false
    }
    if !isVerified { return try shakeHands(events) }
    if events & (POLLIN | POLLHUP | POLLERR) != 0 { try judge(mosquitto_loop_read(client, 1)) }
    if events & POLLOUT != 0, descriptor >= 0 { try judge(mosquitto_loop_write(client, 1)) }
  }

  /// What an errno means while the connection is made: the other side may be so quick that the first words are answered already.
  private func unconnected(_ error: Int32) -> End {
    switch error {
    // The library's number for what OpenSSL doesn't take.
    case EPROTO where usesTLS: .tls(TLSTrouble.of(told))
    // Who is reset had a connection already, and lost it over the first words.
    case ECONNRESET, EPIPE: isVerified ? .closed : .tls(TLSTrouble.of(told, end: String(cString: strerror(error))))
    default: .unreachable(error)
    }
  }

  private func shakeHands(_ events: Int32) throws(End) {
    let code = mosquitto_loop_read(client, 1)
    guard code == MOSQ_ERR_SUCCESS.rawValue else { throw .tls(TLSTrouble.of(told)) }
    guard relay_tls_in_handshake(client) == 0 else {
      // The library takes a connection that broke off for one that waits.
      if events & (POLLHUP | POLLERR) != 0 { throw .tls(.brokenOff("")) }
      return
    }
    isVerified = true
  }

  /// What the library made of what it read or wrote.
  func judge(_ code: Int32) throws(End) {
    if code == MOSQ_ERR_SUCCESS.rawValue { return }
    if let farewell = told.farewell { throw .farewell(farewell) }
    // A refusal is in the greeting; whoever waits for it looks there.
    if told.greeting.map({ $0.code != 0 }) == true { return }
    if let trouble = TLSTrouble.saidByBroker(told) { throw .tls(trouble) }
    switch mosq_err_t(rawValue: code) {
    case MOSQ_ERR_PROTOCOL, MOSQ_ERR_MALFORMED_PACKET, MOSQ_ERR_MALFORMED_UTF8, MOSQ_ERR_DUPLICATE_PROPERTY:
      throw .nonsense(String(cString: mosquitto_strerror(code)))
    case MOSQ_ERR_NOMEM: throw .library(code)
    default: throw .closed
    }
  }

  /// Says goodbye, as far as that goes without waiting.
  func goodbye() {
    guard descriptor >= 0, told.greeting?.code == 0 else { return }
    _ = mosquitto_disconnect(client)
  }
}

/// What a wait looks at besides the connection.
struct Watch {
  let host: Host
  /// Becomes readable when the host wants the call to end; -1 for none.
  let cancel: Int32
}
