// SPDX-License-Identifier: Apache-2.0

/// What the host and people are told about this target; docs/targets/mqtt.md explains each setting.
enum MQTTManifest {
  static let version = "0.1.0"
  /// Bytes of the largest part: a message is held in memory, more than once.
  static let maximumBytes: UInt64 = 64_000_000

  /// Not idempotent: brokers pass every message on, and only what listens can drop one that it knows.
  static let json = #"""
    {
      "id": "mqtt",
      "name": "MQTT",
      "version": "0.1.0",
      "license": "Apache-2.0",
      "unit": "part",
      "maximumBytes": 64000000,
      "idempotent": false,
      "finalAnswer": 75,
      "settings": {
        "type": "object",
        "required": ["host", "topic"],
        "additionalProperties": false,
        "properties": {
          "host": {
            "type": "string", "minLength": 1, "maxLength": 253, "title": "Broker",
            "description": "Name or address of the broker, without mqtt:// and without a port.",
            "examples": ["homeassistant.local"]
          },
          "port": {
            "type": "integer", "minimum": 1, "maximum": 65535, "title": "Port",
            "description": "Absent: 8883 with tls, 1883 without.", "examples": [1883]
          },
          "tls": {
            "type": "object", "title": "TLS", "additionalProperties": false,
            "description": "Turns TLS on; {} trusts the system's authorities.", "examples": [{}],
            "properties": {
              "ca": {
                "type": "string", "minLength": 1, "title": "Authorities",
                "description": "PEM file of the authorities to trust instead of the system's.", "x-relay-access": "read"
              },
              "certificate": {
                "type": "string", "minLength": 1, "title": "Certificate", "description": "PEM file of our certificate.",
                "x-relay-access": "read"
              },
              "key": {
                "type": "string", "minLength": 1, "title": "Key",
                "description": "PEM file of its private key, not encrypted.", "x-relay-access": "read"
              }
            }
          },
          "username": {
            "type": "string", "minLength": 1, "title": "User", "description": "Who logs in at the broker."
          },
          "password": {
            "type": "string", "title": "Password", "description": "The user's password.",
            "examples": [{"secret": "mqtt"}], "x-relay-secret": "required"
          },
          "clientId": {
            "type": "string", "minLength": 1, "maxLength": 250, "title": "Client id",
            "description": "Absent: one of this pipeline's own, made once. No other client may use the same."
          },
          "topic": {
            "type": "string", "minLength": 1, "title": "Topic",
            "description": "Where each part is published. May hold a template.",
            "examples": ["health/{{ file.stem }}"], "x-relay-template": true
          },
          "qos": {
            "type": "integer", "minimum": 0, "maximum": 2, "default": 1, "title": "Quality of service",
            "description": "0 asks for no confirmation, 1 for one, 2 keeps repeats away within a connection."
          },
          "retain": {
            "type": "boolean", "default": false, "title": "Retain",
            "description": "The broker keeps the last message of the topic for those who subscribe later."
          },
          "version": {
            "type": "string", "enum": ["auto", "5", "3.1.1"], "default": "auto", "title": "MQTT version",
            "description": "auto asks for 5 first and takes 3.1.1 where the broker speaks only that."
          },
          "discovery": {
            "type": "object", "title": "Home Assistant", "required": ["object"], "additionalProperties": false,
            "description": "Makes a sensor of the topic in Home Assistant, by MQTT discovery.",
            "examples": [{"object": "{{ file.stem }}", "unit": "kg", "deviceClass": "weight"}],
            "properties": {
              "prefix": {
                "type": "string", "minLength": 1, "maxLength": 100, "default": "homeassistant", "title": "Prefix",
                "description": "Of the topics on which Home Assistant looks for sensors."
              },
              "node": {
                "type": "string", "minLength": 1, "maxLength": 63, "title": "Node",
                "description": "Part of every sensor's identity. Absent: the pipeline's id. Never change it."
              },
              "object": {
                "type": "string", "minLength": 1, "maxLength": 100, "title": "Sensor",
                "description": "Which sensor a part is for: letters, digits, _ and -. May hold a template.",
                "x-relay-template": true
              },
              "name": {
                "type": "string", "maxLength": 250, "title": "Name",
                "description": "What people read. Absent: the sensor's. May hold a template.", "x-relay-template": true
              },
              "unit": {
                "type": "string", "maxLength": 50, "title": "Unit",
                "description": "Unit of measurement. May hold a template.", "examples": ["kg"],
                "x-relay-template": true
              },
              "deviceClass": {
                "type": "string", "maxLength": 50, "title": "Device class",
                "description": "Home Assistant's kind of sensor. May hold a template.", "examples": ["weight"],
                "x-relay-template": true
              },
              "stateClass": {
                "type": "string", "maxLength": 50, "title": "State class",
                "description": "measurement, total or total_increasing: makes statistics. May hold a template.",
                "examples": ["measurement"], "x-relay-template": true
              },
              "valueTemplate": {
                "type": "string", "maxLength": 2000, "title": "Value template",
                "description": "Home Assistant's own template that finds the value; passed on as it is.",
                "examples": ["{{ value_json.state }}"], "x-relay-template": false
              },
              "device": {
                "type": "object", "title": "Device", "additionalProperties": false,
                "description": "The device that the sensors are shown under.",
                "properties": {
                  "name": {
                    "type": "string", "minLength": 1, "maxLength": 250, "title": "Name",
                    "description": "Absent: the pipeline's name."
                  },
                  "manufacturer": {
                    "type": "string", "minLength": 1, "maxLength": 250, "default": "Relay Host",
                    "title": "Manufacturer", "description": "Shown with the device."
                  },
                  "model": {
                    "type": "string", "minLength": 1, "maxLength": 250, "title": "Model",
                    "description": "Shown with the device."
                  }
                }
              }
            }
          }
        }
      }
    }
    """#
}
