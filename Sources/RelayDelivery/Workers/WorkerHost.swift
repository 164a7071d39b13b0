// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import RelayWorkerProtocol

/// What comes from a worker process, in order; `ended` is the last.
package enum WorkerEvent: Sendable {
  case frame(WorkerFrame)
  /// A line that it printed, fit for the log.
  case line(String)
  /// It tried what it may not: a path, or a system call, the first of its number with `times` 1, and before `ended` once more where
  /// there were several, with how many.
  case denied(DeniedAttempt, times: Int)
  /// The process is gone; `problem` says what was wrong with what it sent, where something was.
  case ended(ProcessEnd, problem: String?)
}

/// Runs worker processes and carries frames both ways; knows nothing of pipelines.
///
/// Whatever a worker sends, prints or leaves behind, it costs a bounded amount of memory here, and when its process has
/// ended nothing of it is left: its process group is killed and its descriptors are closed.
package actor WorkerHost {
  /// Called on the loop's thread.
  package typealias Handler = @Sendable (WorkerEvent) -> Void

  nonisolated package let loop: EventLoop
  nonisolated package var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private let launcher: WorkerLauncher
  private var workers: [Int: Worker] = [:]
  private var lastNumber = 0

  /// The host's side of one worker.
  private struct Worker {
    var process: WorkerLauncher.Started
    var handler: Handler
    var parser = FrameParser()
    var outgoing: [(bytes: ArraySlice<UInt8>, descriptors: [Descriptor])] = []
    var output: LineCollector
    var errors: LineCollector
    var problem: String?
    var isSocketOpen = true
    var bounds: WorkerBounds
    var listening = Listening.awaited([])
    var denied = DeniedCalls()
  }

  /// Whether what it tries can be heard of. What comes before the target is loaded is the worker's own word, so only then.
  private enum Listening {
    /// With the first descriptors that came, until a frame says what they are.
    case awaited([Descriptor])
    /// In a thread, which tells by posting.
    case inThread
    /// The process has ended, and what the thread had posted by then is waited for.
    case ending
    case nothing
  }

  package init(loop: EventLoop, launcher: WorkerLauncher) {
    self.loop = loop
    self.launcher = launcher
  }

  package var count: Int { workers.count }

  /// Starts a worker that will be let into so much; events come from now on.
  func start(usesRuntime: Bool, _ bounds: WorkerBounds, _ handler: @escaping Handler) throws(SystemError) -> Int {
    let process = try launcher.start(usesRuntime: usesRuntime)
    lastNumber += 1
    let number = lastNumber
    let now = BootTime.now
    workers[number] = Worker(
      process: process, handler: handler, output: LineCollector(now: now), errors: LineCollector(now: now),
      bounds: bounds)
    do {
      try watch(process.socket) { $0.socketReady(number, $1) }
      try watch(process.output) { actor, _ in actor.printed(number, isError: false) }
      try watch(process.errors) { actor, _ in actor.printed(number, isError: true) }
      try watch(process.child.exitDescriptor) { actor, _ in actor.exited(number) }
    } catch {
      workers[number]?.handler = { _ in }
      process.child.signalGroup(SIGKILL)
      _ = process.child.end(wait: true)
      forget(number)
      throw error
    }
    return number
  }

  private func watch(
    _ descriptor: Descriptor, _ body: @escaping @Sendable (isolated WorkerHost, EventLoop.Readiness) -> Void
  ) throws(SystemError) {
    try loop.watch(descriptor, for: .readable) { [weak self] readiness in
      self?.assumeIsolated { body($0, readiness) }
    }
  }

  /// Sends a frame; descriptors travel with its first byte.
  package func send(
    _ number: Int, _ message: HostMessage, request: UInt64 = 0, descriptors: [Descriptor] = []
  ) throws(WireError) {
    guard workers[number] != nil else { return }
    let bytes = try message.encoded(requestID: request)
    workers[number]?.outgoing.append((bytes[...], descriptors))
    flush(number)
  }

  /// Takes the next step down from asking to killing; asking is the caller's own business.
  package func signal(_ number: Int, _ step: KillLadder.Step) {
    guard let child = workers[number]?.process.child else { return }
    switch step {
    case .ask: break
    case .terminate: child.signalGroup(SIGTERM)
    case .kill: child.signalGroup(SIGKILL)
    }
  }

  private func flush(_ number: Int) {
    while let next = workers[number]?.outgoing.first, let socket = workers[number]?.process.socket {
      do {
        guard let sent = try socket.send(next.bytes, with: next.descriptors) else {
          try loop.rewatch(socket, for: [.readable, .writable])
          return
        }
        // The descriptors went with the first byte; the kernel holds its own copies now.
        if sent >= next.bytes.count {
          workers[number]?.outgoing.removeFirst()
        } else {
          workers[number]?.outgoing[0] = (next.bytes.dropFirst(sent), [])
        }
      } catch {
        // It closed its end; its exit tells the rest.
        workers[number]?.outgoing = []
        return
      }
    }
    if let socket = workers[number]?.process.socket { try? loop.rewatch(socket, for: .readable) }
  }

  private func socketReady(_ number: Int, _ readiness: EventLoop.Readiness) {
    if readiness.contains(.writable) { flush(number) }
    if !readiness.isDisjoint(with: [.readable, .hungUp, .failed]) { _ = receive(number) }
  }

  /// Reads once from the socket; false when nothing is there or nothing more will come.
  private func receive(_ number: Int) -> Bool {
    guard let worker = workers[number], worker.isSocketOpen else { return false }
    do {
      // But for those of a listener, descriptors that a worker sends mean nothing and are closed again by being dropped.
      guard let received = try worker.process.socket.receive() else { return false }
      if case .awaited(let former) = worker.listening, former.isEmpty {
        workers[number]?.listening = .awaited(received.descriptors)
      }
      guard !received.bytes.isEmpty else {
        closeSocket(number)
        return false
      }
      try parse(number, received.bytes)
      return workers[number]?.isSocketOpen ?? false
    } catch let error as WireError {
      condemn(number, error.message)
    } catch {
      closeSocket(number)
    }
    return false
  }

  private func parse(_ number: Int, _ bytes: ArraySlice<UInt8>) throws(WireError) {
    try bytes.withUnsafeBytes { raw in
      Result { () throws(WireError) in try workers[number]?.parser.append(raw) }
    }.get()
    while true {
      let frame = try workers[number]?.parser.next()
      guard let frame, let handler = workers[number]?.handler else { return }
      try listen(number, frame.message)
      handler(.frame(frame))
    }
  }

  // MARK: What it tries and may not

  private func listen(_ number: Int, _ message: WorkerMessage) throws(WireError) {
    guard case .awaited(let descriptors)? = workers[number]?.listening, let bounds = workers[number]?.bounds else {
      if case .confined = message { throw .unknownType(UInt16(RELAY_FRAME_CONFINED)) }
      return
    }
    if case .hello = message { return }
    workers[number]?.listening = .nothing
    guard case .confined(let pieces, let count) = message, count > 0, let first = descriptors.first else { return }
    let watch = CallWatch(
      listener: SystemCallListener(first, memory: count > 1 ? descriptors.dropFirst().first : nil), bounds: bounds,
      confinesFiles: pieces.contains(.files)
    ) { [weak self, loop] attempt in
      loop.post { [weak self] in self?.assumeIsolated { $0.tell(number, attempt) } }
    }
    do {
      try startThread("calls") { watch.run() }
      workers[number]?.listening = .inThread
    } catch {
      // Nobody would answer its calls.
      condemn(number, "nothing can be heard of what it tries: \(error.message)")
    }
  }

  private func tell(_ number: Int, _ attempt: DeniedAttempt) {
    if case .call(let call) = attempt, workers[number]?.denied.note(call) == false { return }
    workers[number]?.handler(.denied(attempt, times: 1))
  }

  /// Ends a worker that doesn't keep to the protocol.
  private func condemn(_ number: Int, _ problem: String) {
    guard workers[number] != nil else { return }
    workers[number]?.problem = problem
    closeSocket(number)
    signal(number, .kill)
  }

  /// Nothing is read from it any more; a process that lives on without its socket is ended.
  private func closeSocket(_ number: Int) {
    guard let worker = workers[number], worker.isSocketOpen else { return }
    workers[number]?.isSocketOpen = false
    loop.forget(worker.process.socket)
    loop.setTimer(
      TimerKey("worker \(number)", "gone"), at: BootTime.now.advanced(milliseconds: KillLadder.patience)
    ) { [weak self] in
      self?.assumeIsolated { $0.signal(number, .kill) }
    }
  }

  private func printed(_ number: Int, isError: Bool) {
    guard let worker = workers[number] else { return }
    let descriptor = isError ? worker.process.errors : worker.process.output
    if !readLines(number, descriptor, isError: isError) { loop.forget(descriptor) }
  }

  /// Reads once what it printed; false at the end.
  private func readLines(_ number: Int, _ descriptor: Descriptor, isError: Bool) -> Bool {
    var room = [UInt8](repeating: 0, count: 64 * 1024)
    let read = room.withUnsafeMutableBytes { raw in
      Result { () throws(SystemError) in try descriptor.read(into: raw) }
    }
    guard case .success(let got) = read, got != 0 else { return false }
    guard let got else { return true }
    let now = BootTime.now
    let lines =
      (isError
        ? workers[number]?.errors.append(room.prefix(got), now: now)
        : workers[number]?.output.append(room.prefix(got), now: now)) ?? []
    for line in lines { workers[number]?.handler(.line(line)) }
    return true
  }

  private func exited(_ number: Int, isLast: Bool = false) {
    guard let worker = workers[number] else { return }
    switch worker.listening {
    case .inThread:
      // What was denied to it before it ended has been posted by now, and counts.
      workers[number]?.listening = .ending
      return loop.post { [weak self] in self?.assumeIsolated { $0.exited(number, isLast: true) } }
    case .ending where !isLast: return
    case .ending, .awaited, .nothing: break
    }
    // Whatever it sent before it ended still counts; what it left running goes, before its group can be somebody else's.
    worker.process.child.signalGroup(SIGKILL)
    // At most what a socket holds: a grandchild that escaped may still be sending.
    var receives = 0
    while receives < 64, receive(number) { receives += 1 }
    guard let end = worker.process.child.end() else { return }
    for (descriptor, isError) in [(worker.process.output, false), (worker.process.errors, true)] {
      var reads = 0
      while reads < 16, readLines(number, descriptor, isError: isError) { reads += 1 }
    }
    var lines = workers[number]?.output.end() ?? []
    lines += workers[number]?.errors.end() ?? []
    for line in lines { worker.handler(.line(line)) }
    let problem = workers[number]?.problem
    for (call, times) in workers[number]?.denied.repeated ?? [] { worker.handler(.denied(.call(call), times: times)) }
    forget(number)
    ProcessTree.buryOrphans(except: Set(workers.values.map(\.process.child.pid)))
    worker.handler(.ended(end, problem: problem))
  }

  private func forget(_ number: Int) {
    guard let worker = workers.removeValue(forKey: number) else { return }
    loop.setTimer(TimerKey("worker \(number)", "gone"), at: nil)
    loop.forget(worker.process.socket)
    loop.forget(worker.process.output)
    loop.forget(worker.process.errors)
    loop.forget(worker.process.child.exitDescriptor)
  }
}
