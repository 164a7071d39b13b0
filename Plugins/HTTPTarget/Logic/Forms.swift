// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

extension RequestBody {
  /// The part as it is, or as the one file of a form.
  init(_ delivery: Delivery, form: HTTPSettings.Body) {
    let mediaType = delivery.mediaType.isEmpty ? "application/octet-stream" : delivery.mediaType
    switch form {
    case .raw:
      self.init(delivery, contentType: mediaType, contentEncoding: delivery.contentEncoding)
    case .multipart(let field):
      let boundary = "relay-" + delivery.deliveryID.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
      let packed = delivery.contentEncoding == "gzip"
      let name = Self.quoted(delivery.fileName + (packed ? ".gz" : ""))
      let head = [
        "--\(boundary)", "Content-Disposition: form-data; name=\"\(Self.quoted(field))\"; filename=\"\(name)\"",
        "Content-Type: \(packed ? "application/gzip" : Self.quoted(mediaType))", "", "",
      ]
      self.init(
        delivery, contentType: "multipart/form-data; boundary=\(boundary)",
        before: Array(head.joined(separator: "\r\n").utf8), after: Array("\r\n--\(boundary)--\r\n".utf8))
    }
  }

  /// As browsers write names in forms (WHATWG): quotes and line breaks percent-encoded, the rest as it is.
  private static func quoted(_ name: String) -> String {
    var quoted = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": quoted += "%22"
      case "\r": quoted += "%0D"
      case "\n": quoted += "%0A"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted
  }
}
