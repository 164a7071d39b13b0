// SPDX-License-Identifier: Apache-2.0

/// What the host and people are told about this target; docs/targets/mail-service.md explains each setting.
enum MailServiceManifest {
  static let version = "0.1.0"

  /// Not idempotent: of the three services only Resend recognises a repeat.
  static let json = #"""
    {
      "id": "mail-service",
      "name": "Mail service",
      "version": "0.1.0",
      "license": "Apache-2.0",
      "unit": "artifact",
      "idempotent": false,
      "finalAnswer": 120,
      "settings": {
        "type": "object",
        "required": ["service", "apiKey", "from", "to"],
        "additionalProperties": false,
        "properties": {
          "service": {
            "type": "string", "enum": ["resend", "sendgrid", "postmark"], "title": "Service",
            "description": "Who sends the mail: resend takes files of 25 MB, sendgrid of 22 MB, postmark of 7 MB."
          },
          "apiKey": {
            "type": "string", "title": "Key",
            "description": "The service's API key; for Postmark the server's token. One that may only send is enough.",
            "examples": [{"secret": "mail"}], "x-relay-secret": "required"
          },
          "from": {
            "type": "string", "minLength": 1, "title": "Sender",
            "description": "An address that the service has verified, with or without a name.",
            "examples": ["Relay Host <relay@example.org>"], "x-relay-sender": true
          },
          "to": {
            "type": ["string", "array"], "title": "Recipients", "items": {"type": "string", "minLength": 1},
            "description": "One address or a list of 50 at most.", "examples": ["me@example.org"]
          },
          "subject": {
            "type": "string", "title": "Subject", "description": "The file's name unless set. May hold a template.",
            "examples": ["{{ file.name }}"], "x-relay-template": true
          },
          "text": {
            "type": "string", "title": "Text",
            "description": "What stands above the attachment; a line about the file unless set. May hold a template.",
            "x-relay-template": true
          },
          "endpoint": {
            "type": "string", "minLength": 1, "title": "Address of the service",
            "description": "Instead of the service's own; SendGrid in the EU is https://api.eu.sendgrid.com.",
            "examples": ["https://api.eu.sendgrid.com"], "x-relay-url": ["https", "http"]
          }
        }
      }
    }
    """#
}
