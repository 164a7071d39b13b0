// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Synchronization
import Testing

@testable import RelayPipelines

/// Keeps what was logged, and can act at the moment of an entry.
final class RecordedLog: LogSink {
  private let kept = Mutex<[LogEntry]>([])
  private struct State { var reaction: (@Sendable (LogEntry) -> Void)? }
  private let state = Mutex(State())

  func log(_ entry: LogEntry) {
    kept.withLock { $0.append(entry) }
    state.withLock { $0.reaction }?(entry)
  }

  func onEntry(_ react: @escaping @Sendable (LogEntry) -> Void) { state.withLock { $0.reaction = react } }

  func count(_ text: String) -> Int { kept.withLock { $0.count { $0.message.contains(text) } } }
}

/// An inbox with its pipeline in a folder of its own, and a clock that the test moves.
final class InboxFixture {
  let root: String
  let inboxPath: String
  private(set) var pipeline: PipelineFolder
  private(set) var inbox: Inbox
  let log = RecordedLog()
  var now = BootTime(nanoseconds: 1_000_000_000)
  private var change: (inout InboxOptions) -> Void

  init(_ root: String, isOwn: Bool, limits: QueueLimits, _ change: @escaping (inout InboxOptions) -> Void) throws {
    self.root = root
    self.change = change
    inboxPath = root + (isOwn ? "/pipelines/scans/inbox" : "/outside")
    (pipeline, inbox) = try Self.open(root, inboxPath, isOwn, limits, log, change)
    if !isOwn { mkdir(inboxPath, 0o700) }
    self.limits = limits
    self.isOwn = isOwn
  }

  private let limits: QueueLimits
  private let isOwn: Bool

  private static func open(
    _ root: String, _ path: String, _ isOwn: Bool, _ limits: QueueLimits, _ log: RecordedLog,
    _ change: (inout InboxOptions) -> Void
  ) throws -> (PipelineFolder, Inbox) {
    let parent = try Directory.ensure(root + "/pipelines")
    let pipeline = try PipelineFolder(
      id: "scans", in: parent, committer: try Committer(fileSystem: parent), makes: true)
    _ = try pipeline.recover()
    var options = InboxOptions(folder: path, isOwn: isOwn, pipeline: pipeline) { (id) throws(QueueError) in
      try pipeline.stage(ArtifactDescription(artifactID: id), limits: limits)
    }
    change(&options)
    return (pipeline, Inbox(options, log: log))
  }

  /// As after a new start of the program: nothing is remembered but what is on the disk.
  func restart() throws { (pipeline, inbox) = try Self.open(root, inboxPath, isOwn, limits, log, change) }

  @discardableResult
  func look(after milliseconds: Int64 = 0) -> LookResult {
    now = now.advanced(milliseconds: milliseconds)
    return inbox.look(now: now)
  }

  /// Two looks with a quiet time between them, which is what a file needs that nobody touches.
  @discardableResult
  func lookTwice(apart milliseconds: Int64 = 2000) -> LookResult {
    look()
    return look(after: milliseconds)
  }

  /// Names and contents of what is queued, in order.
  func queued() throws -> [String] {
    try pipeline.sequences().sorted().map { sequence in
      let artifact = try pipeline.openArtifact(sequence)
      let text = String(decoding: try artifact.openPart(1).readAll(limit: 1 << 20), as: UTF8.self)
      return (artifact.manifest.parts.first?.name ?? "") + "=" + text
    }
  }

  func names() throws -> [String] { try Directory(inboxPath).names() }

  func put(_ name: String, _ text: String, modified: Int? = nil) throws { try put(Array(name.utf8), text, modified) }

  func put(_ name: [UInt8], _ text: String, _ modified: Int? = nil) throws {
    let file = try #require(write(name, O_WRONLY | O_CREAT | O_TRUNC, text))
    if let modified {
      var times = [timespec(tv_sec: modified, tv_nsec: 0), timespec(tv_sec: modified, tv_nsec: 0)]
      #expect(futimens(file, &times) == 0)
    }
    close(file)
  }

  /// Opens and writes; nil when the file can't be opened at once.
  func write(_ name: [UInt8], _ flags: Int32, _ text: String) -> Int32? {
    let path = Array(inboxPath.utf8) + [47] + name + [0]
    let file = Glibc.open(path.map { CChar(bitPattern: $0) }, flags | O_NONBLOCK, 0o600)
    guard file >= 0 else { return nil }
    #expect(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
    return file
  }
}

func withInbox(
  isOwn: Bool = true, limits: QueueLimits = QueueLimits(freeBytes: 0, freeInodes: 0),
  _ change: @escaping (inout InboxOptions) -> Void = { _ in }, _ body: (InboxFixture) throws -> Void
) throws {
  var template = Array("/tmp/relay-inbox-XXXXXX".utf8CString)
  let root = String(cString: try #require(mkdtemp(&template)))
  defer { try? Directory("/tmp").removeTree(String(root.dropFirst(5))) }
  try body(try InboxFixture(root, isOwn: isOwn, limits: limits, change))
}

/// Something a hook does, once, when the test has said what.
final class Hook: Sendable {
  private struct State { var action: (@Sendable () -> Void)? }
  private let state = Mutex(State())

  func set(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.action = action } }

  func strike() {
    let taken = state.withLock { state in
      defer { state.action = nil }
      return state.action
    }
    taken?()
  }
}

/// Opens for appending without waiting, as a late writer would; whether that was possible at once.
@discardableResult
func append(_ text: String, to path: String) -> Bool {
  let file = open(path, O_WRONLY | O_APPEND | O_NONBLOCK)
  guard file >= 0 else { return false }
  defer { close(file) }
  return write(file, text, text.utf8.count) == text.utf8.count
}
