// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayOracle
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Synchronization

/// One installation with its receiver, and the history of what was promised and what was seen.
///
/// Pipelines are numbered: `p0`, `p1` and so on. A part's file is named after its artifact and place, and the receiver is asked
/// by that name, so each request tells what it is.
final class Stage: Sendable {
  let host: Installation
  let receiver: Receiver
  let faults: FaultControl
  private let doctored: DoctoredProgram?
  private let books = Mutex(Books())

  private struct Books {
    var history: [HistoryEvent] = []
    var lastArtifact = 0
    /// The pipeline of each artifact.
    var owners: [Int: Int] = [:]
    /// Where artifacts go as one, in place of the receiver.
    var crate: Crate?
    var refusal: String?
  }

  /// Why the last artifact was not accepted.
  var refusal: String? { books.withLock { $0.refusal } }

  /// The state folder's own, whose power can be cut; nil when it shares the installation's.
  private let disk: CuttableDisk?

  /// - Parameters:
  ///   - workersObey: Whether faults strike the workers, else the program itself.
  ///   - hasDisk: Whether the state folder gets a file system of its own.
  init(program: String, workersObey: Bool = false, hasDisk: Bool = false) throws {
    let place = Installation.newPlace()
    if hasDisk {
      _ = try Directory.ensure(place + ".disk")
      guard let disk = CuttableDisk(in: place + ".disk") else { throw NoDisk() }
      self.disk = disk
    } else {
      disk = nil
    }
    faults = try FaultControl(folder: disk?.path ?? place)
    doctored = workersObey ? try DoctoredProgram(of: program, workersObey: faults) : nil
    host = try Installation(program: doctored?.program ?? program, at: place)
    receiver = try Receiver()
  }

  struct NoDisk: Error {}

  deinit {
    host.killHard()
    _ = disk?.unmount()
    if disk != nil { _ = try? Command.run(["rm", "-rf", "--", host.path + ".disk"]) }
  }

  /// The power comes back.
  func restartDisk() throws {
    guard let disk else { return }
    guard disk.restart() else { throw ScenarioProblem("the disk can't be mounted again") }
  }

  /// Begins anew: nothing is kept but the receiver and, unless it is cold, what the targets said of themselves.
  func reset(isCold: Bool = true) throws {
    if !isCold, disk == nil { try learnTargets() }
    host.killHard()
    faults.stopStriking()
    faults.count([])
    for name in try host.folder.names() where name != "out" && name != "targets" && name != Self.learned {
      try host.folder.removeTree(name)
    }
    if let disk {
      guard disk.renew() else { throw ScenarioProblem("the disk can't be made anew") }
      guard symlink(disk.path + "/state", host.state) == 0 else { throw CallError("symlink") }
      _ = try Directory(disk.path).ensureFolder("state")
    }
    if !isCold, disk == nil {
      let store = try Directory.ensure(host.state).ensureFolder("targets")
      for name in host.names(in: Self.learned) {
        guard link("\(host.path)/\(Self.learned)/\(name)", "\(store.path)/\(name)") == 0 else {
          throw CallError("link")
        }
      }
    }
    receiver.forget()
    books.withLock { $0 = Books() }
  }

  private static let learned = "learned"

  /// Has an undisturbed daemon ask the targets, once.
  private func learnTargets() throws {
    guard host.names(in: Self.learned).isEmpty else { return }
    try host.configure()
    try host.start()
    let store = "relay-data/targets"
    func count(_ suffix: String) -> Int { host.names(in: store).filter { $0.hasSuffix(suffix) }.count }
    let isComplete = eventually(within: 30) { count(".json") > 0 && count(".json") == count(".so") }
    host.killHard()
    guard isComplete else { throw ScenarioProblem("the targets didn't say what they are: \(host.log)") }
    guard rename("\(host.path)/\(store)", "\(host.path)/\(Self.learned)") == 0 else { throw CallError("rename") }
  }

  func note(_ event: HistoryEvent) { books.withLock { $0.history.append(event) } }

  private func owner(_ artifact: Int) -> Int { pipeline(of: artifact) ?? -1 }

  func pipeline(of artifact: Int) -> Int? { books.withLock { $0.owners[artifact] } }

  /// A pipeline to the receiver; what it answers is said by the script of the same name.
  func pipeline(_ number: Int, settings: String = "", delivery: String = Stage.haste) -> String {
    receiver.pipeline("p\(number)", "/script/p\(number)/{{ file.name }}", settings: settings, delivery: delivery)
  }

  static let haste = "\"spacing\": \"0s\", \"retryFirst\": \"20ms\", \"retryMax\": \"40ms\""

  /// Has a target that takes an artifact as one in place of the receiver; the pipeline to it.
  func crated(_ number: Int) throws -> String {
    let crate = try Crate(host)
    books.withLock { $0.crate = crate }
    return crate.pipeline("p\(number)", delivery: Self.haste)
  }

  var crate: Crate? { books.withLock { $0.crate } }

