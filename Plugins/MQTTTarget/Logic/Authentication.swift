// SPDX-License-Identifier: Apache-2.0
import CMosquitto

/// Has OpenSSL itself check whether the other side's certificate is for the broker's name or address.
///
/// The library compares names as C texts and with wildcards for whole top-level domains, and where the other side answers at
/// once it sends the password in the call that connects, so a look at the certificate afterwards comes too late.
enum Authentication {
  /// Before the first connection of `client`; `told` learns why a chain was turned down, which the library forgets.
  static func begin(_ client: OpaquePointer, told: Told, host: String) throws(MQTTFault) {
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw .library("has no memory for TLS") }
    // The client keeps its own hold on it.
    defer { SSL_CTX_free(context) }
    let rules = SSL_CTX_get0_param(context)
    guard X509_VERIFY_PARAM_set1_ip_asc(rules, host) == 1 || X509_VERIFY_PARAM_set1_host(rules, host, 0) == 1 else {
      throw .library("does not take \"\(host)\" as the name of a certificate")
    }
    SSL_CTX_set_cert_verify_callback(
      context,
      { store, told in
        // The library's own check would be asked as well, and knows no client with a context of ours.
        X509_STORE_CTX_set_verify_cb(store) { isFine, _ in isFine }
        let isTrusted = X509_verify_cert(store)
        Told.from(told)?.verification = Int(X509_STORE_CTX_get_error(store))
        return isTrusted
      }, Unmanaged.passUnretained(told).toOpaque())
    try Client.check(
      mosquitto_void_option(client, MOSQ_OPT_SSL_CTX, UnsafeMutableRawPointer(context)), "TLS of our own")
    try Client.check(mosquitto_int_option(client, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 1), "the options of TLS")
  }
}
