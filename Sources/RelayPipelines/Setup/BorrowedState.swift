// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayQueue
import RelaySystem
import Synchronization

/// What a pipeline's target saved, for a command that only asks: a copy, made when the target first asks for it, so that the
/// command changes nothing and needn't care whether a daemon runs.
final class BorrowedState: Sendable {
  private struct Copy {
    var folder: Directory?
    var state: TargetState?
    var isMade = false
  }
  private let pipeline: String
  private let stateFolder: String
  private let workplace: String
  private let copy = Mutex(Copy())

  /// - Parameter workplace: a folder of ours that is removed in the end.
  init(of pipeline: String, inStateFolder stateFolder: String, workplace: String) {
    self.pipeline = pipeline
    self.stateFolder = stateFolder
    self.workplace = workplace
  }

  /// nil for what is no request. Blocking.
  func answer(_ message: WorkerMessage) -> TargetAnswer? {
    let (state, folder) = copy.withLock { copy in
      if !copy.isMade { make(&copy) }
      return (copy.state, copy.folder)
    }
    return TargetRequests.answerCheck(message, from: state, scratch: folder)
  }

  /// What can't be read stays away, and every question about it is answered so.
  private func make(_ copy: inout Copy) {
    copy.isMade = true
    copy.folder = try? Directory(workplace).ensureFolder("state of \(pipeline)")
    guard let folder = copy.folder else { return }
    copy.state = try? TargetState.copy(ofPipelineFolder: "\(stateFolder)/pipelines/\(pipeline)", into: folder)
  }
}
