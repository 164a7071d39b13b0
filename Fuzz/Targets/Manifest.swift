// SPDX-License-Identifier: Apache-2.0
import RelayArchive

@testable import RelayQueue

/// A manifest is read as it was written or not at all.
///
/// The bytes are tried as they are, and once more with a true digest at their end, which no fuzzer would find.
func manifestHolds(_ bytes: [UInt8]) throws {
  try manifestIsStable(bytes)
  try manifestIsStable(try sealed(bytes))
}

private func sealed(_ bytes: [UInt8]) throws -> [UInt8] {
  // Without the end that a seed brings, if it brings one.
  let tail = Manifest.digestDigits + Manifest.ending.count
  let isSealed = bytes.count >= tail && Array(bytes.suffix(Manifest.ending.count)) == Manifest.ending
  let body = isSealed ? Array(bytes.dropLast(tail)) : bytes
  return body + Array(try SHA256Hasher.digest(of: body).hex.utf8) + Manifest.ending
}

private func manifestIsStable(_ bytes: [UInt8]) throws {
  guard let manifest = try? Manifest.read(bytes) else { return }
  try hold(!manifest.parts.isEmpty && manifest.parts.count <= Manifest.mostParts, "there are as many parts as may be")
  for part in manifest.parts { try hold(PartName.isSafe(part.file), "no part's file leads out of the folder") }
  let written = try manifest.bytes()
  guard let again = try? Manifest.read(written) else { throw Violation(description: "what is written can be read") }
  try hold(again == manifest, "what is read again is what was written")
  try hold(try again.bytes() == written, "writing it again gives the same bytes")
  let choice = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF }
  try hold((try? Manifest.read(written.flipped(choice))) == nil, "a changed bit is found")
  try hold((try? Manifest.read(Array(written.dropLast(1 + choice % written.count)))) == nil, "a cut is found")
}
