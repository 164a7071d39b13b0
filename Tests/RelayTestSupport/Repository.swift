// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Files of this repository, found from where this source lies.
package enum Repository {
  package static let root: String = {
    let parts = #filePath.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/")
  }()

  package static let abiInclude = path("Sources/TargetABI/include")

  package static func path(_ relative: String) -> String { "\(root)/\(relative)" }

  package static func text(of relative: String) throws -> String {
    String(decoding: try File.bytes(of: path(relative)), as: UTF8.self)
  }

  /// Folder of the programs and libraries that were built along with the tests.
  ///
  /// The test bundle may have been started by a helper program, so the bundle is looked for among the mapped files.
  package static let products: String = {
    let maps = (try? File.bytes(of: "/proc/self/maps")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let bundle = maps.split(separator: "\n").lazy.compactMap { line -> Substring? in
      guard let start = line.firstIndex(of: "/"), line.hasSuffix(".xctest") else { return nil }
      return line[start...]
    }.first
    let program = bundle.map(String.init) ?? ownProgram
    return program.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
  }()

  private static var ownProgram: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Python with the packages of Tests/requirements.txt, which scripts/bootstrap puts there.
  package static let python = path(".build/python/bin/python3")

  /// The worker that was built along with the tests.
  package static let worker = "\(products)/relay-worker"
}
