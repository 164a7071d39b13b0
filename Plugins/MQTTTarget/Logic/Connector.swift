// SPDX-License-Identifier: Apache-2.0
import LocalNames
import TargetKit

/// Makes a connection: finds an address that answers, a version that the broker speaks, and logs in.
struct Connector {
  enum Failure: Error, Equatable {
    case settings(MQTTFault)
    /// No TCP or TLS connection.
    case unconnected(Link.End)
    /// The connection stood and no CONNACK came.
    case ungreeted(Link.End)
    /// CONNACK said no.
    case refused(Told.Greeting, speaks5: Bool)

    /// The broker does not know MQTT 5, or may not.
    var asksFor3: Bool {
      switch self {
      case .refused(let greeting, true): greeting.code == 132 || greeting.code == 1
      // A greeting of 3.1.1 to a client of 5 is no valid packet, and some brokers just close.
      case .ungreeted(.nonsense), .ungreeted(.closed): true
      default: false
      }
    }

    var isNameUnknown: Bool { if case .unconnected(.nameUnknown) = self { true } else { false } }

    var isUnreachable: Bool {
      switch self {
      case .unconnected(.unreachable), .unconnected(.silent), .unconnected(.library): true
      default: false
      }
    }
  }

  /// Milliseconds for one address to accept.
  static let patience: Int64 = 15_000
  /// Of one name that are tried.
  static let mostAddresses = 4
  /// Milliseconds of silence before CONNACK.
  static let greetingPatience: Int64 = 30_000
  /// Seconds; and bytes a second that a message is expected to move at least.
  static let keepAlive = (least: UInt64(60), slowest: UInt64(4096))

  let settings: MQTTSettings
  let clientID: String
  let watch: Watch

  /// Seconds between signs of life that the broker is told of: time enough for one message to leave.
  static func keepAlive(for bytes: UInt64) -> Int32 {
    Int32(clamping: min(65_535, max(keepAlive.least, bytes / keepAlive.slowest)))
  }

  /// A connection whose greeting was good; `only3` skips the attempt with MQTT 5.
  func connect(keepAlive: Int32, only3: Bool) throws(Failure) -> Link {
    guard settings.version != .three, !only3 else { return try connect(keepAlive, speaks5: false) }
    do throws(Failure) {
      return try connect(keepAlive, speaks5: true)
    } catch {
      guard settings.version == .auto, error.asksFor3 else { throw error }
      return try connect(keepAlive, speaks5: false)
    }
  }

  private func connect(_ keepAlive: Int32, speaks5: Bool) throws(Failure) -> Link {
    let link = try reachByAnyName(keepAlive, speaks5)
    do throws(Link.End) {
      try link.serve(watch, patience: Self.greetingPatience) { link.told.greeting != nil }
    } catch .tls(let trouble) {
      throw .unconnected(.tls(trouble))
    } catch {
      throw .ungreeted(error)
    }
    guard let greeting = link.told.greeting, greeting.code == 0 else {
      throw .refused(link.told.greeting ?? Told.Greeting(code: 128), speaks5: speaks5)
    }
    return link
  }

  /// What no name server knows, the machines of the network may know themselves.
  private func reachByAnyName(_ keepAlive: Int32, _ speaks5: Bool) throws(Failure) -> Link {
    do throws(Failure) {
      return try reachAny(keepAlive, speaks5)
    } catch {
      guard error.isNameUnknown, let name = LocalName(settings.host) else { throw error }
      var last = error
      for address in MulticastResolver().addresses(of: name, host: watch.host).prefix(Self.mostAddresses) {
        var ignored: Bool?
        do throws(Failure) {
          return try reach(keepAlive, speaks5, from: nil, at: address, isIPv6: &ignored)
        } catch {
          guard error.isUnreachable else { throw error }
          last = error
        }
      }
      throw last
    }
  }

  /// A name may stand for an address of IPv6 and one of IPv4; the library tries the first alone.
  private func reachAny(_ keepAlive: Int32, _ speaks5: Bool) throws(Failure) -> Link {
    var isIPv6: Bool?
    do throws(Failure) {
      return try reach(keepAlive, speaks5, from: nil, isIPv6: &isIPv6)
    } catch {
      guard error.isUnreachable, let isIPv6 else { throw error }
      var ignored: Bool?
      do throws(Failure) {
        return try reach(keepAlive, speaks5, from: isIPv6 ? "0.0.0.0" : "::", isIPv6: &ignored)
      } catch let other {
        throw other.isUnreachable ? error : other
      }
    }
  }

  private func reach(
    _ keepAlive: Int32, _ speaks5: Bool, from local: String?, at address: String? = nil, isIPv6: inout Bool?
  ) throws(Failure) -> Link {
    let link: Link
    do throws(MQTTFault) {
      link = try Client.make(settings, id: clientID, speaks5: speaks5, address: address)
    } catch {
      throw .settings(error)
    }
    do throws(Link.End) {
      try link.begin(port: settings.port, keepAlive: keepAlive, from: local)
      if link.descriptor >= 0 { isIPv6 = TCPSocket(descriptor: link.descriptor).isIPv6 }
      try link.serve(watch, patience: Self.patience) { !link.isConnecting }
      return link
    } catch {
      throw .unconnected(error)
    }
  }
}
