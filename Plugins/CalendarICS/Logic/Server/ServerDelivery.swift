// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// Brings a part's events to the server, one after the other.
struct ServerDelivery {
  let server: CalendarServer
  let host: Host
  let ledger: Ledger<ServerRecord>

  init(_ server: CalendarServer, host: Host) {
    self.server = server
    self.host = host
    ledger = Ledger(host)
  }

  func deliver(_ part: EventPart, _ delivery: Delivery) throws(Verdict) -> Verdict {
    var progress = try ServerProgress.read(host)
    var sent: UInt64 = 0
    var events = part.events
    do throws(Verdict) {
      while let event = try events.next() {
        guard events.number > progress.done else { continue }
        if host.shouldStop { throw .cancelled }
        let turn = EventTurn(
          event, EventIdentity(pipeline: delivery.pipelineID, key: event.key),
          record: try ledger.record(EventIdentity(pipeline: delivery.pipelineID, key: event.key)),
          address: server.address, created: delivery.created / 1000, judge: ServerJudge(now: Clock.now()))
        do throws(Verdict) {
          try progress.tally.count(run(turn, event, delivery.pipelineID, &sent))
        } catch {
          guard error.outcome == .refused else { throw named(error, events.number, event.key, part.count) }
          progress.tally.refuse(named(error, events.number, event.key, part.count))
        }
        progress.done = events.number
        host.progress(UInt64(events.number), of: UInt64(part.count))
        if progress.done.isMultiple(of: ServerProgress.stride) { try progress.write(host) }
      }
    } catch {
      // The next attempt would find all that was done unchanged; this only spares it the asking.
      try? progress.write(host)
      throw error
    }
    return verdict(progress.tally, part, sent)
  }

  /// One event to its end; what was done for it is on disk before the next begins.
  private func run(
    _ turn: EventTurn, _ event: CalendarEvent, _ pipeline: String, _ sent: inout UInt64
  ) throws(Verdict) -> EventTurn.Change {
    var turn = turn
    var step = turn.begin()
    while true {
      let answer: Answer
      switch step {
      case .get(let path, let tag): answer = try server.get(path, unless: tag, host: host)
      case .put(let path, let body, let condition): answer = try server.put(path, body, condition, host: host)
      case .find(let uid): answer = try server.find(uid: uid, host: host)
      case .askTag(let path): answer = try server.properties(path, CalendarServer.tag, host: host)
      case .done(let record, let change):
        let identity = EventIdentity(pipeline: pipeline, key: event.key)
        if try ledger.record(identity) != record { try ledger.save(record, identity) }
        return change
      case .ended(let verdict): throw verdict
      }
      sent += answer.sent
      step = turn.next(after: answer)
    }
  }

  private func named(_ verdict: Verdict, _ number: Int, _ key: String, _ count: Int) -> Verdict {
    guard verdict.outcome != .cancelled else { return verdict }
    var named = verdict
    named.message = "\(InputFault.name(number, key)) of \(count): \(verdict.message)"
    return named
  }

  private func verdict(_ tally: Tally, _ part: EventPart, _ sent: UInt64) -> Verdict {
    let message = tally.message(ignored: part.ignored)
    var verdict =
      tally.refused == 0
      ? Verdict.delivered(message: message, receipt: server.address.url) : .refused(.content, message)
    verdict.bytesSent = sent
    return verdict
  }
}

/// How far an earlier attempt at the same delivery came.
struct ServerProgress {
  private static let key = "progress"
  /// Events between two notes.
  static let stride = 100

  /// The number of the last event that is done or refused.
  var done = 0
  var tally = Tally()

  static func read(_ host: Host) throws(Verdict) -> ServerProgress {
    var progress = ServerProgress()
    let text = try host.state(.delivery).get(key).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let words = text.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
    let numbers = words.prefix(5).compactMap { Int($0) }.filter { $0 >= 0 }
    guard words.count == 6, numbers.count == 5 else { return progress }
    progress.done = numbers[0]
    progress.tally = Tally(
      made: numbers[1], changed: numbers[2], unchanged: numbers[3], refused: numbers[4], firstRefusal: String(words[5]))
    return progress
  }

  func write(_ host: Host) throws(Verdict) {
    let numbers = [done, tally.made, tally.changed, tally.unchanged, tally.refused].map { String($0) }
    try host.state(.delivery).put(Self.key, numbers.joined(separator: " ") + " " + tally.firstRefusal)
  }
}

extension Tally {
  fileprivate mutating func count(_ change: EventTurn.Change) {
    switch change {
    case .made: made += 1
    case .changed: changed += 1
    case .unchanged: unchanged += 1
    }
  }

  fileprivate mutating func refuse(_ verdict: Verdict) {
    refused += 1
    if refused == 1 { firstRefusal = String(verdict.message.prefix(1000)) }
  }
}
