// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import Glibc

/// Makes the library's client objects.
enum Client {
  /// The authorities that the system trusts, by hash. The library's own way to them fails in 2.0.11.
  static let authorities = "/etc/ssl/certs"

  private static let isStarted = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.rawValue

  /// - Parameter address: where the host is, if that is known otherwise than by its name.
  static func make(
    _ settings: MQTTSettings, id: String, speaks5: Bool, address: String? = nil
  ) throws(MQTTFault) -> Link {
    guard isStarted else { throw .library("could not be started") }
    let told = Told()
    guard let client = mosquitto_new(id, true, Unmanaged.passUnretained(told).toOpaque()) else {
      throw .library("could not make a client: \(String(cString: strerror(errno)))")
    }
    let link = Link(client: client, told: told, settings: settings, speaks5: speaks5, address: address)
    Told.listen(to: client)
    try check(
      mosquitto_int_option(
        client, MOSQ_OPT_PROTOCOL_VERSION, speaks5 ? Int32(MQTT_PROTOCOL_V5) : Int32(MQTT_PROTOCOL_V311)), "the version"
    )
    try check(mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1), "TCP_NODELAY")
    if let username = settings.username {
      try check(mosquitto_username_pw_set(client, username, settings.password), "user and password")
    }
    if let files = settings.tls {
      try Authentication.begin(client, told: told, host: settings.host)
      try encrypt(client, files)
      // A library that has OpenSSL compare would have it compare with the address.
      if address != nil { try check(mosquitto_tls_insecure_set(client, true), "the options of TLS") }
    }
    return link
  }

  private static func encrypt(_ client: OpaquePointer, _ files: MQTTSettings.TLSFiles) throws(MQTTFault) {
    for (setting, path) in [("tls.ca", files.ca), ("tls.certificate", files.certificate), ("tls.key", files.key)] {
      guard let path, access(path, R_OK) != 0 else { continue }
      throw .fileUnreadable(setting: setting, path: path, words: String(cString: strerror(errno)))
    }
    // Without an answer of ours, OpenSSL asks the terminal for a key's password.
    let noPassword: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
      _, _, _, _ in 0
    }
    try check(
      mosquitto_tls_set(
        client, files.ca, files.ca == nil ? authorities : nil, files.certificate, files.key, noPassword),
      "the files of \"tls\"")
    try check(mosquitto_tls_opts_set(client, SSL_VERIFY_PEER, "tlsv1.2", nil), "the options of TLS")
  }

  static func check(_ code: Int32, _ what: String) throws(MQTTFault) {
    guard code != MOSQ_ERR_SUCCESS.rawValue else { return }
    throw .library("does not take \(what): \(String(cString: mosquitto_strerror(code)))")
  }
}
