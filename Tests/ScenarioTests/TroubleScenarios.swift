// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// Trouble that isn't a receiver's: whoever asks is told, in words and by the exit code.
@Suite struct `Trouble that people must hear of` {
  @Test(arguments: ["pause", "resume"])
  func `what can't be saved is said and not taken for done`(command: String) throws {
    let host = try Installation()
    let faults = try FaultControl(folder: host.path)
    try host.configure(Installation.filing("files"))
    try host.start(environment: faults.environment)
    try host.submit("files", "first", name: "first")
    #expect(try host.reaches("files", "idle"))
    if command == "resume" { #expect(try host.run("pause", "files").status == 0) }
    faults.strike(.fails(ENOSPC), .durable, call: .write)
    let answer = try host.run(command, "files")
    #expect(answer.status == 4)
    #expect(answer.problems.contains("could not be saved") && answer.problems.contains("[state.not-saved]"))
    // It holds all the same, and is saved when that can be done.
    #expect(try host.status("files")["state"]?.string == (command == "pause" ? "paused" : "idle"))
    faults.stopStriking()
    #expect(try host.run(command, "files").status == 0)
    host.killHard()
    try host.start()
    #expect(try host.status("files")["state"]?.string == (command == "pause" ? "paused" : "idle"))
  }

  @Test func `an inbox that can't be looked at, marks that can't be read and damage each show in the exit code`() throws
  {
    let host = try Installation()
    let inbox = "\"from\": \"inbox\", \"directory\": \"\(host.path)/away\""
    try host.configure(
      Installation.filing("files").replacing("\"from\": \"inbox\"", with: inbox) + ",\n" + Installation.filing("other"))
    try host.start()
    #expect(try eventually { try host.run("status", "files").status == 3 })
    #expect(try host.run("status", "files").output.contains("is not there"))
    #expect(try host.run("status", "other").status == 0)
    try host.submit("other", "one", name: "one")
    #expect(try host.reaches("other", "idle"))
    #expect(host.stop() == .exited(0))
    let marks = host.state + "/pipelines/other/marks"
    #expect(unlink(marks) == 0 && mkfifo(marks, 0o600) == 0)
    try host.start()
    #expect(try eventually { try host.run("status", "other").status == 3 })
    let told = try host.run("status", "other").output
    #expect(told.contains("?") && told.contains("tried again every 30 seconds"))
    #expect(try host.status("other")["queued"]?.isNull == true)
    try Directory(host.state + "/pipelines/files/corrupt").makeFolder("0000000001")
    #expect(try host.run("status", "files").status == 4)
  }

  @Test(arguments: ["relay-data/secrets", "relay-data/pipelines/other/queue/0000000001", "out", "."])
  func `an inbox that becomes a link to the program's own files, or to where it delivers, gives nothing away`(
    to: String
  )
    throws
  {
    let host = try Installation()
    let inbox = "\"from\": \"inbox\", \"directory\": \"\(host.path)/in\""
    _ = try Directory(host.path).ensureFolder("in")
    try host.configure(
      Installation.filing("files").replacing("\"from\": \"inbox\"", with: inbox) + ",\n" + Installation.filing("other"))
    try host.start()
    #expect(try host.run(["secret", "set", "token"], input: "hush").status == 0)
    #expect(try host.run("pause", "other").status == 0)
    try host.submit("other", "kept", name: "kept")
    try Directory(host.path + "/out").replace("there", with: Array("delivered before".utf8))
    let link = host.path + "/in"
    #expect(rmdir(link) == 0 && symlink(host.path + "/" + to, link) == 0)
    let before = host.names(in: to).sorted()
    #expect(try eventually(within: 60) { try host.run("status", "files").status == 3 })
    let told = try host.run("status", "files").output
    #expect(told.contains("nothing is taken from the inbox"), "\(told)")
    #expect(host.names(in: to).sorted().filter { !$0.hasPrefix(".") } == before.filter { !$0.hasPrefix(".") })
    #expect(host.names(in: "out") == ["there"])
  }

  @Test func `a pipeline's folder that can't be read shows without a daemon, too, and no longer once it can`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    let (marks, aside) = (host.state + "/pipelines/files/marks", host.path + "/marks")
    // The daemon answers before it has made the folders of its pipelines.
    #expect(eventually { access(marks, F_OK) == 0 })
    #expect(host.stop() == .exited(0))
    #expect(rename(marks, aside) == 0 && mkfifo(marks, 0o600) == 0)
    let offline = try host.run("status")
    #expect(offline.status == 3 && offline.output.contains("it is no regular file"), "\(offline)")
    try host.start()
    #expect(try eventually { try host.run("status").status == 3 })
    #expect(rename(aside, marks) == 0)
    #expect(try eventually(within: 45) { try host.run("status").status == 0 })
  }

  @Test func `a daemon that says nothing is told of, and its answer is waited for`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    #expect(kill(host.pid, SIGSTOP) == 0)
    let answer = try host.shell(
      """
      relay status 2>told & asked=$!
      timeout 60 sh -c 'until grep -q "has not answered yet" told; do sleep 0.1; done'
      kill -CONT \(host.pid)
      wait $asked
      """)
    #expect(answer.status == 0 && answer.output.contains("files"), "\(answer)")
    #expect(host.text(of: "told").contains("has not answered yet"))
  }

  @Test func `what is set aside on a full disk gets its reason when there is room`() throws {
    let host = try Installation()
    let faults = try FaultControl(folder: host.path)
    try host.configure(Installation.filing("files"))
    try host.start(environment: faults.environment)
    #expect(try host.run("pause", "files").status == 0)
    try host.submit("files", "one", name: "one")
    faults.strike(.fails(ENOSPC), .durable, call: .write)
    #expect(try host.run("queue", "drop", "files", "1").status == 0)
    #expect(host.refused("files").count == 1)
    faults.stopStriking()
    // It is tried every thirty seconds.
    let reason = "relay-data/pipelines/files/refused/0000000001/reason.json"
    #expect(eventually(within: 45) { host.text(of: reason).contains("by a person") })
  }

  @Test(.enabled(if: geteuid() == 0, "only root can take somebody else's folder"))
  func `root starts no daemon on the state folder of somebody else`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    #expect(host.stop() == .exited(0))
    #expect(chown(host.state, 65_534, 65_534) == 0)
    let answer = try Command.run([Installation.program, "--config", host.path + "/pipelines.json"])
    #expect(answer.status == 4)
    #expect(answer.output.contains("[state.unusable]"), "\(answer)")
    #expect(chown(host.state, 0, 0) == 0)
  }
}
