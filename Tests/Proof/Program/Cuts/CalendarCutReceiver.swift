// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Synchronization
import TestPrograms

/// Radicale. Its log tells of each PUT that it took, the file in its collection what that left.
final class CalendarCutReceiver: CutReceiver {
  let port: String
  private let folder: String
  private let log: Mutex<GrowingFile>
  private let server: Child

  init(in folder: String) throws {
    self.folder = folder
    log = Mutex(GrowingFile(folder + "/log"))
    server = try Child([
      Repository.python, Repository.path("Tests/Fixtures/servers/radicale_server.py"), folder, "ada", "swordfish",
    ])
    port = server.line()
    let made = try Command.run([
      "curl", "-sSf", "--noproxy", "*", "-u", "ada:swordfish", "-X", "MKCALENDAR", "http://127.0.0.1:\(port)/ada/cuts/",
    ])
    guard made.status == 0 else { throw ScenarioProblem("MKCALENDAR: \(made.output)") }
  }

  var secrets: [String: String] { ["calendar": "swordfish"] }

  func load(port: String) -> String {
    """
    {"target": "calendar-ics", "settings": {"url": "http://127.0.0.1:\(port)/ada/cuts/", "username": "ada",
     "password": {"secret": "calendar"}}}
    """
  }

  func receipts() throws -> [CutReceipt] {
    try log.withLock { try $0.lines() }.compactMap { line in
      guard line.hasPrefix("PUT response status for '"), let path = line.split(separator: "'").dropFirst().first,
        line.split(separator: ":").last?.hasPrefix(" 20") == true, let file = path.split(separator: "/").last
      else { return nil }
      return try receipt(of: String(file))
    }
  }

  /// What is told by an event as it stands in the collection.
  private func receipt(of file: String) throws -> CutReceipt {
    let text = String(decoding: try File.bytes(of: "\(collection)/\(file)"), as: UTF8.self)
    let title = Self.value(of: "SUMMARY", in: text)
    let identity = "\(file) \(Self.value(of: "UID", in: text))"
    return CutReceipt(
      name: title.split(separator: ":").first.map(String.init) ?? "", identity: identity,
      digest: try Fingerprint.sha256(Array(title.utf8)))
  }

  func digest(of file: CutFile) throws -> String { try Fingerprint.sha256(Array(file.title.utf8)) }

  /// No event is there twice, under whatever name, and none that nobody handed over.
  func faults() throws -> [String] {
    let files = try Directory(collection).names().filter { $0.hasSuffix(".ics") }
    let events = try files.map { try receipt(of: $0) }
    let titles = Dictionary(grouping: events, by: \.name)
    return titles.filter { $1.count > 1 }.map { "\($0) is in the calendar \($1.count) times" }.sorted()
  }

  private var collection: String { "\(folder)/collections/collection-root/ada/cuts" }

  private static func value(of property: String, in text: String) -> String {
    let unfolded = text.replacing("\r\n ", with: "").split(separator: "\r\n")
    return unfolded.first { $0.hasPrefix(property + ":") }.map { String($0.dropFirst(property.count + 1)) } ?? ""
  }
}
