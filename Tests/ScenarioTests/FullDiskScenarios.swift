// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// The state folder's file system has no room left.
@Suite struct `A full disk below the daemon` {
  @Test func `refuses what is handed over and leaves nothing of it, delivers on, and heals when there is room`() throws
  {
    let host = try Installation()
    let receiver = try Receiver()
    guard mkdir(host.state, 0o700) == 0 else { throw CallError("mkdir") }
    guard mount("tmpfs", host.state, "tmpfs", 0, "size=40m,mode=700") == 0 else {
      print("skipped: a tmpfs can't be mounted here (\(String(cString: strerror(errno)))); run as root")
      return
    }
    defer {
      host.killHard()
      umount2(host.state, Int32(MNT_DETACH))
    }
    try receiver.script("web", "/status/503?retry-after=3600")
    try host.configure(
      receiver.pipeline("web", "/script/web", delivery: "\"spacing\": \"0s\", \"retryFirst\": \"100ms\""))
    try host.start()
    try host.submit("web", "one", "two")
    try host.submit("web", "three")
    #expect(try host.reaches("web", "waiting"))
    // To the last byte.
    let filler = open(host.state + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard filler >= 0 else { throw CallError("open") }
    defer { close(filler) }
    let block = [UInt8](repeating: 1, count: 65536)
    while write(filler, block, block.count) > 0 {}
    while write(filler, block, 1) > 0 {}
    let before = host.names(in: "relay-data/pipelines/web/queue")
    #expect(before.count == 2)

    try host.write("file", "four")
    let answer = try host.run("submit", "web", host.path + "/file")
    #expect(answer.status == 4)
    #expect(answer.problems.contains("is full"), "\(answer.problems)")
    let asJSON = try host.run("submit", "web", host.path + "/file", "--json")
    #expect(asJSON.json?["error"]?["code"]?.string == "submit.disk-full")
    #expect(host.names(in: "relay-data/pipelines/web/queue") == before)

    // What is queued is delivered, and marked: after a crash it isn't sent again.
    try receiver.script("web", "/status/200", "/status/503?retry-after=3600")
    #expect(try host.run("retry", "web").status == 0)
    #expect(try eventually { try receiver.requests().count == 3 })
    #expect(try host.reaches("web", "waiting"))
    host.killHard()
    try host.start()
    #expect(try host.run("status", "web").status == 3)
    try receiver.script("web", "/status/200")
    #expect(try host.run("retry", "web").status == 0)
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().map(\.body) == ["one", "one", "two", "two", "three"])
    #expect(eventually { host.names(in: "relay-data/pipelines/web/queue").isEmpty })

    guard ftruncate(filler, 0) == 0 else { throw CallError("ftruncate") }
    try host.submit("web", "four")
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().last?.body == "four")
  }
}
