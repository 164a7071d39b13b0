// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import TargetKit

/// Reads the events of a part one by one, so that only one is held besides the part itself.
struct EventReader {
  /// Text of one event, in bytes: what is kept of it must fit one value of the host's state, escaped.
  static let mostText = 32_000
  private static let known = ["key", "title", "start", "end", "allDay", "notes", "location"]

  private let bytes: [UInt8]
  private var reader: JSONReader
  private var isInList = false
  private var sawList = false
  /// Of the event that `next` returned last, from 1.
  private(set) var number = 0
  /// A member that no event has, for a person who mistyped one; the first that came.
  private(set) var ignored: String?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    reader = JSONReader(bytes, limits: JSONLimits(depth: 32, bytes: .max))
  }

  /// The next event; nil after the last, when the whole part was found to be good.
  mutating func next() throws(Verdict) -> CalendarEvent? {
    if !isInList, !sawList { try findList() }
    guard isInList else { return nil }
    switch try token() {
    case .endArray?:
      isInList = false
      try finish()
      return nil
    case .beginObject?:
      number += 1
      return try event()
    default: throw InputFault.notAnEvent(number + 1).verdict
    }
  }

  private mutating func findList() throws(Verdict) {
    guard try token() == .beginObject else { throw InputFault.noEvents.verdict }
    while case .name(let name)? = try token() {
      if name == "events" {
        guard try token() == .beginArray else { throw InputFault.noEvents.verdict }
        (isInList, sawList) = (true, true)
        return
      }
      try skipValue()
    }
    throw InputFault.noEvents.verdict
  }

  private mutating func finish() throws(Verdict) {
    while case .name(let name)? = try token() {
      guard name != "events" else { throw InputFault.eventsTwice.verdict }
      try skipValue()
    }
    // Nothing may follow.
    _ = try token()
  }

  private mutating func event() throws(Verdict) -> CalendarEvent {
    var members: [String: JSONToken] = [:]
    while case .name(let name)? = try token() {
      guard Self.known.contains(name) else {
        ignored = ignored ?? name
        try skipValue()
        continue
      }
      guard let value = try token() else { break }
      guard members.updateValue(value, forKey: name) == nil else {
        throw fault(members, .memberTwice(name))
      }
      if value == .beginObject || value == .beginArray { throw fault(members, .wrongType(name)) }
    }
    return try EventMaker(members, fault: fault).event()
  }

  private func fault(_ members: [String: JSONToken], _ problem: EventProblem) -> Verdict {
    var key: String?
    if case .string(let text)? = members["key"] { key = text }
    return InputFault.event(number, key: key, problem).verdict
  }

  private mutating func skipValue() throws(Verdict) {
    let depth = reader.depth
    repeat {
      guard try token() != nil else { return }
    } while reader.depth > depth
  }

  private mutating func token() throws(Verdict) -> JSONToken? {
    do throws(JSONError) {
      return try reader.next()
    } catch {
      let place = LineIndex(bytes).position(of: error.offset)
      throw InputFault.notJSON(line: place.line, column: place.column, "\(error.message); \(error.kind.hint)").verdict
    }
  }
}

/// Makes an event of the members that were read.
private struct EventMaker {
  let members: [String: JSONToken]
  let fault: ([String: JSONToken], EventProblem) -> Verdict

  init(_ members: [String: JSONToken], fault: @escaping ([String: JSONToken], EventProblem) -> Verdict) {
    self.members = members
    self.fault = fault
  }

  func event() throws(Verdict) -> CalendarEvent {
    let key = try required("key")
    guard !key.isEmpty, key.utf8.count <= 1000 else { throw fault(members, .badKey) }
    let event = CalendarEvent(
      key: CleanText.line(key), title: CleanText.line(try required("title")), time: try time(),
      notes: try optional("notes").map(CleanText.lines), location: try optional("location").map(CleanText.lines))
    let length = [event.key, event.title, event.notes ?? "", event.location ?? ""].reduce(0) { $0 + $1.utf8.count }
    guard length <= EventReader.mostText else { throw fault(members, .tooLong) }
    return event
  }

  private func time() throws(Verdict) -> EventTime {
    let (start, end) = (try required("start"), try required("end"))
    if try flag("allDay") {
      let (first, last) = (try day("start", start), try day("end", end))
      guard first <= last else { throw fault(members, .endBeforeStart) }
      // iCalendar names the day after the last.
      guard CivilTime.years.contains((last + 1) * CivilTime.secondsPerDay) else {
        throw fault(members, .badDay("end", end))
      }
      return .days(first: first, last: last)
    }
    let (from, to) = (try instant("start", start), try instant("end", end))
    guard from <= to else { throw fault(members, .endBeforeStart) }
    return .timed(start: from, end: to)
  }

  private func day(_ name: String, _ text: String) throws(Verdict) -> Int64 {
    guard let day = CivilTime.day(text) else { throw fault(members, .badDay(name, text)) }
    return day
  }

  private func instant(_ name: String, _ text: String) throws(Verdict) -> Int64 {
    switch CivilTime.instant(text) {
    case .at(let seconds): return seconds
    case .withoutOffset: throw fault(members, .noOffset(name, text))
    case .unreadable:
      throw fault(members, CivilTime.day(text) == nil ? .badTime(name, text) : .dayWithoutAllDay(name, text))
    }
  }

  private func required(_ name: String) throws(Verdict) -> String {
    guard let text = try optional(name) else { throw fault(members, .missing(name)) }
    return text
  }

  private func optional(_ name: String) throws(Verdict) -> String? {
    switch members[name] {
    case .string(let text)?: return text
    case nil, .null?: return nil
    default: throw fault(members, .wrongType(name))
    }
  }

  private func flag(_ name: String) throws(Verdict) -> Bool {
    switch members[name] {
    case .bool(let flag)?: return flag
    case nil, .null?: return false
    default: throw fault(members, .wrongType(name))
    }
  }
}
