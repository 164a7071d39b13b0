// SPDX-License-Identifier: Apache-2.0

/// What the host and people are told about this target; docs/targets/folder.md explains each setting.
enum FolderManifest {
  static let json = #"""
    {
      "id": "folder",
      "name": "Folder",
      "version": "0.1.0",
      "license": "Apache-2.0",
      "unit": "part",
      "idempotent": true,
      "finalAnswer": 120,
      "settings": {
        "type": "object",
        "required": ["directory"],
        "additionalProperties": false,
        "properties": {
          "directory": {
            "type": "string", "minLength": 1, "title": "Folder",
            "description": "Where files appear; a path that exists, relative ones from the folder of pipelines.json. It is never created.",
            "examples": ["/srv/scans"], "x-relay-access": "write"
          },
          "file": {
            "type": "string", "minLength": 1, "title": "File name",
            "description": "A plain name without slashes; absent: the part's own name. May hold a template.",
            "examples": ["steps-{{ range.start }}.csv"], "x-relay-template": true
          },
          "existing": {
            "type": "string", "enum": ["replace", "keep-both"], "default": "replace", "title": "When the name is taken",
            "description": "replace puts the new file in the old one's place; keep-both counts: name (2).csv."
          },
          "append": {
            "type": "boolean", "default": false, "title": "Append",
            "description": "Adds each part's lines to the end of one growing file."
          },
          "requireMount": {
            "type": "boolean", "default": false, "title": "Only when mounted",
            "description": "Needs attention when no disk is mounted at the folder or above it."
          }
        }
      }
    }
    """#
}
