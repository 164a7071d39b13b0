// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import TargetKit

/// What is kept of one event as one value of the pipeline's state.
protocol LedgerRecord {
  /// Before each key, so that a file and a calendar server never meet.
  static var prefix: String { get }
  init?(_ node: JSONNode)
  func write(to writer: inout JSONWriter)
}

/// The events that were delivered so far, on disk with the host: it alone says what is ours.
struct Ledger<Record: LedgerRecord> {
  let state: State

  init(_ host: Host) { state = host.state(.pipeline) }

  func record(_ identity: EventIdentity) throws(Verdict) -> Record? {
    try record(at: Record.prefix + identity.digest)
  }

  /// On disk when it returns.
  func save(_ record: Record, _ identity: EventIdentity) throws(Verdict) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("version")
    writer.value(1)
    record.write(to: &writer)
    writer.endObject()
    try state.put(Record.prefix + identity.digest, writer.take())
  }

  /// All records in the order of their keys, which never changes; `body` says whether to go on.
  func forEach(_ body: (Record) throws(Verdict) -> Bool) throws(Verdict) {
    var last = Record.prefix
    while let key = try state.key(after: last), key.hasPrefix(Record.prefix) {
      last = key
      guard let record = try record(at: key) else { continue }
      guard try body(record) else { return }
    }
  }

  private func record(at key: String) throws(Verdict) -> Record? {
    guard let bytes = try state.get(key) else { return nil }
    guard let node = try? JSONTree.parse(bytes), node["version"]?.integer == 1, let record = Record(node) else {
      throw CalendarFault.foreignState.verdict
    }
    return record
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    self.name(name)
    value(text)
  }

  mutating func member(_ name: String, _ number: Int64) {
    self.name(name)
    value(number)
  }
}
