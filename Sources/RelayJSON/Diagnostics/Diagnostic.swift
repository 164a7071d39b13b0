// SPDX-License-Identifier: Apache-2.0

/// One problem for people to act on, with its place if it has one.
package struct Diagnostic: Equatable, Sendable {
  package enum Severity: String, Sendable {
    case error
    case warning
  }

  /// A place in a text file.
  package struct Place: Equatable, Sendable {
    /// Bytes in the file.
    package var range: Range<Int>
    /// From 1.
    package var line: Int
    /// From 1, in Unicode scalars.
    package var column: Int
    /// The whole line, with secrets blanked.
    package var sourceLine: String

    package init(range: Range<Int>, line: Int, column: Int, sourceLine: String) {
      self.range = range
      self.line = line
      self.column = column
      self.sourceLine = sourceLine
    }
  }

  package var code: DiagnosticCode
  package var message: String
  package var hint: String?
  package var file: String?
  package var place: Place?

  package var severity: Severity { code.severity }
  package var blocksLoading: Bool { code.blocksLoading }

  /// What the texts quote from a file may hold anything, so they are made printable here.
  package init(
    _ code: DiagnosticCode, _ message: String, hint: String? = nil, file: String? = nil, place: Place? = nil
  ) {
    self.code = code
    self.message = PrintableText.cleaned(message)
    self.hint = hint.map { PrintableText.cleaned($0) }
    self.file = file.map { PrintableText.cleaned($0) }
    self.place = place
  }
}

/// Gathers the problems of one file, each with its line.
package struct DiagnosticList: Sendable {
  package let file: String
  private let bytes: [UInt8]
  private let index: LineIndex
  private var found: [(code: DiagnosticCode, message: String, hint: String?, range: Range<Int>?)] = []
  private var masked: [Range<Int>] = []

  package init(file: String, bytes: [UInt8]) {
    self.file = file
    self.bytes = bytes
    self.index = LineIndex(bytes)
  }

  package var blocksLoading: Bool { found.contains { $0.code.blocksLoading } }

  package mutating func add(_ code: DiagnosticCode, _ message: String, hint: String? = nil, at range: Range<Int>?) {
    found.append((code, message, hint, range))
  }

  /// A syntax problem as the reader found it.
  ///
  /// - Parameter hint: for what is being read, better than the one for any JSON.
  package mutating func add(_ error: JSONError, hint: String? = nil) {
    add(
      DiagnosticCode(error.kind) ?? .jsonUnexpectedCharacter, error.message, hint: hint ?? error.kind.hint,
      at: error.offset..<error.offset)
  }

  /// The text of a range, without the quotes around it.
  package func text(in range: Range<Int>) -> String? {
    guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
    var slice = bytes[range]
    if slice.count >= 2, slice.first == UInt8(ascii: "\""), slice.last == UInt8(ascii: "\"") {
      slice = slice.dropFirst().dropLast()
    }
    return String(validating: slice, as: UTF8.self)
  }

  /// Blanks these bytes in every source line that is shown.
  package mutating func mask(_ range: Range<Int>) { masked.append(range) }

  /// Blanks every text in a value.
  package mutating func mask(textsIn node: JSONNode) {
    switch node.value {
    case .string: mask(node.range)
    case .array(let elements): for element in elements { mask(textsIn: element) }
    case .object(let members): for member in members { mask(textsIn: member.node) }
    default: break
    }
  }

  /// Blanks every text of a file that can't be read to its end: which of them are secrets can't be told.
  package mutating func maskAllTexts(limits: JSONLimits = .default) {
    var reader = JSONReader(bytes, limits: limits, collecting: true)
    do throws(JSONError) {
      while let token = try reader.next() {
        if case .string = token { mask(reader.range) }
      }
    } catch {
      if error.kind == .unterminatedString { mask(error.offset..<bytes.count) }
    }
  }

  /// So many are told; of the rest, only how many there are.
  package static let most = 100

  /// All of them in the order of the file, those without a place first.
  package func sorted() -> [Diagnostic] {
    let all = found.enumerated()
      .sorted { ($0.element.range?.lowerBound ?? -1, $0.offset) < ($1.element.range?.lowerBound ?? -1, $1.offset) }
    var told = all.prefix(Self.most).map { entry in
      let problem = entry.element
      return Diagnostic(
        problem.code, problem.message, hint: problem.hint, file: file, place: problem.range.map(place))
    }
    let rest = all.dropFirst(Self.most)
    if !rest.isEmpty {
      let blocks = rest.contains { $0.element.code.blocksLoading }
      told.append(
        Diagnostic(
          blocks ? .configTooMany : .configMoreWarnings, "\(rest.count) more that aren't shown",
          hint: "mend the first ones, then look again", file: file))
    }
    return told
  }

  private func place(_ range: Range<Int>) -> Diagnostic.Place {
    let (line, column) = index.position(of: range.lowerBound)
    // The part around the caret is shown; but a line of megabytes would be copied for each problem in it.
    let isShort = index.length(ofLine: line) <= 64_000
    return Diagnostic.Place(
      range: range, line: line, column: column, sourceLine: isShort ? index.line(line, masking: masked) : "")
  }
}
