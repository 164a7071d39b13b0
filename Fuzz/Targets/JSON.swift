// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// Reader, tree and writer agree with each other.
func jsonHolds(_ bytes: [UInt8]) throws {
  let isUTF8 = String(validating: bytes, as: UTF8.self) != nil
  try hold(
    (UTF8Check.firstInvalid(in: bytes, 0..<bytes.count) == nil) == isUTF8, "both checks of UTF-8 say the same")
  let (collected, problems) = JSONTree.parseCollecting(bytes)
  for problem in problems { try hold((0...bytes.count).contains(problem.offset), "a problem lies in the text") }
  let node: JSONNode
  do throws(JSONError) {
    node = try JSONTree.parse(bytes)
  } catch {
    try hold(!problems.isEmpty, "what the strict reader refuses has a problem for the collecting one: \(error)")
    if let collected { try writesAndReads(collected) }
    return
  }
  try hold(isUTF8, "what is read is UTF-8")
  try hold(problems.isEmpty && collected == node, "what the strict reader takes, the collecting one takes as it is")
  try writesAndReads(node)
  try rangesHold(node, bytes)
}

private func writesAndReads(_ node: JSONNode) throws {
  for style in [JSONWriter.Style.compact, .pretty] {
    let written = node.bytes(style)
    let again: JSONNode
    do { again = try JSONTree.parse(written, limits: JSONLimits(depth: 512)) } catch {
      throw Violation(description: "what is written can be read: \(error)")
    }
    try hold(again == node, "what is read again is what was written")
    try hold(again.bytes(style) == written, "writing it again gives the same bytes")
  }
}

/// A value's range holds that value, and members lie in their object, in order.
private func rangesHold(_ node: JSONNode, _ bytes: [UInt8]) throws {
  try hold(node.range.lowerBound >= 0 && node.range.upperBound <= bytes.count, "a range lies in the text")
  var end = node.range.lowerBound
  func inside(_ range: Range<Int>) throws {
    try hold(range.lowerBound >= end && range.upperBound <= node.range.upperBound, "ranges nest and come in order")
    end = range.upperBound
  }
  switch node.value {
  case .array(let elements):
    for element in elements {
      try inside(element.range)
      try rangesHold(element, bytes)
    }
  case .object(let members):
    for member in members {
      try inside(member.nameRange)
      try inside(member.node.range)
      try rangesHold(member.node, bytes)
    }
  default:
    let alone = try? JSONTree.parse(Array(bytes[node.range]))
    try hold(alone == node, "a value's range holds that value")
  }
}
