// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// The names that parts have in a bundle: flat, told apart by every system, and such that each can unpack them.
enum BundleNames {
  /// In bytes, which is what file systems allow.
  private static let longest = 255
  /// In bytes, so that a number fits behind it.
  private static let longestWithNumber = 240

  /// One for each, in their order.
  static func names(of parts: [String]) -> [String] {
    var taken: Set<String> = []
    /// The number to begin with, for each name: a thousand equal names must not be tried one by one.
    var next: [String: Int] = [:]
    return parts.map { part in
      let name = safe(part)
      if taken.insert(folded(name)).inserted { return name }
      let base = PartName.shortened(name, to: longestWithNumber)
      var number = next[folded(base), default: 2]
      while true {
        let candidate = numbered(base, number)
        number += 1
        if taken.insert(folded(candidate)).inserted {
          next[folded(base)] = number
          return candidate
        }
      }
    }
  }

  /// What equal names have in common on systems that don't know letters apart by case, or by how an accent is written:
  /// strings that look the same are equal already.
  private static func folded(_ name: String) -> String { name.uppercased().lowercased() }

  /// `letter.pdf` with 2 is `letter (2).pdf`.
  private static func numbered(_ name: String, _ number: Int) -> String {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name) (\(number))" }
    return "\(name[..<dot]) (\(number))\(name[dot...])"
  }

  /// A name that every system can unpack into one folder.
  static func safe(_ part: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in PartName.display(Array(part.utf8)).unicodeScalars {
      scalars.append("<>:\"|?*".unicodeScalars.contains(scalar) ? "_" : scalar)
    }
    let name = String(scalars)
    return withoutEndingDots(PartName.shortened(isDevice(name) ? "_" + name : name, to: longest))
  }

  /// Windows drops dots and spaces that stand there.
  private static func withoutEndingDots(_ name: String) -> String {
    var scalars = name.unicodeScalars
    var ending = 0
    while let last = scalars.last, last == "." || last == " " {
      scalars.removeLast()
      ending += 1
    }
    return String(scalars) + String(repeating: "_", count: ending)
  }

  /// Whether Windows takes it for a device, whatever ending it has.
  private static func isDevice(_ name: String) -> Bool {
    var base = name.prefix { $0 != "." }.uppercased()
    while base.last == " " { base.removeLast() }
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(base) { return true }
    guard base.count == 4, base.hasPrefix("COM") || base.hasPrefix("LPT"), let last = base.last else { return false }
    return "0123456789¹²³".contains(last)
  }
}

extension Manifest {
  /// Whether all parts go as one delivery to a target of this unit.
  package func isBundled(for unit: DeliveryUnit) -> Bool {
    bundle != nil || (parts.count > 1 && (self.unit == .artifact || unit == .artifact))
  }

  /// How many bytes a bundle of the parts holds, before they are compressed.
  package var bytesToBundle: Int64 {
    parts.reduce(0) { sum, part in
      let (next, overflow) = sum.addingReportingOverflow((part.original ?? part.stored).size)
      return overflow ? .max : next
    }
  }

  /// The bundle's name, for the receiver and for people: pipeline and time of the artifact in UTC, for example
  /// `scans-2026-11-30-081500.zip`.
  package var bundleName: String {
    let digits = createdAt.text().dropLast().filter { $0 != ":" }
    return "\(pipeline)-\(digits.split(separator: "T").joined(separator: "-")).zip"
  }
}
