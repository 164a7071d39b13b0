// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelaySystem

/// Taking up a changed configuration while running: whole and valid, or not at all.
extension Daemon {
  func watchFile() {
    if let watch = try? FolderWatch() {
      self.watch = watch
      _ = try? watch.add(file.folder)
      try? loop.watch(watch.descriptor, for: .readable) { [weak self] _ in
        self?.assumeIsolated { me in
          _ = me.watch?.takeEvents()
          me.lookSoon()
        }
      }
    }
    lookLater()
  }

  /// A moment after the last event, since an editor writes in several steps; but not later than a second after the
  /// first, since in a busy folder (logs, for example) events never end.
  private func lookSoon() {
    let now = BootTime.now
    let first = firstHint ?? now
    firstHint = first
    let moment = min(now.advanced(milliseconds: 100), first.advanced(milliseconds: 1000))
    loop.setTimer(TimerKey("configuration", "look"), at: moment) { [weak self] in
      self?.assumeIsolated { me in
        me.firstHint = nil
        me.reread(force: false)
        me.lookLater()
      }
    }
  }

  private func lookLater() {
    loop.setTimer(
      TimerKey("configuration", "look"), at: BootTime.now.advanced(milliseconds: Self.filePause)
    ) { [weak self] in
      self?.assumeIsolated { me in
        me.reread(force: false)
        me.lookLater()
      }
    }
  }

  /// Reads the file and puts it into force if it is valid and says something else.
  ///
  /// - Parameter force: even if the file itself is as it was.
  func reread(force: Bool, then: (@Sendable (Refusal?) -> Void)? = nil) {
    if let then { rereadWaiters.append(then) }
    isForced = isForced || force
    isReadWanted = true
    guard !isReading, !isStopping else { return }
    isReading = true
    isReadWanted = false
    let (file, manifests, old, forced) = (file, catalogue.manifests, bytes, isForced)
    // Whoever asks from here on is answered by the next read: this one may have seen the file as it was before.
    let waiting = rereadWaiters
    (isForced, rereadWaiters) = (false, [])
    threads.run { [weak self, loop] in
      let result = Result { () throws(Refusal) in
        let bytes = try file.bytes()
        guard forced || bytes != old else { return Reread?.none }
        let (configuration, problems) = file.read(bytes, targets: manifests)
        return Reread(bytes: bytes, configuration: configuration, problems: problems)
      }
      loop.post { [weak self] in self?.assumeIsolated { $0.wasReread(result, tell: waiting) } }
    }
  }

  struct Reread: Sendable {
    var bytes: [UInt8]
    var configuration: Configuration?
    var problems: [Diagnostic]
  }

  private func wasReread(
    _ result: Result<Reread?, Refusal>, tell waiting: [@Sendable (Refusal?) -> Void]
  ) {
    isReading = false
    let hadProblem = reloadProblem
    switch result {
    case .failure(let refusal):
      // The same bytes once they can be read again are news.
      bytes = []
      reject(refusal.message, refusal.code)
    case .success(nil): break
    case .success(let read?):
      let isSame = read.bytes == bytes && hadProblem == nil
      bytes = read.bytes
      guard let new = read.configuration else {
        let errors = read.problems.filter { $0.severity == .error }
        for problem in errors { log.log(LogEntry(.error, problem.headline)) }
        let first = errors.first.map { "\($0.place.map { "line \($0.line), " } ?? "")\($0.message)" } ?? ""
        reject("\(file.path) has \(ConfigurationFile.count(errors)); the first: \(first).", errors.first?.code)
        break
      }
      // Commands look for the daemon where the file says, and would find nobody there.
      guard new.state == configuration.state else {
        reject(
          "\(file.path) names another state folder, \(new.state); the daemon works in \(configuration.state), and only a "
            + "restart can change that.", .configNeedsRestart)
        break
      }
      (reloadProblem, reloadCode) = (nil, nil)
      let before = Set(configuration.pipelines.map(\.id))
      if !isSame {
        for problem in read.problems { log.log(LogEntry(.warning, problem.headline)) }
        log.log(LogEntry(.notice, "The configuration was read again and is in force.", ["config": file.path]))
      }
      if new.targets != configuration.targets {
        let folders = folders(of: new)
        discovery.assumeIsolated { $0.setFolders(folders) }
      }
      let old = configuration
      put(new)
      checkChanged(from: old, to: new)
      for id in before.subtracting(new.pipelines.map(\.id)).sorted() {
        log.log(
          LogEntry(
            .notice, "The pipeline has left the configuration; its folder stays until `relay-host remove \(id)`.",
            ["pipeline": id]))
      }
    }
    let refusal = reloadProblem.map { problem in
      Refusal(
        .usage, reloadCode ?? .configBadValue, "The configuration is not used: \(problem)",
        hint: "`relay-host check` shows all mistakes; the former configuration stays in force")
    }
    for then in waiting { then(refusal) }
    statusChanged()
    if isReadWanted { reread(force: false) }
  }

  /// The former configuration stays in force.
  private func reject(_ problem: String, _ code: DiagnosticCode?) {
    (reloadProblem, reloadCode) = (problem, code)
    log.log(LogEntry(.error, "The changed configuration is not used; the former one stays in force. \(problem)"))
    var problems: [String: String] = [:]
    for pipeline in configuration.pipelines {
      // Its target has come, but the file as it is now doesn't fit: say that instead of "no such target".
      if case .unknown(let id) = pipeline.load.target, catalogue[id] != nil { problems[pipeline.id] = problem }
    }
    put(configuration, problems: problems)
  }
}
