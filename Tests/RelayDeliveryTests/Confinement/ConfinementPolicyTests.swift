// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayJSON
import RelaySystem
import Testing

@testable import RelayDelivery

@Suite struct `Whether a target may run unconfined` {
  private static let whole = KernelConfinement(landlock: 7, hasFilter: true)
  private static let bare = KernelConfinement(landlock: -1, hasFilter: false)

  @Test(
    arguments: [
      (nil, true, false, ConfinementMode.bestEffort), (nil, false, false, .required), (nil, true, true, .required),
      (.bestEffort, false, true, .bestEffort), (.required, true, false, .required),
    ] as [(ConfinementMode?, Bool, Bool, ConfinementMode)])
  func `depends on where it comes from, on root, and on what a person says`(
    configured: ConfinementMode?, isShipped: Bool, isRoot: Bool, mode: ConfinementMode
  ) {
    let policy = ConfinementPolicy(kernel: Self.bare, configured: configured, isRoot: isRoot)
    #expect(policy.mode(isShipped: isShipped) == mode)
    #expect((policy.refusal(isShipped: isShipped) != nil) == (mode == .required))
    let onWhole = ConfinementPolicy(kernel: Self.whole, configured: configured, isRoot: isRoot)
    #expect(onWhole.refusal(isShipped: isShipped) == nil && onWhole.warning == nil)
  }

  @Test func `is told with what is lacking, why that counts, and what to do`() throws {
    let policy = ConfinementPolicy(
      kernel: KernelConfinement(landlock: 0, hasFilter: true), configured: nil, isRoot: false)
    let words = try #require(policy.refusal(isShipped: false))
    #expect(words.contains("Landlock is missing") && !words.contains("seccomp"))
    #expect(words.contains("didn't come with the program") && words.contains("\"confinement\": \"best-effort\""))
    #expect(Self.bare.lacking == [.files, .calls] && Self.bare.landlock == 0)
    #expect(policy.warning?.contains("Linux from 5.13") == true)
  }
}

