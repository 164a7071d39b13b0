// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What people read about a connection or a message.
struct Words {
  /// "broker.example:8883".
  let place: String
  let usesTLS: Bool

  init(_ settings: MQTTSettings) {
    place = settings.host.contains(":") ? "[\(settings.host)]:\(settings.port)" : "\(settings.host):\(settings.port)"
    usesTLS = settings.tls != nil
    clientID = settings.clientID
  }

  let clientID: String?

  var overLimit: String {
    "larger than the 64 MB of a message, which is held in memory; make smaller parts"
  }

  var keepsNothing: String {
    "the broker at \(place) keeps no retained messages, which \"retain\" and \"discovery\" need; allow them there"
  }

  var passwordInClear: String {
    "the password goes to \(place) without encryption; set \"tls\" if the broker has a port for it"
  }

  var speaksOnly3: String {
    "MQTT 3.1.1 is spoken with \(place): such a broker cannot say that it drops a message, for example on a topic that the"
      + " user may not publish on, so that counts as delivered"
  }

  var messageTooMuch: String {
    "the broker at \(place) closed the connection at this message \(LossCount.most) times and not without it: too large"
      + " for it, or not allowed on the topic; see its log"
  }

  var thrownOut: String {
    "the broker at \(place) throws this client out again and again, also when it says nothing\(twin)"
  }

  var closedAtRest: String {
    "the broker at \(place) closed \(Broker.mostClosings) connections in a row between deliveries, which lost nothing"
      + twin
  }

  private var twin: String {
    let id = clientID.map { " \($0)" } ?? ""
    return "; does another client use the client id\(id)? See the broker's log, or set another \"clientId\""
  }

  /// After a check.
  func checked(speaks5: Bool, tls: String, id: String) -> String {
    "the broker at \(place) takes the login with MQTT \(speaks5 ? "5" : "3.1.1")\(tls.isEmpty ? "" : " over \(tls)")"
      + ", checked with the client id \(id)"
  }

  /// Why there is no connection.
  func unconnected(_ end: Link.End) -> String {
    switch end {
    case .unreachable(let number): "the broker at \(place) cannot be reached: \(String(cString: strerror(number)))"
    case .silent: "the broker at \(place) does not accept a connection"
    // It stood for a moment.
    case .closed: ungreeted(end)
    default: of(end)
    }
  }

  /// Why a connection that stood brought no greeting.
  func ungreeted(_ end: Link.End) -> String {
    let kind = usesTLS ? "with TLS" : "without TLS; a port for TLS needs \"tls\""
    return switch end {
    case .silent: "\(place) accepts connections and does not greet; see whether it is a broker's port \(kind)"
    case .closed: "\(place) closed the connection instead of greeting; see whether it is a broker's port \(kind)"
    default: of(end)
    }
  }

  /// The broker's no to a connection.
  func refused(_ greeting: Told.Greeting, speaks5: Bool) -> String {
    let rule = ReasonRule.rule(for: greeting.code, in: speaks5 ? .connackOf5 : .connackOf3)
    var words = "the broker at \(place) refused the connection"
    words += said(greeting.code, rule, greeting.words)
    if !greeting.otherServer.isEmpty { words += "; it names \(greeting.otherServer)" }
    return words
  }

  /// The broker's no to a message.
  func declined(_ answer: Told.Answer) -> String {
    "the broker did not take the message"
      + said(answer.code, ReasonRule.rule(for: answer.code, in: .publishAnswer), answer.words)
  }

  /// Why a connection ended, whenever that was.
  func of(_ end: Link.End) -> String {
    switch end {
    case .stopped: "stopped"
    case .silent: "the broker at \(place) takes no more bytes"
    case .nameUnknown(let words): "no address is known for \"\(place)\": \(words)"
    case .unreachable(let number): "the connection to \(place) broke: \(String(cString: strerror(number)))"
    case .tls(let trouble): of(trouble)
    case .closed: "the broker at \(place) closed the connection"
    case .nonsense(let words): "what answers at \(place) does not speak MQTT as it should: \(words)"
    case .farewell(let code):
      "the broker at \(place) ended the connection" + said(code, ReasonRule.rule(for: code, in: .disconnect), "")
    case .library(let code): "libmosquitto gave up (error \(code))"
    }
  }

  private func of(_ trouble: TLSTrouble) -> String {
    switch trouble {
    case .untrusted(let words):
      "the certificate of \(place) is not trusted: \(words); name its authority in \"tls.ca\", or renew it"
    case .otherHost: "the certificate of \(place) is for another host; set \"host\" to a name that stands in it"
    case .ours(let words):
      "\(place) turned our certificate down, or wants one (\(words)); see \"tls.certificate\" and \"tls.key\""
    case .files(let words): "the files of \"tls\" cannot be used: \(words)"
    case .brokenOff(let words):
      "the TLS handshake with \(place) broke off\(words.isEmpty ? "" : ": \(words)"); see whether the port speaks TLS"
    }
  }

  private func said(_ code: Int32, _ rule: ReasonRule, _ words: String) -> String {
    let name = rule.name.isEmpty ? "" : " \(rule.name)"
    return " (\(code)\(name))\(words.isEmpty ? "" : ": \(words)")\(rule.advice.isEmpty ? "" : "; \(rule.advice)")"
  }
}
