// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig

/// The zone in which this process shows local times, and its workers with it.
package enum ProcessTimeZone {
  /// Takes the configuration's zone; to be called before any other thread runs, since the C library keeps one zone for
  /// all of them.
  package static func adopt(_ configuration: Configuration) {
    guard let zone = name(in: configuration) else { return }
    setenv("TZ", zone, 1)
    tzset()
  }

  /// nil is the machine's own.
  package static func name(in configuration: Configuration) -> String? {
    switch configuration.timeZone {
    case .machine: nil
    case .zone(let name): name
    case .periods(let periods): periods.last?.zone
    }
  }
}
