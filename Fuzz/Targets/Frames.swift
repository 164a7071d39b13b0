// SPDX-License-Identifier: Apache-2.0

@testable import RelayDelivery

/// A worker's bytes give the same messages however they are cut, and each message is told by its bytes.
///
/// The input's first byte says how the rest is cut.
func framesHold(_ bytes: [UInt8]) throws {
  var input = FuzzInput(bytes)
  let cutting = input.byte()
  let stream = input.all()
  let whole = parse(stream, chunk: { _ in max(1, min(stream.count, 1 << 20)) })
  let single = parse(stream, chunk: { _ in 1 })
  let varying = parse(stream, chunk: { Int(cutting) % 7 + $0 % 13 * (Int(cutting) % 5) + 1 })
  try hold(whole == single, "fed byte by byte it is the same: \(whole) \(single)")
  try hold(whole == varying, "fed in chunks it is the same")
  for frame in whole.frames {
    let written = try frame.encoded()
    let again = parse(written, chunk: { _ in written.count })
    try hold(again.error == nil && again.unread == 0, "what is written can be read")
    try hold(again.frames == [frame], "what is read again is what was written")
    try hold(try again.frames.first?.encoded() == written, "writing it again gives the same bytes")
  }
}

private struct Parsed: Equatable {
  var frames: [WorkerFrame] = []
  var error: WireError?
  var unread = 0
}

private func parse(_ bytes: [UInt8], chunk: (Int) -> Int) -> Parsed {
  var parser = FrameParser()
  var result = Parsed()
  var place = 0
  var count = 0
  do throws(WireError) {
    while place < bytes.count {
      let end = min(bytes.count, place + chunk(count))
      let piece = Array(bytes[place..<end])
      // A closure can't throw a typed error through withUnsafeBytes, so it hands the error out.
      let failure: WireError? = piece.withUnsafeBytes { piece in
        do throws(WireError) { try parser.append(piece) } catch { return error }
        return nil
      }
      if let failure { throw failure }
      while let frame = try parser.next() { result.frames.append(frame) }
      place = end
      count += 1
    }
  } catch {
    result.error = error
  }
  result.unread = parser.unreadBytes
  return result
}
