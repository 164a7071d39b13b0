// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import TargetABI

@testable import RelayDelivery

/// A real worker process and the host's end of its line: answers what a target asks, keeps what it says.
final class WorkerUnderTest {
  struct Silence: Error {}

  let pid: pid_t
  private let line: Int32
  private let output: Int32
  private var parser = FrameParser()
  private var status: Int32?
  private var cancels: [Int32] = []

  /// All frames in order, but for the many of a flood.
  private(set) var frames: [WorkerFrame] = []
  private(set) var printed: [UInt8] = []
  private(set) var printedBytes = 0
  private(set) var logLines: [String] = []
  private(set) var lineEnded = false
  /// What was asked before the last chunk.
  private(set) var verifyRequests: [UInt64] = []

  /// Keys are "scope/key".
  var state: [String: [UInt8]] = [:]
  var verifyAnswer: (UInt64) -> (code: Int32, checksum: UInt64) = { (RELAY_OK, $0) }

  /// Starts a worker as the host would; `hostPID` can lie.
  init(hostPID: pid_t = getpid()) throws {
    let socket = try Channel.socketPair()
    let pipe = try Channel.pipe()
    defer {
      close(socket.theirs)
      close(pipe.write)
    }
    // What is duplicated onto 1 to 3 must lie above them.
    let theirs = fcntl(socket.theirs, F_DUPFD_CLOEXEC, 20)
    let write = fcntl(pipe.write, F_DUPFD_CLOEXEC, 20)
    defer {
      close(theirs)
      close(write)
    }
    line = socket.ours
    output = pipe.read
    pid = try Command.spawn([Repository.worker, "\(hostPID)"], [(write, 1), (write, 2), (theirs, 3)])
  }

  deinit {
    close(line)
    close(output)
    closeCancel()
    if status == nil {
      kill(-pid, SIGKILL)
      kill(pid, SIGKILL)
      _ = Command.wait(for: pid)
    }
  }

  func send(_ message: HostMessage, request: UInt64, descriptors: [Int32] = []) throws {
    try sendBytes(message.encoded(requestID: request), descriptors: descriptors)
  }

  func sendBytes(_ bytes: [UInt8], descriptors: [Int32] = []) throws {
    try Channel.send(bytes, descriptors: descriptors, to: line)
  }

  /// Keeps the end that asks the running call to stop, until `closeCancel`.
  func keepCancel(_ descriptor: Int32) { cancels.append(descriptor) }

  func cancel() {
    for descriptor in cancels { _ = write(descriptor, "x", 1) }
  }

  func closeCancel() {
    for descriptor in cancels { close(descriptor) }
    cancels = []
  }

  /// Takes frames until one satisfies the condition; nil at the end of the line. Throws `Silence` after so many seconds.
  @discardableResult
  func receive(within seconds: Double = 20, until wanted: (WorkerMessage) -> Bool) throws -> WorkerMessage? {
    let deadline = monotonicSeconds() + seconds
    while true {
      while let frame = try parser.next() {
        try take(frame)
        if wanted(frame.message) { return frame.message }
      }
      if lineEnded { return nil }
      try readMore(until: deadline)
    }
  }

  /// Closes our end of the line, waits, and gives the exit status or minus the signal.
  func end() throws -> Int32 {
    shutdown(line, Int32(SHUT_RDWR))
    return try exitStatus()
  }

  /// Waits for the process, draining what it prints.
  func exitStatus(within seconds: Double = 20) throws -> Int32 {
    if let status { return status }
    let ended = try eventually(within: seconds) {
      try drainOutput(timeout: 0)
      var raw: Int32 = 0
      guard waitpid(pid, &raw, WNOHANG) == pid else { return false }
      status = Command.meaning(of: raw)
      return true
    }
    guard ended, let status else { throw Silence() }
    try drainOutput(timeout: 0)
    return status
  }

  // MARK: - The line

  private func readMore(until deadline: Double) throws {
    let left = deadline - monotonicSeconds()
    guard left > 0 else { throw Silence() }
    var polled = [
      pollfd(fd: line, events: Int16(POLLIN), revents: 0), pollfd(fd: output, events: Int16(POLLIN), revents: 0),
    ]
    poll(&polled, 2, Int32(left * 1000) + 1)
    if polled[1].revents != 0 { try drainOutput(timeout: 0) }
    guard polled[0].revents != 0 else { return }
    var chunk = [UInt8](repeating: 0, count: 65536)
    let count = recv(line, &chunk, chunk.count, 0)
    if count > 0 {
      try chunk[..<count].withUnsafeBytes { try parser.append($0) }
    } else if count == 0 || errno == ECONNRESET {
      lineEnded = true
    }
  }

  private func drainOutput(timeout: Int32) throws {
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      var polled = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, timeout) > 0, polled.revents & Int16(POLLIN) != 0 else { return }
      let count = read(output, &chunk, chunk.count)
      guard count > 0 else { return }
      printedBytes += count
      if printed.count < 65536 { printed += chunk[..<count] }
    }
  }

  private func take(_ frame: WorkerFrame) throws {
    if frames.count < 10_000 { frames.append(frame) }
    switch frame.message {
    case .log(_, let line): if logLines.count < 10_000 { logLines.append(line) }
    case .verify(let checksum):
      verifyRequests.append(checksum)
      let answer = verifyAnswer(checksum)
      try send(.verifyAnswer(code: answer.code, checksum: answer.checksum), request: frame.requestID)
    case .scratch:
      let file = try Channel.memoryFile()
      defer { close(file) }
      try send(.scratchAnswer(code: RELAY_OK), request: frame.requestID, descriptors: [file])
    case .stateGet(let scope, let key):
      try answer(frame, state["\(scope.rawValue)/\(key)"])
    case .statePut(let scope, let key, let value):
      state["\(scope.rawValue)/\(key)"] = value
      try answer(frame, [])
    case .stateDelete(let scope, let key):
      state["\(scope.rawValue)/\(key)"] = nil
      try answer(frame, [])
    case .stateNext(let scope, let after):
      let prefix = "\(scope.rawValue)/"
      let keys = state.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(2)) }.sorted()
      try answer(frame, keys.first { $0 > after }.map { Array($0.utf8) })
    default: break
    }
  }

  private func answer(_ frame: WorkerFrame, _ value: [UInt8]?) throws {
    try send(
      .stateAnswer(code: value == nil ? RELAY_ABSENT : RELAY_OK, value: value ?? []), request: frame.requestID)
  }
}
