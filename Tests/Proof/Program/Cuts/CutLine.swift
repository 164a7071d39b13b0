// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayOracle
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import TestPrograms

/// A daemon that delivers to a server through the cutting proxy, one conversation after the other.
///
/// A conversation begins without any connection and holds two deliveries, of which the second goes over the connection
/// that the first has left, where the target keeps one.
final class CutLine {
  /// What became of one conversation.
  struct Outcome {
    var cuts = 0
    var repeats = 0
    var findings: [String] = []
    /// Not everything left: nothing more can be tried here.
    var isStuck = false
  }

  private let target: CutTarget
  private let host: Installation
  private let folder: String
  private let receiver: any CutReceiver
  private let proxy: Child
  private var artifacts = 0
  /// The conversation of each artifact, and what is known of each conversation.
  private var owners: [Int: Int] = [:]
  private var oracles: [Oracle] = []
  private var points: [CutPoint?] = []
  /// Conversations of which something came after they had been judged.
  private var late: Set<Int> = []

  private static let pipeline = "cut"
  /// How long everything may take to arrive after a cut; the pipeline's longest own wait is far below.
  private static let patience = 20.0
  /// How long a silent line is left to the target's own patience before it ends. `delivery.timeout` is shorter.
  private static let silence = 4.0

  init(_ target: CutTarget, program: String) throws {
    self.target = target
    host = try Installation(program: program)
    folder = host.path + "/server"
    _ = try host.folder.ensureFolder("server")
    if let library = try target.library?() { try host.link(library, as: "lib\(target.name).so") }
    receiver = try target.receiver(folder)
    guard Int(receiver.port) != nil else { throw ScenarioProblem("\(target.name): the server didn't start") }
    proxy = try Child(["python3", Repository.path("Tests/Fixtures/servers/cutting_proxy.py"), receiver.port])
    let port = proxy.line()
    try host.configure(
      """
      {"id": "\(Self.pipeline)", "extract": {"from": "inbox"},
       "delivery": {"spacing": "0s", "retryFirst": "20ms", "retryMax": "40ms", "timeout": "3s"},
       "load": \(receiver.load(port: port))}
      """)
    for (name, value) in receiver.secrets {
      let set = try host.run(["secret", "set", name], input: value)
      guard set.status == 0 else { throw ScenarioProblem("secret set: \(set.problems)") }
    }
    try host.start()
  }

  deinit { host.killHard() }

  /// Bytes of an undisturbed conversation, each way: the most of some, since TLS takes a few more or less each time.
  func count() throws -> (up: Int, down: Int) {
    // The first one is longer: it may make things that stay, such as an event that later ones change.
    try undisturbed()
    var most = (up: 0, down: 0)
    for _ in 0..<3 {
      try undisturbed()
      let since = try since()
      most = (max(most.up, since.up), max(most.down, since.down))
    }
    return most
  }

  private func undisturbed() throws {
    let outcome = try play(nil)
    guard outcome.findings.isEmpty else {
      throw ScenarioProblem("\(target.name), undisturbed: \(outcome.findings.joined(separator: "; "))\n\(host.log)")
    }
  }

  /// One conversation, cut at a point, and whatever follows from it until everything has arrived.
  func play(_ point: CutPoint?) throws -> Outcome {
    let number = oracles.count
    oracles.append(Oracle())
    points.append(point)
    try obey("drop")
    try obey(point?.rule ?? "pass")
    var outcome = Outcome()
    var files: [CutFile] = []
    for _ in 0..<(target.takesParts ? 1 : 2) {
      let artifact = try submit(of: number)
      files += artifact.files
      if let refusal = artifact.refusal { outcome.findings.append("a new artifact was not accepted: \(refusal)") }
    }
    let end = try waitForEnd(isSilent: point?.isSilent == true)
    outcome.cuts = end.cuts
    outcome.isStuck = !end.isEmpty
    if outcome.isStuck { outcome.findings.append("\(Violation(.goesOn, "not everything left: \(try trouble())"))") }
    for _ in 0..<outcome.cuts { oracles[number].note(.broke(pipeline: 0)) }
    // What a server has taken is on its record before it answers; only a broker's reader comes later.
    var missing = Set(files.map(\.name))
    _ = try eventually(within: outcome.isStuck ? 0 : 5) {
      missing.subtract(try noteReceipts(now: number))
      return missing.isEmpty
    }
    outcome.findings += oracles[number].verdict().map(\.description)
    outcome.repeats = oracles[number].counts.repeats
    return outcome
  }

