// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayPipelines
import RelaySystem

/// A file that a person named on the command line, in whatever bytes its name has.
struct NamedFile {
  /// For messages.
  let path: String
  private let bytes: [CChar]
  /// What can be opened only once: a pipe, a device.
  private let kept: Descriptor?

  /// All that were named, each looked at before the first is handed over.
  static func all(_ paths: [String]) throws(Refusal) -> [NamedFile] {
    var words = rawWords[...]
    var files: [NamedFile] = []
    for path in paths {
      // The words come in the same order; a name that isn't UTF-8 is only in the raw ones as it is.
      let place = words.firstIndex { text($0) == path }
      let raw = place.map { words[$0] } ?? Array(path.utf8CString)
      if let place { words = words[(place + 1)...] }
      files.append(try NamedFile(path, raw))
    }
    return files
  }

  private static func text(_ word: [CChar]) -> String {
    String(decoding: word.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static var rawWords: [[CChar]] {
    (0..<Int(CommandLine.argc)).compactMap { place in
      CommandLine.unsafeArgv[place].map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
    }
  }

  private init(_ path: String, _ bytes: [CChar]) throws(Refusal) {
    self.path = path
    self.bytes = bytes
    let file = try Self.asked(path) { () throws(SystemError) in
      path == "-" ? try Descriptor.ofStandardInput() : try Descriptor.open(named: bytes)
    }
    switch try Self.asked(path, { () throws(SystemError) in try file.status().kind }) {
    case .folder:
      throw Refusal(
        .usage, .submitNoFile, "\(path) is a folder.", hint: "hand over the files in it, or an archive of it")
    case .file: kept = path == "-" ? file : nil
    default:
      // Until somebody writes to it, a pipe reads as if it were empty.
      try Self.asked(path) { () throws(SystemError) in while try !file.waitReadable(milliseconds: 60_000) {} }
      kept = file
    }
  }

  func open() throws(Refusal) -> Descriptor {
    if let kept { return kept }
    return try Self.asked(path) { () throws(SystemError) in try Descriptor.open(named: bytes) }
  }

  /// The last part of the path.
  var name: String {
    if path == "-" { return "stdin" }
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  private static func asked<T>(_ path: String, _ body: () throws(SystemError) -> T) throws(Refusal) -> T {
    do {
      return try body()
    } catch {
      throw Refusal(
        .usage, .submitNoFile, "\(path) can't be read: \(SystemError.text(of: error.code)).",
        hint: "nothing was handed over")
    }
  }
}
