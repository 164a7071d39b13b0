// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import DurableFiles
import TargetKit

/// Keeps a pipeline's events in a calendar: a file that calendars subscribe to, or a calendar of a CalDAV server.
package struct CalendarTarget: CheckableTarget {
  package static let manifest = CalendarManifest.json

  private enum Place {
    case file(CalendarFile)
    case server(CalendarServer)
  }

  private let place: Place
  private let calendarName: String?

  package init(host: Host) throws(Verdict) {
    try self.init(host: host, kernel: Kernel())
  }

  init(host: Host, kernel: Kernel) throws(Verdict) {
    let settings = try CalendarSettings(host: host)
    calendarName = settings.calendarName
    switch settings.place {
    case .file(let path): place = .file(try CalendarFile(path, kernel: kernel))
    case .server(let address, let authorization):
      place = .server(
        CalendarServer(
          address: address, authorization: authorization, transport: settings.transport, connection: try Connection()))
    }
  }

  package mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
    let part = try EventPart(delivery, host: host)
    if delivery.isTest {
      // Nobody wants a test among the appointments: what it lists is read, and the calendar is asked.
      var verdict = try check(host: host)
      verdict.message += "; a test writes no events"
      return verdict
    }
    switch place {
    case .file(let file): return try file.deliver(part, delivery, calendarName: calendarName, host: host)
    case .server(let server): return try ServerDelivery(server, host: host).deliver(part, delivery)
    }
  }

  package mutating func check(host: Host) throws(Verdict) -> Verdict {
    switch place {
    case .file(let file): try file.check()
    case .server(let server): try server.check(host: host)
    }
  }
}
