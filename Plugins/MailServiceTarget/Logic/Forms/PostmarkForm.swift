// SPDX-License-Identifier: Apache-2.0
import MailSyntax
import RelayJSON

extension JSONWriter {
  /// https://postmarkapp.com/developer/api/email-api
  mutating func postmark(_ letter: Letter) {
    member("From", letter.from.quoted)
    member("To", letter.to.map(\.quoted).joined(separator: ", "))
    member("Subject", letter.subject)
    member("TextBody", letter.text)
    member("MessageStream", "outbound")
    var headers = letter.headers(withMessageID: true)
    // Without it Postmark puts a Message-ID of its own in the place of ours.
    if letter.messageID != nil { headers.append(("X-PM-KeepID", "true")) }
    list("Headers", headers) { writer, header in
      writer.member("Name", header.name)
      writer.member("Value", header.value)
    }
    // Can be searched for in the service's activity.
    object("Metadata") { $0.member("delivery_id", letter.deliveryID) }
    attachment("Attachments", "Content", letter.attachment) { writer, attachment in
      writer.member("Name", attachment.name)
      writer.member("ContentType", attachment.mediaType)
    }
  }
}
