// SPDX-License-Identifier: Apache-2.0

/// How an event is written.
struct EventText {
  static let product = "-//Relay Host//Calendar//EN"
  /// Marks events as ours; its value is the key.
  static let mark = "X-RELAY-KEY"
  /// The properties that are ours to write; all others in an event belong to whoever added them.
  static let own: Set<String> = [
    "UID", "DTSTAMP", "LAST-MODIFIED", "SEQUENCE", "DTSTART", "DTEND", "DURATION", "SUMMARY", "DESCRIPTION", "LOCATION",
    mark,
  ]

  var event: CalendarEvent
  var uid: String
  /// Rises with each change.
  var sequence: Int64
  /// When the delivery was made that changed it last, in seconds since 1970: never the time of writing, so that the same
  /// event is the same bytes.
  var changed: Int64

  /// Our properties, unfolded.
  var properties: [String] {
    let stamp = CivilTime.basic(seconds: changed)
    var lines = ["UID:\(uid)", "DTSTAMP:\(stamp)", "LAST-MODIFIED:\(stamp)", "SEQUENCE:\(sequence)"]
    lines += times.map { "\($0.name)\($0.isDate ? ";VALUE=DATE" : ""):\($0.value)" }
    lines.append("SUMMARY:\(ContentLines.escaped(event.title))")
    if let notes = event.notes { lines.append("DESCRIPTION:\(ContentLines.escaped(notes))") }
    if let location = event.location { lines.append("LOCATION:\(ContentLines.escaped(location))") }
    lines.append("\(Self.mark):\(ContentLines.escaped(event.key))")
    return lines
  }

  struct Time: Equatable {
    var name: String
    var isDate: Bool
    var value: String
  }

  var times: [Time] { Self.times(event.time) }

  /// DTSTART and, unless it would be the same, DTEND: for days the one after the last, instants in UTC.
  static func times(_ time: EventTime) -> [Time] {
    switch time {
    case .days(let first, let last):
      return [
        Time(name: "DTSTART", isDate: true, value: CivilTime.basicDate(day: first)),
        Time(name: "DTEND", isDate: true, value: CivilTime.basicDate(day: last + 1)),
      ]
    case .timed(let start, let end):
      let begin = Time(name: "DTSTART", isDate: false, value: CivilTime.basic(seconds: start))
      return start == end ? [begin] : [begin, Time(name: "DTEND", isDate: false, value: CivilTime.basic(seconds: end))]
    }
  }

  func write(to lines: inout ContentLines) {
    lines.add("BEGIN:VEVENT")
    for property in properties { lines.add(property) }
    lines.add("END:VEVENT")
  }

  /// A calendar that holds this event alone, as CalDAV wants it.
  var object: [UInt8] {
    var lines = ContentLines()
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:\(Self.product)"] { lines.add(line) }
    write(to: &lines)
    lines.add("END:VCALENDAR")
    return lines.take()
  }

  /// Of everything that a calendar shows of an event.
  static func digest(_ event: CalendarEvent) -> String {
    let empty = EventText(event: event, uid: "", sequence: 0, changed: 0)
    return EventIdentity.sha256(empty.properties.joined(separator: "\n"))
  }
}
