// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayJSON
import TargetKit

/// One mail as the JSON of a service, the same bytes at each attempt: what stands before the file in base64, and what after it.
struct MailForm {
  private static let contentType = "application/json"

  private var before: [UInt8]
  private var after: [UInt8] = []

  init(_ letter: Letter, for service: Service) {
    var writer = JSONWriter()
    writer.beginObject()
    switch service {
    case .resend: writer.resend(letter)
    case .sendgrid: writer.sendGrid(letter)
    case .postmark: writer.postmark(letter)
    }
    guard letter.attachment != nil else {
      writer.endObject()
      before = writer.take()
      return
    }
    // The content is the last member of the only attachment, and that the last member of all.
    before = writer.take() + [UInt8(ascii: "\"")]
    after = Array(#""}]}"#.utf8)
  }

  func body(_ delivery: Delivery) -> RequestBody {
    if after.isEmpty { return RequestBody(before, contentType: Self.contentType) }
    return RequestBody(delivery, contentType: Self.contentType, encoding: .base64, before: before, after: after)
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ text: String) {
    self.name(name)
    value(text)
  }

  mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    self.name(name)
    beginObject()
    body(&self)
    endObject()
  }

  /// A list of objects.
  mutating func list<Element>(_ name: String, _ elements: [Element], _ body: (inout JSONWriter, Element) -> Void) {
    self.name(name)
    beginArray()
    for element in elements {
      beginObject()
      body(&self, element)
      endObject()
    }
    endArray()
  }

  /// Begins the list of attachments, up to the text of the content.
  mutating func attachment(
    _ list: String, _ content: String, _ attachment: Attachment?, _ body: (inout JSONWriter, Attachment) -> Void
  ) {
    guard let attachment else { return }
    name(list)
    beginArray()
    beginObject()
    body(&self, attachment)
    name(content)
  }
}

extension Letter {
  /// Header fields of the mail that tell a repeat and a test, as far as the service passes them on.
  func headers(withMessageID: Bool) -> [(name: String, value: String)] {
    var headers = [("X-Entity-Ref-ID", deliveryID)]
    if withMessageID, let messageID { headers.append(("Message-ID", messageID)) }
    if isTest { headers.append(("X-Relay-Test", "1")) }
    return headers
  }
}
