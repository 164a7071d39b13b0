// SPDX-License-Identifier: Apache-2.0

/// Chance that is the same for the same seed, on every machine.
package struct SeededChance: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0xD1B5_4A32_D192_ED03
    _ = next()
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// From 0 to one less than `limit`.
  package mutating func below(_ limit: Int) -> Int { limit <= 1 ? 0 : Int(next() % UInt64(limit)) }

  package mutating func happens(_ perMille: Int) -> Bool { perMille > 0 && below(1000) < perMille }

  package mutating func between(_ low: Int64, _ high: Int64) -> Int64 {
    high <= low ? low : low + Int64(next() % UInt64(high - low + 1))
  }

  /// From 0 to 1.
  package mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

  package mutating func pick<T>(_ choices: [T]) -> T? { choices.isEmpty ? nil : choices[below(choices.count)] }
}
