// SPDX-License-Identifier: Apache-2.0

/// All that a target is told about a delivery: `relay_delivery` without its descriptors.
package struct DeliveryFields: Sendable, Equatable {
  package var length: UInt64
  /// 32 bytes.
  package var sha256: [UInt8]
  package var fileName: String
  package var mediaType: String
  package var contentEncoding: String?
  package var pipelineID: String
  package var pipelineName: String
  package var artifactID: String
  package var deliveryID: String
  package var messageID: String
  /// From 1.
  package var partIndex: UInt32
  package var partCount: UInt32
  /// From 1.
  package var attempt: UInt32
  /// `RELAY_IS_TEST`.
  package var flags: UInt32
  package var createdUnixMilliseconds: Int64
  package var firstAttemptUnixMilliseconds: Int64
  package var attributes: [DeliveryAttribute]

  package init(
    length: UInt64, sha256: [UInt8], fileName: String, mediaType: String, contentEncoding: String? = nil,
    pipelineID: String, pipelineName: String, artifactID: String, deliveryID: String, messageID: String,
    partIndex: UInt32 = 1, partCount: UInt32 = 1, attempt: UInt32 = 1, flags: UInt32 = 0,
    createdUnixMilliseconds: Int64, firstAttemptUnixMilliseconds: Int64, attributes: [DeliveryAttribute] = []
  ) {
    self.length = length
    self.sha256 = sha256
    self.fileName = fileName
    self.mediaType = mediaType
    self.contentEncoding = contentEncoding
    self.pipelineID = pipelineID
    self.pipelineName = pipelineName
    self.artifactID = artifactID
    self.deliveryID = deliveryID
    self.messageID = messageID
    self.partIndex = partIndex
    self.partCount = partCount
    self.attempt = attempt
    self.flags = flags
    self.createdUnixMilliseconds = createdUnixMilliseconds
    self.firstAttemptUnixMilliseconds = firstAttemptUnixMilliseconds
    self.attributes = attributes
  }
}

/// A name and value that describe the bytes: a rendered setting, the days covered, a tag.
package struct DeliveryAttribute: Sendable, Equatable {
  package var name: String
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension WireWriter {
  mutating func delivery(_ fields: DeliveryFields) throws(WireError) {
    guard fields.sha256.count == 32 else { throw .badDigest(bytes: fields.sha256.count) }
    u64(fields.length)
    raw(fields.sha256)
    text(fields.fileName)
    text(fields.mediaType)
    text(fields.contentEncoding)
    text(fields.pipelineID)
    text(fields.pipelineName)
    text(fields.artifactID)
    text(fields.deliveryID)
    text(fields.messageID)
    u32(fields.partIndex)
    u32(fields.partCount)
    u32(fields.attempt)
    u32(fields.flags)
    i64(fields.createdUnixMilliseconds)
    i64(fields.firstAttemptUnixMilliseconds)
    count(fields.attributes.count)
    for attribute in fields.attributes {
      text(attribute.name)
      text(attribute.value)
    }
  }
}
