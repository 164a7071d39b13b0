// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem
import RelayTestSupport

/// The fixture target `crate`, which takes an artifact as one, and what it got.
package struct Crate: Sendable {
  /// A delivery that it read to the end.
  package struct Delivery: Sendable {
    package var line: JSONNode
    package var bytes: [UInt8]
    package var isTaken: Bool { line["taken"]?.bool == true }

    package func text(_ member: String) -> String { line[member]?.string ?? "" }
    package func number(_ member: String) -> Int64 { line[member]?.integer ?? -1 }
  }

  private let host: Installation
  private let name: String

  /// Puts the target into the targets folder and makes the folder that it fills.
  package init(_ host: Installation, in name: String = "crate", _ defines: [String] = []) throws {
    self.host = host
    self.name = name
    _ = try host.folder.ensureFolder(name)
    if host.names(in: "targets").isEmpty { try install(defines) }
  }

  /// Puts the target into the targets folder, in place of the one that is there.
  package func install(_ defines: [String] = []) throws {
    for name in host.names(in: "targets") { try Directory(host.path + "/targets").remove(name) }
    try host.link(try FixtureTarget.compile("crate", defines), as: "libcrate.so")
  }

  /// A pipeline that delivers to it.
  package func pipeline(
    _ id: String, delivery: String = "\"spacing\": \"0s\", \"retryFirst\": \"100ms\", \"retryMax\": \"200ms\"",
    subject: String? = nil
  ) -> String {
    let more = subject.map { ", \"subject\": \"\($0)\"" } ?? ""
    return Installation.fixture(
      id, target: "org.example.crate", settings: "\"directory\": \"\(name)\"\(more)", delivery: delivery)
  }

  /// What it says from now on: `retry`, `refused`; nil takes everything.
  package func answers(_ word: String?) throws {
    if let word {
      try host.write("\(name)-answer", word)
      try host.folder.rename("\(name)-answer", to: try host.folder.folder(name), as: "answer")
    } else {
      try? host.folder.folder(name).remove("answer")
    }
  }

  /// All that it got, in order.
  package func deliveries() throws -> [Delivery] {
    let inner = try host.folder.folder(name)
    let lines = try inner.content(of: "received") ?? []
    return try lines.split(separator: 10).map { line in
      let node = try JSONTree.parse(Array(line))
      return Delivery(line: node, bytes: try inner.content(of: node["file"]?.string ?? "", limit: 1 << 30) ?? [])
    }
  }
}
