// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// A destination is asked while its target has something saved.
@Suite struct `A check of a destination` {
  private func keeper(_ note: String) -> String {
    Installation.fixture(
      "keeper", target: "org.example.keeper", settings: "\"note\": \"\(note)\"", delivery: "\"spacing\": \"0s\"")
  }

  private func message(_ host: Installation, _ count: Int) throws -> String {
    try #require(eventually { host.deliveriesOnDisk("keeper").count == count }, "\(host.log)")
    return host.deliveriesOnDisk("keeper").last?["message"]?.string ?? ""
  }

  private static let asked = "; put 0, put for a delivery denied, delete 0, scratch written, then checked before"

  @Test func `by a command reads what deliveries saved and leaves nothing behind`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("keeper"), as: "libkeeper.so")
    try host.configure(keeper("a"))
    // Before the pipeline has ever run.
    let first = try host.run("check", "--online")
    #expect(first.status == 0 && first.output.contains("answers: delivered nothing\(Self.asked), 1 keys"), "\(first)")
    #expect(host.names(in: "relay-data/pipelines").isEmpty)
    try host.start()
    try host.submit("keeper", "x")
    #expect(try message(host, 1) == "delivered nothing, checked nothing, 0 keys")
    // Beside a daemon, and without one.
    for _ in 1...2 {
      let later = try host.run("check", "--online")
      #expect(later.status == 0 && later.output.contains("answers: delivered before\(Self.asked), 2 keys"), "\(later)")
      host.stop()
    }
    try host.start()
    try host.submit("keeper", "y")
    #expect(try message(host, 2) == "delivered before, checked nothing, 1 keys")
  }

  @Test func `by the daemon saves for the deliveries that come`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("keeper"), as: "libkeeper.so")
    try host.configure(keeper("a"))
    try host.start()
    try host.submit("keeper", "x")
    #expect(try message(host, 1) == "delivered nothing, checked nothing, 0 keys")
    try host.configure(keeper("b"))
    #expect(try host.run("reload").status == 0)
    #expect(eventually { host.log.contains("The destination answers.") }, "\(host.log)")
    try host.submit("keeper", "y")
    #expect(try message(host, 2) == "delivered before, checked before, 2 keys")
  }

  @Test func `of a pipeline that is new waits until its folder is there`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("keeper"), as: "libkeeper.so")
    try host.configure(Installation.filing("files"))
    try host.start()
    try host.configure(Installation.filing("files"), keeper("a"))
    #expect(try host.run("reload").status == 0)
    #expect(eventually { host.log.contains("The destination answers.") }, "\(host.log)")
    try host.submit("keeper", "x")
    #expect(try message(host, 1) == "delivered nothing, checked before, 1 keys")
  }

  @Test func `of a folder on a disk of its own answers at once`() throws {
    let host = try Installation()
    let disk = "/dev/shm/relay-check-\(Identifier.random())"
    try #require(mkdir(disk, 0o755) == 0)
    defer { rmdir(disk) }
    try host.configure(
      Installation.fixture(
        "files", target: "folder", settings: "\"directory\": \"\(disk)\", \"requireMount\": true",
        delivery: "\"spacing\": \"0s\""))
    let check = try host.run("check", "--online")
    #expect(check.status == 0 && check.output.contains("can be written to"), "\(check)")
  }
}
