// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// The settings, read once when the target opens.
struct CalendarSettings {
  enum Place {
    case file(String)
    case server(ServerAddress, authorization: String?)
  }

  let place: Place
  /// nil: the pipeline's.
  let calendarName: String?
  var transport = TransportOptions()

  init(host: Host) throws(Verdict) {
    calendarName = try host.text("calendarName")
    transport.tls = try TLSFiles(host: host)
    // A repeated PUT is recognised by its condition, so connections may be kept.
    transport.mayRepeat = true
    switch (try host.text("file"), try host.text("url")) {
    case (let file?, nil): place = .file(file)
    case (nil, let url?):
      let address = try ServerAddress(url)
      place = .server(address, authorization: try Self.authorization(address, host))
    case (nil, nil): throw CalendarFault.noPlace.verdict
    default: throw CalendarFault.twoPlaces.verdict
    }
  }

  private static func authorization(_ address: ServerAddress, _ host: Host) throws(Verdict) -> String? {
    let (username, password) = (try host.text("username"), try host.secret("password"))
    if username == nil, password == nil { return nil }
    guard let username, let password else { throw CalendarFault.credentialsIncomplete.verdict }
    guard !username.contains(":") else { throw CalendarFault.colonInUsername.verdict }
    if !address.isPrivate, try host.flag("allowPasswordInClear") != true {
      throw CalendarFault.passwordInClear.verdict
    }
    return "Basic \(Base64.encode(Array("\(username):\(password)".utf8)))"
  }
}

/// Where a calendar is.
struct ServerAddress: Equatable {
  /// "https://example.org:8443"
  let origin: String
  /// From the first slash to the last, which is the calendar's.
  let path: String

  init(_ url: String) throws(Verdict) {
    try Address.check(url)
    guard !url.contains("?"), !url.contains("#") else { throw CalendarFault.addressNotPlain.verdict }
    guard let scheme = url.firstRange(of: "://") else { throw TransportFault.addressUnusable("url").verdict }
    let slash = url[scheme.upperBound...].firstIndex(of: "/") ?? url.endIndex
    guard !url[scheme.upperBound..<slash].contains("@") else { throw CalendarFault.credentialsInAddress.verdict }
    origin = String(url[..<slash])
    let rest = String(url[slash...])
    path = rest.hasSuffix("/") ? rest : rest + "/"
  }

  var url: String { origin + path }

  /// Nobody can listen: TLS, or a connection that stays on this machine.
  var isPrivate: Bool {
    let address = origin.lowercased()
    if address.hasPrefix("https://") { return true }
    var name = address.dropFirst("http://".count)
    if name.hasPrefix("[") { return name.hasPrefix("[::1]") }
    if let colon = name.firstIndex(of: ":") { name = name[..<colon] }
    let isLoopback = name.hasPrefix("127.") && name.allSatisfy { $0 == "." || ("0"..."9").contains($0) }
    return name == "localhost" || isLoopback
  }

  /// The path of what a server names; nil for what isn't in this calendar.
  func path(of href: String) -> String? {
    let prefix = href.hasPrefix(origin + "/") ? origin.count : 0
    let inside = String(href.dropFirst(prefix))
    let name = inside.dropFirst(path.count)
    guard inside.hasPrefix(path), !name.isEmpty, !name.contains("/"), !name.hasPrefix("."),
      name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    else { return nil }
    return inside
  }
}
