// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

@Suite struct ClientTests {
  @Test(arguments: Radicale.Version.allCases)
  func `a calendar client sees each event once, what changed and what came again`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let client = try Vdirsyncer(calendar)
    let host = calendar.host()
    #expect(
      host.deliver(try part([Listed(), Listed(key: "run-2"), .day("d", "2026-03-29", "2026-03-29")])).outcome
        == .delivered)
    try client.sync()
    #expect(try client.events().map(\.key) == ["d", "run-1", "run-2"])
    #expect(host.deliver(try part([Listed(title: "Other")], created: 1_796_040_000_000)).outcome == .delivered)
    try client.sync()
    #expect(try client.events().map(\.title) == ["Day", "Other", "Run"])

    // The user deletes one on the phone; the next delivery makes it again.
    try client.delete(key: "run-2")
    try client.sync()
    #expect(try calendar.events().count == 2)
    #expect(
      host.deliver(try part([Listed(title: "Other"), Listed(key: "run-2")])).message == "events: 1 made, 1 unchanged")
    try client.sync()
    #expect(try client.events().map(\.key) == ["d", "run-1", "run-2"])
  }
}

/// vdirsyncer with a folder of its own, as a person's other calendar.
struct Vdirsyncer {
  private let folder: String
  private var configuration: String { "\(folder)/config" }
  private var storage: String { "\(folder)/events" }

  init(_ calendar: RadicaleCalendar) throws {
    folder = TemporaryFolder.shared.path("vdirsyncer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: "\(folder)/events", withIntermediateDirectories: true)
    let text = """
      [general]
      status_path = "\(folder)/status/"
      [pair calendar]
      a = "here"
      b = "there"
      collections = null
      conflict_resolution = "b wins"
      [storage here]
      type = "filesystem"
      path = "\(folder)/events/"
      fileext = ".ics"
      [storage there]
      type = "caldav"
      url = "\(calendar.url)"
      username = "ada"
      password = "swordfish"
      """
    try File.write(Array(text.utf8), to: configuration)
    try run("discover")
  }

  func sync() throws { try run("sync") }

  func events() throws -> [ReadEvent] { try ReadEvent.read(files()).sorted { ($0.key ?? "") < ($1.key ?? "") } }

  func delete(key: String) throws {
    for file in try files() where try ReadEvent.read([file]).contains(where: { $0.key == key }) {
      try FileManager.default.removeItem(atPath: file)
    }
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: storage).filter { $0.hasSuffix(".ics") }.map {
      "\(storage)/\($0)"
    }
  }

  private func run(_ command: String) throws {
    let program = Repository.path(".build/python/bin/vdirsyncer")
    // It would use the proxy that other tests put into the environment, for whoever looks there.
    let direct = ["env", "-u", "http_proxy", "-u", "all_proxy"]
    let result = try Command.run(direct + [Repository.python, program, "-c", configuration, command])
    guard result.status == 0 else { throw Failed(words: result.output) }
  }
}
