// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// One event's way onto the server: a value that is told each answer and says what to ask next.
///
/// Every PUT carries a condition, so that whatever happens in between, nothing of others is overwritten and an object that an
/// earlier attempt made is found instead of made twice.
struct EventTurn {
  enum Step: Equatable {
    /// With a tag: only if it is another by now.
    case get(path: String, unless: String?)
    case put(path: String, body: [UInt8], condition: Condition)
    /// The object of this UID, wherever it is in the calendar.
    case find(uid: String)
    case askTag(path: String)
    case done(ServerRecord, Change)
    /// `.refused` is this event's alone, any other ends the delivery.
    case ended(Verdict)
  }

  enum Condition: Equatable {
    case new
    /// A tag, or "*" for any.
    case match(String)
  }

  enum Change { case made, changed, unchanged }

  /// Most requests for one event; more means that somebody changes it all the time.
  private static let most = 12
  private static let lastRevision = 9

  private enum Asked {
    case nothing
    case current
    case creation
    case update
    case uid
    /// The tag of what was just put there.
    case tagOfPut
    /// The tag of what was read and is to be replaced.
    case tagOfCurrent(ObjectText)
  }

  private let event: CalendarEvent
  private let identity: EventIdentity
  private let address: ServerAddress
  private let judge: ServerJudge
  private let digest: String
  /// Seconds since 1970: when the delivery was made.
  private let created: Int64
  /// Of this calendar.
  private let earlier: ServerRecord?

  private var asked = Asked.nothing
  private var path: String
  private var revision: Int
  /// The last that is known to be in use; nil while there is none.
  private var sequence: Int64?
  private var change = Change.made
  private var requests = 0

  init(
    _ event: CalendarEvent, _ identity: EventIdentity, record: ServerRecord?, address: ServerAddress, created: Int64,
    judge: ServerJudge
  ) {
    self.event = event
    self.identity = identity
    self.address = address
    self.created = created
    self.judge = judge
    digest = EventText.digest(event)
    earlier = record?.calendar == address.url ? record : nil
    revision = min(max(earlier?.revision ?? 1, 1), Self.lastRevision)
    sequence = record?.sequence
    path = earlier?.path ?? address.path + identity.fileName(revision: revision)
  }

  private var uid: String { identity.uid(revision: revision) }

  mutating func begin() -> Step { earlier == nil ? create() : look(unless: knownTag) }

  mutating func next(after answer: Answer) -> Step {
    // Only what was received whole may be judged as a whole.
    guard !answer.stopped, answer.status != 0 else { return .ended(judge.verdict(on: answer)) }
    switch asked {
    case .nothing: return begin()
    case .current: return current(answer)
    case .creation, .update: return put(answer)
    case .uid: return found(answer)
    case .tagOfPut: return tagOfPut(answer)
    case .tagOfCurrent(let text): return update(text, tag: Self.tag(in: answer) ?? "*")
    }
  }

  /// The tag under which the server has exactly what is to be there.
  private var knownTag: String? { earlier?.content == digest ? earlier?.tag : nil }

  private mutating func ask(_ asked: Asked, _ step: Step) -> Step {
    requests += 1
    guard requests <= Self.most else {
      return .ended(.retry(.receiver, "the event was changed by others again and again while it was written"))
    }
    self.asked = asked
    return step
  }

  private mutating func look(unless tag: String? = nil) -> Step { ask(.current, .get(path: path, unless: tag)) }

  private var next: Int64 { sequence.map { $0 + 1 } ?? 0 }

  private var text: EventText { EventText(event: event, uid: uid, sequence: next, changed: created) }

  private mutating func create() -> Step {
    change = .made
    return ask(.creation, .put(path: path, body: text.object, condition: .new))
  }

  /// Under a UID that the server still gives to somebody.
  private mutating func createAnew() -> Step {
    guard revision < Self.lastRevision else {
      return .ended(.refused(.content, "the server keeps every UID of this event occupied; empty the calendar's trash"))
    }
    revision += 1
    path = address.path + identity.fileName(revision: revision)
    return create()
  }

