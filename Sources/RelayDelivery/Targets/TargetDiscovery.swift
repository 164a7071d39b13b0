// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelaySystem

/// Keeps the catalogue of targets true while files come, change and go in the targets folders.
package actor TargetDiscovery {
  /// A folder in which targets are looked for.
  package struct Folder: Equatable, Sendable {
    package var path: String
    /// Whether what is in it came with the program.
    package var isShipped: Bool

    package init(path: String, isShipped: Bool) {
      self.path = path
      self.isShipped = isShipped
    }
  }

  /// How often the folders are looked through without a hint, in milliseconds.
  package static let pause: Int64 = 30_000

  /// How long an answer waits for files that keep changing, in milliseconds.
  static let patience: Int64 = 5_000
  /// How long an answer waits for targets that take their time to describe themselves, in milliseconds.
  static let describePatience: Int64 = 3_000

  nonisolated package let loop: EventLoop
  nonisolated package var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var describer: TargetDescriber
  private let threads: WorkThreads
  private let scanner: TargetScanner
  private let hostVersion: String
  private var folders: [Folder] = []
  private var seen: [String: (stamp: TargetScanner.Stamp, target: FoundTarget)] = [:]
  /// The files whose targets are being asked, and what is known of all so far.
  private var describing: Set<String> = []
  private var latest: [FoundTarget] = []
  /// Since when some file or other has been changing.
  private var settlingSince: BootTime?
  private var isScanning = false
  private var isScanWanted = false
  private var isFirst = true
  private let started = WallTime.now
  private var waiting: [@Sendable (TargetCatalogue) -> Void] = []
  private var onChange: @Sendable (TargetCatalogue) -> Void = { _ in }
  private var watch: FolderWatch?
  package private(set) var catalogue = TargetCatalogue()

  /// - Parameters:
  ///   - store: the folder for the copies that workers load.
  ///   - manifests: a folder in which another store's manifests may be read.
  ///   - log: told what a target tries and may not while it says what it is.
  package init(
    host: WorkerHost, threads: WorkThreads, store: String, manifests: String? = nil, hostVersion: String,
    surroundings: WorkerSurroundings,
    log: any LogSink
  ) {
    loop = host.loop
    describer = TargetDescriber(host: host, surroundings: surroundings, log: log)
    self.threads = threads
    scanner = TargetScanner(store: store, manifests: manifests)
    self.hostVersion = hostVersion
  }

  /// Looks through the folders now, from now on whenever something happens in them, and tells what changes.
  package func start(_ folders: [Folder], onChange: @escaping @Sendable (TargetCatalogue) -> Void) {
    self.onChange = onChange
    if let watch = try? FolderWatch() {
      self.watch = watch
      try? loop.watch(watch.descriptor, for: .readable) { [weak self] _ in
        self?.assumeIsolated { me in
          _ = me.watch?.takeEvents()
          me.scan()
        }
      }
    }
    setFolders(folders)
  }

  /// Other surroundings for targets that describe themselves from now on; with another policy, what was refused is asked anew.
  package func setSurroundings(_ new: WorkerSurroundings) {
    let isOther = describer.surroundings.policy != new.policy
    describer.surroundings = new
    guard isOther else { return }
    for (file, entry) in seen { if case .broken = entry.target.state { seen[file] = nil } }
    scan()
  }

  /// Other folders from now on; those that ship with the program come first.
  package func setFolders(_ new: [Folder]) {
    folders = new
    // Watching a folder twice is the same watch; one that is missing is found by the regular look.
    for folder in new { _ = try? watch?.add(folder.path) }
    scan()
  }

  /// Looks through the folders, and says what is there when every new file has been described.
  package func scan(then: (@Sendable (TargetCatalogue) -> Void)? = nil) {
    if let then { waiting.append(then) }
    isScanWanted = true
    guard !isScanning else { return watchDescribing() }
    isScanning = true
    isScanWanted = false
    let (scanner, paths, known) = (scanner, folders.map(\.path), seen.mapValues(\.stamp))
    threads.run { [weak self, loop] in
      let results = scanner.scan(paths, known: known, wall: .now)
      loop.post { [weak self] in self?.assumeIsolated { $0.scanned(results) } }
    }
  }

  private func scanned(_ results: [(file: String, finding: TargetScanner.Finding)]) {
    var targets: [FoundTarget] = []
    var toDescribe: [(file: String, stamp: TargetScanner.Stamp, copy: String, sha256: String)] = []
    var isSettling = false
    let present = Set(results.map(\.file))
    for file in seen.keys where !present.contains(file) { seen[file] = nil }
    for (file, finding) in results {
      switch finding {
      case .same: if let target = seen[file]?.target { targets.append(target) }
      case .settling:
        isSettling = true
        // The old one stays in use until the new one is whole.
        targets.append(seen[file]?.target ?? FoundTarget(file: file, state: .settling))
      case .broken(let stamp, let reason):
        let target = FoundTarget(file: file, state: .broken(reason: reason))
        seen[file] = (stamp, target)
        targets.append(target)
      case .copied(let stamp, let copy, let sha256, let manifest):
        // What was kept of an earlier start is believed only if it can still be read.
        if let manifest, case .ready(let usable) = state(of: .success(manifest), file, copy, sha256) {
          let target = FoundTarget(file: file, state: .ready(usable))
          seen[file] = (stamp, target)
          targets.append(target)
        } else {
          toDescribe.append((file, stamp, copy, sha256))
          // Likewise until the new one has told what it is.
          targets.append(seen[file]?.target ?? FoundTarget(file: file, state: .settling))
        }
      }
    }
    loop.setTimer(
      TimerKey("targets", "scan"), at: BootTime.now.advanced(milliseconds: isSettling ? 300 : Self.pause)
    ) { [weak self] in self?.assumeIsolated { $0.scan() } }
    describe(toDescribe, targets, isSettling)
  }

  /// Asks all of them at once; those that take long don't keep the others waiting.
  private func describe(
    _ files: [(file: String, stamp: TargetScanner.Stamp, copy: String, sha256: String)], _ targets: [FoundTarget],
    _ isSettling: Bool
  ) {
    guard !files.isEmpty else { return finish(targets, isSettling) }
    latest = targets
    describing = Set(files.map(\.file))
    watchDescribing()
    for next in files {
      describer.describe(next.copy, of: next.file, usesRuntime: isShipped(next.file)) { [weak self] result in
        self?.assumeIsolated { me in
          let state = me.state(of: result, next.file, next.copy, next.sha256)
          if case .success(let manifest) = result, case .ready = state {
            me.threads.run { [scanner = me.scanner] in scanner.keep(manifest, of: next.sha256) }
          }
          let target = FoundTarget(file: next.file, state: state)
          // A machine that couldn't ask is no fault of the file: the next look asks again.
          let mayPass = if case .failure(let reason) = result { reason.mayPass } else { false }
          me.seen[next.file] = (mayPass ? .none : next.stamp, target)
          me.latest = me.latest.map { $0.file == next.file ? target : $0 }
          me.describing.remove(next.file)
          guard me.describing.isEmpty else { return }
          me.loop.setTimer(Self.describingTimer, at: nil)
          me.finish(me.latest, isSettling)
        }
      }
    }
  }

  private static let describingTimer = TimerKey("targets", "describing")

  /// Tells what is known when some targets take long to describe themselves.
  private func watchDescribing() {
    guard !describing.isEmpty, !waiting.isEmpty else { return }
    loop.setTimer(Self.describingTimer, at: BootTime.now.advanced(milliseconds: Self.describePatience)) { [weak self] in
      self?.assumeIsolated { me in
        me.publish(me.latest)
        me.satisfy()
      }
    }
  }

  private func state(
    of result: Result<[UInt8], TargetDescriber.Reason>, _ file: String, _ copy: String, _ sha256: String
  ) -> FoundTarget.State {
    switch result {
    case .failure(let reason): return .broken(reason: reason.text)
    case .success(let bytes):
      let (manifest, problems) = TargetManifest.read(bytes, origin: file, hostVersion: hostVersion)
      guard let manifest else {
        let reasons = problems.filter { $0.severity == .error }.prefix(3).map(\.message)
        return .broken(reason: "Its manifest is wrong: \(reasons.joined(separator: "; ")).")
      }
      return .ready(
        UsableTarget(manifest: manifest, file: file, copy: copy, sha256: sha256, isShipped: isShipped(file)))
    }
  }

  private func isShipped(_ file: String) -> Bool {
    folders.first { file.hasPrefix($0.path + "/") }?.isShipped ?? false
  }

  private func finish(_ targets: [FoundTarget], _ isSettling: Bool) {
    isScanning = false
    publish(targets)
    // Whoever waits for an answer gets one that counts: not while a file is still being copied into the folder, unless
    // that doesn't come to an end.
    if isSettling {
      let since = settlingSince ?? .now
      settlingSince = since
      if BootTime.now.milliseconds(since: since) < Self.patience {
        // The next look may have been due already, while targets were being asked.
        return isScanWanted ? scan() : ()
      }
    } else {
      settlingSince = nil
    }
    if isScanWanted { return scan() }
    if isFirst {
      // What former starts left in the store is needed by nobody.
      isFirst = false
      // Also of those whose id is taken: they may come into their own.
      let ready = seen.values.compactMap { if case .ready(let usable) = $0.target.state { usable.sha256 } else { nil } }
      let hashes = Set(ready)
      threads.run { [scanner, started] in scanner.removeOthers(than: hashes, before: started) }
    }
    satisfy()
  }

  private func publish(_ targets: [FoundTarget]) {
    let new = TargetCatalogue(targets, former: catalogue)
    let isNew = new != catalogue
    catalogue = new
    if isNew { onChange(new) }
  }

  private func satisfy() {
    let satisfied = waiting
    waiting = []
    for then in satisfied { then(catalogue) }
  }
}
