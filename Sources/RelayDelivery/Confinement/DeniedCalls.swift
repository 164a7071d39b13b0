// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// How soon a worker's next denied call is answered: who tries without pause waits for it, and nobody else does.
struct DenialPace: Sendable {
  /// Calls that may come at once, and how many a second after that.
  static let burst = 200.0
  static let perSecond = 20.0
  /// How long it takes until one more may come, in milliseconds.
  static let pause: Int64 = 50

  private var allowance = DenialPace.burst
  private var lastRefill: BootTime

  init(now: BootTime) { lastRefill = now }

  mutating func mayAnswer(at now: BootTime) -> Bool {
    let passed = Double(max(0, now.milliseconds(since: lastRefill))) / 1000
    allowance = min(Self.burst, allowance + passed * Self.perSecond)
    lastRefill = now
    return allowance >= 1
  }

  mutating func answered() { allowance -= 1 }
}

/// How often one worker tried which system call that it must not make.
struct DeniedCalls: Sendable {
  private var counts: [Int32: Int] = [:]

  /// Whether it was the first of its kind.
  mutating func note(_ call: Int32) -> Bool {
    counts[call, default: 0] += 1
    return counts[call] == 1
  }

  /// Those that came more than once, by number.
  var repeated: [(call: Int32, times: Int)] {
    counts.filter { $0.value > 1 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

/// What people are told of it.
struct DeniedCall: Equatable, Sendable {
  var name: String
  /// 1 for the first, then all of a worker's life.
  var times: Int

  /// - Parameter names: by number.
  init(_ number: Int32, times: Int, names: [Int32: String]) {
    name = names[number] ?? "system call \(number)"
    self.times = times
  }

  var words: String {
    times == 1
      ? "The target tried to \(meaning) (\(name)), which no target may; it was denied."
      : "The target was denied \(name) \(times) times in all."
  }

  private var meaning: String {
    Self.meanings.first { $0.names.contains(name) }?.words ?? "do what only the machine's administration does"
  }

  private static let meanings: [(words: String, names: Set<String>)] = [
    ("start a program", ["execve", "execveat", "fork", "vfork", "clone"]),
    (
      "send a signal to another process",
      ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"]
    ),
    (
      "get at another process",
      [
        "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_open",
        "pidfd_getfd", "prlimit64", "migrate_pages",
      ]
    ),
    ("leave its process group", ["setpgid", "setsid"]),
    ("change the rules that it runs under", ["prctl", "capset"]),
    (
      "become somebody else",
      [
        "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups",
      ]
    ),
    (
      "change a file's permissions, owner, times or attributes by its path",
      [
        "chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "setxattr", "lsetxattr", "setxattrat",
        "removexattr", "lremovexattr", "removexattrat", "utime", "utimes", "futimesat", "utimensat", "file_setattr",
      ]
    ),
    ("cut a file by its path", ["truncate"]),
    (
      "make a file that gives others its owner's rights, or cut one that it only reads",
      ["open", "openat", "creat", "mknod", "mknodat", "fchmod"]
    ),
    ("open a file past its folders", ["open_by_handle_at"]),
    ("watch files", ["fanotify_init", "fanotify_mark"]),
    ("listen for connections", ["listen", "accept", "accept4"]),
    ("open a socket that isn't for TCP or UDP", ["socket", "socketpair"]),
    ("steer a descriptor beyond its own process", ["fcntl", "ioctl"]),
    ("load a kernel module", ["init_module", "finit_module", "delete_module"]),
    (
      "mount something or change its view of the machine",
      [
        "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
        "fsmount", "fspick", "mount_setattr", "unshare", "setns",
      ]
    ),
    (
      "share memory or messages with other processes",
      [
        "shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv",
        "msgctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
      ]
    ),
  ]
}
