// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// What lies in the state folder isn't what was put there: never sent as if it were, never deleted, and no obstacle to the rest.
@Suite struct `A damaged state folder` {
  private let quick = "\"spacing\": \"0s\", \"retryFirst\": \"100ms\""

  private func queue(_ host: Installation, _ pipeline: String) -> String { "\(host.state)/pipelines/\(pipeline)/queue" }

  private func file(_ prefix: String, in folder: String) throws -> String {
    let name = try #require(try Directory(folder).names().first { $0.hasPrefix(prefix) })
    return folder + "/" + name
  }

  @Test func `holds a changed part: its artifact goes to corrupt, the receiver sees nothing of it, the next one goes`()
    throws
  {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/status/200", delivery: quick))
    let damages: [Damage] = [
      .flip(at: 3), .cut(to: 5), .cut(to: 0), .grow, .remove, .folder, .pipe, .link, .garbage,
    ]
    for number in damages.indices { try host.submit("web", "first \(number)", "second \(number)") }
    try host.submit("web", "last")
    for (number, damage) in damages.enumerated() {
      let folder = "\(queue(host, "web"))/\(SequenceNames.name(number + 1))"
      try damage.apply(to: try file("000002-", in: folder))
    }
    try host.start()
    #expect(try host.reaches("web", "idle", within: 30))
    let bodies = try receiver.requests().map(\.body)
    #expect(bodies.last == "last")
    // A first part may have gone before its fellow was found out; a second one never.
    #expect(bodies.allSatisfy { $0.hasPrefix("first ") || $0 == "last" }, "\(bodies)")
    let corrupt = try Directory("\(host.state)/pipelines/web/corrupt").names()
    #expect(corrupt == damages.indices.map { SequenceNames.name($0 + 1) })
    for name in corrupt {
      #expect(host.text(of: "relay-data/pipelines/web/corrupt/\(name)/manifest.json").contains("sha256"))
      #expect(host.text(of: "relay-data/pipelines/web/corrupt/\(name)/reason.json").contains("damaged"))
    }
    #expect(try host.status("web")["queued"]?["artifacts"]?.integer == 0)
  }

