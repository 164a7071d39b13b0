// SPDX-License-Identifier: Apache-2.0
import MailSyntax
import RelayJSON

extension JSONWriter {
  /// https://resend.com/docs/api-reference/emails/send-email
  mutating func resend(_ letter: Letter) {
    // Names stand without quotes and unencoded: Resend answers a quoted or encoded one with an error.
    member("from", letter.from.name.map { "\($0) <\(letter.from.mailbox)>" } ?? letter.from.mailbox)
    name("to")
    beginArray()
    for recipient in letter.to {
      value(recipient.plainName.map { "\($0) <\(recipient.mailbox)>" } ?? recipient.mailbox)
    }
    endArray()
    member("subject", letter.subject)
    member("text", letter.text)
    // A Message-ID of ours would be replaced.
    object("headers") { writer in
      for (name, value) in letter.headers(withMessageID: false) { writer.member(name, value) }
    }
    // Without a content type Resend takes the one that belongs to the name. A mail whose type and ending contradict each other it
    // accepts and never sends.
    attachment("attachments", "content", letter.attachment) { writer, attachment in
      writer.member("filename", attachment.name)
    }
  }
}

/// Files that Resend doesn't send, by the ending of their name.
///
/// https://resend.com/docs/knowledge-base/what-attachment-types-are-not-supported
enum ResendEndings {
  static let notSent = Set(
    """
    adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its js jse ksh lib lnk mad maf mag mam \
    maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz msc msh msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif plg prf prg \
    reg scf scr sct shb shs sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd ws wsc wsf wsh xnk
    """.split(separator: " ").map(String.init))
}
