// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelaySystem

/// What is delivered at once.
package enum DeliveryUnit: String, Sendable {
  /// Each part on its own.
  case part
  /// All parts as one.
  case artifact
}

/// How a part's bytes were changed before they were kept.
package enum PartEncoding: String, Sendable {
  case gzip
}

/// Fixes everything about an artifact that a retry must repeat; the file `manifest.json` in its folder.
package struct Manifest: Equatable, Sendable {
  package struct Attribute: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A setting that holds a template, rendered for one part.
  package struct Setting: Equatable, Sendable {
    /// A JSON Pointer without its first slash.
    package var path: String
    package var text: String

    package init(path: String, text: String) {
      self.path = path
      self.text = text
    }
  }

  /// Bytes and what they must hash to.
  package struct Content: Equatable, Sendable {
    /// In bytes.
    package var size: Int64
    package var sha256: Digest

    package init(size: Int64, sha256: Digest) {
      self.size = size
      self.sha256 = sha256
    }
  }

  package struct Part: Equatable, Sendable {
    /// From 1.
    package var index: Int
    /// The file's name in the artifact's folder.
    package var file: String
    /// The true name, for the receiver and for people: no slash, no control characters.
    package var name: String
    package var mediaType: String
    package var encoding: PartEncoding?
    /// What the file holds and the receiver gets.
    package var stored: Content
    /// What was handed in, where that was encoded.
    package var original: Content?
    package var deliveryID: Identifier
    package var settings: [Setting]

    package init(
      index: Int, file: String, name: String, mediaType: String, encoding: PartEncoding? = nil, stored: Content,
      original: Content? = nil, deliveryID: Identifier, settings: [Setting] = []
    ) {
      self.index = index
      self.file = file
      self.name = name
      self.mediaType = mediaType
      self.encoding = encoding
      self.stored = stored
      self.original = original
      self.deliveryID = deliveryID
      self.settings = settings
    }
  }

  /// All parts in one file, for targets whose unit is the artifact.
  package struct Bundle: Equatable, Sendable {
    package var file: String
    package var name: String
    package var mediaType: String
    package var stored: Content

    package init(file: String, name: String, mediaType: String, stored: Content) {
      self.file = file
      self.name = name
      self.mediaType = mediaType
      self.stored = stored
    }
  }

  package static let fileName = "manifest.json"
  package static let version: Int64 = 1
  package static let mostParts = 10_000
  /// In bytes, of the file.
  package static let largest = 32 << 20

  package var artifactID: Identifier
  package var createdAt: WallTime
  package var pipeline: String
  /// With angle brackets.
  package var messageID: String
  /// Of a MIME message.
  package var boundary: String?
  package var unit: DeliveryUnit
  package var attributes: [Attribute]
  package var parts: [Part]
  package var bundle: Bundle?

  package init(
    artifactID: Identifier, createdAt: WallTime, pipeline: String, messageID: String, boundary: String? = nil,
    unit: DeliveryUnit, attributes: [Attribute] = [], parts: [Part], bundle: Bundle? = nil
  ) {
    self.artifactID = artifactID
    self.createdAt = createdAt
    self.pipeline = pipeline
    self.messageID = messageID
    self.boundary = boundary
    self.unit = unit
    self.attributes = attributes
    self.parts = parts
    self.bundle = bundle
  }

  /// Of all parts as they are stored, in bytes.
  package var storedBytes: Int64 { parts.reduce(0) { $0.addingReportingOverflow($1.stored.size).partialValue } }
}

/// Why a manifest can't be used.
package enum ManifestProblem: Error, Equatable, Sendable {
  case missing
  case tooLarge(limit: Int)
  /// It doesn't end as it was written: cut, or something follows.
  case cut
  /// Its bytes aren't those that were written.
  case altered
  case newerVersion(found: Int64, known: Int64)
  /// The member at this path is missing or holds what it can't.
  case field(String)
  case hashUnavailable

  package var message: String {
    switch self {
    case .missing: "there is no manifest.json"
    case .tooLarge(let limit): "manifest.json is larger than \(limit) bytes"
    case .cut: "manifest.json does not end as it was written"
    case .altered: "manifest.json was changed or damaged since it was written"
    case .newerVersion(let found, let known):
      "manifest.json has version \(found), this program knows \(known); use the newer program"
    case .field(let path): "manifest.json is wrong at \(path)"
    case .hashUnavailable: ArchiveError.hashUnavailable.message
    }
  }
}
