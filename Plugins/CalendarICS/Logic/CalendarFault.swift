// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What is wrong with the settings or with what they lead to, in the words that people read.
enum CalendarFault {
  case noPlace
  case twoPlaces
  case fileName
  case notAFile(String)
  case foreignFile(String)
  case credentialsIncomplete
  case colonInUsername
  case credentialsInAddress
  case addressNotPlain
  case passwordInClear
  case foreignState
  case notACalendar(String)
  case takesNoEvents
  case mayNotWrite
  case noCalendarData(String)

  var message: String {
    switch self {
    case .noPlace: "set \"file\" to the .ics file that calendars subscribe to, or \"url\" to a CalDAV calendar"
    case .twoPlaces: "\"file\" and \"url\" are both set; remove one of them, or make a second pipeline"
    case .fileName: "\"file\" must be an absolute path that ends in a file's name, as /srv/www/health.ics"
    case .notAFile(let path): "\(path) is no regular file; choose another \"file\""
    case .foreignFile(let path):
      "\(path) was not written by this pipeline and would be lost; move it away, or choose another \"file\""
    case .credentialsIncomplete: "\"username\" and \"password\" belong together; set both or none"
    case .colonInUsername: "\"username\" holds a colon, which HTTP cannot carry"
    case .credentialsInAddress: "\"url\" holds a user or password; move them to \"username\" and \"password\""
    case .addressNotPlain:
      "\"url\" holds ? or #; set it to the calendar's own CalDAV address, not to one for subscribing or exporting"
    case .passwordInClear:
      "the password would cross the network readable; use https, or set \"allowPasswordInClear\" if nobody can listen"
    case .foreignState:
      "what was saved about an event cannot be read; did a newer version write it? Install that version again"
    case .notACalendar(let what):
      "\"url\" is \(what), not a calendar; set it to the address of the calendar itself, as its properties show it"
    case .takesNoEvents: "the calendar at \"url\" takes no events, only tasks or the like; choose another"
    case .mayNotWrite: "the calendar at \"url\" may only be read; let the user write there, or choose another"
    case .noCalendarData(let place):
      "\(place) answers with something that isn't a calendar; check \"url\", and whether the network wants a sign-in"
    }
  }

  var verdict: Verdict {
    switch self {
    case .mayNotWrite: .needsAttention(.credentials, message)
    case .foreignState: .needsAttention(.other, message)
    case .noCalendarData, .notACalendar: .needsAttention(.notFound, message)
    default: .needsAttention(.settings, message)
    }
  }
}
