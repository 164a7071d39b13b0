// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestPrograms
import Testing

@Suite struct ExportTests {
  /// The folder in which the build put the shared objects: that of the running test program.
  static let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
  static let bundle = ProcessInfo.processInfo.arguments.first.map {
    URL(filePath: $0).deletingLastPathComponent().path
  }

  static func object(_ name: String) -> String? {
    [built, bundle].compactMap { $0 }.map { "\($0)/lib\(name).so" }.first {
      FileManager.default.fileExists(atPath: $0)
    }
  }

  @Test(
    .enabled(if: object("HTTPTarget") != nil, "no shared objects beside the tests"),
    arguments: ["HTTPTarget", "FolderTarget", "CalendarICS"])
  func `a shared object exports the target's functions and nothing else`(name: String) throws {
    let object = try #require(Self.object(name))
    let listed = try Child.run(["nm", "-D", "--defined-only", "--extern-only", object]).output
    let names = listed.split(separator: "\n").compactMap { $0.split(separator: " ").last.map(String.init) }
    #expect(
      Set(names) == [
        "relay_target_abi", "relay_target_describe", "relay_target_open", "relay_target_deliver",
        "relay_target_check", "relay_target_close",
      ])
  }
}
