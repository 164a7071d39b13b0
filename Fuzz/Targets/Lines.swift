// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem

@testable import RelayPipelines
@testable import RelayQueue

/// A line of the control socket: a request, a reply, or nothing.
func controlLineHolds(_ bytes: [UInt8]) throws {
  guard let node = try? JSONTree.parse(bytes) else { return }
  if let request = ControlRequest(node) {
    try hold(isOneLine(request.line), "a request is one line")
    let again = (try? JSONTree.parse(request.line)).flatMap { ControlRequest($0) }
    try hold(again == request, "what is read again is what was written: \(request)")
  }
  if let reply = ControlReply(node) {
    try hold(isOneLine(reply.line), "a reply is one line")
    let again = (try? JSONTree.parse(reply.line)).flatMap { ControlReply($0) }
    try hold(again == reply, "what is read again is what was written: \(reply)")
  }
}

private func isOneLine(_ bytes: [UInt8]) -> Bool { bytes.last == 10 && bytes.count { $0 == 10 } == 1 }

/// A line of a pipeline's delivery log.
func deliveryRecordHolds(_ bytes: [UInt8]) throws {
  guard let record = DeliveryRecord(line: bytes[...]) else { return }
  let line = record.line()
  try hold(!line.contains(10), "a record is one line")
  let again = try require(DeliveryRecord(line: line[...]), "what is written can be read: \(record)")
  var expected = record
  expected.message = String(record.message.prefix(DeliveryRecord.longestMessage))
  expected.days = record.days.map { Array($0.prefix(DeliveryRecord.mostDays)) }
  try hold(again == expected, "what is read again is what was written")
}

/// What a pipeline remembers; what this version doesn't know is kept.
func pipelineStateHolds(_ bytes: [UInt8]) throws {
  if let reason = SetAsideReason(bytes) {
    try hold(SetAsideReason(reason.bytes()) == reason, "a reason read again is what was written: \(reason)")
  }
  guard let state = PipelineState(bytes) else { return }
  let written = state.bytes()
  let again = try require(PipelineState(written), "what is written can be read: \(state)")
  try hold(again == state, "what is read again is what was written")
  try hold(again.bytes() == written, "writing it again gives the same bytes")
}

/// The note about an inbox file that is being taken.
func takingNoteHolds(_ bytes: [UInt8]) throws {
  guard let note = TakingNote(String(decoding: bytes, as: UTF8.self)) else { return }
  try hold(!note.name.isEmpty && !note.name.contains(0) && !note.name.contains(47), "it names a file in the inbox")
  try hold(TakingNote(note.line) == note, "what is read again is what was written")
}

/// The two names of a part, from any bytes.
func partNamesHold(_ bytes: [UInt8]) throws {
  var input = FuzzInput(bytes)
  let index = 1 + input.short() % Manifest.mostParts
  let name = input.all()
  let display = PartName.display(name)
  try hold(!display.isEmpty && isPlain(display), "a name can be shown: \(display.debugDescription)")
  try hold(!display.contains("/") && !display.contains("\\") && display != "." && display != "..", "it names a file")
  try hold(display.utf8.count <= PartName.longestDisplay, "it isn't too long: \(display.utf8.count)")
  try hold(PartName.display(Array(display.utf8)) == display, "a name that is good stays")
  let file = PartName.onDisk(index: index, display: display)
  try hold(PartName.isSafe(file), "the name on disk is safe: \(file)")
  try hold(PartName.index(of: file) == index, "the name on disk tells the index")
  _ = MediaType.guess(display)
}
