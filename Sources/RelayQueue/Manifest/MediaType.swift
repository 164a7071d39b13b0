// SPDX-License-Identifier: Apache-2.0

/// Media types by the ending of a file's name (IANA's registry), for files that come without one.
package enum MediaType {
  package static let unknown = "application/octet-stream"

  private static let byExtension: [String: String] = [
    "avif": "image/avif", "csv": "text/csv", "fit": "application/vnd.ant.fit", "geojson": "application/geo+json",
    "gif": "image/gif", "gpx": "application/gpx+xml", "gz": "application/gzip", "heic": "image/heic",
    "htm": "text/html", "html": "text/html", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
    "json": "application/json", "log": "text/plain", "md": "text/markdown", "mp4": "video/mp4",
    "ndjson": "application/x-ndjson", "pdf": "application/pdf", "png": "image/png", "sql": "application/sql",
    "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff",
    "txt": "text/plain", "vcf": "text/vcard", "webp": "image/webp", "xml": "application/xml",
    "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
  ]

  package static func guess(_ name: String) -> String {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return unknown }
    return byExtension[name[name.index(after: dot)...].lowercased()] ?? unknown
  }
}
