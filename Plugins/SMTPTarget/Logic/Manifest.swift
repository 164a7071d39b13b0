// SPDX-License-Identifier: Apache-2.0

/// What the host and people are told about this target; docs/targets/smtp.md explains each setting.
enum SMTPManifest {
  static let version = "0.1.0"

  static let json = #"""
    {
      "id": "smtp",
      "name": "SMTP",
      "version": "0.1.0",
      "license": "Apache-2.0",
      "unit": "artifact",
      "idempotent": false,
      "finalAnswer": 600,
      "settings": {
        "type": "object",
        "required": ["host", "from", "to"],
        "additionalProperties": false,
        "properties": {
          "host": {
            "type": "string", "minLength": 1, "title": "Mail server",
            "description": "Name or address of the server that takes the mail.", "examples": ["mail.example.org"]
          },
          "port": {
            "type": "integer", "minimum": 1, "maximum": 65535, "title": "Port",
            "description": "587 for starttls, 465 for tls and 25 for none unless set."
          },
          "security": {
            "type": "string", "enum": ["starttls", "tls", "none"], "default": "starttls", "title": "Encryption",
            "description": "starttls encrypts after the greeting, tls from the start; without either nothing is sent. none sends readably."
          },
          "username": {
            "type": "string", "minLength": 1, "maxLength": 1000, "title": "User name", "description": "For the login; goes with password."
          },
          "password": {
            "type": "string", "title": "Password", "description": "For the login; goes with username.",
            "examples": [{"secret": "mail"}], "x-relay-secret": "required"
          },
          "allowPasswordInClear": {
            "type": "boolean", "default": false, "title": "Password in clear",
            "description": "Lets the password go over a connection that is not encrypted."
          },
          "from": {
            "type": "string", "minLength": 1, "title": "Sender",
            "description": "The address that the mail comes from, with or without a name.",
            "examples": ["Relay Host <relay@example.org>"], "x-relay-sender": true
          },
          "to": {
            "type": ["string", "array"], "title": "Recipients", "items": {"type": "string", "minLength": 1},
            "description": "One address or a list; to, cc and bcc hold 50 at most.", "examples": ["me@example.org"]
          },
          "cc": {
            "type": ["string", "array"], "title": "Copies", "items": {"type": "string", "minLength": 1},
            "description": "Gets a copy, for all to see."
          },
          "bcc": {
            "type": ["string", "array"], "title": "Blind copies", "items": {"type": "string", "minLength": 1},
            "description": "Gets a copy that the mail doesn't show."
          },
          "subject": {
            "type": "string", "title": "Subject", "description": "The file's name unless set. May hold a template.",
            "examples": ["{{ file.name }}"], "x-relay-template": true
          },
          "text": {
            "type": "string", "title": "Text", "description": "What stands above the attachment. May hold a template.",
            "x-relay-template": true
          },
          "tls": {
            "type": "object", "title": "Certificates", "additionalProperties": false,
            "properties": {
              "ca": {
                "type": "string", "title": "Authorities",
                "description": "PEM file of the authorities to trust instead of the system's.", "x-relay-access": "read"
              },
              "certificate": {
                "type": "string", "title": "Certificate", "description": "PEM file of our certificate.",
                "x-relay-access": "read"
              },
              "key": {
                "type": "string", "title": "Key", "description": "PEM file of its private key.",
                "x-relay-access": "read"
              }
            }
          }
        }
      }
    }
    """#
}
