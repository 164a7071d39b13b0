// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayJSON
import RelaySystem

/// A file or folder that a target tried to get at and Landlock denies it.
package struct DeniedPath: Hashable, Sendable {
  enum Attempt: Hashable, Sendable {
    case read, write, make, node, remove, move, link, symlink, cut
  }

  enum Reason: Hashable, Sendable {
    /// Nothing that a person typed leads there.
    case unnamed
    case onlyReadable
    /// No target may, wherever it is.
    case never
  }

  /// As the target named it, fit for the log.
  var path: String
  var attempt: Attempt
  var reason: Reason

  init(path: String, attempt: Attempt, _ reason: Reason) {
    self.path = PrintableText.cleaned(path)
    self.attempt = attempt
    self.reason = reason
  }

  var words: String {
    let doing =
      switch attempt {
      case .read: "read"
      case .write: "write to"
      case .make: "make"
      case .remove: "remove"
      case .move: "move"
      case .node: "make a pipe, socket or device at"
      case .link: "make a link at"
      case .symlink: "make a symbolic link at"
      case .cut: "cut"
      }
    let why =
      switch reason {
      case .unnamed: "which none of its settings names"
      case .onlyReadable: "which it may only read"
      case .never: "which no target may"
      }
    return "The target tried to \(doing) \(path), \(why); it was denied."
  }
}

extension DeniedAttempt {
  /// What people are told.
  ///
  /// - Parameter names: of system calls, by number.
  func words(times: Int, names: [Int32: String]) -> String {
    switch self {
    case .call(let number): DeniedCall(number, times: times, names: names).words
    case .path(let denied): denied.words
    case .furtherPaths:
      "The target tried to get at still other files and folders; they are denied, and no longer told one by one."
    }
  }
}

/// What a worker is let into, as paths with all links resolved: says what Landlock, which looks at the files themselves, will deny.
/// Only for telling: nothing is denied or allowed by it.
struct PathJudge: Sendable {
  private struct Place: Sendable {
    var path: String
    var isWritable: Bool
  }

  private let places: [Place]
  private let resolve: @Sendable (String) throws(SystemError) -> String

  /// Blocking, on the machine's own folders.
  ///
  /// - Parameter resolve: where a path leads, with all links resolved; blocking.
  init(
    _ access: WorkerAccess, copy: String,
    resolve: @escaping @Sendable (String) throws(SystemError) -> String = PathJudge.place
  ) {
    var places = access.places.map { Place(path: $0.path, isWritable: $0.mode == .write) }
    places += access.confinement.paths.map {
      Place(path: PathRules.resolvingLinks($0.path), isWritable: $0.mode == .write)
    }
    places.append(Place(path: PathRules.resolvingLinks(copy), isWritable: false))
    self.places = places
    self.resolve = resolve
  }

  /// What C libraries look at in passing, to learn of the machine, and go on without.
  static let inPassing: Set = [
    "/sys/devices/system/cpu/possible", "/sys/devices/system/cpu/online", "/proc/stat", "/proc/cpuinfo",
    "/proc/meminfo", "/proc/sys/vm/overcommit_memory", "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/memory.max",
    "/proc/sys/kernel/ngroups_max", "/proc/sys/crypto/fips_enabled", "/etc/ld.so.preload",
    "/usr/share/locale/locale.alias",
  ]

  static func place(_ path: String) throws(SystemError) -> String { try Descriptor.naming(path).place() }

  /// What will be denied of a call about this path, if anything. Blocking.
  func denial(of path: String, _ call: WatchedCall, _ asked: SystemCallListener.Call) -> DeniedPath? {
    // From where a relative one starts isn't known here, and of its own process every target may read.
    guard path.hasPrefix("/"), !call.onlyNames(asked), !Self.isOwn(path, asked.process), !Self.inPassing.contains(path)
    else { return nil }
    let isEntry = call.purpose != .open && call.purpose != .cut
    do throws(SystemError) {
      if !isEntry {
        do throws(SystemError) {
          let place = try resolve(path)
          let writes = call.writes(asked)
          let attempt: DeniedPath.Attempt = call.purpose == .cut ? .cut : writes ? .write : .read
          return denial(path, at: place, writes: writes, attempt)
        } catch {
          // What isn't there can only be made.
          guard error.isMissing, call.makes(asked) else { throw error }
        }
      }
      let folder = try resolve(PathRules.parent(of: path))
      if call.isNeverAllowed(asked) {
        return DeniedPath(path: path, attempt: call.purpose == .symlink ? .symlink : .node, .never)
      }
      return denial(path, at: folder, writes: true, Self.attempt(call.purpose))
    } catch {
      // What isn't there is that, and no denial. What can't be looked at is outside of what it is let into, unless its name says otherwise.
      return error.isMissing || error.code == ENOTDIR ? nil : denial(path, at: path, writes: false, .read)
    }
  }

  private func denial(_ path: String, at place: String, writes: Bool, _ attempt: DeniedPath.Attempt) -> DeniedPath? {
    let around = places.filter { PathRules.isInside(place, $0.path) }
    if writes ? around.contains(where: \.isWritable) : !around.isEmpty { return nil }
    return DeniedPath(path: path, attempt: attempt, around.isEmpty ? .unnamed : .onlyReadable)
  }

  private static func attempt(_ purpose: WatchedCall.Purpose) -> DeniedPath.Attempt {
    switch purpose {
    case .open, .make, .node: .make
    case .remove: .remove
    case .move: .move
    case .link: .link
    case .symlink: .symlink
    case .cut: .cut
    }
  }

  private static func isOwn(_ path: String, _ process: Int32) -> Bool {
    ["/proc/self/", "/proc/thread-self/", "/proc/\(process)/"].contains { path.hasPrefix($0) }
      && !path.split(separator: "/").contains { $0 == ".." || $0 == "root" || $0 == "cwd" }
  }
}
