// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem
import Synchronization

/// Answering what comes over the control socket, on the connection's thread.
extension Daemon {
  nonisolated func answer(_ request: ControlRequest, _ files: ControlServer.Files) -> ControlReply {
    switch request {
    case .reload: return reload()
    case .secretChanged(let name):
      _ = try? secrets.value(name)
      _ = engine.ask { $0.secretChanged(name) }
      return ControlReply(.object(["secret": .text(name)]))
    default: break
    }
    let reply = UseCases(context.withLock { $0 }).answer(
      request, nextFile: files.next, isAwaited: files.isAwaited, tell: files.tell)
    if case .remove(let id) = request {
      // Still in the configuration, it begins again from nothing (or goes on, if the folder couldn't be deleted).
      _ = engine.ask { _ in () }
      loop.post { self.assumeIsolated { $0.removed(id) } }
    }
    return reply
  }

  private func removed(_ id: String) {
    inboxes[id] = nil
    engine.assumeIsolated { $0.removalEnded(id) }
    put(configuration)
    statusChanged()
  }

  nonisolated private func reload() -> ControlReply {
    let answer = Reply<Refusal?>()
    loop.post {
      self.assumeIsolated { me in
        me.discovery.assumeIsolated { discovery in
          discovery.scan { [weak me] _ in me?.assumeIsolated { $0.reread(force: true) { answer.set($0) } } }
        }
      }
    }
    if let refusal = answer.wait() { return ControlReply(refusal) }
    return ControlReply(.object(["reloaded": .flag(true)]))
  }

  // MARK: status.json

  /// Writes status.json soon; many changes become one write.
  func statusChanged() {
    guard !isStatusDue, isReady else { return }
    isStatusDue = true
    loop.setTimer(TimerKey("status", "write"), at: BootTime.now.advanced(milliseconds: 1000)) { [weak self] in
      self?.assumeIsolated { $0.writeStatus() }
    }
  }

  private func writeStatus() {
    isStatusDue = false
    let (context, state) = (context.withLock { $0 }, state)
    threads.run {
      guard let status = try? UseCases(context).status(nil) else { return }
      // For widgets and scripts; losing it loses nothing.
      try? state.root.replace("status.json", with: status.result.bytes(.pretty) + [10], durable: false)
    }
  }
}
