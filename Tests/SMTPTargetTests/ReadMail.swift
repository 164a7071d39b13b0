// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TestPrograms
import Testing

/// A mail as Python's email package reads it.
struct ReadMail: Decodable {
  struct Part: Decodable {
    let type: String
    let name: String?
    let disposition: String?
    let short: String?
    let charset: String?
    let length: Int
    let sha256: String
    let text: String?
  }

  let names: [String]
  let subject: String?
  let from: [[String]]
  let to: [[String]]
  let cc: [[String]]
  let messageID: String?
  let date: Int?
  let zone: String
  let test: String?
  let type: String
  let parts: [Part]
  let defects: [String]
  let longest: Int
  let ascii: Bool

  static func from(_ path: String) throws -> ReadMail {
    let script = Repository.path("Tests/Fixtures/servers/read_mail.py")
    let (output, status) = try Child.run(["sh", "-c", "exec python3 \(script) < \(path)"])
    try #require(status == 0)
    return try JSONDecoder().decode(ReadMail.self, from: Data(output.utf8))
  }

  static func from(_ body: Data) throws -> ReadMail {
    let path = TemporaryFolder.shared.path("mail-\(UUID().uuidString).eml")
    try body.write(to: URL(filePath: path))
    defer { unlink(path) }
    return try from(path)
  }
}

/// The digest of bytes as another program computes it.
func sha256(_ bytes: [UInt8]) throws -> String {
  let path = TemporaryFolder.shared.path("bytes-\(UUID().uuidString)")
  try File.write(bytes, to: path)
  defer { unlink(path) }
  return String(try Child.run(["sha256sum", path]).output.prefix(64))
}
