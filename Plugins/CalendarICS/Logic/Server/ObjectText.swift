// SPDX-License-Identifier: Apache-2.0

/// A calendar object as a server keeps it, line by line.
///
/// What others wrote in it is passed on as it came, never parsed and written anew: a client's own properties survive.
struct ObjectText {
  /// Components within each other; a calendar has three.
  private static let deepest = 8
  /// Largest object that is looked at, in bytes.
  static let most = 1 << 20

  /// Unfolded, without line ends.
  let lines: [[UInt8]]

  /// nil for what isn't one whole VCALENDAR.
  init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.most, !bytes.contains(0) else { return nil }
    var lines: [[UInt8]] = []
    for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let line = piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece
      if let first = line.first, first == 0x20 || first == 0x09, !lines.isEmpty {
        lines[lines.count - 1] += line.dropFirst()
      } else if !line.isEmpty {
        lines.append(Array(line))
      }
    }
    var open: [String] = []
    for (index, line) in lines.enumerated() {
      switch Self.bracket(line) {
      case .begin(let name)?:
        guard open.count < Self.deepest, (index == 0) == (open.isEmpty && name == "VCALENDAR") else { return nil }
        open.append(name)
      case .end(let name)?:
        guard open.popLast() == name, !open.isEmpty || index == lines.count - 1 else { return nil }
      case nil: guard !open.isEmpty else { return nil }
      }
    }
    guard !lines.isEmpty, open.isEmpty else { return nil }
    self.lines = lines
  }

  /// The object with our properties in its event of this UID, and everything else as it is.
  func replacing(_ properties: [String], uid: String) -> [UInt8] {
    let event = masterEvent(uid)
    var written = ContentLines()
    var depth = 0
    for (index, line) in lines.enumerated() {
      let bracket = Self.bracket(line)
      if case .end? = bracket { depth -= 1 }
      let isOwn = depth == 2 && event?.contains(index) == true && EventText.own.contains(Self.name(line))
      // Objects on a server carry no method (RFC 4791, section 4.1).
      let isMethod = depth == 1 && Self.name(line) == "METHOD"
      if !isMethod, bracket != nil || !isOwn { written.add(raw: line) }
      if case .begin? = bracket { depth += 1 }
      if index == event?.lowerBound { for property in properties { written.add(property) } }
    }
    return written.take()
  }

  /// The lines of the event itself, without those of its changed occurrences.
  private func masterEvent(_ uid: String) -> Range<Int>? {
    var start: Int?
    var depth = 0
    for (index, line) in lines.enumerated() {
      switch Self.bracket(line) {
      case .begin(let name)?:
        if depth == 1 { start = name == "VEVENT" ? index : nil }
        depth += 1
      case .end?:
        depth -= 1
        guard depth == 1, let begun = start else { continue }
        // Names within alarms are not the event's; neither of these two stands there.
        let own = lines[begun...index]
        let isMaster = !own.contains { Self.name($0) == "RECURRENCE-ID" }
        if isMaster, own.contains(where: { Self.name($0) == "UID" && Self.value($0) == uid }) { return begun..<index }
      case nil: break
      }
    }
    return nil
  }

  private enum Bracket {
    case begin(String)
    case end(String)
  }

  private static func bracket(_ line: [UInt8]) -> Bracket? {
    switch name(line) {
    case "BEGIN": .begin(value(line).uppercased())
    case "END": .end(value(line).uppercased())
    default: nil
    }
  }

  private static func name(_ line: [UInt8]) -> String {
    let name = line.prefix(64).prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
    return String(decoding: name, as: UTF8.self).uppercased()
  }

  private static func value(_ line: [UInt8]) -> String {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return "" }
    var value = String(decoding: line[(colon + 1)...], as: UTF8.self)
    while value.last == " " { value.removeLast() }
    return value
  }
}
