// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import Synchronization

/// Why a scenario couldn't be played.
package struct ScenarioProblem: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// A folder with a pipelines.json, a state folder and the program that was built along with the tests: one user's Relay Host.
package final class Installation: Sendable {
  package let folder: Directory
  /// The program that is tried.
  package let program: String
  private let place: String
  private let daemon = Mutex<ChildProcess?>(nil)
  private let runs = Mutex(0)
  private let unread = Mutex<Descriptor?>(nil)

  package var path: String { folder.path }
  package var state: String { path + "/relay-data" }
  package static let program = Repository.products + "/relay-host"

  /// Where an installation can be put; nothing is there yet.
  package static func newPlace() -> String { "/tmp/relay-scenario-\(Identifier.random())" }

  package init(program: String = Installation.program, at place: String = Installation.newPlace()) throws {
    self.program = program
    self.place = place
    folder = try Directory.ensure(place)
    for inner in ["out", "targets"] { try folder.makeFolder(inner, mode: 0o755) }
  }

  deinit {
    killHard()
    _ = try? Command.run(["rm", "-rf", "--", place])
  }

  /// Writes pipelines.json: the pipelines are JSON texts. The targets folder beside it is searched.
  package func configure(_ pipelines: String..., top: String = "") throws {
    let extra = top.isEmpty ? "" : top + ", "
    try write(
      "pipelines.json", "{\(extra)\"targets\": [\"targets\"], \"pipelines\": [\(pipelines.joined(separator: ",\n"))]}\n"
    )
  }

  package func write(_ file: String, _ text: String) throws {
    try folder.replace(file, with: Array(text.utf8), mode: 0o644)
  }

  package func text(of file: String) -> String {
    String(decoding: (try? folder.content(of: file)) ?? [], as: UTF8.self)
  }

  /// What a folder in the installation holds.
  package func names(in inner: String) -> [String] { (try? Directory(path + "/" + inner).names()) ?? [] }

  // MARK: The daemon

  /// Starts the daemon and waits until it answers.
  package func start(environment: [String: String] = [:]) throws {
    try launch(environment: environment)
    let isUp = try eventually(within: 30) { try !isRunning || run("reload").status == 0 } && isRunning
    guard isUp else { throw ScenarioProblem("the daemon didn't answer; its log: \(log)") }
  }

  /// Starts the daemon without waiting for anything.
  ///
  /// - Parameter isLogRead: Else its log goes into a pipe of one page that nobody empties.
  package func launch(environment: [String: String] = [:], isLogRead: Bool = true) throws {
    let log = try isLogRead ? folder.openOrCreateFile("log", append: true) : fullPipe()
    let child = try ChildProcess(
      .init(
        program: program, arguments: ["--config", path + "/pipelines.json"],
        environment: ["PATH": "/usr/bin:/bin", "HOME": path].merging(environment) { $1 },
        descriptors: [try Directory("/dev").openDevice("null"), log, log], folder: path))
    daemon.withLock { $0 = child }
  }

  /// A pipe whose reading end stays open as long as this installation, and is never read.
  private func fullPipe() throws -> Descriptor {
    let (reading, writing) = try UnixSocket.pipe()
    // F_SETPIPE_SZ, which Glibc's module leaves out.
    _ = fcntl(writing.number, 1031, 4096)
    unread.withLock { $0 = reading }
    return writing
  }

  /// Whether the daemon that was started last is still there.
  private var isRunning: Bool {
    daemon.withLock { child in
      if child?.end() != nil { child = nil }
      return child != nil
    }
  }

  /// The daemon's process number.
  package var pid: pid_t { daemon.withLock { $0?.pid ?? -1 } }

  /// Everything the daemon logged so far, over all its starts.
  package var log: String { text(of: "log") }

  package func killHard() {
    daemon.withLock { child in
      child?.signalGroup(SIGKILL)
      _ = child?.end(wait: true)
      child = nil
    }
  }

  /// SIGTERM; how it ended.
  @discardableResult
  package func stop() -> ProcessEnd? {
    daemon.withLock { child in
      guard let running = child else { return nil }
      _ = kill(running.pid, SIGTERM)
      child = nil
      return running.end(wait: true)
    }
  }

  /// Waits for a daemon that ends by itself.
  package func ended(within seconds: Double = 20) -> ProcessEnd? {
    let end = Mutex<ProcessEnd?>(nil)
    _ = eventually(within: seconds) {
      daemon.withLock { child in
        guard let found = child?.end() else { return false }
        end.withLock { $0 = found }
        child = nil
        return true
      }
    }
    return end.withLock { $0 }
  }

  // MARK: The command line

  package struct Answer: Sendable {
    package var status: Int32
    package var output: String
    package var problems: String
    package var json: JSONNode? { try? JSONTree.parse(Array(output.utf8)) }
  }

  /// Runs a command of the program with this installation's configuration.
  @discardableResult
  package func run(_ words: String..., environment: [String: String] = [:]) throws -> Answer {
    try run(words, environment: environment)
  }

  /// - Parameter input: what the command reads from its standard input.
  @discardableResult
  package func run(_ words: [String], environment: [String: String] = [:], input: String? = nil) throws -> Answer {
    let child = try begin(words, environment: environment, input: input)
    return child()
  }

  /// Starts a command; the answer comes when it has ended.
  package func begin(
    _ words: [String], environment: [String: String] = [:], input: String? = nil
  ) throws -> () -> Answer {
    let number = runs.withLock { count in
      count += 1
      return count
    }
    let (output, problems, given) = (".output-\(number)", ".problems-\(number)", ".input-\(number)")
    if let input { try write(given, input) }
    let child = try ChildProcess(
      .init(
        program: program, arguments: words + ["--config", path + "/pipelines.json"],
        environment: ["PATH": "/usr/bin:/bin", "HOME": path].merging(environment) { $1 },
        descriptors: [
          input == nil ? try Directory("/dev").openDevice("null") : try folder.openFile(given),
          try folder.openOrCreateFile(output), try folder.openOrCreateFile(problems),
        ], folder: path))
    return { [self] in
      let end = child.end(wait: true)
      defer { for name in [output, problems, given] { try? folder.remove(name) } }
      let status: Int32 = if case .exited(let code)? = end { code } else { -1 }
      return Answer(status: status, output: text(of: output), problems: text(of: problems))
    }
  }

  /// Hands over a file with this content; its artifact's id.
  @discardableResult
  package func submit(_ pipeline: String, _ contents: String..., name: String = "file.txt") throws -> String {
    try submit(pipeline, contents, name: name)
  }

  @discardableResult
  package func submit(_ pipeline: String, _ contents: [String], name: String = "file.txt") throws -> String {
    var words = ["submit", pipeline]
    for (place, content) in contents.enumerated() {
      let file = contents.count == 1 ? name : "\(place + 1)-\(name)"
      try write(file, content)
      words.append(path + "/" + file)
    }
    let answer = try run(words + ["--json"])
    guard answer.status == 0, let artifact = answer.json?["artifact"]?.string else {
      throw ScenarioProblem("submit: \(answer.output) \(answer.problems)")
    }
    return artifact
  }

  /// One pipeline's part of `status --json`.
  package func status(_ pipeline: String) throws -> JSONNode {
    let answer = try run("status", "--json")
    let found = answer.json?["pipelines"]?.array?.first { $0["id"]?.string == pipeline }
    guard let found else { throw ScenarioProblem("\(answer.output) \(answer.problems)") }
    return found
  }

  /// The lines of `log --json`, the latest last.
  package func deliveries(_ pipeline: String) throws -> [JSONNode] {
    let answer = try run("log", pipeline, "-n", "50", "--json")
    return answer.output.utf8.split(separator: 10).compactMap { try? JSONTree.parse(Array($0)) }
  }

  /// Waits until a pipeline is in a state; whether it got there.
  package func reaches(_ pipeline: String, _ state: String, within seconds: Double = 20) throws -> Bool {
    try eventually(within: seconds) { try status(pipeline)["state"]?.string == state }
  }
}
