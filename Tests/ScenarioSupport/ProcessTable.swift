// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import RelayTestSupport

/// What the kernel tells of processes under /proc.
package enum ProcessTable {
  package struct Entry: Sendable {
    package var pid: pid_t
    package var parent: pid_t
    /// R, S, D, Z and so on.
    package var state: Character
  }

  package static func exists(_ pid: pid_t) -> Bool { File.exists("/proc/\(pid)") }

  /// Whether it is there and hasn't ended: a child that nobody waited for yet has.
  package static func runs(_ pid: pid_t) -> Bool {
    let state = text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ").first
    return state != nil && state != "Z" && state != "X"
  }

  /// Memory that a process has in RAM, in bytes.
  package static func residentBytes(_ pid: pid_t) -> Int {
    let lines = text("/proc/\(pid)/status").split(separator: "\n")
    let line = lines.first { $0.hasPrefix("VmRSS:") } ?? ""
    return (Int(line.split(separator: " ").dropLast().last.map(String.init) ?? "") ?? 0) * 1024
  }

  static func field(_ name: String, of pid: pid_t) -> Int {
    let line = text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
    return Int(line.split(separator: "\t").last.map(String.init) ?? "") ?? 0
  }

  /// How many seccomp filters it is under.
  package static func filters(_ pid: pid_t) -> Int { field("Seccomp_filters", of: pid) }

  package static func threads(_ pid: pid_t) -> Int { field("Threads", of: pid) }

  /// What a process has used of processors since it began, in user and kernel mode.
  package static func processorSeconds(_ pid: pid_t) -> Double {
    let fields = text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let kernel = Double(fields[12]) else { return 0 }
    return (user + kernel) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// How many descriptors a process has open.
  package static func descriptors(_ pid: pid_t) -> Int { (try? Directory("/proc/\(pid)/fd").names().count) ?? 0 }

  package static func arguments(_ pid: pid_t) -> [String] {
    text("/proc/\(pid)/cmdline").split(separator: "\0").map(String.init)
  }

  /// Empty where this user may not look.
  package static func environment(_ pid: pid_t) -> String { text("/proc/\(pid)/environ") }

  /// The worker processes that a host has started, alive or not: they carry its number as their only argument.
  package static func workers(of host: pid_t) -> [pid_t] {
    all().map(\.pid).filter { pid in
      let words = arguments(pid)
      return words.count == 2 && words[0].hasSuffix("/relay-worker") && words[1] == "\(host)"
    }
  }

  package static func children(of parent: pid_t) -> [Entry] { all().filter { $0.parent == parent } }

  package static func all() -> [Entry] {
    let names = (try? Directory("/proc").names()) ?? []
    return names.compactMap { name in
      guard let pid = pid_t(name) else { return nil }
      // The name of the program stands in parentheses and may hold anything.
      let fields = text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
      guard fields.count > 1, let state = fields[0].first, let parent = pid_t(fields[1]) else { return nil }
      return Entry(pid: pid, parent: parent, state: state)
    }
  }

  private static func text(_ path: String) -> String {
    String(decoding: (try? File.bytes(of: path)) ?? [], as: UTF8.self)
  }
}
