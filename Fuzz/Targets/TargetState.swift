// SPDX-License-Identifier: Apache-2.0
import RelaySystem

@testable import RelayQueue

/// What targets save is found again as it was saved, whatever happened to the end of the file; damage elsewhere is noticed.
///
/// The input's first byte chooses: the rest is a file as it stands, or steps whose file is then cut or damaged.
func targetStateHolds(_ bytes: [UInt8]) throws {
  var input = FuzzInput(bytes)
  if input.byte() & 1 == 0 {
    let file = input.all()
    try oneRecordHolds(file)
    try opens(file)
    try opens(TargetState.magic + file)
  } else {
    try stepsHold(&input)
  }
}

private func oneRecordHolds(_ bytes: [UInt8]) throws {
  guard let record = TargetStateRecord(bytes[...]) else { return }
  try hold(record.bytes() == bytes, "a record is what its bytes say")
}

/// Opens a file with any bytes; afterwards it is good, says the same again, and takes a value.
private func opens(_ bytes: [UInt8]) throws {
  try FuzzFolder.with { folder in
    try folder.directory.replace(TargetState.fileName, with: bytes, durable: false)
    let first = try TargetState.open(in: folder.directory, committer: folder.committer).state
    let said = content(first)
    let second = try TargetState.open(in: folder.directory, committer: folder.committer)
    try hold(second.finding == .good, "a file that was opened is good for the next start")
    try hold(content(second.state) == said, "the next start finds the same")
    do throws(TargetStateError) {
      try second.state.put(.pipeline, [1], [2])
    } catch {
      if case .full = error { return }
      throw Violation(description: "a value can be saved: \(error.message)")
    }
    let third = try TargetState.open(in: folder.directory, committer: folder.committer)
    try hold(third.finding == .good, "a file that was written is good for the next start")
    try hold(try third.state.get(.pipeline, [1]) == [2], "what was saved is found")
  }
}

private typealias Saved = [TargetStateScope: [[UInt8]: [UInt8]]]

private func content(_ state: TargetState) -> Saved {
  var found: Saved = [:]
  for scope in TargetStateScope.allCases {
    var key: [UInt8] = []
    while let next = state.next(scope, after: key) {
      found[scope, default: [:]][next] = (try? state.get(scope, next)) ?? []
      key = next
    }
  }
  return found
}

private func stepsHold(_ input: inout FuzzInput) throws {
  let damage = input.byte()
  let place = input.short()
  // The records as the file holds them, and what is saved after each.
  var file = TargetState.magic
  var model: Saved = [:]
  var history: [(end: Int, saved: Saved)] = [(file.count, [:])]
  while !input.isEmpty, history.count < 32 {
    let choice = input.byte()
    let scope: TargetStateScope = choice & 4 == 0 ? .pipeline : .delivery
    let key = [input.byte() | 1] + input.bytes(Int(choice >> 6))
    guard !key.contains(0) else { continue }
    let record: TargetStateRecord
    switch choice & 3 {
    case 0:
      record = TargetStateRecord(kind: .remove, scope: scope, key: key)
      model[scope]?[key] = nil
    case 1:
      record = TargetStateRecord(kind: .eraseDelivery, scope: .delivery, key: [])
      model[.delivery] = nil
    default:
      record = TargetStateRecord(kind: .put, scope: scope, key: key, value: input.bytes(Int(input.byte())))
      model[scope, default: [:]][key] = record.value
    }
    if model[scope]?.isEmpty == true { model[scope] = nil }
    file += record.bytes()
    history.append((file.count, model))
  }
  switch damage % 3 {
  case 0: break
  case 1: file = Array(file.prefix(max(TargetState.magic.count, place % (file.count + 1))))
  default: file = file.flipped(place * 8 + Int(damage >> 5))
  }
  try FuzzFolder.with { folder in
    try folder.directory.replace(TargetState.fileName, with: file, durable: false)
    let (state, finding) = try TargetState.open(in: folder.directory, committer: folder.committer)
    let found = content(state)
    switch damage % 3 {
    case 0: try hold(finding == .good && found == model, "what was saved is found: \(found) \(model)")
    case 1:
      let expected = history.last { $0.end <= file.count }?.saved
      try hold(found == expected, "after a cut all is found but the record that was cut: \(finding)")
    default:
      let isLast = place % file.count >= (history.count > 1 ? history[history.count - 2].end : 0)
      if case .setAside = finding { return }
      // The last record may have been the last write, which a crash may leave in any state.
      try hold(isLast && found == history.dropLast().last?.saved, "damage is noticed: \(finding)")
    }
  }
}
