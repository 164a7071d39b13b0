// SPDX-License-Identifier: Apache-2.0
import CFolderTarget
import DurableFiles

/// The calls that this target alone makes.
extension Kernel {
  func renameNew(_ old: String, to new: String, in folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.renameNew) { relay_folder_rename_new(folder.number, old, new) }
  }

  func lock(_ file: Descriptor) throws(CallFailure) { _ = try attempt(.lock) { relay_folder_lock(file.number) } }

  func mountSteps(_ folder: Descriptor) throws(CallFailure) -> Int32 {
    try attempt(.mount) { relay_folder_mount_steps(folder.number) }
  }
}
