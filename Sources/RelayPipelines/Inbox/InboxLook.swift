// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem

/// One look: passes through the folder, each time for the oldest files that may be taken, until all had their turn.
struct InboxLook {
  /// Milliseconds until the next try where the whole inbox has a problem.
  static let problemPause: Int64 = 30_000
  /// Files of one pass that are held in memory.
  static let pageSize = 512
  /// Milliseconds after which a dot name of an unknown taking is nobody's work in progress.
  static let leftoverAge: Int64 = 60_000

  let options: InboxOptions
  let log: any LogSink
  let now: BootTime
  var memory: InboxMemory
  var result = LookResult()

  mutating func run() {
    do throws(InboxProblem) {
      let folder = try openFolder()
      try settleUnfinished(in: folder)
      try takeAll(in: folder)
    } catch {
      result.problem = error
      result.lookAgain(within: Self.problemPause)
    }
    sayProblem()
    let unsaid = memory.troubles.endLook()
    if unsaid > 0 { say(.warning, "\(unsaid) more files of the inbox stay there for reasons such as the above") }
  }

  private func openFolder() throws(InboxProblem) -> Directory {
    let reason: String?
    do throws(SystemError) {
      if options.isOwn { return try Directory.ensure(options.folder) }
      let folder = try Directory(options.folder)
      reason = try options.forbidden.reason(against: folder)
      if reason == nil { return folder }
    } catch {
      throw error.code == ENOENT ? .folderMissing(options.folder) : .folder(error)
    }
    throw .forbidden(options.folder, reason ?? "")
  }

  private mutating func takeAll(in folder: Directory) throws(InboxProblem) {
    let leasesCount = !folder.mayHaveRemoteWriters
    var last: InboxFile?
    while true {
      let page = try readPage(of: folder, after: last)
      for entry in page {
        if options.shouldStop() { return }
        if result.taken >= options.mostPerLook { return result.lookAgain(within: 0) }
        switch try take(entry.file, quiet: entry.quiet, from: folder, leasesCount: leasesCount) {
        case .taken: result.taken += 1
        case .gone: break
        case .later(let pause): wait(pause)
        case .failed(let trouble):
          say(trouble, entry.file)
          let reason = "\(entry.file.displayName) in the inbox \(trouble.message)"
          result.stays(reason)
          wait(memory.troubles.failed(entry.file.key, because: reason, now: now))
        }
      }
      guard page.count == Self.pageSize else { return }
      last = page.last?.file
    }
  }

  /// Not counted as waiting: nobody put it there.
  mutating func waitForLeftover(_ milliseconds: Int64) { result.lookAgain(within: max(1, milliseconds)) }

  private mutating func wait(_ milliseconds: Int64) {
    result.waiting += 1
    result.lookAgain(within: max(1, milliseconds))
  }
}

extension InboxLook {
  typealias Candidate = (file: InboxFile, quiet: Int64)

  /// The first files in order, behind `last`, that are quiet and not known to fail.
  private mutating func readPage(of folder: Directory, after last: InboxFile?) throws(InboxProblem) -> [Candidate] {
    var page: [Candidate] = []
    var leftovers: [[UInt8]] = []
    do throws(SystemError) {
      try folder.forEachRawName { (name: [UInt8]) throws(SystemError) in
        if last == nil, InboxName.isTaken(name), isLeftover(name, in: folder) { leftovers.append(name) }
        guard !InboxName.isLeftAlone(name), let file = try look(at: name, in: folder) else { return }
        guard let quiet = readiness(of: file, isFirstPass: last == nil) else { return }
        if let last, !(last < file) { return }
        page.append((file, quiet))
        // Sorted only now and then, so that a long folder costs little.
        if page.count >= 4 * Self.pageSize { Self.cut(&page) }
      }
    } catch {
      throw .folder(error)
    }
    memory.quiet.endPass()
    for name in leftovers.prefix(Self.pageSize) { settleLeftover(name, in: folder) }
    Self.cut(&page)
    return page
  }

  private static func cut(_ page: inout [Candidate]) {
    page.sort { $0.file < $1.file }
    page.removeLast(max(0, page.count - pageSize))
  }

  /// nil for what is gone, no file, or can't be looked at.
  private mutating func look(at name: [UInt8], in folder: Directory) throws(SystemError) -> InboxFile? {
    let status: FileStatus
    do throws(SystemError) {
      guard let found = try folder.status(ofRaw: name) else { return nil }
      status = found
    } catch {
      if error.isExhaustion { throw error }
      say(.unreadable(error), name: name, key: 0)
      return nil
    }
    let file = InboxFile(name: name, status: status)
    switch status.kind {
    case .file: return file
    case .folder: return nil
    case .link, .other:
      say(.notAFile, file)
      return nil
    }
  }

  /// For how long the file has been quiet, when that is long enough to try it.
  private mutating func readiness(of file: InboxFile, isFirstPass: Bool) -> Int64? {
    let key = file.key
    let quiet = memory.quiet.quiet(key, now: now)
    let pause = quiet < options.quiet ? options.quiet - quiet : memory.troubles.pause(of: key, now: now)
    guard let pause else { return quiet }
    if isFirstPass {
      wait(pause)
      if quiet >= options.quiet, let reason = memory.troubles.reason(of: key) { result.stays(reason) }
    }
    return nil
  }
}

extension InboxLook {
  func say(_ level: LogLevel, _ message: String) {
    log.log(LogEntry(level, message, ["pipeline": options.pipeline.id]))
  }

  mutating func say(_ trouble: FileTrouble, _ file: InboxFile) {
    // Who holds a file open writes to it now and then; that is no news each time.
    say(trouble, name: file.name, key: trouble == .heldOpen ? 0 : file.key)
  }

  private mutating func say(_ trouble: FileTrouble, name: [UInt8], key: Int) {
    var hasher = Hasher()
    hasher.combine(name)
    hasher.combine(key)
    hasher.combine(trouble.message)
    guard memory.troubles.isNews(hasher.finalize()) else { return }
    log.log(
      LogEntry(
        trouble.level, "\(PartName.display(name)) \(trouble.message)",
        ["pipeline": options.pipeline.id, "folder": options.folder]))
  }

  private mutating func sayProblem() {
    if let problem = result.problem, problem.kind != memory.problem?.kind { say(.error, problem.message) }
    if result.problem == nil && memory.problem != nil { say(.notice, "files are taken from the inbox again") }
    memory.problem = result.problem
  }
}
