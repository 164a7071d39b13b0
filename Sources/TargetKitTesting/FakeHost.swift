// SPDX-License-Identifier: Apache-2.0
import TargetABI

/// A host in memory for the tests of a target: it goes through the same C functions and structs as the real one.
///
/// ```swift
/// let host = FakeHost(settings: ["url": "http://127.0.0.1:8080/"], secrets: ["bearer": "token"])
/// let verdict = host.deliver(MyTarget.self, "hello")
/// ```
public final class FakeHost {
  /// Settings by path, as the host would answer them: templates rendered, defaults filled in.
  public var settings: FakeValue
  /// Values of secret settings by path.
  public var secrets: [String: String]
  /// Makes `shouldStop` true; asked anew each time.
  public var stopWhen: (FakeHost) -> Bool = { _ in false }
  /// Makes every reading and saving of state fail.
  public var stateFails = false
  /// Makes every saving of state come back as denied, as it is when the pipeline has saved all that it may.
  public var stateIsFull = false
  /// Called before every read of the source with the offset.
  public var beforeRead: (UInt64) -> Void = { _ in }
  /// The most bytes that one read hands out.
  public var largestRead = 65_536

  public internal(set) var pipelineState: [String: [UInt8]] = [:]
  public internal(set) var deliveryState: [String: [UInt8]] = [:]
  public internal(set) var logged: [(level: Int32, line: String)] = []
  public internal(set) var progressed: [(done: UInt64, total: UInt64)] = []
  public internal(set) var manifest: String?
  public internal(set) var rewinds = 0
  public internal(set) var bytesRead: UInt64 = 0
  /// Values of the state written so far, in order, as "scope key".
  public internal(set) var statePuts: [String] = []

  var message = ""
  var receipt: String?
  var source = FakeSource(bytes: [])
  var offset: UInt64 = 0
  private var arena: [UnsafeMutableRawBufferPointer] = []

  public init(settings: FakeValue = [:], secrets: [String: String] = [:]) {
    self.settings = settings
    self.secrets = secrets
  }

  deinit {
    for buffer in arena { buffer.deallocate() }
  }

  /// A text that stays where it is for the life of this host.
  func lend(_ bytes: some Collection<UInt8>) -> relay_text {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
    buffer.copyBytes(from: bytes)
    arena.append(buffer)
    return relay_text(
      bytes: UnsafePointer(buffer.baseAddress?.assumingMemoryBound(to: CChar.self)), length: UInt64(bytes.count))
  }

  func lend(_ text: String) -> relay_text { lend(text.utf8) }

  /// The setting at a path, nil when there is none.
  func setting(_ path: String) -> FakeValue? {
    path.isEmpty ? settings : settings.member(path.split(separator: "/", omittingEmptySubsequences: false))
  }

  /// Erases the state of the delivery, as the real host does once a final verdict is on its disk.
  public func eraseDeliveryState() { deliveryState = [:] }

  func forgetTexts() {
    message = ""
    receipt = nil
  }
}

/// A setting's value.
public enum FakeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable
{
  case text(String)
  case integer(Int64)
  case flag(Bool)
  case list([FakeValue])
  case object([(String, FakeValue)])

  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .flag(value) }
  public init(arrayLiteral elements: FakeValue...) { self = .list(elements) }
  public init(dictionaryLiteral elements: (String, FakeValue)...) { self = .object(elements) }

  func member(_ steps: some Collection<Substring>) -> FakeValue? {
    guard let step = steps.first else { return self }
    let name = step.split(separator: "~1", omittingEmptySubsequences: false).joined(separator: "/")
      .split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
    switch self {
    case .object(let members):
      return members.first { $0.0 == name }?.1.member(steps.dropFirst())
    case .list(let elements):
      guard let index = Int(name), elements.indices.contains(index) else { return nil }
      return elements[index].member(steps.dropFirst())
    default: return nil
    }
  }

  /// Adds a member to an object, or replaces it.
  public mutating func set(_ name: String, _ value: FakeValue) {
    guard case .object(var members) = self else { return }
    members.removeAll { $0.0 == name }
    members.append((name, value))
    self = .object(members)
  }

  /// The value as JSON text.
  public var json: String {
    switch self {
    case .text(let text):
      var escaped = ""
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": escaped += "\\\(scalar)"
        case "\u{0}"..<" ":
          let hex = String(scalar.value, radix: 16)
          escaped += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        default: escaped.unicodeScalars.append(scalar)
        }
      }
      return "\"\(escaped)\""
    case .integer(let value): return "\(value)"
    case .flag(let value): return "\(value)"
    case .list(let elements): return "[\(elements.map(\.json).joined(separator: ", "))]"
    case .object(let members):
      return "{\(members.map { "\(FakeValue.text($0.0).json): \($0.1.json)" }.joined(separator: ", "))}"
    }
  }
}

/// The bytes that a fake host hands out.
public struct FakeSource {
  public var length: UInt64
  /// Answers -1 instead of the last chunk, as the host does when the bytes are not what the manifest says.
  public var isDamaged = false
  let fill: (UInt64, UnsafeMutableRawBufferPointer) -> Void

  public init(bytes: [UInt8]) {
    length = UInt64(bytes.count)
    fill = { offset, buffer in
      buffer.copyBytes(from: bytes.dropFirst(Int(offset)).prefix(buffer.count))
    }
  }

  /// As many zeros, made while they are read.
  public init(zeros length: UInt64) {
    self.length = length
    fill = { _, buffer in buffer.initializeMemory(as: UInt8.self, repeating: 0) }
  }
}
