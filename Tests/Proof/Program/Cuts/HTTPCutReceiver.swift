// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Synchronization
import TestPrograms

/// http_peer.py, which notes each request before it answers. Also what the known-bad targets speak to.
final class HTTPCutReceiver: CutReceiver {
  let port: String
  private let target: String
  private let certificates: String?
  private let record: Mutex<GrowingFile>
  private let server: Child

  /// - Parameters:
  ///   - certificates: the folder of those that the server has; nil speaks without TLS.
  ///   - target: the id of another target that takes `url`.
  init(in folder: String, certificates: String? = nil, target: String = "http") throws {
    let file = folder + "/requests"
    self.target = target
    self.certificates = certificates
    record = Mutex(GrowingFile(file))
    let encryption = certificates.map { [$0 + "/good.pem", $0 + "/good.key"] } ?? []
    server = try Child(["python3", Repository.path("Tests/Fixtures/servers/http_peer.py"), file] + encryption)
    port = server.line()
  }

  func load(port: String) -> String {
    let tls = certificates.map { #", "tls": {"ca": "\#($0)/ca.pem"}"# } ?? ""
    let url = "\(certificates == nil ? "http" : "https")://127.0.0.1:\(port)/status/201/{{ file.name }}"
    return #"{"target": "\#(target)", "settings": {"url": "\#(url)"\#(tls)}}"#
  }

  func receipts() throws -> [CutReceipt] {
    try record.withLock { try $0.records() }.compactMap { request in
      let digest = request["sha256"]?.string ?? ""
      // Of what broke off in the middle nothing was taken.
      guard request["method"]?.string != "HEAD", !digest.isEmpty, let path = request["path"]?.string else { return nil }
      let keys = (request["headers"]?.array ?? []).filter { $0[0]?.string == "Idempotency-Key" }
      return CutReceipt(
        name: path.split(separator: "/").last.map(String.init) ?? "",
        identity: "\(keys.map { $0[1]?.string ?? "" }.joined(separator: ",")) \(digest)", digest: digest)
    }
  }
}
