// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// Artifacts of several parts for a target that takes an artifact as one.
@Suite struct `Several files for a target that takes one` {
  /// Names and content of the files in a ZIP, as Python finds them.
  private func unzipped(_ bytes: [UInt8], _ host: Installation) throws -> String {
    try File.write(bytes, to: host.path + "/got.zip")
    let script =
      "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); "
      + "print([(e.filename, z.read(e).decode()) for e in z.infolist()])"
    return try Command.run(["python3", "-c", script, host.path + "/got.zip"]).output
  }

  @Test func `arrive as one ZIP, at every attempt the same, over a restart and a resend`() throws {
    let host = try Installation()
    let crate = try Crate(host)
    try host.configure(crate.pipeline("mail", subject: "{{ file.name }} of {{ pipeline.name }}"))
    try crate.answers("retry")
    try host.start()
    #expect(try host.target(file: "libcrate.so")?["unit"]?.string == "artifact")
    let artifact = try host.submit("mail", ["one", "two", "three"], name: "Grüße.txt")
    #expect(try eventually { try crate.deliveries().count >= 2 })
    host.killHard()
    try host.start()
    let count = try crate.deliveries().count
    #expect(try eventually { try crate.deliveries().count > count })
    try crate.answers("refused")
    #expect(eventually { host.refused("mail").count == 1 })
    try crate.answers(nil)
    #expect(try host.run("refused", "resend", "mail", artifact).status == 0)
    #expect(eventually { host.deliveriesOnDisk("mail").last?["verdict"]?.string == "delivered" })
    #expect(eventually { host.queue("mail").isEmpty })
    let got = try crate.deliveries()
    #expect(Set(got.map(\.bytes)).count == 1)
    for member in ["delivery", "artifact", "message", "name", "subject"] {
      #expect(Set(got.map { $0.text(member) }).count == 1, "\(member)")
    }
    let last = try #require(got.last)
    #expect(last.isTaken && got.dropLast().allSatisfy { !$0.isTaken })
    #expect(last.number("index") == 1 && last.number("count") == 1)
    #expect(last.text("type") == "application/zip" && last.text("encoding").isEmpty)
    #expect(last.text("name").hasPrefix("mail-20") && last.text("name").hasSuffix(".zip"))
    #expect(last.text("subject") == last.text("name") + " of mail")
    #expect(
      try unzipped(last.bytes, host)
        == "[('1-Grüße.txt', 'one'), ('2-Grüße.txt', 'two'), ('3-Grüße.txt', 'three')]\n")
    // One delivery in the log for each attempt, under the identity that the target was given.
    let logged = host.deliveriesOnDisk("mail")
    #expect(logged.allSatisfy { $0["part"]?.integer == 1 && $0["deliveryId"]?.string == last.text("delivery") })
    #expect(host.log.contains("3 parts were put into one file, \(last.text("name"))."))
    #expect(host.log.split(separator: "\n").count { $0.contains("parts were put into one file") } == 1)
  }

  @Test func `a single file goes as it is`() throws {
    let host = try Installation()
    let crate = try Crate(host)
    try host.configure(crate.pipeline("mail", subject: "{{ file.name }}"))
    try host.start()
    try host.submit("mail", "just this", name: "letter.txt")
    #expect(try eventually { try crate.deliveries().count == 1 })
    let got = try #require(try crate.deliveries().first)
    #expect(got.bytes == Array("just this".utf8))
    #expect(got.text("name") == "letter.txt" && got.text("subject") == "letter.txt" && got.text("type") == "text/plain")
    #expect(got.number("index") == 1 && got.number("count") == 1)
  }

  @Test func `with encode gzip the bundle holds the files as they were, and check says that it has no effect`() throws {
    let host = try Installation()
    let crate = try Crate(host)
    try host.configure(crate.pipeline("mail", delivery: "\"spacing\": \"0s\", \"encode\": \"gzip\""))
    let checked = try host.run("check")
    #expect(checked.status == 0)
    #expect((checked.output + checked.problems).contains("\"encode\" has no effect where several files go"))
    try host.start()
    try host.submit("mail", ["one", "two"], name: "a.txt")
    #expect(try eventually { try crate.deliveries().count == 1 })
    let got = try #require(try crate.deliveries().first)
    #expect(got.text("encoding").isEmpty)
    #expect(try unzipped(got.bytes, host) == "[('1-a.txt', 'one'), ('2-a.txt', 'two')]\n")
  }

  @Test func `that come out too large for the target are set aside, and nothing is sent`() throws {
    let host = try Installation()
    let crate = try Crate(host, ["LIMIT=\"300\""])
    try host.configure(crate.pipeline("mail"))
    try host.start()
    try host.submit("mail", ["one", "two"], name: "a.txt")
    #expect(eventually { host.refused("mail").count == 1 })
    let entry = try #require(try host.run("refused", "mail", "--json").json?["artifacts"]?.array?.first)
    #expect(entry["message"]?.string?.contains("this target takes at most 300") == true)
    #expect(entry["parts"]?.integer == 2)
    #expect(try crate.deliveries().isEmpty)
  }

  @Test func `that were handed over before their target was there go as one all the same`() throws {
    let host = try Installation()
    let crate = try Crate(host)
    for name in host.names(in: "targets") { try Directory(host.path + "/targets").remove(name) }
    let delivery = "\"spacing\": \"0s\", \"encode\": \"gzip\""
    try host.configure(crate.pipeline("mail", delivery: delivery, subject: "{{ file.name }}"))
    let words = String(repeating: "two ", count: 1000)
    try host.submit("mail", ["one", words], name: "a.txt")
    try crate.install()
    try host.start()
    #expect(try eventually { try crate.deliveries().count == 1 && host.queue("mail").isEmpty })
    let got = try #require(try crate.deliveries().first)
    #expect(got.number("index") == 1 && got.number("count") == 1)
    #expect(got.text("subject") == got.text("name") && got.text("name").hasSuffix(".zip"))
    #expect(try unzipped(got.bytes, host) == "[('1-a.txt', 'one'), ('2-a.txt', '\(words)')]\n")
  }

  @Test func `that wait for a target of parts go as one when the pipeline gets one that takes artifacts`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let crate = try Crate(host)
    try host.configure(receiver.pipeline("out", "/status/503", delivery: "\"spacing\": \"0s\", \"retryFirst\": \"1h\""))
    try host.start()
    try host.submit("out", ["one", "two"], name: "a.txt")
    #expect(try host.reaches("out", "waiting"))
    try host.configure(crate.pipeline("out"))
    #expect(try host.run("reload").status == 0)
    #expect(try eventually { try crate.deliveries().count == 1 && host.queue("out").isEmpty })
    #expect(try crate.deliveries().first?.number("count") == 1)
  }

  @Test(arguments: [Damage.flip(at: 60), .cut(to: 30), .remove, .garbage, .folder, .link])
  func `whose bundle the disk damaged get it made again, the same`(damage: Damage) throws {
    let host = try Installation()
    let crate = try Crate(host)
    try host.configure(crate.pipeline("mail"))
    try crate.answers("retry")
    try host.start()
    try host.submit("mail", ["one", "two"], name: "a.txt")
    #expect(try eventually { try crate.deliveries().count >= 1 })
    try host.run("pause", "mail")
    let entry = "relay-data/pipelines/mail/queue/\(host.queue("mail").first ?? "")"
    let bundle = try #require(host.names(in: entry).first { $0.hasPrefix("000000-") })
    try damage.apply(to: "\(host.path)/\(entry)/\(bundle)")
    try crate.answers(nil)
    try host.run("resume", "mail")
    #expect(eventually { host.queue("mail").isEmpty })
    #expect(Set(try crate.deliveries().map(\.bytes)).count == 1)
    #expect(host.names(in: "relay-data/pipelines/mail/corrupt").isEmpty)
  }

  @Test func `wait where libarchive can't be loaded, are told of, and go once it can`() throws {
    let host = try Installation()
    let crate = try Crate(host)
    try host.configure(crate.pipeline("mail"))
    // The loader looks there first, and takes a file that is no library for the end of its search.
    try host.write("libarchive.so.13", "")
    try host.start(environment: ["LD_LIBRARY_PATH": host.path])
    try host.submit("mail", ["one", "two"], name: "a.txt")
    #expect(try eventually { try host.status("mail")["trouble"]?.string?.contains("install libarchive") == true })
    try host.folder.remove("libarchive.so.13")
    try host.run("retry", "mail")
    #expect(try eventually { try crate.deliveries().count == 1 && host.queue("mail").isEmpty })
  }
}
