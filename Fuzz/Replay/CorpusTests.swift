// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import RelayTestSupport
import Testing

/// What the fuzzers start from and what they once found, without a fuzzer.
struct CorpusTests {
  @Test(arguments: FuzzTarget.all)
  func `every input of the corpus keeps the promises`(_ target: FuzzTarget) throws {
    let folder = try Directory(Repository.path("Fuzz/corpus/\(target.name)"))
    let names = try folder.names()
    #expect(!names.isEmpty, "there is something to start from")
    for name in names {
      let bytes = try File.bytes(of: folder.path + "/" + name)
      #expect(throws: Never.self, "\(target.name)/\(name)") { try target.run(bytes) }
    }
  }

  /// Seeds are good inputs, so what is one step away from them is where readers go wrong.
  @Test(arguments: FuzzTarget.all)
  func `so do its inputs cut short or with one byte changed`(_ target: FuzzTarget) throws {
    let folder = try Directory(Repository.path("Fuzz/corpus/\(target.name)"))
    for name in try folder.names() {
      let bytes = try File.bytes(of: folder.path + "/" + name)
      // A few dozen places of each, at odd distances so that they don't fall on the same kind of field.
      for place in stride(from: 0, to: bytes.count, by: bytes.count / 24 + 1) {
        #expect(throws: Never.self, "\(target.name)/\(name) cut at \(place)") {
          try target.run(Array(bytes.prefix(place)))
        }
        #expect(throws: Never.self, "\(target.name)/\(name) changed at \(place)") {
          try target.run(bytes.flipped(place * 8 + place % 8))
        }
      }
    }
  }

  @Test func `each folder of the corpus has a target`() throws {
    let folders = try Directory(Repository.path("Fuzz/corpus")).names()
    #expect(folders.sorted() == FuzzTarget.all.map(\.name))
  }
}

extension FuzzTarget: CustomTestStringConvertible {
  var testDescription: String { name }
}
