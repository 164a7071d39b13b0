// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol
import Testing

@testable import RelayDelivery

@Suite struct `The parser of worker frames` {
  /// What a stream gives: its frames, and the error that ended it.
  private func parse(_ bytes: [UInt8], chunk: Int = 4096) -> (frames: [WorkerFrame], error: WireError?, unread: Int) {
    var parser = FrameParser()
    var frames: [WorkerFrame] = []
    do throws(WireError) {
      for start in stride(from: 0, to: bytes.count, by: chunk) {
        let piece = Array(bytes[start..<min(start + chunk, bytes.count)])
        try parser.append(piece)
        while let frame = try parser.next() { frames.append(frame) }
      }
      return (frames, nil, parser.unreadBytes)
    } catch {
      return (frames, error, parser.unreadBytes)
    }
  }

  @Test func `gives back every kind of message, however the bytes were cut`() throws {
    let stream = try WorkerFrame.samples.flatMap { try $0.encoded() }
    for chunk in [1, 2, 3, 7, 15, 16, 17, 1000, stream.count] {
      let result = parse(stream, chunk: chunk)
      #expect(result.frames == WorkerFrame.samples)
      #expect(result.error == nil)
      #expect(result.unread == 0)
    }
  }

  @Test func `waits at any cut, and never takes a cut frame for whole`() throws {
    for sample in WorkerFrame.samples {
      let bytes = try sample.encoded()
      for length in 0..<bytes.count {
        let result = parse(Array(bytes.prefix(length)))
        #expect(result.frames.isEmpty)
        #expect(result.error == nil)
        #expect(result.unread == length)
      }
    }
  }

  @Test func `refuses a payload that is a byte short or long for its fields`() throws {
    for sample in WorkerFrame.samples {
      var bytes = try sample.encoded()
      let length = bytes.count - 16
      bytes[0] = UInt8(length - 1)
      let short = parse(Array(bytes.dropLast()))
      #expect(short.frames.isEmpty)
      #expect(short.error == .truncated(type: sample.type))
      bytes[0] = UInt8(length + 1)
      let long = parse(bytes + [0])
      #expect(long.frames.isEmpty)
      #expect(long.error == .trailingBytes(type: sample.type, count: 1))
    }
  }

  @Test func `survives every byte flipped in every way that matters`() throws {
    for sample in WorkerFrame.samples {
      let bytes = try sample.encoded()
      for index in bytes.indices {
        for mask: UInt8 in [1, 0x80, 0xFF, 0x0F] {
          var damaged = bytes
          damaged[index] ^= mask
          let result = parse(damaged)
          #expect(result.frames.count <= 1)
          #expect(result.frames != [sample], "a changed byte must not go unnoticed")
        }
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `ends in frames or an error on random bytes`(seed: UInt64) {
    var random = SplitMix(state: seed)
    for _ in 0..<3000 {
      var bytes = (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      if bytes.count >= 16, random.next() % 2 == 0 {  // a plausible header, so that the fields are reached
        bytes.replaceSubrange(
          0..<8, with: [UInt8(bytes.count - 16), 0, 0, 0, UInt8(129 + random.next() % 16), 0, 0, 0])
      }
      let result = parse(bytes, chunk: 1 + Int(random.next() % 64))
      let held = result.frames.reduce(0) { $0 + ((try? $1.encoded().count) ?? 0) }
      #expect(held <= bytes.count * 4)
    }
  }

  @Test func `refuses a length beyond its type before the payload comes`() {
    var header: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, UInt8(RELAY_FRAME_HELLO), 0, 0, 0] + [UInt8](repeating: 0, count: 8)
    #expect(parse(header).error == .frameTooLong(type: UInt16(RELAY_FRAME_HELLO), length: UInt64(UInt32.max)))
    header[4] = UInt8(RELAY_FRAME_STATE_PUT)
    #expect(parse(header).error == .frameTooLong(type: UInt16(RELAY_FRAME_STATE_PUT), length: UInt64(UInt32.max)))
  }

  @Test func `refuses types that only the host sends, and reserved bytes`() {
    let rest = [UInt8](repeating: 0, count: 8)
    #expect(parse([0, 0, 0, 0, UInt8(RELAY_FRAME_LOAD), 0, 0, 0] + rest).error == .unknownType(1))
    #expect(parse([0, 0, 0, 0, UInt8(RELAY_FRAME_HELLO), 0, 0, 1] + rest).error == .reservedBytes(256))
  }

  @Test func `stays with its first error`() throws {
    var parser = FrameParser()
    try parser.append([UInt8](repeating: 0xEE, count: 16))
    #expect(throws: WireError.self) { try parser.next() }
    let good = try WorkerFrame.samples[0].encoded()
    #expect(throws: WireError.reservedBytes(0xEEEE)) { try parser.append(good) }
    #expect(throws: WireError.reservedBytes(0xEEEE)) { try parser.next() }
  }

  @Test func `holds no more than two frames' worth of unread bytes`() throws {
    var parser = FrameParser()
    let chunk = [UInt8](repeating: 0, count: 1 << 20)
    try parser.append(chunk)
    try parser.append(chunk)
    #expect(throws: WireError.backlog(bytes: 2 << 20)) { try parser.append(chunk) }
  }

  @Test func `repairs text that isn't UTF-8`() throws {
    var bytes = try WorkerFrame(requestID: 1, message: .log(level: 1, "ab")).encoded()
    bytes[bytes.count - 1] = 0xC3
    #expect(parse(bytes).frames.map(\.message) == [.log(level: 1, "a\u{FFFD}")])
  }
}

extension WorkerFrame {
  fileprivate var type: UInt16 { (try? encoded()).map { UInt16($0[4]) } ?? 0 }
}

extension FrameParser {
  mutating func append(_ bytes: [UInt8]) throws(WireError) {
    let result: Result<Void, WireError> = bytes.withUnsafeBytes { buffer in
      do throws(WireError) { return .success(try append(buffer)) } catch { return .failure(error) }
    }
    try result.get()
  }
}

/// A small generator with a seed, so that a failure comes again.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