  private mutating func current(_ answer: Answer) -> Step {
    switch answer.status {
    case 304 where earlier != nil && knownTag != nil: return finish(tag: earlier?.tag, .unchanged)
    case 404, 410: return create()
    case 200: break
    default: return .ended(judge.verdict(on: answer))
    }
    guard answer.isWhole || answer.body.count > ObjectText.most else {
      return .ended(.retry(.receiver, "the server's event came only in part"))
    }
    guard answer.body.count <= ObjectText.most else {
      return .ended(.refused(.tooLarge, "what others added to the event is more than 1 MB; remove attachments from it"))
    }
    guard let text = ObjectText(answer.body) else {
      return .ended(CalendarFault.noCalendarData(address.origin + path).verdict)
    }
    guard let there = ServerEvent(text, uid: uid), there.isMarked || earlier?.path == path else {
      return .ended(.refused(.content, "another event of this calendar is at its place, \(address.origin)\(path)"))
    }
    let tag = answer.head["etag"]
    if let tag, tag == knownTag { return finish(tag: tag, .unchanged) }
    sequence = max(sequence ?? 0, there.sequence)
    if there.shows(event) { return finish(tag: tag, .unchanged) }
    change = .changed
    // A weak tag is no good as a condition; the property may be the strong one.
    guard let tag, !tag.hasPrefix("W/") else { return ask(.tagOfCurrent(text), .askTag(path: path)) }
    return update(text, tag: tag)
  }

  private mutating func update(_ there: ObjectText, tag: String) -> Step {
    let body = there.replacing(text.properties, uid: uid)
    return ask(.update, .put(path: path, body: body, condition: .match(tag)))
  }

  private mutating func put(_ answer: Answer) -> Step {
    let error = DAVError(answer)
    switch answer.status {
    case 200, 201, 204:
      guard !ReceiverText.isPage(answer) else {
        return .ended(CalendarFault.noCalendarData(address.origin + path).verdict)
      }
      guard let tag = answer.head["etag"] else { return ask(.tagOfPut, .get(path: path, unless: nil)) }
      return finish(tag: tag, change)
    case 202..<300: return .ended(.retry(.receiver, status: Int32(answer.status), Words.answered(answer)))
    case 412: return look()
    case 404 where isUpdate, 410 where isUpdate: return create()
    case 400, 403, 409:
      if error.isInTrash { return createAnew() }
      if error.isTaken { return ask(.uid, .find(uid: uid)) }
      return .ended(judge.verdict(on: answer))
    default: return .ended(judge.verdict(on: answer))
    }
  }

  private var isUpdate: Bool { if case .update = asked { true } else { false } }

  private mutating func found(_ answer: Answer) -> Step {
    guard answer.status == 207, answer.isWhole else { return .ended(judge.verdict(on: answer)) }
    guard let href = DAVResource.all(in: answer.body).first?.href else { return createAnew() }
    guard let path = address.path(of: href) else {
      let there = InputFault.shown(href, most: 200)
      return .ended(.refused(.content, "its UID belongs to \(there), which isn't in this calendar"))
    }
    self.path = path
    return look()
  }

  /// The server has it if it shows it; without a tag the next delivery will compare.
  private mutating func tagOfPut(_ answer: Answer) -> Step {
    switch answer.status {
    case 200 where ObjectText(answer.body) != nil: return finish(tag: answer.head["etag"], change)
    case 200 where !answer.isWhole: return .ended(.retry(.receiver, "the server's event came only in part"))
    case 200: return .ended(CalendarFault.noCalendarData(address.origin + path).verdict)
    case 404, 410:
      return .ended(.retry(.receiver, status: Int32(answer.status), "the server took the event and doesn't have it"))
    default: return .ended(judge.verdict(on: answer))
    }
  }

  private func finish(tag: String?, _ change: Change) -> Step {
    let record = ServerRecord(
      calendar: address.url, path: path, revision: revision,
      sequence: change == .unchanged ? sequence ?? 0 : next, content: digest, tag: tag)
    return .done(record, change)
  }

  private static func tag(in answer: Answer) -> String? {
    guard answer.status == 207 else { return nil }
    return DAVResource.all(in: answer.body).first?.tag
  }
}
