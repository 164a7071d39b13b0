// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// An event in the file: all of it, so that the file can be written again from here alone.
struct FileRecord: LedgerRecord, Equatable {
  static let prefix = "file/"

  var event: CalendarEvent
  var sequence: Int64
  /// Seconds since 1970.
  var changed: Int64

  init(event: CalendarEvent, sequence: Int64, changed: Int64) {
    self.event = event
    self.sequence = sequence
    self.changed = changed
  }

  init?(_ node: JSONNode) {
    guard let key = node["key"]?.string, let title = node["title"]?.string, let start = node["start"]?.integer,
      let end = node["end"]?.integer, let allDay = node["allDay"]?.bool, let sequence = node["sequence"]?.integer,
      let changed = node["changed"]?.integer
    else { return nil }
    event = CalendarEvent(
      key: key, title: title, time: allDay ? .days(first: start, last: end) : .timed(start: start, end: end),
      notes: node["notes"]?.string, location: node["location"]?.string)
    self.sequence = sequence
    self.changed = changed
  }

  func write(to writer: inout JSONWriter) {
    writer.member("key", event.key)
    writer.member("title", event.title)
    let (start, end, allDay) =
      switch event.time {
      case .days(let first, let last): (first, last, true)
      case .timed(let start, let end): (start, end, false)
      }
    writer.member("start", start)
    writer.member("end", end)
    writer.name("allDay")
    writer.value(allDay)
    writer.member("notes", event.notes)
    writer.member("location", event.location)
    writer.member("sequence", sequence)
    writer.member("changed", changed)
  }
}
