// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `A secret is seen by its target alone` {
  /// With everything that encodings do differently.
  static let value = "s3cr3t+/=?&\u{E9}-hunter2-of-\(Identifier.random())"

  static func base64(_ text: String) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var result = ""
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << UInt32(16 - 8 * $1.offset) }
      for place in 0..<4 {
        result.append(place <= group.count ? letters[Int(bits >> UInt32(18 - 6 * place) & 63)] : "=")
      }
    }
    return result
  }

  @Test func `a receiver that answers with it is not quoted`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let token = "token-\(Identifier.random())"
    try host.write("token.txt", token)
    try host.configure(
      receiver.pipeline(
        "web", "/status/401?type=text/plain&body=your+token+\(token)+is+wrong",
        settings: "\"bearer\": {\"secret\": \"web\"}"))
    #expect(try host.shell("relay secret set web < token.txt").status == 0)
    try host.start()
    try host.submit("web", "x")
    #expect(try host.reaches("web", "needs-attention"))
    #expect(try receiver.requests().first?["Authorization"] == "Bearer \(token)")
    let message = try host.status("web")["attention"]?["message"]?.string ?? ""
    #expect(message.contains("your token") && message.contains("is wrong"), "\(message)")
    #expect(!message.contains(token))
    let files = try host.shell("cat log; grep -raF '' --exclude-dir=secrets --exclude-dir=targets relay-data")
    #expect(!files.output.replacing("body=your+token+\(token)", with: "").contains(token))
  }

  @Test func `a pipeline whose secret is missing takes no worker's place from the others`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let texts = [
      receiver.pipeline("locked", "/a", settings: "\"bearer\": {\"secret\": \"key\"}"), receiver.pipeline("open", "/b"),
    ]
    try host.write("pipelines.json", "{\"workers\": 1, \"pipelines\": [\(texts.joined(separator: ",\n"))]}\n")
    try host.write("key.txt", "a key")
    #expect(try host.shell("relay secret set key < key.txt").status == 0)
    try host.start()
    #expect(try host.shell("relay secret remove key").status == 0)
    try host.submit("locked", "x")
    #expect(try host.reaches("locked", "needs-attention"))
    try host.submit("open", "y")
    #expect(eventually { (try? receiver.requests().count) == 1 })
  }

  @Test func `a target that tells it in every way it has doesn't get it into any place that people or programs read`()
    throws
  {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("tattler"), as: "libtattler.so")
    let verdicts = [1, 2, 3, 4]
    let kinds = ["plain", "base64"].flatMap { form in verdicts.map { (form, $0) } }
    let texts = kinds.map { form, verdict in
      Installation.fixture(
        "\(form)-\(verdict)", target: "org.example.tattler",
        settings: "\"token\": {\"secret\": \"token\"}, \"form\": \"\(form)\", \"verdict\": \(verdict)",
        delivery: "\"spacing\": \"0s\", \"retryFirst\": \"1h\"")
    }
    try host.write(
      "pipelines.json", "{\"targets\": [\"targets\"], \"pipelines\": [\(texts.joined(separator: ",\n"))]}\n")
    try host.write("token.txt", Self.value + "\n")
    #expect(try host.shell("relay secret set token < token.txt; s=$?; rm token.txt; exit $s").status == 0)
    try host.start(environment: ["RELAY_SECRET_OTHER": Self.value, "RELAY_SECRET_TOKEN": Self.value])
    let ids = kinds.map { "\($0)-\($1)" }
    try host.write("part.txt", "some bytes")
    try host.shell("for id in \(ids.joined(separator: " ")); do relay submit $id part.txt; done")
    #expect(eventually(within: 20) { ids.allSatisfy { host.deliveriesOnDisk($0).count == 1 } })
    #expect(host.deliveriesOnDisk("plain-2").first?["verdict"]?.string == "retry")
    #expect(host.deliveriesOnDisk("base64-1").first?["verdict"]?.string == "delivered")
    // The words around it are there, so it did speak, and everywhere.
    for id in ids {
      #expect(host.deliveriesOnDisk(id).first?["message"]?.string?.contains("the token is") == true, "\(id)")
    }
    for level in ["info", "warning", "error"] { #expect(host.log.contains("level=\(level) msg=\"the token is")) }
    #expect(eventually { host.text(of: "relay-data/status.json").contains("the token is") })

    var seen = host.log + host.text(of: "relay-data/status.json")
    // Those that delivered wait for more work.
    let workers = ProcessTable.workers(of: host.pid)
    #expect(!workers.isEmpty)
    for worker in workers {
      let environment = ProcessTable.environment(worker)
      #expect(environment.contains("PATH=") || geteuid() != 0)
      seen += ProcessTable.arguments(worker).joined(separator: " ") + environment
    }
    for id in ids {
      for words in [["status", id], ["log", id], ["queue", id], ["refused", id], ["test", id]] {
        for json in [[], ["--json"]] {
          let answer = try host.run(words + json)
          seen += answer.output + answer.problems
        }
      }
    }
    seen += try host.run("check", "--online", "--json").output + host.run("secret", "list").output
    seen += host.log
    // Every file of the installation but the secret's own.
    seen += try host.shell("grep -raF '' --exclude-dir=secrets --exclude-dir=targets relay-data pipelines.json").output
    seen += ProcessTable.arguments(host.pid).joined(separator: " ")
    for form in [Self.value, Self.base64(Self.value), String(Self.base64(Self.value).prefix { $0 != "=" })] {
      #expect(!seen.contains(form))
    }
    #expect(seen.contains("•••"))
    #expect(try host.shell("stat -c %a relay-data/secrets relay-data/secrets/token").output == "700\n600\n")
  }
}
