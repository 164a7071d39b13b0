// SPDX-License-Identifier: Apache-2.0
import CICal

/// What libical reads of our event in an object of the server.
struct ServerEvent: Equatable {
  var isMarked: Bool
  var sequence: Int64
  var title: String?
  var notes: String?
  var location: String?
  var times: [EventText.Time]
  /// A duration or a time in another zone than UTC: a client's doing, whatever it says.
  var isRetimed: Bool

  /// The event of that UID that is no changed occurrence of it; nil when there is none.
  init?(_ text: ObjectText, uid: String) {
    icalerror_set_errors_are_fatal(0)
    var bytes = text.lines.joined(separator: [0x0d, 0x0a]) + [0x0d, 0x0a, 0]
    let parsed = bytes.withUnsafeMutableBytes { buffer in
      buffer.baseAddress.flatMap { icalparser_parse_string($0.assumingMemoryBound(to: CChar.self)) }
    }
    guard let calendar = parsed else { return nil }
    defer { icalcomponent_free(calendar) }
    var next = icalcomponent_get_first_component(calendar, ICAL_VEVENT_COMPONENT)
    while let event = next {
      if Self.text(event, ICAL_UID_PROPERTY) == uid, Self.first(event, ICAL_RECURRENCEID_PROPERTY) == nil {
        self.init(event)
        return
      }
      next = icalcomponent_get_next_component(calendar, ICAL_VEVENT_COMPONENT)
    }
    return nil
  }

  private init(_ event: OpaquePointer) {
    isMarked = Self.isMarked(event)
    sequence = Self.first(event, ICAL_SEQUENCE_PROPERTY).map { Int64(max(0, icalproperty_get_sequence($0))) } ?? 0
    title = Self.text(event, ICAL_SUMMARY_PROPERTY)
    notes = Self.text(event, ICAL_DESCRIPTION_PROPERTY)
    location = Self.text(event, ICAL_LOCATION_PROPERTY)
    times = []
    isRetimed = Self.first(event, ICAL_DURATION_PROPERTY) != nil
    for (name, kind) in [("DTSTART", ICAL_DTSTART_PROPERTY), ("DTEND", ICAL_DTEND_PROPERTY)] {
      guard let property = Self.first(event, kind) else { continue }
      let value = Self.value(property)
      times.append(EventText.Time(name: name, isDate: value.utf8.count == 8, value: value))
      if icalproperty_get_first_parameter(property, ICAL_TZID_PARAMETER) != nil { isRetimed = true }
    }
  }

  /// Whether a calendar shows the event as we would write it.
  func shows(_ event: CalendarEvent) -> Bool {
    isMarked && !isRetimed && times == EventText.times(event.time) && title ?? "" == event.title
      && notes == event.notes && location == event.location
  }

  private static func first(_ event: OpaquePointer, _ kind: icalproperty_kind) -> OpaquePointer? {
    icalcomponent_get_first_property(event, kind)
  }

  /// A text, its escapes resolved.
  private static func text(_ event: OpaquePointer, _ kind: icalproperty_kind) -> String? {
    guard let property = first(event, kind), let value = icalproperty_get_value(property),
      let text = icalvalue_get_text(value)
    else { return nil }
    return String(cString: text)
  }

  private static func value(_ property: OpaquePointer) -> String {
    guard let text = icalproperty_get_value_as_string_r(property) else { return "" }
    defer { icalmemory_free_buffer(text) }
    return String(cString: text)
  }

  private static func isMarked(_ event: OpaquePointer) -> Bool {
    var next = first(event, ICAL_X_PROPERTY)
    while let property = next {
      if let name = icalproperty_get_x_name(property), String(cString: name).uppercased() == EventText.mark {
        return true
      }
      next = icalcomponent_get_next_property(event, ICAL_X_PROPERTY)
    }
    return false
  }
}
