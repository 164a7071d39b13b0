// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayQueue
import RelaySystem

/// Errors of the lower modules as refusals: the one place where they get a code and an outcome.
extension Refusal {
  package init(_ error: StateError) {
    let sentence = Self.sentence(error.message)
    switch error {
    case .inUse: self.init(.needsYou, .stateInUse, sentence)
    case .newerFormat: self.init(.needsYou, .stateNewerFormat, sentence)
    case .olderFormat: self.init(.needsYou, .stateOlderFormat, sentence)
    case .unfinishedRestore: self.init(.needsYou, .stateUnfinishedRestore, sentence)
    default: self.init(.needsYou, .stateUnusable, sentence, hint: "nothing was changed")
    }
  }

  init(_ error: QueueError) {
    let sentence = Self.sentence(error.message)
    switch error {
    case .pipelineFull: self.init(.needsYou, .submitFull, sentence)
    case .diskFull, .reserve: self.init(.needsYou, .submitDiskFull, sentence)
    case .tooManyParts, .noParts, .manifestTooLarge: self.init(.usage, .submitTooMany, sentence)
    // These begin with the name of a file, which stays as it is.
    case .sourceChanged, .sourceStalled: self.init(.needsYou, .submitChanged, error.message + ".")
    case .source: self.init(.needsYou, .submitNoFile, error.message + ".")
    case .unknown: self.init(.fault, .submitUnknown, sentence)
    case .noNumberLeft: self.init(.needsYou, .submitFull, sentence)
    case .closed, .unwanted, .notCommitted, .system, .hashUnavailable: self.init(.fault, .submitFailed, sentence)
    }
  }

  init(_ error: SystemError) { self.init(.fault, .commandFault, Self.sentence(error.message)) }

  /// A message of a lower module as a sentence of its own.
  static func sentence(_ text: String) -> String {
    let isPath = text.hasPrefix("/")
    let start = isPath ? text : text.prefix(1).uppercased() + text.dropFirst()
    return start.hasSuffix(".") ? start : start + "."
  }
}
