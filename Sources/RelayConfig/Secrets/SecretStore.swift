// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// The secrets that `relay-host secret` keeps: one file each in `<state>/secrets`, 0600.
package struct SecretStore: Sendable {
  package let folder: String

  package init(folder: String) { self.folder = folder }

  /// Durable when it returns; replaces an older value.
  package func set(_ name: String, _ value: [UInt8]) throws(SecretError) {
    guard Names.isID(name) else { throw .badName(name) }
    guard !value.isEmpty else { throw .empty(name: name) }
    guard value.count <= SecretSource.maximumBytes else {
      throw .cannotStore(name: name, cause: "it is larger than \(SecretSource.maximumBytes) bytes")
    }
    do throws(SystemError) {
      try Directory.ensure(folder).replace(name, with: value)
    } catch {
      throw SecretError.cannotStore(name: name, cause: error.message)
    }
  }

  /// Names in order; none when the folder isn't there yet.
  package func list() throws(SecretError) -> [String] {
    do throws(SystemError) {
      return try Directory(folder).names().filter(Names.isID)
    } catch {
      if error.code == ENOENT { return [] }
      throw SecretError.unreadable(name: "*", place: folder, cause: error.message)
    }
  }

  package func remove(_ name: String) throws(SecretError) {
    guard Names.isID(name) else { throw .badName(name) }
    do throws(SystemError) {
      let folder = try Directory(folder)
      try folder.remove(name)
      try folder.sync()
    } catch {
      if error.code == ENOENT { throw SecretError.notFound(name: name, places: ["\(folder)/\(name)"]) }
      throw SecretError.cannotStore(name: name, cause: error.message)
    }
  }
}
