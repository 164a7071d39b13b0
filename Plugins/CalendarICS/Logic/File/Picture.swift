// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The whole calendar as it is written to the file, made event by event from the ledger.
struct Picture {
  let pipeline: String
  /// What subscribers see as the calendar's name.
  let name: String
  let ledger: Ledger<FileRecord>
  let host: Host

  /// Hands out the bytes in chunks of about that many; `sink` says whether to go on.
  func write(chunk: Int, _ sink: ([UInt8]) throws(Verdict) -> Bool) throws(Verdict) {
    var lines = ContentLines()
    for line in head { lines.add(line) }
    var goesOn = true
    var count: UInt64 = 0
    try ledger.forEach { (record) throws(Verdict) in
      if host.shouldStop { throw .cancelled }
      let identity = EventIdentity(pipeline: pipeline, key: record.event.key)
      EventText(
        event: record.event, uid: identity.uid(revision: 1), sequence: record.sequence, changed: record.changed
      ).write(to: &lines)
      count += 1
      host.progress(count, of: 0)
      if lines.bytes.count >= chunk { goesOn = try sink(lines.take()) }
      return goesOn
    }
    guard goesOn else { return }
    lines.add("END:VCALENDAR")
    _ = try sink(lines.take())
  }

  private var head: [String] {
    let title = ContentLines.escaped(CleanText.line(name))
    return [
      "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:\(EventText.product)", "CALSCALE:GREGORIAN", "METHOD:PUBLISH",
      "\(CalendarFile.mark):\(pipeline)", "NAME:\(title)", "X-WR-CALNAME:\(title)",
      "REFRESH-INTERVAL;VALUE=DURATION:\(CalendarFile.refresh)", "X-PUBLISHED-TTL:\(CalendarFile.refresh)",
    ]
  }
}
