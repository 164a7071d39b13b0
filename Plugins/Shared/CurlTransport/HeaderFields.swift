// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The header fields of one request; setting a name again replaces it.
package struct HeaderFields {
  private var fields: [(name: String, value: String)] = []

  /// Fields that belong to the transfer.
  private static let reserved: Set<String> = [
    "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect", "keep-alive",
    "proxy-authorization",
  ]

  package init() {}

  /// Sets a field whose value comes from settings: one with control characters is refused, not mended.
  package mutating func set(_ name: String, _ value: String) throws(Verdict) {
    try Self.check(name: name)
    guard !value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) else {
      throw TransportFault.headerValue(name).verdict
    }
    remove(name)
    fields.append((name, value))
  }

  /// Sets a field whose value comes with the delivery: control characters become spaces.
  package mutating func setCleaned(_ name: String, _ value: String) {
    remove(name)
    fields.append((name, String(String.UnicodeScalarView(value.unicodeScalars.map { Self.isControl($0) ? " " : $0 }))))
  }

  package subscript(name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The lines that libcurl takes; a semicolon is its way to write an empty value.
  var lines: [String] {
    fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
  }

  package static func check(name: String) throws(Verdict) {
    guard !name.isEmpty, name.utf8.allSatisfy(isToken) else { throw TransportFault.headerName(name).verdict }
    guard !reserved.contains(name.lowercased()) else { throw TransportFault.headerReserved(name).verdict }
  }

  private mutating func remove(_ name: String) {
    fields.removeAll { $0.name.lowercased() == name.lowercased() }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || scalar.value == 0x7f
  }

  /// RFC 9110, section 5.6.2.
  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
