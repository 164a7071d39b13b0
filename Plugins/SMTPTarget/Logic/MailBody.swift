// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// The bytes of one mail while they are sent, in constant memory.
final class MailBody {
  static let lineLength = 76
  /// Bytes of the file that are encoded at once: whole lines.
  private static let piece = 57 * 1024

  let length: UInt64
  private let message: MailMessage
  private let source: Source
  private let fileLength: UInt64
  private var encoder = Base64Stream(lineLength: MailBody.lineLength)
  /// What is ready to be sent and was not handed out yet.
  private var ready: ArraySlice<UInt8>
  private var fileRead: UInt64 = 0
  private var isAtTail = false
  /// Bytes handed out.
  private(set) var handed: UInt64 = 0

  init(_ message: MailMessage, _ delivery: Delivery, length: UInt64) {
    self.message = message
    self.length = length
    source = delivery.source
    fileLength = delivery.length
    ready = message.head[...]
  }

  var isComplete: Bool { handed == length }

  /// Fills the front of `buffer` with the next bytes; 0 is the end.
  ///
  /// Throws the verdict to end with when the file cannot be read to its end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Verdict) -> Int {
    var filled = 0
    while filled < buffer.count {
      if ready.isEmpty {
        if isAtTail { break }
        try prepare()
      }
      let piece = ready.prefix(buffer.count - filled)
      UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(from: piece)
      ready = ready.dropFirst(piece.count)
      filled += piece.count
    }
    handed += UInt64(filled)
    return filled
  }

  /// Makes the next bytes ready: a piece of the file, or what stands behind it.
  private func prepare() throws(Verdict) {
    guard fileRead < fileLength else {
      ready = message.tail[...]
      isAtTail = true
      return
    }
    guard let chunk = try source.next(upTo: Self.piece), UInt64(chunk.count) <= fileLength - fileRead else {
      throw .retry(.source, "the bytes to deliver are not as many as announced")
    }
    fileRead += UInt64(chunk.count)
    ready = chunk.withUnsafeBytes { encoder.encode($0, isLast: fileRead == fileLength) }[...]
  }
}
