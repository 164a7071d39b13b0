// SPDX-License-Identifier: Apache-2.0

/// What the host and people are told about this target; docs/targets/http.md explains each setting.
enum HTTPManifest {
  static let version = "0.1.0"

  static let json = #"""
    {
      "id": "http",
      "name": "HTTP",
      "version": "0.1.0",
      "license": "Apache-2.0",
      "unit": "part",
      "idempotent": true,
      "finalAnswer": 120,
      "settings": {
        "type": "object",
        "required": ["url"],
        "additionalProperties": false,
        "properties": {
          "url": {
            "type": "string", "minLength": 1, "title": "Address",
            "description": "Where each part is sent, http or https. May hold a template; may be a secret as a whole.",
            "examples": ["https://example.org/hooks/health"],
            "x-relay-url": ["https", "http"], "x-relay-template": true, "x-relay-secret": "allowed"
          },
          "method": {
            "type": "string", "enum": ["POST", "PUT", "PATCH"], "default": "POST", "title": "Method",
            "description": "POST hands over, PUT replaces what is at the address."
          },
          "headers": {
            "type": "object", "title": "Headers",
            "description": "More header fields; a value may hold a template or be a secret.",
            "examples": [{"X-Api-Key": {"secret": "api-key"}}],
            "additionalProperties": {"type": "string", "x-relay-template": true, "x-relay-secret": "allowed"}
          },
          "bearer": {
            "type": "string", "title": "Bearer token", "description": "Sent as Authorization: Bearer.",
            "examples": [{"secret": "home-assistant"}], "x-relay-secret": "required"
          },
          "basic": {
            "type": "object", "title": "User and password", "required": ["username", "password"],
            "description": "Sent as Authorization: Basic.", "additionalProperties": false,
            "properties": {
              "username": {"type": "string", "title": "User", "description": "Must not hold a colon."},
              "password": {
                "type": "string", "title": "Password", "description": "The user's password.",
                "x-relay-secret": "required"
              }
            }
          },
          "body": {
            "type": "string", "enum": ["raw", "multipart"], "default": "raw", "title": "Body",
            "description": "raw sends the bytes as they are; multipart sends a form with one file."
          },
          "field": {
            "type": "string", "default": "file", "minLength": 1, "maxLength": 200, "title": "Form field",
            "description": "The name of the file's field in a multipart body."
          },
          "hmac": {
            "type": "object", "title": "Signature", "required": ["secret"], "additionalProperties": false,
            "description": "Signs each delivery with HMAC-SHA256.",
            "properties": {
              "secret": {
                "type": "string", "title": "Key", "description": "The key that the receiver knows too.",
                "x-relay-secret": "required"
              },
              "header": {
                "type": "string", "default": "X-Signature", "title": "Header",
                "description": "Carries sha256= and the signature in hexadecimal."
              },
              "over": {
                "type": "string", "enum": ["sent", "uncompressed"], "default": "sent", "title": "What is signed",
                "description": "sent: the body's bytes on the wire; uncompressed: the file before gzip and multipart."
              }
            }
          },
          "standardWebhooks": {
            "type": "object", "title": "Standard Webhooks", "required": ["secret"], "additionalProperties": false,
            "description": "Adds webhook-id, webhook-timestamp and webhook-signature (standardwebhooks.com, v1).",
            "properties": {
              "secret": {
                "type": "string", "title": "Key", "description": "whsec_ and 24 to 64 bytes in base64.",
                "x-relay-secret": "required"
              }
            }
          },
          "idempotencyHeader": {
            "type": "string", "default": "Idempotency-Key", "title": "Idempotency header",
            "description": "Carries the delivery's id, the same at each attempt; an empty text sends none."
          },
          "automationHeaders": {
            "type": "boolean", "default": true, "title": "Automation headers",
            "description": "automation-name, automation-id, automation-aggregation, automation-period, session-id."
          },
          "successStatuses": {
            "type": "array", "title": "Statuses that mean delivered",
            "description": "Absent: every 2xx.", "examples": [[200, 201]],
            "items": {"type": "integer", "minimum": 200, "maximum": 499}
          },
          "conflictIsSuccess": {
            "type": "boolean", "default": false, "title": "Conflict means delivered",
            "description": "409 says that the receiver has it already."
          },
          "httpVersion": {
            "type": "string", "enum": ["1.1", "2", "auto"], "default": "1.1", "title": "HTTP version",
            "description": "auto agrees on 2 over TLS where the receiver offers it."
          },
          "proxy": {
            "type": "string", "minLength": 1, "title": "Proxy",
            "description": "Address of a proxy; environment variables are not looked at.",
            "examples": ["http://proxy.example.org:3128"], "x-relay-secret": "allowed"
          },
          "tls": {
            "type": "object", "title": "TLS", "additionalProperties": false,
            "description": "For receivers with a certificate of their own authority, or that ask for ours.",
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
