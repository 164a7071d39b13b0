// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import Synchronization

/// The file `pipeline.json`: read once, replaced whole.
///
/// While it can't be read (permissions, I/O) nothing is saved over it; what can't be decoded is set aside.
package final class PipelineStateFile: Sendable {
  static let fileName = "pipeline.json"

  private let folder: Directory
  private struct Known: Sendable {
    var state: PipelineState?
    /// A replacement failed: the file may hold the new state all the same, so what is in force isn't what is there.
    var isDoubtful = false
  }
  private let known = Mutex(Known())

  init(in folder: Directory) { self.folder = folder }

  /// The state, and what was found when it had to be read from the disk.
  package func load() throws(StateError) -> (state: PipelineState, finding: FileFinding) {
    try known.withLock { (known: inout Known) throws(StateError) in
      if let state = known.state { return (state, .good) }
      let found = try read()
      known.state = found.state
      return found
    }
  }

  /// Changes the state; on the disk when this returns. After an error the old state is in force.
  package func update(_ change: (inout PipelineState) -> Void) throws(StateError) {
    try known.withLock { (known: inout Known) throws(StateError) in
      let old: PipelineState
      if let state = known.state {
        old = state
      } else {
        do throws(StateError) { old = try read().state } catch { throw .notRead(path: path) }
        known.state = old
      }
      var new = old
      change(&new)
      guard new != old || known.isDoubtful else { return }
      let bytes = new.bytes()
      known.isDoubtful = true
      try asState { () throws(SystemError) in try folder.replace(Self.fileName, with: bytes) }
      known = Known(state: new)
    }
  }

  private var path: String { folder.path + "/" + Self.fileName }

  private func read() throws(StateError) -> (state: PipelineState, finding: FileFinding) {
    let bytes = try asState { () throws(SystemError) in try folder.content(of: Self.fileName) }
    guard let bytes else { return (PipelineState(), .missing) }
    if let state = PipelineState(bytes) { return (state, .good) }
    let aside = try asState { () throws(SystemError) in try DamagedFile.setAside(Self.fileName, in: folder) }
    return (PipelineState(), .setAside(aside))
  }
}
