// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelaySystem

/// The inbox folders of the pipelines.
extension Daemon {
  /// What belongs to one pipeline's inbox.
  final class InboxRuntime {}

  func putInboxes(_ new: Configuration) {}
}
