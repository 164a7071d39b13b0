// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a text that should be JSON (RFC 8259), and at which byte.
package struct JSONError: Error, Equatable, Sendable {
  /// The raw value is the kind's part of a diagnostic code: `json.trailing-comma`.
  package enum Kind: String, CaseIterable, Sendable {
    case empty
    case tooLarge = "too-large"
    case tooDeep = "too-deep"
    case byteOrderMark = "byte-order-mark"
    case unexpectedEnd = "unexpected-end"
    case unexpectedCharacter = "unexpected-character"
    case unexpectedComma = "unexpected-comma"
    case mismatchedBracket = "mismatched-bracket"
    case trailingComma = "trailing-comma"
    case trailingContent = "trailing-content"
    case missingComma = "missing-comma"
    case missingColon = "missing-colon"
    case missingName = "missing-name"
    case missingValue = "missing-value"
    case comment
    case singleQuotes = "single-quotes"
    case unquotedName = "unquoted-name"
    case unterminatedString = "unterminated-string"
    case unterminatedComment = "unterminated-comment"
    case controlCharacter = "control-character"
    case badEscape = "bad-escape"
    case loneSurrogate = "lone-surrogate"
    case invalidUTF8 = "invalid-utf8"
    case badNumber = "bad-number"
    case numberOutOfRange = "number-out-of-range"
    case badLiteral = "bad-literal"
  }

  package var kind: Kind
  /// Bytes from the start of the text.
  package var offset: Int

  package init(_ kind: Kind, at offset: Int) {
    self.kind = kind
    self.offset = offset
  }
}

extension JSONError {
  /// The sentence for people; where it happened is told apart from it.
  package var message: String { kind.message }
}

extension JSONError.Kind {
  package var message: String {
    switch self {
    case .empty: "there is nothing here"
    case .tooLarge: "the text is larger than the limit"
    case .tooDeep: "lists and objects are nested too deeply"
    case .byteOrderMark: "the text starts with a byte order mark"
    case .unexpectedEnd: "the text ends too early"
    case .unexpectedCharacter: "this character doesn't belong here"
    case .unexpectedComma: "there is a comma too many"
    case .mismatchedBracket: "this bracket doesn't match the one it should close"
    case .trailingComma: "the comma after the last entry is not allowed"
    case .trailingContent: "something follows after the end"
    case .missingComma: "a comma is missing"
    case .missingColon: "a colon is missing after the name"
    case .missingName: "a name in double quotes is expected here"
    case .missingValue: "the value is missing"
    case .comment: "comments are not JSON"
    case .singleQuotes: "text is written in double quotes, not single ones"
    case .unquotedName: "names are written in double quotes"
    case .unterminatedString: "the closing double quote is missing"
    case .unterminatedComment: "this comment has no end, and comments are not JSON"
    case .controlCharacter: "line breaks, tabs and other control characters must be escaped inside of text"
    case .badEscape: "this is not an escape that JSON knows"
    case .loneSurrogate: "this escape is half of a character; the other half is missing"
    case .invalidUTF8: "these bytes are not UTF-8"
    case .badNumber: "this is not a number as JSON writes it"
    case .numberOutOfRange: "this number is out of range"
    case .badLiteral: "this word is none of true, false and null"
    }
  }

  /// What to do about it.
  package var hint: String {
    switch self {
    case .empty: "write a value, such as an object: {}"
    case .tooLarge: "make it smaller"
    case .tooDeep: "check the brackets"
    case .byteOrderMark: "save the file as UTF-8 without a byte order mark"
    case .unexpectedEnd: "close what is still open: a bracket, a brace or a text"
    case .unexpectedCharacter: "remove it or put the text in double quotes"
    case .unexpectedComma, .trailingComma: "remove the comma"
    case .mismatchedBracket: "[ is closed by ] and { by }"
    case .trailingContent: "a file holds one value; remove the rest"
    case .missingComma: "put a comma here"
    case .missingColon: "put a colon between name and value"
    case .missingName: "write \"name\": value"
    case .missingValue: "write a value after the colon"
    case .comment, .unterminatedComment: "remove the comment"
    case .singleQuotes: "replace ' by \""
    case .unquotedName: "put the name in double quotes"
    case .unterminatedString: "put a double quote at the end of the text"
    case .controlCharacter: "write \\n for a line break, \\t for a tab"
    case .badEscape: "write \\\\ for a backslash; the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"
    case .loneSurrogate: "write the character itself"
    case .invalidUTF8: "save the file as UTF-8"
    case .badNumber: "write 0.5, not .5, +0.5 or 00.5"
    case .numberOutOfRange: "use a number between -1.7e308 and 1.7e308"
    case .badLiteral: "put text in double quotes"
    }
  }
}