  /// Writes an artifact's files; the words that hand it over.
  func prepare(_ pipeline: Int, parts: Int, bytes: Int = 300) throws -> (artifact: Int, words: [String]) {
    let artifact = books.withLock { books in
      books.lastArtifact += 1
      books.owners[books.lastArtifact] = pipeline
      return books.lastArtifact
    }
    var digests: [String] = []
    var words = ["submit", "p\(pipeline)"]
    for part in 1...parts {
      let name = "a\(artifact)-n\(part).txt"
      let line = "artifact \(artifact) part \(part) of pipeline \(pipeline)\n"
      let text = String(repeating: line, count: max(1, bytes * part / line.utf8.count))
      try File.write(text.utf8, to: "\(host.path)/\(name)")
      digests.append(try Fingerprint.sha256(Array(text.utf8)))
      words.append("\(host.path)/\(name)")
    }
    let items = crate == nil ? digests : [try Self.digest(ofAll: digests)]
    note(.handed(pipeline: pipeline, artifact: artifact, digests: items))
    return (artifact, words)
  }

  /// Hands an artifact over; whether it was accepted. If not, `refusal` says why.
  @discardableResult
  func submit(_ pipeline: Int, parts: Int = 2, bytes: Int = 300, environment: [String: String] = [:]) throws -> Bool {
    let (artifact, words) = try prepare(pipeline, parts: parts, bytes: bytes)
    let answer = try host.run(words, environment: environment)
    books.withLock { $0.refusal = answer.status == 0 ? nil : answer.output + answer.problems }
    guard answer.status == 0 else { return false }
    note(.acknowledged(pipeline: pipeline, artifact: artifact))
    return true
  }

  /// Waits until the daemon has died or the condition holds; false when neither came.
  func waits(_ seconds: Double, until condition: () throws -> Bool) rethrows -> Bool {
    try eventually(within: seconds) { try !ProcessTable.runs(host.pid) || condition() }
  }

  /// No file waits in a pipeline's inbox, and none is being taken.
  func isInboxEmpty(_ pipeline: Int) -> Bool {
    let inbox = "relay-data/pipelines/p\(pipeline)/inbox"
    return File.exists("\(host.path)/\(inbox)") && host.names(in: inbox).isEmpty
  }

  /// Nothing is left in any queue.
  var isDrained: Bool { queues.allSatisfy { host.names(in: "relay-data/pipelines/\($0)/queue").isEmpty } }

  var queues: [String] { host.names(in: "relay-data/pipelines").filter { !$0.hasPrefix(".") } }

  /// What lies in `refused` and `corrupt` of a pipeline is told to people: it isn't owed any more.
  func noteSetAside() throws {
    for pipeline in queues {
      for folder in ["refused", "corrupt"] {
        let inner = "relay-data/pipelines/\(pipeline)/\(folder)"
        for entry in host.names(in: inner) {
          let parts = host.names(in: "\(inner)/\(entry)").compactMap { Self.item(of: $0) }
          for artifact in Set(parts.map(\.artifact)) {
            note(.surfaced(pipeline: owner(artifact), artifact: artifact))
          }
        }
      }
    }
  }

  /// What stands for all parts where they are one.
  static func digest(ofAll digests: [String]) throws -> String {
    try Fingerprint.sha256(Array(digests.joined(separator: " ").utf8))
  }

  /// Takes down what the receiver saw, once, at the end.
  func noteReceived() throws {
    if let crate { return try noteCrated(crate) }
    for request in try receiver.requests() {
      // What the command `test` sends is nobody's.
      // And of what broke off in the middle nobody can say anything.
      if request.path.hasSuffix("/relay-host.txt") || request.sha256.isEmpty { continue }
      guard let name = request.path.split(separator: "/").last, let part = Self.item(of: String(name)) else {
        throw ScenarioProblem("a request to \(request.path), which nobody asked for")
      }
      let pipeline = owner(part.artifact)
      let item = ProofItem(pipeline: pipeline, artifact: part.artifact, part: part.part)
      // The bytes on the line belong to the identity: packed, they must be the same each time as well.
      let identity = request.key + " " + request.sha256
      note(.received(item, identity: identity, digest: request.plainSHA256, accepted: request.isTaken))
      if request.isAnswerLost { note(.broke(pipeline: pipeline)) }
    }
  }

  /// Overlaps, and the time between two deliveries of a pipeline, from the receiver's clock.
  func noteTiming(spacedPipeline: Int?) throws {
    var last: [Int: Receiver.Request] = [:]
    for request in try receiver.requests() {
      guard let name = request.path.split(separator: "/").last, let part = Self.item(of: String(name)),
        !request.sha256.isEmpty
      else { continue }
      let pipeline = owner(part.artifact)
      if let former = last[pipeline] {
        if request.begun < former.at { note(.overlapped(pipeline: pipeline)) }
        // After an answer that was lost comes a retry, which has a wait of its own.
        if pipeline == spacedPipeline, former.isTaken, !former.isAnswerLost {
          note(.gap(pipeline: pipeline, milliseconds: Int(request.begun - former.at)))
        }
      }
      last[pipeline] = request
    }
  }

  /// From `…a3-n1.txt`; on disk a number stands before it.
  private static func item(of name: String) -> (artifact: Int, part: Int)? {
    guard let start = name.firstIndex(of: "a") else { return nil }
    let words = name[start...].dropFirst().split(separator: ".").first?.split(separator: "-") ?? []
    guard words.count == 2, words[1].hasPrefix("n"), let artifact = Int(words[0]), let part = Int(words[1].dropFirst())
    else { return nil }
    return (artifact, part)
  }

  func judge(_ terms: Oracle.Terms = Oracle.Terms()) -> [Violation] { oracle(terms).verdict() }

  func oracle(_ terms: Oracle.Terms = Oracle.Terms()) -> Oracle {
    var oracle = Oracle(terms)
    for event in books.withLock({ $0.history }) { oracle.note(event) }
    return oracle
  }
}
