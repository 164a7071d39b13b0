// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// Speaks CalDAV with one calendar.
struct CalendarServer {
  /// The most of a 207 answer that is read, in bytes.
  private static let mostXML = 256 << 10

  let address: ServerAddress
  let authorization: String?
  let transport: TransportOptions
  let connection: Connection

  func get(_ path: String, unless tag: String?, host: Host) throws(Verdict) -> Answer {
    var headers = try headers()
    if let tag { headers.setCleaned("If-None-Match", tag) }
    return try send("GET", path, headers, nil, keeps: ObjectText.most + 1, host)
  }

  func put(_ path: String, _ body: [UInt8], _ condition: EventTurn.Condition, host: Host) throws(Verdict) -> Answer {
    var headers = try headers()
    switch condition {
    case .new: headers.setCleaned("If-None-Match", "*")
    case .match(let tag): headers.setCleaned("If-Match", tag)
    }
    let body = RequestBody(body, contentType: "text/calendar; charset=utf-8")
    // Room for what a server says in XML about a refusal.
    return try send("PUT", path, headers, body, keeps: 16 << 10, host)
  }

  /// Asks for properties of one resource.
  func properties(_ path: String, _ names: String, host: Host) throws(Verdict) -> Answer {
    try ask("PROPFIND", path, "0", "<D:propfind \(Self.namespaces)><D:prop>\(names)</D:prop></D:propfind>", host)
  }

  static let tag = "<D:getetag/>"
  static let ofCalendar =
    "<D:resourcetype/><D:displayname/><D:current-user-privilege-set/><C:supported-calendar-component-set/>"

  /// The object that holds the event of this UID.
  func find(uid: String, host: Host) throws(Verdict) -> Answer {
    // A UID is made of letters, digits, "-" and "@", so nothing in it needs escaping.
    let query = """
      <C:calendar-query \(Self.namespaces)><D:prop>\(Self.tag)</D:prop><C:filter><C:comp-filter name="VCALENDAR">\
      <C:comp-filter name="VEVENT"><C:prop-filter name="UID"><C:text-match collation="i;octet">\(uid)</C:text-match>\
      </C:prop-filter></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>
      """
    return try ask("REPORT", address.path, "1", query, host)
  }

  private static let namespaces = #"xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav""#

  private func ask(
    _ method: String, _ path: String, _ depth: String, _ xml: String, _ host: Host
  ) throws(Verdict) -> Answer {
    var headers = try headers()
    headers.setCleaned("Depth", depth)
    let document = #"<?xml version="1.0" encoding="utf-8"?>"# + xml
    let body = RequestBody(Array(document.utf8), contentType: "application/xml; charset=utf-8")
    return try send(method, path, headers, body, keeps: Self.mostXML, host)
  }

  private func headers() throws(Verdict) -> HeaderFields {
    var headers = HeaderFields()
    headers.setCleaned("User-Agent", "relay-host-calendar/\(CalendarManifest.version)")
    if let authorization { try headers.set("Authorization", authorization) }
    return headers
  }

  private func send(
    _ method: String, _ path: String, _ headers: HeaderFields, _ body: RequestBody?, keeps: Int, _ host: Host
  ) throws(Verdict) -> Answer {
    var headers = headers
    if let body { headers.setCleaned("Content-Type", body.contentType) }
    var request = Request(url: address.origin + path, method: method, headers: headers, body: body)
    request.keeps = keeps
    return try connection.exchange(request, options: transport, host: host)
  }
}
