// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The broker, and the connection that stays open from one delivery to the next.
final class Broker {
  /// Milliseconds after which an unused connection is not used again: a broker gives up one and a half times the keep-alive after
  /// the last packet, and routers forget sooner.
  static let longestRest: Int64 = 30_000
  /// So many connections closed at rest in a row are told: most brokers have no other sign for two clients of one id.
  static let mostClosings = 3

  private struct Kept {
    var link: Link
    /// Seconds that the broker was told.
    var keepAlive: Int32
    var usedAt: Int64
  }

  let settings: MQTTSettings
  let judge: Judge
  private var kept: Kept?
  /// Found out by asking.
  private var only3 = false
  /// How often in a row the broker closed a connection that rested.
  private var closings = 0

  init(_ settings: MQTTSettings) {
    self.settings = settings
    judge = Judge(words: Words(settings))
  }

  deinit { kept?.link.goodbye() }

  /// A connection over which a part of so many bytes can go.
  func link(for bytes: UInt64, _ watch: Watch) throws(Verdict) -> Link {
    if let link = try reuse(Connector.keepAlive(for: bytes), watch.host) { return link }
    return try connect(bytes, watch)
  }

  /// A new connection, which takes the kept one's place.
  func connect(_ bytes: UInt64, _ watch: Watch) throws(Verdict) -> Link {
    drop()
    let id = try ClientID.forDelivering(settings, host: watch.host)
    let link = try open(id, bytes, watch)
    Warnings(settings, judge.words).give(link, host: watch.host)
    kept = Kept(link: link, keepAlive: Connector.keepAlive(for: bytes), usedAt: Clock.monotonic())
    return link
  }

  /// A connection that is not kept.
  func open(_ id: String, _ bytes: UInt64, _ watch: Watch) throws(Verdict) -> Link {
    let link: Link
    do throws(Connector.Failure) {
      link = try Connector(settings: settings, clientID: id, watch: watch)
        .connect(keepAlive: Connector.keepAlive(for: bytes), only3: only3)
    } catch {
      throw judge.verdict(on: error)
    }
    if !link.speaks5 { only3 = true }
    if link.told.greeting?.keepsRetained == false, settings.retain || settings.discovery != nil {
      link.goodbye()
      throw .needsAttention(.settings, status: 154, judge.words.keepsNothing)
    }
    return link
  }

  /// The kept connection did its work and rests.
  func rest() { kept?.usedAt = Clock.monotonic() }

  /// Ends the kept connection.
  func drop() {
    kept?.link.goodbye()
    kept = nil
  }

  private func reuse(_ keepAlive: Int32, _ host: Host) throws(Verdict) -> Link? {
    guard let kept else { return nil }
    let rested = Clock.monotonic() - kept.usedAt
    let told = kept.link.told.greeting?.keepAlive ?? kept.keepAlive
    guard kept.keepAlive >= keepAlive, rested < min(Self.longestRest, Int64(told) * 500) else {
      drop()
      return nil
    }
    do throws(Link.End) {
      try kept.link.catchUp()
      closings = 0
      return kept.link
    } catch {
      self.kept = nil
      let verdict = judge.verdict(on: error, judge.words.of(error), allSent: false)
      // Whatever else ended it, a new connection will show.
      guard verdict.outcome == .needsAttention else {
        closings += 1
        if closings == Self.mostClosings { host.log(.warning, judge.words.closedAtRest) }
        return nil
      }
      throw verdict
    }
  }
}
