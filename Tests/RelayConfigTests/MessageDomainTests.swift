// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import Testing

@Suite struct `The domain of Message-IDs` {
  static let mail = #"""
    {
      "id": "mail", "name": "Mail", "version": "1.0.0", "unit": "artifact",
      "settings": {
        "type": "object", "properties": {
          "from": {"type": "string", "x-relay-sender": true}, "to": {"type": "string"}, "plain": {"type": "string"}
        }
      }
    }
    """#

  static func domain(_ settings: String, root: String = "") throws -> String {
    let target = try #require(TargetManifest.read(Array(mail.utf8), origin: "test").manifest)
    let text = Samples.file(load: #"{"target": "mail", "settings": \#(settings)}"#, root: root)
    let read = ConfigurationReader.read(
      bytes: Array(text.utf8), file: "pipelines.json", targets: [target],
      environment: ConfigurationEnvironment(currentDirectory: "/srv/relay"))
    return try #require(read.configuration?.pipelines.first).messageDomain
  }

  @Test(arguments: [
    ("relay@example.org", "example.org"), ("Relay Host <relay@Mail.Example.ORG>", "mail.example.org"),
    ("  a@b.example > ", "b.example"), ("\\\"a@b\\\" <c@d.example>", "d.example"),
    ("relay@xn--bcher-kva.example", "xn--bcher-kva.example"),
    // What is no domain in ASCII stands in no Message-ID.
    ("relay@bücher.example", "relay-host.invalid"), ("relay", "relay-host.invalid"), ("relay@", "relay-host.invalid"),
    ("relay@[192.0.2.1]", "relay-host.invalid"), ("relay@a\\r\\nBcc: x", "relay-host.invalid"),
    ("relay@" + String(repeating: "a", count: 300), "relay-host.invalid"),
  ])
  func `is the sender's`(from: String, domain: String) throws {
    #expect(try Self.domain(#"{"from": "\#(from)", "to": "me@other.example"}"#) == domain)
  }

  @Test func `is mailDomain where that is set, and nobody's where no mail is sent`() throws {
    let settings = #"{"from": "relay@example.org"}"#
    #expect(try Self.domain(settings, root: #""mailDomain": "ids.example","#) == "ids.example")
    #expect(try Self.domain(#"{"plain": "relay@example.org"}"#) == "relay-host.invalid")
  }
}
