// SPDX-License-Identifier: Apache-2.0

/// Blanks known secrets out of text: as they are, percent-encoded, and in base64 (both alphabets, at any of the three
/// places at
/// which they can stand in what was encoded). Of a secret that is an address also the parts that give it away.
///
/// One pass over the text, whatever the number of secrets: an automaton after Aho and Corasick finds all forms at once.
/// A secret of fewer than 8 bytes is blanked only where no letter or digit touches it, and in no encoded form.
package struct Redactor: Sendable {
  package static let blank = "•••"
  /// A text of so many bytes may have been cut, in the middle of a secret too: what the beginning of one is at its end is blanked,
  /// from so many bytes on.
  private static let longest = 256
  private static let leastBegun = 4

  private struct Pattern: Sendable {
    var length: Int
    var isWholeWord: Bool
  }

  private let automaton: MultiPatternAutomaton
  private let patterns: [Pattern]

  package init(_ secrets: [Secret]) {
    var words: [[UInt8]] = []
    var patterns: [Pattern] = []
    for secret in secrets where !secret.bytes.isEmpty {
      for form in secret.isShort ? [secret.bytes] : EncodedForms.all(of: secret.bytes) {
        words.append(form)
        patterns.append(Pattern(length: form.count, isWholeWord: secret.isShort))
      }
      for part in secret.isShort ? [] : AddressParts.all(of: secret.bytes) {
        for form in EncodedForms.all(of: part) {
          words.append(form)
          patterns.append(Pattern(length: form.count, isWholeWord: false))
        }
      }
    }
    self.automaton = MultiPatternAutomaton(words)
    self.patterns = patterns
  }

  package func redact(_ text: String) -> String {
    guard !patterns.isEmpty else { return text }
    let bytes = Array(text.utf8)
    let found = ranges(in: bytes)
    guard !found.isEmpty else { return text }
    var result: [UInt8] = []
    var position = 0
    for range in found {
      result += bytes[position..<range.lowerBound]
      result += Self.blank.utf8
      position = range.upperBound
    }
    result += bytes[position...]
    return String(decoding: result, as: UTF8.self)
  }

  /// What is to be blanked: in order, joined where forms overlap.
  private func ranges(in bytes: [UInt8]) -> [Range<Int>] {
    var joined: [Range<Int>] = []
    let begun = automaton.forEachMatch(in: bytes) { pattern, end in
      let range = (end - patterns[pattern].length)..<end
      guard !patterns[pattern].isWholeWord || Self.isWord(range, in: bytes) else { return }
      // Matches come by their end, so only the last ones can reach into this one.
      var lower = range.lowerBound
      while let last = joined.last, last.upperBound >= lower {
        lower = min(lower, last.lowerBound)
        joined.removeLast()
      }
      joined.append(lower..<end)
    }
    if bytes.count >= Self.longest, begun >= Self.leastBegun, joined.last?.upperBound != bytes.count {
      var lower = bytes.count - begun
      while let last = joined.last, last.upperBound > lower {
        lower = min(lower, last.lowerBound)
        joined.removeLast()
      }
      joined.append(lower..<bytes.count)
    }
    return joined
  }

  private static func isWord(_ range: Range<Int>, in bytes: [UInt8]) -> Bool {
    let before = range.lowerBound > 0 ? bytes[range.lowerBound - 1] : 0
    let after = range.upperBound < bytes.count ? bytes[range.upperBound] : 0
    return !isWordByte(before) && !isWordByte(after)
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }
}
