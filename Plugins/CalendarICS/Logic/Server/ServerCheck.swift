// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import TargetKit

extension CalendarServer {
  /// Asks whether a delivery would work, and changes nothing.
  func check(host: Host) throws(Verdict) -> Verdict {
    let answer = try properties(address.path, Self.ofCalendar, host: host)
    guard answer.status == 207, answer.isWhole else {
      if (200...299).contains(answer.status), answer.isWhole { throw CalendarFault.noCalendarData(address.url).verdict }
      throw ServerJudge(now: Clock.now()).verdict(on: answer)
    }
    guard let resource = DAVResource.all(in: answer.body).first else {
      throw CalendarFault.noCalendarData(address.url).verdict
    }
    return try Self.judge(resource)
  }

  private static func judge(_ resource: DAVResource) throws(Verdict) -> Verdict {
    let kinds = resource.properties["resourcetype"]?.children.map(\.name) ?? []
    guard kinds.contains("calendar") else {
      throw CalendarFault.notACalendar(kinds.contains("collection") ? "a folder, perhaps of calendars" : "no folder")
        .verdict
    }
    if let components = resource.properties["supported-calendar-component-set"]?.all("comp"), !components.isEmpty,
      !components.contains(where: { $0.attributes["name"]?.uppercased() == "VEVENT" })
    {
      throw CalendarFault.takesNoEvents.verdict
    }
    // Not every server tells what a user may do.
    if let told = resource.properties["current-user-privilege-set"] {
      let may = Set(told.all("privilege").flatMap { $0.children.map(\.name) })
      if !may.isEmpty, may.isDisjoint(with: ["all", "write", "write-content"]) {
        throw CalendarFault.mayNotWrite.verdict
      }
    }
    let name = resource.properties["displayname"]?.text ?? ""
    return .delivered(
      status: 207, message: name.isEmpty ? "the calendar is there" : "the calendar is \(InputFault.shown(name))")
  }
}

extension Answer {
  /// All of the body came, and nobody stopped it.
  var isWhole: Bool { code == CURLE_OK }
}
