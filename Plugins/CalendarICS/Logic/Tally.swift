// SPDX-License-Identifier: Apache-2.0

/// What became of a part's events.
struct Tally: Equatable {
  var made = 0
  var changed = 0
  var unchanged = 0
  /// Events that will never be accepted, and the words on the first of them.
  var refused = 0
  var firstRefusal = ""

  /// Nothing was made or changed.
  var isQuiet: Bool { made == 0 && changed == 0 }

  func message(ignored: String?) -> String {
    let counts = [(made, "made"), (changed, "changed"), (unchanged, "unchanged"), (refused, "refused")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    var words = counts.isEmpty ? "no events" : "events: \(counts)"
    if refused > 0 { words += "; \(firstRefusal)" }
    if let ignored { words += "; \"\(InputFault.shown(ignored))\" isn't a member that events have, and was left out" }
    return words
  }
}
