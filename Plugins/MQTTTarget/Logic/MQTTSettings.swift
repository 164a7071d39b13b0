// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The settings that hold no template, read once when the target opens.
struct MQTTSettings {
  enum Version: String { case auto, five = "5", three = "3.1.1" }

  struct TLSFiles: Equatable {
    /// Replaces the system's authorities.
    var ca: String?
    var certificate: String?
    var key: String?
  }

  var host: String
  var port: Int32
  /// nil without TLS.
  var tls: TLSFiles?
  var username: String?
  var password: String?
  /// nil: one of the pipeline's own.
  var clientID: String?
  var qos: Int32
  var retain: Bool
  var version: Version
  var discovery: DiscoverySettings?

  init(host: Host) throws(Verdict) {
    self.host = try host.text("host") ?? ""
    tls = try Self.tls(host)
    port = Int32(clamping: try host.integer("port") ?? (tls == nil ? 1883 : 8883))
    username = try host.text("username")
    password = try host.secret("password")
    clientID = try host.text("clientId")
    qos = Int32(clamping: min(2, max(0, try host.integer("qos") ?? 1)))
    retain = try host.flag("retain") ?? false
    version = try host.text("version").flatMap { Version(rawValue: $0) } ?? .auto
    discovery = try DiscoverySettings(host: host)
    // A topic that holds a template is not there yet.
    let topic = try host.text("topic")
    do throws(MQTTFault) {
      try check()
      if let topic { _ = try Topic(topic) }
    } catch {
      throw error.verdict
    }
  }

  private static func tls(_ host: Host) throws(Verdict) -> TLSFiles? {
    guard try host.count("tls") != nil else { return nil }
    let files = TLSFiles(
      ca: try host.text("tls/ca"), certificate: try host.text("tls/certificate"), key: try host.text("tls/key"))
    guard (files.certificate == nil) == (files.key == nil) else { throw MQTTFault.certificateHalf.verdict }
    return files
  }

  private static let notInNames: [Unicode.Scalar] = ["/", "@", "[", "]", "?", "#", "\\"]

  private func check() throws(MQTTFault) {
    guard !host.isEmpty else { throw .hostMissing }
    let isName = host.unicodeScalars.allSatisfy { $0.value > 0x20 && !Self.notInNames.contains($0) }
    // More than one colon is an address of IPv6; one would be a port.
    let colons = host.utf8.count(where: { $0 == UInt8(ascii: ":") })
    guard isName, !MQTTText.isUnfit(host), colons != 1 else { throw .hostUnusable }
    for (name, text) in [("username", username), ("clientId", clientID)] {
      guard let text else { continue }
      if MQTTText.isUnfit(text) { throw .characters(name) }
      if text.utf8.count > Topic.longest { throw .tooLong(name) }
    }
    if let password {
      guard username != nil else { throw .passwordAlone }
      // The library takes a C text, and the length of what it sends has 16 bits.
      if password.utf8.contains(0) { throw .characters("password") }
      if password.utf8.count > Topic.longest { throw .tooLong("password") }
    }
  }

  /// Nothing leaves the machine.
  var isLoopback: Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
      || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
  }
}
