// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What a person should know once, and what keeps nothing from being delivered.
struct Warnings {
  private let settings: MQTTSettings
  private let words: Words

  init(_ settings: MQTTSettings, _ words: Words) {
    self.settings = settings
    self.words = words
  }

  func give(_ link: Link, host: Host) {
    if settings.tls == nil, settings.password != nil, !settings.isLoopback {
      once("clear", words.passwordInClear, host)
    }
    if !link.speaks5 { once("3.1.1", words.speaksOnly3, host) }
  }

  /// Once for a broker, also over restarts.
  private func once(_ name: String, _ line: String, _ host: Host) {
    let state = host.state(.pipeline)
    do throws(Verdict) {
      guard try state.get("warned/\(name)") != Array(words.place.utf8) else { return }
      try state.put("warned/\(name)", words.place)
    } catch {
      // What cannot be remembered is said again.
      host.log(.warning, error.message)
    }
    host.log(.warning, line)
  }
}
