// SPDX-License-Identifier: Apache-2.0

/// Where a conversation is cut.
struct CutPoint: Equatable, Sendable, CustomStringConvertible {
  /// From the client to the server, or back.
  enum Way: String, CaseIterable, Sendable { case up, down }

  var way: Way
  /// So many bytes of that way still go on.
  var bytes: Int
  /// Whether the line goes silent, in place of ending.
  var isSilent = false

  /// What the cutting proxy is told.
  var rule: String { "once \(isSilent ? "silent-" : "")\(way) \(bytes)" }
  var description: String { "\(isSilent ? "silent" : "cut") after \(bytes) bytes \(way)" }
}
