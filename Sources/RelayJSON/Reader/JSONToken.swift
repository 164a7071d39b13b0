// SPDX-License-Identifier: Apache-2.0

/// One step of a JSON text.
///
/// A `name` is followed by the tokens of its value.
package enum JSONToken: Equatable, Sendable {
  case beginObject
  case endObject
  case beginArray
  case endArray
  case name(String)
  case string(String)
  case number(JSONNumber)
  case bool(Bool)
  case null
}
