// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import Synchronization

/// Listens on the control socket and answers requests, each connection on a thread of its own, a limited number at a time.
final class ControlServer: Sendable {
  /// What a request may do with the files that come with it.
  struct Files {
    /// The next file handed over; asks the client for more when needed.
    var next: () throws(Refusal) -> Descriptor
    /// Whether the client is still there.
    var isAwaited: () -> Bool = { true }
    /// Tells the client how far a long piece of work has come; false when nobody waits for it any more.
    var tell: (JSONNode) -> Bool = { _ in true }
  }

  /// The most connections at once; more wait in the kernel's backlog.
  static let mostConnections = 64
  /// How long a connection may say nothing, in milliseconds.
  static let patience: Int64 = 15_000
  /// Descriptors that connections leave to the deliveries.
  static let spareDescriptors: UInt64 = 24

  typealias Handler = @Sendable (ControlRequest, Files) -> ControlReply

  private let folder: Directory
  private let listener: Descriptor
  private let loop: EventLoop
  private let log: any LogSink
  private let handler: Handler
  private let open = Mutex(0)
  private let isStopped = Mutex(false)

  init(
    in folder: Directory, mode: UInt32 = 0o600, loop: EventLoop, log: any LogSink, handler: @escaping Handler
  ) throws(SystemError) {
    self.folder = folder
    listener = try UnixSocket.listen(in: folder, ControlClient.socketName, mode: mode)
    self.loop = loop
    self.log = log
    self.handler = handler
  }

  func start() throws(SystemError) {
    try loop.watch(listener, for: .readable) { [weak self] _ in self?.accept() }
  }

  /// Takes no more connections but those that were made already: they get their answers. Once more has no effect.
  func stop() {
    let isFirst = isStopped.withLock { stopped in
      defer { stopped = true }
      return !stopped
    }
    guard isFirst else { return }
    loop.forget(listener)
    loop.setTimer(TimerKey("control", "accept"), at: nil)
    // From here on a client finds nobody; those in the kernel's backlog have been told that somebody listens.
    try? folder.remove(ControlClient.socketName)
    while isWaiting { accept() }
  }

  /// Whether every connection is over.
  var isIdle: Bool { open.withLock { $0 == 0 } }

  private var isWaiting: Bool {
    ((try? listener.waitReadable(milliseconds: 0)) ?? false) && open.withLock { $0 < Self.mostConnections }
  }

  private func accept() {
    let isFull = open.withLock { $0 >= Self.mostConnections }
    guard !isFull else { return pause(milliseconds: 20) }
    // What is under way needs descriptors to be marked and removed: whoever asks waits until there are some to spare.
    guard ServiceManager.hasRoom(forDescriptors: Self.spareDescriptors) else {
      log.log(LogEntry(.warning, "Control connections wait: nearly as many files are open as the limit allows."))
      return pause(milliseconds: 200)
    }
    do throws(SystemError) {
      guard let socket = try UnixSocket.accept(listener) else { return }
      try socket.setTimeouts(milliseconds: Self.patience)
      open.withLock { $0 += 1 }
      do throws(SystemError) {
        try startThread("control") { [weak self] in
          self?.serve(socket)
          self?.open.withLock { $0 -= 1 }
        }
      } catch {
        open.withLock { $0 -= 1 }
        throw error
      }
    } catch {
      log.log(LogEntry(.warning, "A control connection could not be taken: \(error.message)."))
      pause(milliseconds: 200)
    }
  }

  /// Doesn't accept for a moment: out of descriptors or threads, trying at once again would only burn time.
  private func pause(milliseconds: Int64) {
    guard !isStopped.withLock({ $0 }) else { return }
    loop.forget(listener)
    loop.setTimer(TimerKey("control", "accept"), at: BootTime.now.advanced(milliseconds: milliseconds)) { [weak self] in
      try? self?.start()
    }
  }

  /// Nobody whom a target started may ask for anything: this program starts nothing but workers, so whoever descends from it
  /// descends from one. Who that is can't be seen of a process that is gone, which needs no answer.
  private func isWorkers(_ socket: Descriptor) -> Bool {
    guard let peer = try? UnixSocket.peer(socket) else { return true }
    // Workers have its user or a lesser one, and can't become root again.
    if peer.user == 0 && geteuid() != 0 { return false }
    guard ProcessTree.descends(peer.pid) != false else { return false }
    log.log(
      LogEntry(
        .warning,
        "A connection to the control socket was refused: it comes from a target's worker, or its process is gone.",
        ["pid": "\(peer.pid)"]))
    return true
  }

  private func serve(_ socket: Descriptor) {
    guard !isWorkers(socket) else { return }
    let connection = ControlConnection(socket)
    do throws(ControlConnection.Failure) {
      while let node = try connection.receive() {
        let reply: ControlReply
        if let request = ControlRequest(node) {
          reply = handler(request, files(of: request, connection))
        } else {
          reply = ControlReply(Refusal(.usage, .controlProtocol, "The daemon doesn't know this request."))
        }
        // What came with a request that didn't want it is closed here.
        _ = connection.takeDescriptors()
        try connection.send(reply.line)
      }
    } catch {
      // The client went away or doesn't speak the protocol; nothing was promised to it.
    }
  }

  private func files(of request: ControlRequest, _ connection: ControlConnection) -> Files {
    var waiting: [Descriptor] = []
    let next = { () throws(Refusal) -> Descriptor in
      if waiting.isEmpty { waiting = connection.takeDescriptors() }
      if waiting.isEmpty {
        do throws(ControlConnection.Failure) {
          try connection.send(Array("{\"continue\":true}\n".utf8))
          _ = try connection.receive()
        } catch {
          throw Refusal(.usage, .controlProtocol, "The connection broke before all files were handed over.")
        }
        waiting = connection.takeDescriptors()
      }
      guard !waiting.isEmpty else {
        throw Refusal(.usage, .controlProtocol, "Fewer files were handed over than were named.")
      }
      return waiting.removeFirst()
    }
    return Files(next: next, isAwaited: { !connection.isHungUp }) { progress in
      guard !self.isStopped.withLock({ $0 }) else { return false }
      let line = JSONNode.object(["progress": progress]).bytes() + [10]
      return (try? connection.send(line)) != nil
    }
  }
}
