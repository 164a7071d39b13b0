// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig

/// What of the machine every target may read: what it is loaded with, and what name resolution, TLS and clocks look at.
package enum SystemPaths {
  package static let libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"]

  /// Authorities and how TLS is set up. Never a folder with private keys: /etc/ssl and /etc/pki hold those too.
  package static let certificates = [
    "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/tls/openssl.d", "/etc/pki/ca-trust",
    "/etc/crypto-policies", "/usr/share/crypto-policies", "/etc/ca-certificates", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates", "/usr/share/pki", "/var/lib/ca-certificates",
  ]

  package static let resolver = [
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols",
  ]

  package static let clocks = ["/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo"]

  package static let devices = ["/dev/urandom", "/dev/random"]

  /// The one thing that may be written to.
  package static let sink = "/dev/null"

  /// Files that are replaced by a rename: a worker that was let into the old one knows nothing of the new.
  static let replaced = resolver + ["/etc/localtime", "/etc/ssl/openssl.cnf"]

  /// The folder in which a name server's address is kept up to date, where /etc/resolv.conf is a link into /run. Blocking.
  static func resolverFolder() -> [String] {
    let folder = PathRules.parent(of: PathRules.resolvingLinks("/etc/resolv.conf"))
    return PathRules.isInside(folder, "/run") && folder != "/run" ? [folder] : []
  }

  /// What the program's own environment names for the same purposes, which workers are told too.
  static func ofEnvironment() -> [String] {
    let names: [String] = ["SSL_CERT_FILE", "SSL_CERT_DIR", "TZDIR"]
    return names.flatMap { name -> [String] in
      let value = getenv(name).map { String(cString: $0) } ?? ""
      return value.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
  }
}
