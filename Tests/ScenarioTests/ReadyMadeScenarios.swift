// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayTestSupport
import ScenarioSupport
import TestPrograms
import Testing

/// The pipelines of Examples/ready-made, each as it stands in the repository but for the receiver's address.
@Suite struct `Ready-made pipelines` {
  struct Expectation: Sendable, CustomTestStringConvertible {
    var file: String
    var secrets: [String: String] = [:]
    var method = "POST"
    /// Of the address, behind the receiver's own.
    var path: String
    var headers: [String: String?]

    var testDescription: String { file }
  }

  static let all = [
    Expectation(
      file: "home-assistant", secrets: ["home-assistant": "long-lived"], path: "/api/states/sensor.weight",
      headers: ["Authorization": "Bearer long-lived", "automation-id": nil]),
    Expectation(
      file: "influxdb", secrets: ["influxdb": "Token influx-token"],
      path: "/api/v2/write?org=home&bucket=health&precision=s",
      headers: [
        "Authorization": "Token influx-token", "Content-Encoding": "gzip", "Content-Type": "text/plain; charset=utf-8",
      ]),
    Expectation(
      file: "ntfy", method: "PUT", path: "/a-topic-that-nobody-guesses",
      headers: ["Title": "Files to the phone", "Filename": "weight.json"]),
    Expectation(
      file: "nextcloud", secrets: ["nextcloud": "app-password"], method: "PUT",
      path: "/remote.php/dav/files/maria/Scans/weight.json",
      // printf 'maria:app-password' | base64
      headers: ["Authorization": "Basic bWFyaWE6YXBwLXBhc3N3b3Jk", "Content-Encoding": nil]),
    Expectation(
      file: "pulso", secrets: ["pulso": "pulso-token", "pulso-signature": "signing-key"], path: "/ingest",
      headers: ["Authorization": "Bearer pulso-token", "Content-Encoding": "gzip"]),
    Expectation(file: "healthchecks", path: "/0d338dcc-a054-11ec-b909-0242ac120002", headers: ["automation-id": nil]),
  ]

  @Test(arguments: all)
  func `a ready-made pipeline sends what its receiver expects`(expected: Expectation) throws {
    let receiver = try Receiver()
    let host = try Installation()
    let text = try Repository.text(of: "Examples/ready-made/\(expected.file).json")
    let node = try JSONTree.parse(Array(text.utf8))["pipelines"]?[0]
    let id = try #require(node?["id"]?.string)
    // The path picks how the receiver behaves: it takes everything under /status/200.
    let base = receiver.url("/status/200")
    var secrets = expected.secrets
    var local = text
    if let origin = node?["load"]?["settings"]?["url"]?.string.flatMap(Self.origin) {
      local = text.replacing(origin, with: base)
    } else {
      secrets["healthchecks"] = base + expected.path
    }
    try host.write("pipelines.json", local)
    for (name, value) in secrets {
      #expect(try host.run(["secret", "set", name], input: value).status == 0)
    }
    let check = try host.run("check")
    #expect(check.status == 0 && !check.output.contains("warning"), "\(check)")
    try host.start()
    let contents = #"{"state": "81.2", "attributes": {"unit_of_measurement": "kg"}}"#
    try host.submit(id, contents, name: "weight.json")
    #expect(try eventually { try receiver.requests("/status/200").count == 1 })
    let request = try #require(try receiver.requests("/status/200").first)
    #expect(request.method == expected.method)
    #expect(request.path == "/status/200" + expected.path)
    for (name, value) in expected.headers { #expect(request[name] == value, "\(name)") }
    #expect(try request.plainSHA256 == Self.sha256(contents, named: expected.file))
    if expected.file == "pulso" { #expect(request["X-Signature"]?.hasPrefix("sha256=") == true) }
    #expect(try eventually { try host.status(id)["lastVerdict"]?["code"]?.string == "delivered" })
  }

  @Test func `each file of the folder is tried here and told of in its README`() throws {
    let readme = try Repository.text(of: "Examples/ready-made/README.md")
    let files = try Command.run(["ls", Repository.path("Examples/ready-made")]).output
      .split(separator: "\n").filter { $0.hasSuffix(".json") }
    #expect(Set(files.map { String($0.dropLast(5)) }) == Set(Self.all.map(\.file)))
    for file in files { #expect(readme.contains("| `\(file)` |"), "\(file)") }
  }

  /// "https://host:port" of an address.
  private static func origin(_ url: String) -> String? {
    guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
    return String(url[..<(url[start...].firstIndex(of: "/") ?? url.endIndex)])
  }

  private static func sha256(_ text: String, named name: String) throws -> String {
    let file = TemporaryFolder.shared.path("ready-made-\(name)")
    try File.write(text.utf8, to: file)
    return String(try Command.run(["sha256sum", file]).output.prefix(64))
  }
}
