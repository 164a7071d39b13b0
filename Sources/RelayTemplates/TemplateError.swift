// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a template, or with a value put into it, and where in its text: both from 1, columns in Unicode
/// scalars.
package struct TemplateError: Error, Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case unclosedExpression
    case emptyExpression
    case unexpected(String)
    case unknownName(String, suggestion: String?)
    case unknownFilter(String)
    case needsDate(String)
    case noDate(String)
    case badFormat(String)
    case statement
    case dateOutOfRange
    case notAURLPart(String)
  }

  package var kind: Kind
  package var line: Int
  package var column: Int

  package init(_ kind: Kind, line: Int, column: Int) {
    self.kind = kind
    self.line = line
    self.column = column
  }
}

extension TemplateError {
  package var message: String {
    switch kind {
    case .unclosedExpression: "{{ has no }}"
    case .emptyExpression: "there is nothing between {{ and }}"
    case .unexpected(let text): "\"\(text)\" is not expected here"
    case .unknownName(let name, let suggestion):
      "there is no \"\(name)\"" + (suggestion.map { " (did you mean \"\($0)\"?)" } ?? "")
    case .unknownFilter(let name): "there is no filter \"\(name)\"; there is date"
    case .needsDate(let name): "\"\(name)\" is a time: write {{ \(name) | date('%Y-%m-%d') }}"
    case .noDate(let name): "\"\(name)\" is no time, so date can't be used on it"
    case .badFormat(let code): "date knows no \"\(code)\""
    case .statement: "{% and {# are not known here, only {{ … }}"
    case .dateOutOfRange: "the time is outside of the years 1 to 9999"
    case .notAURLPart(let text): "\"\(text)\" can't be a part of a URL"
    }
  }
}
