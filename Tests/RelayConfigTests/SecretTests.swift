// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayJSON
import RelaySystem
import Testing

@Suite struct `Where secrets come from` {
  private let folder: TemporaryFolder
  private var source: SecretSource

  init() throws {
    folder = try TemporaryFolder()
    for name in ["cred", "secrets"] { try Directory(folder.path).makeFolder(name) }
    source = SecretSource(
      credentialsDirectory: "\(folder.path)/cred", stateSecretsFolder: "\(folder.path)/secrets",
      environment: ["RELAY_SECRET_HA_TOKEN": "from-environment"])
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try source.secret(name).secret.bytes, as: UTF8.self)
  }

  @Test func `credentials go before the state folder, that before the environment`() throws {
    #expect(try text("ha-token") == "from-environment")
    try Directory("\(folder.path)/secrets").replace("ha-token", with: Array("from-state".utf8))
    #expect(try text("ha-token") == "from-state")
    try Directory("\(folder.path)/cred").replace("ha-token", with: Array("from-credentials".utf8))
    #expect(try text("ha-token") == "from-credentials")
  }

  @Test(arguments: [
    ("long-value\n", "long-value"), ("long-value\n\n", "long-value\n"), ("long-value", "long-value"),
    ("\nlong-value", "\nlong-value"),
  ])
  func `exactly one final newline is dropped`(file: String, value: String) throws {
    try Directory("\(folder.path)/secrets").replace("a", with: Array(file.utf8))
    #expect(try text("a") == value)
  }

  @Test func `one that is nowhere names the three places and the cure`() throws {
    do throws(SecretError) {
      _ = try source.secret("none")
      Issue.record("found")
    } catch {
      #expect(error.code == .secretNotFound)
      for part in ["\(folder.path)/cred/none", "\(folder.path)/secrets/none", "$RELAY_SECRET_NONE"] {
        #expect(error.message.contains(part))
      }
      #expect(error.hint.contains("relay-host secret set none"))
    }
  }

  @Test func `one that can't be read is not passed over`() throws {
    try Directory("\(folder.path)/secrets").replace("ha-token", with: Array("from-state".utf8))
    FaultDoor.with([Fault(.open, on: "\(folder.path)/secrets/ha-token", .fails(EACCES))]) {
      #expect(throws: SecretError.self) { try source.secret("ha-token") }
    }
  }

  @Test(arguments: ["../x", "A", "", "a/b"])
  func `a name can't lead elsewhere`(name: String) {
    #expect(throws: SecretError.badName(name)) { try source.secret(name) }
    #expect(throws: SecretError.badName(name)) { try SecretStore(folder: folder.path).set(name, [1]) }
    #expect(throws: SecretError.badName(name)) { try SecretStore(folder: folder.path).remove(name) }
  }

  @Test func `an open file and a short value are warnings`() throws {
    let secrets = try Directory("\(folder.path)/secrets")
    try secrets.replace("a", with: Array("short".utf8), mode: 0o644)
    #expect(try source.secret("a").warnings.map(\.code) == [.secretLoosePermissions, .secretShort])
    try secrets.replace("a", with: Array("long enough".utf8))
    #expect(try source.secret("a").warnings.isEmpty)
    try secrets.replace("a", with: Array("\n".utf8))
    #expect(throws: SecretError.empty(name: "a")) { try source.secret("a") }
  }

  @Test func `they are kept, listed and removed`() throws {
    let store = SecretStore(folder: "\(folder.path)/new/secrets")
    #expect(try store.list() == [])
    try store.set("b", Array("value-b".utf8))
    try store.set("a", Array("value-a".utf8))
    try store.set("a", Array("value-2".utf8))
    #expect(try store.list() == ["a", "b"])
    let status = try #require(try Directory(store.folder).status(of: "a"))
    #expect(status.mode == 0o600)
    try store.remove("b")
    #expect(try store.list() == ["a"])
    #expect(throws: SecretError.self) { try store.remove("b") }
    #expect(try Directory(store.folder).content(of: "a") == Array("value-2".utf8))
  }

  @Test func `a full disk is told and the old value stays`() throws {
    let store = SecretStore(folder: "\(folder.path)/secrets")
    try store.set("a", Array("old-value".utf8))
    FaultDoor.with([Fault(.write, on: store.folder, .fails(ENOSPC))]) {
      #expect(throws: SecretError.self) { try store.set("a", Array("new-value".utf8)) }
    }
    #expect(try text("a") == "old-value")
  }

  @Test func `printing a secret shows its name alone`() throws {
    let secret = Secret(name: "ha", bytes: Array("top-secret-value".utf8))
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
      #expect(text.contains("ha"))
      #expect(!text.contains("116"))
      #expect(!text.contains("top"))
    }
  }
}