@Suite struct `What a worker is let into` {
  private func withPlace(_ body: (String) throws -> Void) throws {
    let path = try Directory.makeTemporary()
    defer { try? Directory.removeTree(at: path) }
    for folder in ["state", "out", "certificates"] { #expect(mkdir("\(path)/\(folder)", 0o700) == 0) }
    try Directory(path).replace("ca.pem", with: [1])
    try body(PathRules.resolvingLinks(path))
  }

  private func open(_ place: String, _ typed: [(String, AccessPath.Mode)]) -> WorkerAccess {
    let protected = ProtectedPaths(
      state: place + "/state", configurationFile: place + "/pipelines.json", targets: [], credentialsDirectory: nil)
    let paths = typed.map { AccessPath(path: "\(place)/\($0.0)", resolved: "\(place)/\($0.0)", mode: $0.1) }
    return WorkerAccess(paths, protected, WorkerConfinement())
  }

  @Test func `is opened beforehand, a file to be replaced through its folder`() throws {
    try withPlace { place in
      let access = open(place, [("ca.pem", .read), ("out", .write), ("certificates/new.pem", .replace)])
      #expect(access.opened.map(\.mode) == [.read, .write, .write] && access.notes.isEmpty)
      var places: [String] = []
      for opened in access.opened { places.append(try opened.path.place()) }
      #expect(places == ["\(place)/ca.pem", "\(place)/out", "\(place)/certificates"])
      #expect(access.isCurrent)
    }
  }

  @Test func `is nothing of what is protected, whatever leads there, and what is missing is told`() throws {
    try withPlace { place in
      #expect(symlink("state", place + "/link") == 0)
      let access = open(
        place, [("state", .read), ("link", .write), ("state/x.ics", .replace), (".", .read), ("gone", .write)])
      #expect(access.opened.isEmpty && access.notes.count == 5)
      #expect(access.notes[0...3].allSatisfy { $0.contains("state folder") && $0.contains("isn't opened") })
      #expect(access.notes[4].contains("gone can't be opened for the target: No such file"))
    }
  }

  @Test(arguments: [(EMFILE, true), (EIO, true), (ESTALE, true), (EACCES, false), (ELOOP, false)])
  func `is not guessed at when the machine can't open it now`(code: Int32, passes: Bool) throws {
    try withPlace { place in
      FaultDoor.with([Fault(.open, on: place + "/out", .fails(code))]) {
        let access = open(place, [("out", .write), ("ca.pem", .read)])
        #expect(access.passing?.code == (passes ? code : nil))
        #expect(access.notes.count == (passes ? 0 : 1) && access.opened.map(\.mode) == [.read])
      }
    }
  }

  @Test func `is looked at again: another folder, a file put in its place, or one that has come`() throws {
    try withPlace { place in
      let typed: [(String, AccessPath.Mode)] = [("ca.pem", .read), ("out", .write), ("later", .write)]
      let first = open(place, typed)
      #expect(mkdir(place + "/later", 0o700) == 0)
      #expect(!first.isCurrent)
      let second = open(place, typed)
      #expect(second.isCurrent)
      try Directory(place).replace("ca.pem", with: [2])
      #expect(!second.isCurrent)
      let third = open(place, typed)
      #expect(rename(place + "/out", place + "/away") == 0 && mkdir(place + "/out", 0o700) == 0)
      #expect(!third.isCurrent)
    }
  }

  @Test func `goes to it in frames of sixteen`() throws {
    try withPlace { place in
      let frames = open(place, (0..<35).map { _ in ("out", .write) }).frames
      #expect(frames.map(\.descriptors.count) == [16, 16, 3])
      #expect(frames.allSatisfy { $0.message.descriptorCount == $0.descriptors.count })
    }
  }

  @Test func `is of the machine what every target needs, unless the state folder is in there`() {
    var around = WorkerSurroundings(
      policy: ConfinementPolicy(kernel: .ofThisMachine, configured: nil, isRoot: false), identity: nil,
      protected: .none, runtimeFolder: "/opt/relay/swift")
    let shipped = around.confinement(copy: "/nonexistent/x.so", isShipped: true)
    let paths = shipped.paths.filter { $0.mode == .read }.map(\.path)
    for path in ["/usr/lib", "/etc/resolv.conf", "/etc/ssl/certs", "/usr/share/zoneinfo", "/opt/relay/swift"] {
      #expect(paths.contains(path), "\(path)")
    }
    // Private keys lie there, and names of users.
    for path in ["/", "/etc", "/etc/ssl", "/etc/pki", "/etc/passwd", "/home", "/tmp", "/proc", "/dev"] {
      #expect(!paths.contains(path), "\(path)")
    }
    #expect(shipped.paths.filter { $0.mode == .write }.map(\.path) == ["/dev/null"] && shipped.required.isEmpty)
    let other = around.confinement(copy: "/nonexistent/x.so", isShipped: false)
    #expect(!other.paths.contains(.init("/opt/relay/swift")) && other.required == [.files, .calls])
    around.protected = ProtectedPaths(
      state: "/usr/share/zoneinfo/state", configurationFile: "/p.json", targets: ["/usr/lib/targets"],
      credentialsDirectory: nil)
    let kept = around.confinement(copy: "/nonexistent/x.so", isShipped: true).paths.map(\.path)
    #expect(!kept.contains("/usr/share/zoneinfo") && kept.contains("/usr/lib"))
  }
}

@Suite struct `The search path in a target's header` {
  @Test func `is read where there is one, and nothing else is made of a file`() throws {
    let path = try Directory.makeTemporary()
    defer { try? Directory.removeTree(at: path) }
    #expect(SharedObject.searchPath(of: "/nonexistent/x.so").isEmpty)
    #expect(SharedObject.searchPath(of: "x.so").isEmpty)
    // The program that runs this test has a header; cut anywhere, it is no more than nothing.
    let whole = try Directory("/proc/self").openFollowing("exe").readAll(limit: 1 << 30)
    for size in [0, 16, 63, 64, 200, 1000, 5000] {
      try Directory(path).replace("cut.so", with: Array(whole.prefix(size)))
      #expect(SharedObject.searchPath(of: path + "/cut.so").allSatisfy { $0.hasPrefix("/") })
    }
  }
}
