// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// What is wrong with a part, in the words that people read.
enum InputFault {
  case packed
  case tooLarge
  case notJSON(line: Int, column: Int, String)
  case noEvents
  case eventsTwice
  case notAnEvent(Int)
  case event(Int, key: String?, EventProblem)

  static let shape = #"{"events": [{"key", "title", "start", "end", "allDay", "notes", "location"}]}"#

  var message: String {
    switch self {
    case .packed: "the part is packed by gzip; remove \"encode\" from \"delivery\""
    case .tooLarge: "the part is larger than \(EventPart.most >> 20) MB; list fewer events in a part"
    case .notJSON(let line, let column, let problem):
      "the part isn't JSON: line \(line), column \(column): \(problem)"
    case .noEvents: "the part must be an object with a list of events: \(Self.shape)"
    case .eventsTwice: "the part holds \"events\" twice; put all of them into one list"
    case .notAnEvent(let number): "event \(number) isn't an object; expected \(Self.shape)"
    case .event(let number, let key, let problem): "\(Self.name(number, key)): \(problem.message)"
    }
  }

  var verdict: Verdict {
    switch self {
    case .packed: .needsAttention(.settings, message)
    case .tooLarge: .refused(.tooLarge, message)
    default: .refused(.content, message)
    }
  }

  /// How an event is named to people.
  static func name(_ number: Int, _ key: String?) -> String {
    guard let key else { return "event \(number)" }
    return "event \(number) (key \"\(shown(key, most: 100))\")"
  }

  static func shown(_ text: String, most: Int = 60) -> String {
    PrintableLine.of(text, most: most)
  }
}

/// What is wrong with one event.
enum EventProblem {
  case missing(String)
  case memberTwice(String)
  case wrongType(String)
  case badKey
  case keyTwice(first: Int)
  case tooLong
  case badDay(String, String)
  case badTime(String, String)
  case noOffset(String, String)
  case dayWithoutAllDay(String, String)
  case endBeforeStart

  var message: String {
    switch self {
    case .missing(let name): "\"\(name)\" is missing"
    case .memberTwice(let name): "\"\(name)\" is there twice"
    case .wrongType(let name): "\"\(name)\" must be \(name == "allDay" ? "true or false" : "a text")"
    case .badKey: "\"key\" must have 1 to 1000 bytes"
    case .keyTwice(let first): "event \(first) has the same key; each event needs one of its own"
    case .tooLong: "its texts have more than \(EventReader.mostText) bytes; shorten \"notes\""
    case .badDay(let name, let text):
      "\"\(name)\" is \"\(InputFault.shown(text))\"; an all-day event needs a date such as 2026-03-28, in the years 0001 to 9999"
    case .badTime(let name, let text):
      "\"\(name)\" is \"\(InputFault.shown(text))\"; expected a time with an offset such as 2026-03-28T10:00:00+01:00, in the years 0001 to 9999"
    case .noOffset(let name, let text):
      "\"\(name)\" is \"\(InputFault.shown(text))\", a time without an offset; add one, as in 2026-03-28T10:00:00+01:00 or …Z"
    case .dayWithoutAllDay(let name, let text):
      "\"\(name)\" is the date \"\(InputFault.shown(text))\"; set \"allDay\" to true, or give a time with an offset"
    case .endBeforeStart: "\"end\" is before \"start\""
    }
  }
}
