// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

@Suite struct `What targets save` {
  private func key(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func keys(_ state: TargetState, _ scope: TargetStateScope) -> [[UInt8]] {
    var found: [[UInt8]] = []
    while let next = state.next(scope, after: found.last ?? []) { found.append(next) }
    return found
  }

  private func content(_ state: TargetState) throws -> [TargetStateScope: [[UInt8]: [UInt8]]] {
    var all: [TargetStateScope: [[UInt8]: [UInt8]]] = [:]
    for scope in TargetStateScope.allCases {
      for key in keys(state, scope) { all[scope, default: [:]][key] = try state.get(scope, key) }
    }
    return all
  }

  @Test func `is found again, by scope and in the order of keys, over a restart`() throws {
    try withPipeline { pipeline in
      let (state, finding) = try pipeline.openTargetState()
      #expect(finding == .missing)
      try state.put(.pipeline, key("b"), key("1"))
      try state.put(.pipeline, key("a"), [])
      try state.put(.pipeline, key("b"), key("2"))
      try state.put(.pipeline, [255, 1], [0, 255])
      try state.put(.delivery, key("b"), key("other"))
      try state.put(.delivery, key("c"), key("gone"))
      try state.remove(.delivery, key("c"))
      try state.remove(.delivery, key("never there"))
      for state in [state, try pipeline.openTargetState().state] {
        #expect(keys(state, .pipeline) == [key("a"), key("b"), [255, 1]])
        #expect(keys(state, .delivery) == [key("b")])
        #expect(try state.get(.pipeline, key("b")) == key("2"))
        #expect(try state.get(.pipeline, key("a")) == [])
        #expect(try state.get(.pipeline, key("c")) == nil)
        #expect(try state.get(.delivery, key("b")) == key("other"))
      }
      try state.eraseDeliveryScope()
      #expect(keys(state, .delivery) == [])
      let again = try pipeline.openTargetState()
      #expect(keys(again.state, .delivery) == [] && keys(again.state, .pipeline).count == 3 && again.finding == .good)
    }
  }

  @Test func `has limits that are told`() throws {
    try withPipeline { pipeline in
      let state = try pipeline.openTargetState().state
      for bad in [[], [UInt8](repeating: 1, count: 256), [1, 0, 2]] {
        #expect(throws: TargetStateError.badKey) { try state.put(.pipeline, bad, []) }
      }
      let value = [UInt8](repeating: 1, count: TargetState.longestValue)
      #expect(throws: TargetStateError.valueTooLong(limit: 65536)) { try state.put(.pipeline, [1], value + [1]) }
      let longest = [UInt8](repeating: 1, count: 255)
      try state.put(.pipeline, longest, value)
      #expect(try pipeline.openTargetState().state.get(.pipeline, longest) == value)
    }
  }

  @Test func `does not grow without end, and is written anew without losing anything`() throws {
    try withPipeline { pipeline in
      let state = try pipeline.openTargetState().state
      let value = [UInt8](repeating: 9, count: 20_000)
      try state.put(.pipeline, key("kept"), key("value"))
      for number in 0..<40 { try state.put(.pipeline, key("k\(number % 2)"), value + [UInt8(number)]) }
      let size = try #require(try pipeline.folder.status(of: "target-state")).size
      #expect(size < 150_000)
      let again = try pipeline.openTargetState().state
      #expect(try content(again) == content(state))
      #expect(try again.get(.pipeline, key("k1")) == value + [39])
      #expect(try again.get(.pipeline, key("kept")) == key("value"))
      #expect(try !pipeline.folder.names().contains(".target-state.new"))
    }
  }

  @Test func `a cut at any byte loses only the record that was cut`() throws {
    try withPipeline { pipeline in
      let state = try pipeline.openTargetState().state
      try state.put(.pipeline, key("a"), key("first"))
      let one = try #require(try pipeline.folder.status(of: "target-state")).size
      try state.put(.pipeline, key("b"), key("second"))
      let good = try #require(try pipeline.folder.content(of: "target-state"))
      for length in 0...good.count {
        try pipeline.folder.replace("target-state", with: Array(good.prefix(length)), durable: false)
        let (again, finding) = try pipeline.openTargetState()
        let expected = length == good.count ? 2 : length >= one ? 1 : 0
        #expect(keys(again, .pipeline).count == expected)
        switch finding {
        case .good: #expect(length == 8 || length == Int(one) || length == good.count)
        case .mended: #expect(length > 8)
        case .setAside: #expect(length < 8)
        case .missing: Issue.record("it was there")
        }
        try again.put(.pipeline, key("c"), key("third"))
        #expect(try pipeline.openTargetState().state.get(.pipeline, key("c")) == key("third"))
      }
      // Blocks that never got their bytes.
      try pipeline.folder.replace("target-state", with: good + [UInt8](repeating: 0, count: 5000))
      #expect(keys(try pipeline.openTargetState().state, .pipeline).count == 2)
    }
  }

  @Test func `a flipped bit never gives a wrong value: the file is set aside, or its last record dropped`() throws {
    try withPipeline { pipeline in
      let state = try pipeline.openTargetState().state
      for number in 0..<3 { try state.put(.pipeline, key("key\(number)"), key("value\(number)")) }
      let good = try #require(try pipeline.folder.content(of: "target-state"))
      for place in good.indices {
        var bad = good
        bad[place] ^= 1 << UInt8(place % 8)
        try pipeline.folder.replace("target-state", with: bad, durable: false)
        let (again, finding) = try pipeline.openTargetState()
        for name in keys(again, .pipeline) {
          #expect(try again.get(.pipeline, name) == key("value" + String(decoding: name.dropFirst(3), as: UTF8.self)))
        }
        #expect(finding != .good)
        if case .setAside(let path) = finding {
          #expect(keys(again, .pipeline) == [])
          #expect(try pipeline.folder.content(of: String(path.dropFirst(pipeline.folder.path.count + 1))) == bad)
          try pipeline.folder.remove(String(path.dropFirst(pipeline.folder.path.count + 1)))
        } else {
          #expect(keys(again, .pipeline).count == 2)
        }
      }
    }
  }

  @Test(arguments: [SystemCall.write, .sync, .rename, .open, .truncate])
  func `whichever call fails, old values stay and later ones are saved`(call: SystemCall) throws {
    try withPipeline { pipeline in
      let state = try pipeline.openTargetState().state
      try state.put(.pipeline, key("a"), key("old"))
      for after in 0..<6 {
        let path = pipeline.folder.path
        let faults = [
          Fault(.write, on: path, .fails(ENOSPC), after: after == 0 ? 0 : 1000, times: 1),
          Fault(call, on: path, .fails(ENOSPC), after: after, times: 2),
        ]
        FaultDoor.with(faults) {
          for number in 0..<4 { try? state.put(.pipeline, key("x\(number)"), key("new")) }
        }
        #expect(try state.get(.pipeline, key("a")) == key("old"))
        try state.put(.pipeline, key("after"), [UInt8(after)])
        let (again, finding) = try pipeline.openTargetState()
        #expect(finding == .good)
        #expect(try content(again) == content(state))
        #expect(try again.get(.pipeline, key("after")) == [UInt8(after)])
      }
    }
  }

  @Test func `what can't be read is left alone`() throws {
    try withPipeline { pipeline in
      try pipeline.openTargetState().state.put(.pipeline, key("a"), key("b"))
      for (call, code) in [(SystemCall.open, EACCES), (.read, EIO)] {
        FaultDoor.with([Fault(call, on: "\(pipeline.folder.path)/target-state", .fails(code))]) {
          #expect(throws: SystemError.self) { try pipeline.openTargetState() }
        }
      }
      #expect(try pipeline.openTargetState().state.get(.pipeline, key("a")) == key("b"))
    }
  }
}
