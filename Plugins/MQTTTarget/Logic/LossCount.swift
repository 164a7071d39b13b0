// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// Tells a message that a broker cannot bear from a broker that was away.
///
/// With 3.1.1 a broker has no word for "too large" or "not allowed": it closes. Such a loss counts if a new connection is greeted
/// right away. At the third, the new connection is watched: thrown out though it says nothing, it is not the message's fault.
enum LossCount {
  static let most = 3
  /// Milliseconds for which a connection that says nothing is watched: other clients come back after a second or so.
  static let quiet: Int64 = 3_000
  private static let key = "losses"

  enum Finding: Equatable {
    case undecided
    case messageTooMuch
    case thrownOut
  }

  /// After a connection was lost with a message under way; `connect` makes a new one, or nil.
  static func lost(_ watch: Watch, connect: () -> Link?) throws(Verdict) -> (finding: Finding, link: Link?) {
    guard let link = connect() else { return (.undecided, nil) }
    let state = watch.host.state(.delivery)
    let before = try state.get(key).flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
    let losses = min(max(0, before), most) + 1
    try state.put(key, "\(losses)")
    guard losses >= most else { return (.undecided, link) }
    do throws(Link.End) {
      try link.serve(watch, patience: quiet) { false }
    } catch .silent {
      return (.messageTooMuch, link)
    } catch .stopped {
      return (.undecided, link)
    } catch {
      return (.thrownOut, nil)
    }
    return (.undecided, link)
  }
}
