// SPDX-License-Identifier: Apache-2.0

/// Whole texts as trees.
package enum JSONTree {
  /// The text's value, or its first problem.
  package static func parse(_ bytes: [UInt8], limits: JSONLimits = .default) throws(JSONError) -> JSONNode {
    var reader = JSONReader(bytes, limits: limits)
    return try build(&reader)
  }

  /// All problems of a text in one pass.
  ///
  /// The tree is nil only if the text can't be read to its end; where something was wrong it holds what was meant as
  /// far as that can be told, else null.
  package static func parseCollecting(
    _ bytes: [UInt8], limits: JSONLimits = .default
  ) -> (node: JSONNode?, problems: [JSONError]) {
    var reader = JSONReader(bytes, limits: limits, collecting: true)
    do throws(JSONError) {
      let node = try build(&reader)
      return (node, reader.problems)
    } catch {
      return (nil, reader.problems + [error])
    }
  }

  /// A list or object whose end has not come yet.
  private struct Frame {
    var start: Int
    var isObject: Bool
    var elements: [JSONNode] = []
    var members: [JSONMember] = []
    var name = ""
    var nameRange = 0..<0
  }

  private static func build(_ reader: inout JSONReader) throws(JSONError) -> JSONNode {
    var frames: [Frame] = []
    var root: JSONNode?
    while let token = try reader.next() {
      let node: JSONNode
      switch token {
      case .beginObject, .beginArray:
        frames.append(Frame(start: reader.range.lowerBound, isObject: token == .beginObject))
        continue
      case .name(let name):
        guard !frames.isEmpty else { continue }
        frames[frames.count - 1].name = name
        frames[frames.count - 1].nameRange = reader.range
        continue
      case .endObject, .endArray:
        guard let frame = frames.popLast() else { continue }
        node = JSONNode(
          frame.isObject ? .object(frame.members) : .array(frame.elements),
          range: frame.start..<reader.range.upperBound)
      case .string(let text): node = JSONNode(.string(text), range: reader.range)
      case .number(let number): node = JSONNode(.number(number), range: reader.range)
      case .bool(let flag): node = JSONNode(.bool(flag), range: reader.range)
      case .null: node = JSONNode(.null, range: reader.range)
      }
      guard let last = frames.indices.last else {
        root = node
        continue
      }
      if frames[last].isObject {
        frames[last].members.append(
          JSONMember(name: frames[last].name, nameRange: frames[last].nameRange, node: node))
      } else {
        frames[last].elements.append(node)
      }
    }
    guard let root else { throw JSONError(.empty, at: 0) }
    return root
  }
}

/// A name that an object holds more than once.
package struct JSONDuplicate: Equatable, Sendable {
  package var name: String
  package var range: Range<Int>
  package var firstRange: Range<Int>
}

extension JSONTree {
  /// Every repeated name of every object, in the order of the text.
  package static func duplicateNames(in node: JSONNode) -> [JSONDuplicate] {
    switch node.value {
    case .array(let elements): return elements.flatMap(duplicateNames)
    case .object(let members):
      var first: [String: Range<Int>] = [:]
      var found: [JSONDuplicate] = []
      for member in members {
        if let firstRange = first[member.name] {
          found.append(JSONDuplicate(name: member.name, range: member.nameRange, firstRange: firstRange))
        } else {
          first[member.name] = member.nameRange
        }
        found += duplicateNames(in: member.node)
      }
      return found
    default: return []
    }
  }
}
