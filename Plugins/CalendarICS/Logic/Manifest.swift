// SPDX-License-Identifier: Apache-2.0

/// What the host and people are told about this target; docs/targets/calendar-ics.md explains each setting.
enum CalendarManifest {
  static let version = "0.1.0"

  static let json = #"""
    {
      "id": "calendar-ics",
      "name": "Calendar",
      "version": "0.1.0",
      "license": "Apache-2.0",
      "unit": "part",
      "maximumBytes": 16777216,
      "idempotent": true,
      "finalAnswer": 120,
      "settings": {
        "type": "object",
        "additionalProperties": false,
        "properties": {
          "file": {
            "type": "string", "minLength": 1, "title": "File",
            "description": "The .ics file that calendars subscribe to. Its folder must exist.",
            "examples": ["/srv/www/health.ics"], "x-relay-access": "write"
          },
          "url": {
            "type": "string", "minLength": 1, "title": "Calendar",
            "description": "The CalDAV address of the calendar itself, instead of a file.",
            "examples": ["https://cloud.example.org/remote.php/dav/calendars/ada/health/"],
            "x-relay-url": ["https", "http"]
          },
          "username": {
            "type": "string", "minLength": 1, "title": "User", "description": "The CalDAV server's user."
          },
          "password": {
            "type": "string", "title": "Password", "description": "An app password where the server offers them.",
            "x-relay-secret": "required"
          },
          "allowPasswordInClear": {
            "type": "boolean", "default": false, "title": "Password without TLS",
            "description": "Sends the password over http to another machine, readable for whoever listens."
          },
          "calendarName": {
            "type": "string", "minLength": 1, "maxLength": 200, "title": "Calendar name",
            "description": "What subscribers of the file see; absent: the pipeline's name."
          },
          "tls": {
            "type": "object", "title": "TLS", "additionalProperties": false,
            "description": "For servers with a certificate of their own authority, or that ask for ours.",
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
