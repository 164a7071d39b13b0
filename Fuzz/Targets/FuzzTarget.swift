// SPDX-License-Identifier: Apache-2.0

/// One reader of ours, tried with any bytes; docs/fuzzing.md tells how.
struct FuzzTarget: Sendable {
  /// Also of its corpus' folder.
  let name: String
  /// Throws when what this reader promises doesn't hold for these bytes. A crash is found by whoever calls it.
  let run: @Sendable ([UInt8]) throws -> Void

  static let all: [FuzzTarget] = [
    FuzzTarget(name: "config", run: configurationHolds),
    FuzzTarget(name: "control", run: controlLineHolds),
    FuzzTarget(name: "delivery-log", run: deliveryRecordHolds),
    FuzzTarget(name: "frames", run: framesHold),
    FuzzTarget(name: "json", run: jsonHolds),
    FuzzTarget(name: "manifest", run: manifestHolds),
    FuzzTarget(name: "marks", run: marksHold),
    FuzzTarget(name: "part-names", run: partNamesHold),
    FuzzTarget(name: "pipeline-state", run: pipelineStateHolds),
    FuzzTarget(name: "taking-note", run: takingNoteHolds),
    FuzzTarget(name: "target-manifest", run: targetManifestHolds),
    FuzzTarget(name: "target-state", run: targetStateHolds),
    FuzzTarget(name: "templates", run: templateHolds),
    FuzzTarget(name: "worker", run: workerHolds),
  ]
}

/// A promise that some bytes broke.
struct Violation: Error, CustomStringConvertible {
  let description: String
}

func hold(_ condition: Bool, _ promise: @autoclosure () -> String) throws {
  guard condition else { throw Violation(description: promise()) }
}

/// The value, or a broken promise.
func require<T>(_ value: T?, _ promise: @autoclosure () -> String) throws -> T {
  guard let value else { throw Violation(description: promise()) }
  return value
}

/// What a terminal would act on rather than show: C0, DEL, C1, and marks that turn the direction of writing or break lines.
func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
  default: false
  }
}

func isPlain(_ text: String) -> Bool { !text.unicodeScalars.contains(where: isUnprintable) }
