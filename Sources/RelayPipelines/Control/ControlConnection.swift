// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem

/// One connection over the control socket, either end: JSON texts, one a line, and descriptors beside them. Blocking.
final class ControlConnection {
  /// The longest line: ten thousand file names.
  static let longestLine = 8 << 20
  /// The descriptors that go with one line.
  static let descriptorsPerLine = 32

  enum Failure: Error, Equatable {
    case closed
    case tooLong
    case notJSON
    case system(SystemError)
  }

  private let socket: Descriptor
  private var buffer: [UInt8] = []
  private var descriptors: [Descriptor] = []

  init(_ socket: Descriptor) { self.socket = socket }

  func send(_ line: [UInt8], with descriptors: [Descriptor] = []) throws(Failure) {
    var rest = line[...]
    var going = descriptors
    do throws(SystemError) {
      while !rest.isEmpty {
        guard let sent = try socket.send(rest, with: going) else {
          throw SystemError(call: .send, code: 110, subject: socket.path)
        }
        going = []
        rest = rest.dropFirst(sent)
      }
    } catch {
      throw .system(error)
    }
  }

  /// Waits until `receive` has something to return or begin with; false when nothing came in time.
  func waitReadable(milliseconds: Int64) throws(Failure) -> Bool {
    if buffer.contains(10) { return true }
    do { return try socket.waitReadable(milliseconds: milliseconds) } catch { throw .system(error) }
  }

  var isHungUp: Bool { socket.isHungUp }

  /// The next line; nil at the end of the conversation.
  func receive() throws(Failure) -> JSONNode? {
    var searched = 0
    while true {
      if let end = buffer[searched...].firstIndex(of: 10) {
        let line = Array(buffer[..<end])
        buffer.removeFirst(end + 1)
        do {
          return try JSONTree.parse(line)
        } catch {
          throw .notJSON
        }
      }
      searched = buffer.count
      if buffer.count > Self.longestLine { throw .tooLong }
      let received: (bytes: ArraySlice<UInt8>, descriptors: [Descriptor])?
      do {
        received = try socket.receive()
      } catch {
        throw .system(error)
      }
      guard let received else { throw .system(SystemError(call: .receive, code: 110, subject: socket.path)) }
      descriptors += received.descriptors
      if descriptors.count > 2 * Self.descriptorsPerLine { throw .tooLong }
      if received.bytes.isEmpty {
        if buffer.isEmpty { return nil }
        throw .closed
      }
      buffer += received.bytes
    }
  }

  /// The descriptors that came so far and weren't taken yet.
  func takeDescriptors() -> [Descriptor] {
    defer { descriptors = [] }
    return descriptors
  }
}
