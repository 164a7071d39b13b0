// SPDX-License-Identifier: Apache-2.0
import MailSyntax
import RelayJSON

extension JSONWriter {
  /// https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
  mutating func sendGrid(_ letter: Letter) {
    list("personalizations", [letter.to]) { writer, recipients in
      writer.list("to", recipients) { $0.mailbox($1) }
    }
    object("from") { $0.mailbox(letter.from) }
    member("subject", letter.subject)
    list("content", [letter.text]) { writer, text in
      writer.member("type", "text/plain")
      writer.member("value", text)
    }
    object("headers") { writer in
      for (name, value) in letter.headers(withMessageID: true) { writer.member(name, value) }
    }
    // Comes back in the service's events.
    object("custom_args") { $0.member("delivery_id", letter.deliveryID) }
    attachment("attachments", "content", letter.attachment) { writer, attachment in
      writer.member("filename", attachment.asciiName)
      writer.member("type", attachment.mediaTypeOfBytes)
      writer.member("disposition", "attachment")
    }
  }

  private mutating func mailbox(_ address: MailAddress) {
    member("email", address.mailbox)
    if let name = address.name { member("name", name) }
  }
}
