// SPDX-License-Identifier: Apache-2.0

/// One request, ready to be sent.
package struct Request {
  /// How much of an answer is kept where nobody asks for more: enough for a message, in bytes.
  package static let captured = 4096

  package var url: String
  package var method: String
  package var headers: HeaderFields
  package var body: RequestBody?
  /// Whether a large body may begin with "Expect: 100-continue".
  package var asksFirst = true
  /// The most bytes of the answer that are kept.
  package var keeps = Self.captured

  package init(url: String, method: String, headers: HeaderFields, body: RequestBody?) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
  }
}
