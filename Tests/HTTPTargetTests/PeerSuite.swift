// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTargetLogic
import TargetKit
import TargetKitTesting
import Testing

/// What the suites that talk to the shared peer have in common.
struct Scene {
  let peer: Peer
  /// Tells the requests of one test from those of others.
  let mark = UUID().uuidString

  init() throws {
    peer = try Peer.shared.get()
  }

  func host(_ path: String, _ settings: FakeValue = [:], secrets: [String: String] = [:]) -> FakeHost {
    var settings = settings
    settings.set("url", .text(peer.url(path)))
    return FakeHost(settings: settings, secrets: secrets)
  }

  func deliver(
    _ path: String, _ delivery: FakeDelivery = FakeDelivery("{}"), _ settings: FakeValue = [:],
    secrets: [String: String] = [:]
  ) -> Verdict {
    host(path, settings, secrets: secrets).deliver(HTTPTarget.self, delivery)
  }
}
