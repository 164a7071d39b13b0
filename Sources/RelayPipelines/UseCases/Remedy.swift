// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// What ends each "needs attention", so that nobody is told to do more than is needed.
enum Remedy {
  static func text(for code: String, pipeline id: String) -> String {
    let resume = "relay-host resume \(id)"
    switch DiagnosticCode(rawValue: code) {
    case .deliveryTargetMissing, .deliveryUnconfined: return "Once that is mended, it goes on by itself."
    case .secretNotFound:
      return "After `relay-host secret set` it goes on by itself; with a secret from elsewhere: \(resume)"
    case .secretUnreadable:
      return "Set anew with `relay-host secret set`, it goes on by itself; mended otherwise: \(resume)"
    case .deliveryTargetMisbehaves:
      return "Once the target is mended or replaced: \(resume) (changed settings are taken up by themselves)"
    case .deliveryUnsure:
      return "To send it again: \(resume). Not to: relay-host queue drop \(id) ARTIFACT, then \(resume)"
    case .deliveryRefusedFull:
      return "Then: \(resume) (a larger delivery.maxRefused is taken up by itself)"
    default:
      return "Changed settings and a secret set anew are taken up by themselves. Anything else, once mended: \(resume)"
    }
  }
}