  /// What can be said only when nothing more comes; a text for each violation.
  func end() throws -> [String] {
    host.stop()
    try obey("drop")
    _ = try noteReceipts(now: nil)
    let afterwards = late.sorted().flatMap { number in
      oracles[number].verdict().map { "\(points[number].map(String.init(describing:)) ?? "undisturbed"), later: \($0)" }
    }
    return try afterwards + receiver.faults()
  }

  /// Leaves what a violation can be understood from; the folder.
  func keep(_ words: String) throws -> String {
    let place = "/tmp/relay-cuts-\(getpid())/\(target.name)-\(artifacts)"
    _ = try Command.run(["mkdir", "-p", place])
    _ = try Command.run(["cp", "-a", host.path + "/.", place])
    try File.write((words + "\n").utf8, to: place + "/violation")
    return place
  }

  // MARK: Steps

  private func submit(of number: Int) throws -> (files: [CutFile], refusal: String?) {
    artifacts += 1
    owners[artifacts] = number
    let files = (target.takesParts ? [1, 2] : [1]).map { CutFile(artifact: artifacts, part: $0) }
    for file in files { try File.write(file.content.utf8, to: "\(host.path)/out/\(file.name)") }
    let digests = try files.map { try receiver.digest(of: $0) }
    oracles[number].note(.handed(pipeline: 0, artifact: artifacts, digests: digests))
    let answer = try host.run(["submit", Self.pipeline] + files.map { "\(host.path)/out/\($0.name)" })
    for file in files { unlink("\(host.path)/out/\(file.name)") }
    guard answer.status == 0 else { return (files, answer.output + answer.problems) }
    oracles[number].note(.acknowledged(pipeline: 0, artifact: artifacts))
    return (files, nil)
  }

  /// Waits until the queue is empty. A delivery that may have arrived is tried again after ten minutes: a person who asks for it
  /// at once is played here.
  private func waitForEnd(isSilent: Bool) throws -> (isEmpty: Bool, cuts: Int) {
    let begun = monotonicSeconds()
    var nudge = begun + 0.06
    var cutsBefore: Int?
    let isEmpty = try eventually(within: Self.patience) {
      if host.queue(Self.pipeline).isEmpty { return true }
      let now = monotonicSeconds()
      if isSilent && cutsBefore == nil && now > begun + Self.silence {
        // The line that was silent has been given up by somebody on the way.
        cutsBefore = try since().cuts
        try obey("pass")
      }
      if now > nudge {
        nudge = now + 0.15
        try host.run("retry", Self.pipeline)
      }
      return false
    }
    return (isEmpty, try cutsBefore ?? since().cuts)
  }

  /// Notes what came for the conversation that each belongs to; the names of the files.
  private func noteReceipts(now number: Int?) throws -> [String] {
    try receiver.receipts().map { receipt in
      guard let place = CutFile.place(of: receipt.name), let owner = owners[place.artifact] else {
        throw ScenarioProblem("\(target.name): \"\(receipt.name)\" came, which nobody handed over")
      }
      oracles[owner].note(
        .received(
          ProofItem(pipeline: 0, artifact: place.artifact, part: place.part), identity: receipt.identity,
          digest: receipt.digest, accepted: receipt.isTaken))
      if owner != number { late.insert(owner) }
      return receipt.name
    }
  }

  private func trouble() throws -> String {
    let status = try host.status(Self.pipeline)
    return "\(status["state"]?.string ?? ""), \(status["lastVerdict"]?["message"]?.string ?? "")"
  }

  private func obey(_ rule: String) throws {
    let answer = proxy.ask(rule)
    guard answer == "ok" else { throw ScenarioProblem("the cutting proxy answers \"\(answer)\" to \(rule)") }
  }

  private func since() throws -> (up: Int, down: Int, cuts: Int) {
    let numbers = proxy.ask("since").split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 3 else { throw ScenarioProblem("the cutting proxy ended") }
    return (numbers[0], numbers[1], numbers[2])
  }
}
