// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// The wall clock is set and the machine sleeps, in the middle of every kind of wait.
@Suite struct `Clocks that jump` {
  /// Milliseconds that the wall clock is moved by.
  private static let jumps: [Int64] = {
    let (day, now) = (Int64(86_400_000), Int64(time(nil)) * 1000)
    return [3 * day, -3 * day, -now, 2_147_483_647_000 - now + 1000, 4_102_444_800_000 - now]
  }()

  private func begin(_ delivery: String) throws -> (Installation, Receiver, FaultControl) {
    let host = try Installation()
    let receiver = try Receiver()
    let faults = try FaultControl(folder: host.path)
    try host.configure(receiver.pipeline("web", "/script/web", delivery: delivery))
    return (host, receiver, faults)
  }

  /// Milliseconds between the requests, by the receiver's own clock.
  private func gaps(_ receiver: Receiver) throws -> [Int64] {
    let times = try receiver.requests().map(\.at)
    return zip(times.dropFirst(), times).map { $0 - $1 }
  }

  @Test(arguments: jumps)
  func `amid a wait after a failure bring the next attempt neither early nor late`(jump: Int64) throws {
    let (host, receiver, faults) = try begin(
      "\"spacing\": \"0s\", \"retryFirst\": \"1500ms\", \"retryMax\": \"1500ms\"")
    try receiver.script("web", "/status/503", "/status/503", "/status/200")
    try host.start(environment: faults.environment)
    try host.submit("web", "x")
    #expect(try eventually { try receiver.requests().count == 1 })
    faults.shiftWallClock(milliseconds: jump)
    #expect(try eventually(within: 20) { try receiver.requests().count == 3 })
    // Two waits of 1.5 s, each shaken by a tenth; late only by what this machine is.
    for gap in try gaps(receiver) { #expect((1300...8000).contains(gap)) }
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().count == 3)
  }

  @Test(arguments: jumps)
  func `while the daemon is down stretch a wait to its whole length at most`(jump: Int64) throws {
    let (host, receiver, faults) = try begin("\"spacing\": \"0s\", \"retryFirst\": \"2s\", \"retryMax\": \"2s\"")
    try receiver.script("web", "/status/503", "/status/200")
    try host.start(environment: faults.environment)
    try host.submit("web", "x")
    #expect(try host.reaches("web", "waiting"))
    host.killHard()
    faults.shiftWallClock(milliseconds: jump)
    try host.start(environment: faults.environment)
    #expect(try eventually(within: 20) { try receiver.requests().count == 2 })
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().count == 2)
  }

  @Test(arguments: [-259_200_000, 259_200_000] as [Int64])
  func `keep the spacing between deliveries`(jump: Int64) throws {
    let (host, receiver, faults) = try begin("\"spacing\": \"700ms\"")
    try receiver.script("web", "/status/200")
    try host.start(environment: faults.environment)
    try host.submit("web", ["1", "2", "3", "4"])
    #expect(try eventually { try receiver.requests().count == 1 })
    faults.shiftWallClock(milliseconds: jump)
    #expect(try eventually(within: 20) { try receiver.requests().count == 4 })
    for gap in try gaps(receiver) { #expect((690...6000).contains(gap)) }
  }

  @Test func `as after a long sleep of the machine make one attempt, not one for each that was missed`() throws {
    let (host, receiver, faults) = try begin("\"spacing\": \"0s\", \"retryFirst\": \"10m\", \"retryMax\": \"10m\"")
    try receiver.script("web", "/status/503")
    try host.start(environment: faults.environment)
    try host.submit("web", "x")
    #expect(try host.reaches("web", "waiting"))
    kill(host.pid, SIGSTOP)
    faults.shiftBootClock(milliseconds: 86_400_000)
    faults.shiftWallClock(milliseconds: 86_400_000)
    kill(host.pid, SIGCONT)
    // Something wakes it, as the kernel's timers do after a sleep.
    #expect(
      try eventually(within: 40) {
        _ = try host.run("status")
        return try receiver.requests().count == 2
      })
    #expect(try host.reaches("web", "waiting"))
    for _ in 0..<20 { _ = try host.run("status") }
    #expect(try receiver.requests().count == 2)
  }
}