  @Test func `holds a damaged manifest: nothing is made of it, and the next one goes`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/status/200", delivery: quick))
    let size = try sizeOfManifest(host)
    let strides = Array(stride(from: 0, to: size, by: max(1, size / 16)))
    let damages: [Damage] =
      [.cut(to: 0), .remove, .folder, .pipe, .link, .grow, .garbage] + strides.map { .flip(at: $0) }
      + strides.dropFirst().map { .cut(to: $0) }
    let source = "\(queue(host, "web"))/\(SequenceNames.name(1))"
    // The one that was submitted stands last; damaged copies of it before.
    let last = "\(queue(host, "web"))/\(SequenceNames.name(damages.count + 1))"
    guard rename(source, last) == 0 else { throw CallError("rename") }
    for (number, damage) in damages.enumerated() {
      let copy = "\(queue(host, "web"))/\(SequenceNames.name(number + 1))"
      #expect(try Command.run(["cp", "-r", last, copy]).status == 0)
      try damage.apply(to: copy + "/manifest.json")
    }
    try host.start()
    #expect(try host.reaches("web", "idle", within: 30))
    #expect(try receiver.requests().map(\.body) == ["manifest"])
    #expect(host.names(in: "relay-data/pipelines/web/corrupt").count == damages.count)
  }

  private func sizeOfManifest(_ host: Installation) throws -> Int {
    try host.submit("web", "manifest")
    return try File.bytes(of: "\(queue(host, "web"))/\(SequenceNames.name(1))/manifest.json").count
  }

  @Test(arguments: [Damage.cut(to: 4_000_000), .grow, .flip(at: 8_000_000)])
  func `changes while a part is being sent: never delivered whole with other bytes`(damage: Damage) throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/pace/10/200")
    try host.configure(receiver.pipeline("web", "/script/web", delivery: quick))
    let large = String(repeating: "0123456789abcdef", count: 512 * 1024)
    try host.write("original", large)
    let sum = try Command.run(["sha256sum", host.path + "/original"]).output.prefix(64)
    try host.start()
    try host.submit("web", large)
    try host.submit("web", "next")
    #expect(try host.reaches("web", "delivering"))
    // The receiver takes more than a second for it.
    #expect(try receiver.requests().isEmpty)
    let part = try file("000001-", in: "\(queue(host, "web"))/\(SequenceNames.name(1))")
    switch damage {
    case .cut: try damage.apply(to: part)
    default:
      // In place: what is being sent is this very file.
      let descriptor = open(part, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw CallError("open") }
      defer { close(descriptor) }
      let place = if case .flip(let place) = damage { place } else { large.utf8.count }
      #expect(pwrite(descriptor, "#", 1, off_t(place)) == 1)
    }
    #expect(try host.reaches("web", "idle", within: 30))
    let requests = try receiver.requests()
    #expect(requests.last?.body == "next")
    for request in requests where request.length == Int64(large.utf8.count) && !request.sha256.isEmpty {
      #expect(request.sha256 == sum, "whole, with other bytes")
    }
    let isDelivered = requests.contains { $0.sha256 == sum }
    #expect(host.names(in: "relay-data/pipelines/web/corrupt").count == (isDelivered ? 0 : 1))
    if case .cut = damage { #expect(!isDelivered) }
  }

  @Test func `holds damaged marks and caches: sends again what isn't known to have arrived, with the same keys`() throws
  {
    let host = try Installation()
    let receiver = try Receiver()
    let places = Array(stride(from: 0, to: 16384, by: 1170))
    let damages: [(String, Damage)] =
      [("marks", .cut(to: 0)), ("marks", .cut(to: 4096)), ("marks", .cut(to: 10_000)), ("marks", .garbage)]
      + [("marks", .remove)] + places.map { ("marks", .flip(at: $0)) }
      + ["pipeline.json", "target-state", "deliveries.ndjson"].flatMap { name in
        [(name, Damage.cut(to: 0)), (name, .cut(to: 7)), (name, .garbage), (name, .remove), (name, .flip(at: 0))]
      }
    let ids = damages.indices.map { "p\($0)" }
    let pipelines = ids.map { receiver.pipeline($0, "/script/\($0)", delivery: quick) }
    try host.write("pipelines.json", "{\"pipelines\": [\(pipelines.joined(separator: ",\n"))]}")
    for id in ids { try receiver.script(id, "/status/200", "/status/503?retry-after=3600") }
    // One is delivered in part; the others begin as copies of it, so that only the damage differs.
    try host.submit("p0", "one", "two", "three")
    try host.start()
    #expect(try host.reaches("p0", "waiting"))
    host.stop()
    for id in ids.dropFirst() {
      let (from, to) = ("\(host.state)/pipelines/p0", "\(host.state)/pipelines/\(id)")
      #expect(try Command.run(["rm", "-rf", to]).status == 0)
      #expect(try Command.run(["cp", "-a", from, to]).status == 0)
    }
    for id in ids { try receiver.script(id, "/status/200") }
    for (id, (name, damage)) in zip(ids, damages) {
      let path = "\(host.state)/pipelines/\(id)/\(name)"
      if File.exists(path) { try damage.apply(to: path) }
    }
    try host.start()
    for (id, (name, damage)) in zip(ids, damages) {
      // The receiver's wish of an hour may still be known.
      _ = try host.run("retry", id)
      #expect(try host.reaches(id, "idle", within: 30), "\(name) \(damage)")
      let bodies = try receiver.requests("/script/\(id)").filter { $0.path == "/script/\(id)" }.map(\.body)
      let isHead = id == "p0"
      let after = isHead ? Array(bodies.dropFirst(2)) : bodies
      #expect(after == ["two", "three"] || after == ["one", "two", "three"], "\(damage): \(after)")
      #expect(host.names(in: "relay-data/pipelines/\(id)/corrupt").isEmpty, "\(damage)")
    }
    let keys = Set(try receiver.requests("/script/").map(\.key))
    #expect(keys.count == 3)
  }

  @Test func `holds things that nobody knows: the daemon starts, delivers around them, and deletes nothing`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(
      receiver.pipeline("web", "/status/200", delivery: quick),
      receiver.pipeline("other", "/status/200", delivery: quick))
    try host.submit("web", "before")
    try host.submit("other", "x")
    let long = String(repeating: "n", count: 255)
    var made: [String] = []
    for folder in [
      "pipelines", "pipelines/web/queue", "pipelines/web/refused", "pipelines/web/corrupt", "pipelines/web", "targets",
      "secrets",
    ] {
      let base = "\(host.state)/\(folder)/"
      for name in [".hidden", "file.txt", long] {
        try File.write("x".utf8, to: base + name)
        made.append(base + name)
      }
      guard mkfifo(base + "pipe", 0o600) == 0, symlink("/nonexistent", base + "link") == 0,
        symlink("/tmp", base + "link-to-folder") == 0, mkdir(base + "Folder With Spaces", 0o700) == 0
      else { throw CallError("making junk") }
      made += ["pipe", "link", "link-to-folder", "Folder With Spaces"].map { base + $0 }
      var raw = Array(base.utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), CChar(bitPattern: 0xFE), 0]
      let descriptor = open(&raw, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw CallError("open") }
      close(descriptor)
    }
    // Names that look like artifacts and aren't.
    let queue = "\(host.state)/pipelines/web/queue/"
    try File.write("x".utf8, to: queue + "0000000007")
    guard mkfifo(queue + "0000000008", 0o600) == 0, symlink("/tmp", queue + "0000000009") == 0 else {
      throw CallError("making junk")
    }
    made += ["0000000007", "0000000008", "0000000009"].map { queue + $0 }

    try host.start()
    #expect(try eventually { try receiver.requests().count == 2 })
    try host.submit("web", "after")
    #expect(try eventually { try receiver.requests().count == 3 })
    #expect(try host.reaches("web", "idle"))
    #expect(try host.run("refused", "web").status == 0)
    #expect(try host.run("queue", "web").status == 0)
    #expect(try host.run("secret", "list").status == 0)
    #expect(try host.run("status").status == 0)
    for path in made {
      var status = stat()
      let isThere = lstat(path, &status) == 0
      #expect(isThere, "deleted: \(path)")
    }
    #expect(host.log.contains("was left alone"))
    host.stop()
    let raw = try Command.run(["sh", "-c", "find '\(host.state)' -name \"$(printf '\\377\\376')\" | wc -l"]).output
    #expect(raw.trimmed == "7")
  }
}

/// Names of artifact folders.
enum SequenceNames {
  static func name(_ number: Int) -> String { String(repeating: "0", count: 10 - "\(number)".count) + "\(number)" }
}

extension String {
  var trimmed: Substring { drop { $0.isWhitespace }.prefix { !$0.isWhitespace } }
}
