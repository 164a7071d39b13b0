// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `Large and packed parts` {
  @Test func `two hundred megabytes arrive whole at a folder and at a receiver, and cost the host no memory`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(
      Installation.filing("files"), receiver.pipeline("web", "/status/200", delivery: "\"spacing\": \"0s\""))
    try host.start()
    let before = ProcessTable.residentBytes(host.pid)
    let made = try host.shell(
      "openssl enc -aes-128-ctr -K 00 -iv 00 -in /dev/zero 2>/dev/null | head -c 209715200 > large.bin; "
        + "sha256sum large.bin; relay submit files large.bin && relay submit web large.bin")
    #expect(made.status == 0, "\(made.problems)")
    let hash = String(made.output.prefix(64))
    var most = 0
    let arrived = try eventually(within: 60) {
      most = max(most, ProcessTable.residentBytes(host.pid))
      return try receiver.requests().count == 1 && host.queue("files").isEmpty && host.queue("web").isEmpty
    }
    #expect(arrived)
    let request = try receiver.requests().first
    #expect(request?.sha256 == hash)
    #expect(request?.length == 209_715_200)
    #expect(try host.shell("sha256sum out/large.bin").output.hasPrefix(hash))
    #expect(Sanitizer.isOn || most - before < 12 << 20, "\(before) bytes before, \(most) at most")
    for id in ["files", "web"] { #expect(host.deliveriesOnDisk(id).map { $0["attempt"]?.integer } == [1]) }
  }

  @Test func `packed once, a part goes out in the same bytes at every attempt, and says so`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let delivery = "\"spacing\": \"0s\", \"retryFirst\": \"100ms\", \"retryMax\": \"200ms\", \"encode\": \"gzip\""
    try host.configure(receiver.pipeline("web", "/status/503", delivery: delivery))
    try host.start()
    try host.submit("web", String(repeating: "the same words again and again\n", count: 2000), name: "words.txt")
    #expect(try eventually { try receiver.requests().count >= 3 })
    host.killHard()
    try host.start()
    let count = try receiver.requests().count
    #expect(try eventually { try receiver.requests().count >= count + 2 })
    let requests = try receiver.requests()
    #expect(Set(requests.map(\.sha256)).count == 1)
    #expect(Set(requests.map { $0["Idempotency-Key"] ?? "" }).count == 1)
    #expect(requests.allSatisfy { $0["Content-Encoding"] == "gzip" && $0.length < 5000 })
    let files = host.queue("web").map { "relay-data/pipelines/web/queue/" + $0 }
    let kept = try host.shell("cd \(files.first ?? "none"); sha256sum 000001-*; zcat 000001-* | wc -l")
    #expect(kept.output.hasPrefix(requests.first?.sha256 ?? "none"))
    #expect(kept.output.contains("2000"))
  }
}
