// SPDX-License-Identifier: Apache-2.0
import RelayTestSupport
import Testing

/// What the documents and examples tell people to type is what the program takes.
@Suite struct `Examples` {
  private static let program = "\(Repository.products)/relay-host"

  private func check(_ file: String) throws {
    let result = try Command.run([Self.program, "check", "--config", file])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("is good"), "\(result.output)")
  }

  @Test(arguments: ["Examples/pipelines.json", "Examples/demo/pipelines.json", "Examples/demo-targets/pipelines.json"])
  func `an example in the repository is good`(name: String) throws {
    try check(Repository.path(name))
  }

  @Test func `the first pipeline of the README is good`() throws {
    let blocks = try Repository.text(of: "README.md").components(between: "```json\n", and: "```")
    let whole = try #require(blocks.first { $0.contains("\"pipelines\"") })
    let file = TemporaryFolder.shared.path("readme-pipelines.json")
    try File.write(whole.utf8, to: file)
    try check(file)
  }

  @Test func `the first example of the HTTP target is a pipeline that runs`() throws {
    let blocks = try Repository.text(of: "docs/targets/http.md").components(between: "```json\n", and: "```")
    let file = TemporaryFolder.shared.path("http-pipelines.json")
    try File.write("{\"pipelines\": [\(try #require(blocks.first))]}".utf8, to: file)
    let result = try Command.run([Self.program, "check", "--config", file])
    #expect(result.status == 0 && result.output.contains("is good"), "\(result.output)")
    #expect(!result.output.contains("this version"), "\(result.output)")
  }

  @Test func `the commands of the changelog exist`() throws {
    let help = try Command.run([Self.program, "--help"]).output
    let lines = try Repository.text(of: "CHANGELOG.md").components(between: "- Commands: ", and: ".\n")
    let commands = try #require(lines.first).components(between: "`", and: "`")
    #expect(commands.count > 10)
    for command in commands { #expect(help.contains("  \(command) "), "\(command)") }
  }
}

extension String {
  /// The texts between an opening and the next closing mark, in order.
  fileprivate func components(between opening: String, and closing: String) -> [String] {
    var found: [String] = []
    var rest = self[...]
    while let start = rest.firstRange(of: opening) {
      rest = rest[start.upperBound...]
      guard let end = rest.firstRange(of: closing) else { break }
      found.append(String(rest[..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    return found
  }
}
