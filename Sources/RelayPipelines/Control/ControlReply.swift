// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayJSON

/// How a command ends; the numbers are the program's exit codes.
package enum Outcome: Int, Sendable {
  case done = 0
  /// A fault of ours.
  case fault = 1
  case usage = 2
  /// It waits and will be tried again.
  case waits = 3
  case needsYou = 4
  /// The daemon can't be reached and this needs it.
  case unreachable = 5
}

extension Outcome {
  /// Of a person's question to a destination, be it a test or a check.
  package init(of verdict: DeliveryVerdict) {
    switch verdict.code {
    case .delivered: self = .done
    case .retry: self = .waits
    default: self = .needsYou
    }
  }
}

/// Why something a person asked for wasn't done: what happened, with a code of the registry and what to do.
package struct Refusal: Error, Equatable, Sendable {
  package var outcome: Outcome
  package var code: DiagnosticCode
  package var message: String
  package var hint: String?

  /// The texts are made printable: they quote names and messages from outside.
  package init(_ outcome: Outcome, _ code: DiagnosticCode, _ message: String, hint: String? = nil) {
    self.outcome = outcome
    self.code = code
    self.message = PrintableText.cleaned(message)
    self.hint = hint.map { PrintableText.cleaned($0) }
  }
}

/// What comes back for a request: a result, which is what `--json` prints, or a refusal.
package struct ControlReply: Equatable, Sendable {
  package var outcome: Outcome
  package var result: JSONNode
  package var refusal: Refusal?

  package init(_ result: JSONNode, _ outcome: Outcome = .done) {
    self.outcome = outcome
    self.result = result
  }

  package init(_ refusal: Refusal) {
    outcome = refusal.outcome
    result = JSONNode(.null)
    self.refusal = refusal
  }
}

extension ControlReply {
  init?(_ node: JSONNode) {
    guard let outcome = node["exit"]?.integer.flatMap({ Outcome(rawValue: Int(clamping: $0)) }) else { return nil }
    if let error = node["error"] {
      guard let code = error["code"]?.string.flatMap(DiagnosticCode.init(rawValue:)),
        let message = error["message"]?.string
      else { return nil }
      self.init(Refusal(outcome, code, message, hint: error["hint"]?.string))
    } else {
      self.init(node["result"] ?? JSONNode(.null), outcome)
    }
  }

  var line: [UInt8] {
    var writer = JSONWriter(style: .compact)
    writer.beginObject()
    writer.name("exit")
    writer.value(outcome.rawValue)
    if let refusal {
      writer.name("error")
      writer.raw(refusal.json)
    } else {
      writer.name("result")
      writer.raw(result)
    }
    writer.endObject()
    return writer.bytes + [10]
  }
}

extension Refusal {
  package var json: JSONNode {
    var members: [(String, JSONNode)] = [
      ("code", JSONNode(.string(code.rawValue))), ("message", JSONNode(.string(message))),
    ]
    if let hint { members.append(("hint", JSONNode(.string(hint)))) }
    return JSONNode(.object(members.map { JSONMember(name: $0.0, node: $0.1) }))
  }
}
