// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `The shipped targets in a real worker` {
  private func deliver(
    _ target: String, _ settings: [SettingEntry], secrets: [SecretEntry] = [], overlay: [SettingEntry] = []
  ) throws -> (WireVerdict, WorkerUnderTest) {
    let worker = try WorkerUnderTest()
    for case .text(let path) in settings.filter({ $0.path == "directory" }).map(\.value) {
      try worker.open(path, .write)
    }
    let object = "\(Repository.products)/lib\(target).so"
    try worker.send(.load(path: object, pipelineID: "steps", limits: WorkerLimits()), request: 1)
    try worker.send(.open(settings: settings, secrets: secrets, settingsJSON: Array("{}".utf8)), request: 2)
    try worker.deliver(Array("one\n".utf8), overlay: overlay)
    return (try #require(try worker.result()).verdict, worker)
  }

  @Test func `the folder target puts a test beside what is there`() throws {
    let folder = TemporaryFolder.shared.path("shipped")
    #expect(mkdir(folder, 0o700) == 0)
    let settings = [
      SettingEntry(path: "directory", value: .text(folder)), SettingEntry(path: "file", value: .template),
      SettingEntry(path: "existing", value: .text("keep-both")),
    ]
    let overlay = [SettingEntry(path: "file", value: .text("a.csv"))]
    let (verdict, worker) = try deliver("FolderTarget", settings, overlay: overlay)
    #expect(verdict.code == RELAY_DELIVERED)
    #expect(verdict.message == "saved as test-a.csv")
    #expect(try File.bytes(of: "\(folder)/test-a.csv") == Array("one\n".utf8))
    #expect(try worker.end() == 0)
  }

  @Test func `the HTTP target sends secrets, and never bytes that turn out wrong`() throws {
    let record = TemporaryFolder.shared.path("shipped.ndjson")
    let input = try Channel.pipe()
    let output = try Channel.pipe()
    let script = Repository.path("Tests/Fixtures/servers/http_peer.py")
    let peer = try Command.spawn(["python3", script, record], [(input.read, 0), (output.write, 1)])
    close(input.read)
    close(output.write)
    defer {
      close(input.write)
      close(output.read)
      _ = Command.wait(for: peer)
    }
    var port = ""
    var byte: UInt8 = 0
    while read(output.read, &byte, 1) == 1, byte != UInt8(ascii: "\n") { port.unicodeScalars.append(.init(byte)) }
    let settings = [
      SettingEntry(path: "url", value: .template), SettingEntry(path: "bearer", value: .secret),
      SettingEntry(path: "headers", value: .object(count: 1)), SettingEntry(path: "headers/X-Key", value: .secret),
    ]
    let secrets = [
      SecretEntry(path: "bearer", value: "first secret"), SecretEntry(path: "headers/X-Key", value: "second secret"),
    ]
    let overlay = [SettingEntry(path: "url", value: .text("http://127.0.0.1:\(port)/status/201?body=thanks"))]
    let (verdict, _) = try deliver("HTTPTarget", settings, secrets: secrets, overlay: overlay)
    #expect(verdict == WireVerdict(code: RELAY_DELIVERED, status: 201, bytesSent: 4, message: "thanks"))
    let seen = try String(decoding: File.bytes(of: record), as: UTF8.self)
    #expect(seen.contains("Bearer first secret") && seen.contains("second secret") && seen.contains("delivery-1"))

    let worker = try WorkerUnderTest()
    worker.verifyAnswer = { (RELAY_FAILED, $0) }
    try worker.start("\(Repository.products)/libHTTPTarget.so", mode: "", settings: [settings[0]])
    try worker.deliver(Array("wrong".utf8), overlay: overlay)
    let refused = try #require(try worker.result()).verdict
    #expect(refused.code == RELAY_RETRY && refused.reason == RELAY_REASON_SOURCE)
    #expect(try File.bytes(of: record).filter { $0 == UInt8(ascii: "\n") }.count == 1)
  }
}
