// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayJSON
import RelayPipelines
import RelayQueue
import RelaySystem

/// `secret set`, `secret list` and `secret remove`. Values come by standard input alone, never as words of the command.
enum SecretCommands {
  static func set(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    Ending.of(json: false) { () throws(Refusal) in
      let name = arguments.operands[0]
      let store = try store(session)
      var value = try readValue(name)
      let isNothing = value.isEmpty
      if value.last == 10 { value.removeLast() }
      guard !value.isEmpty else {
        throw Refusal(
          .usage, .commandUsage,
          "\(isNothing ? "Nothing" : "Only a line break") was read from standard input; secret \(name) is as it was.",
          hint: "printf %s \"$VALUE\" | relay-host secret set \(name)")
      }
      do throws(SecretError) { try store.set(name, value) } catch { throw Refusal(error) }
      let told = try tell(session, name)
      return .print("Secret \(name) is stored\(told ? " and in use" : "").\n")
    }
  }

  static func list(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let json = arguments.has("--json")
    return Ending.of(json: json) { () throws(Refusal) in
      let names: [String]
      let store = try store(session)
      do throws(SecretError) { names = try store.list() } catch { throw Refusal(error) }
      if json {
        var writer = JSONWriter(style: .pretty)
        writer.beginObject()
        writer.name("secrets")
        writer.beginArray()
        for name in names { writer.value(name) }
        writer.endArray()
        writer.endObject()
        return .print(String(decoding: writer.bytes, as: UTF8.self))
      }
      return .print(names.isEmpty ? "No secrets are stored.\n" : names.map { $0 + "\n" }.joined())
    }
  }

  static func remove(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    Ending.of(json: false) { () throws(Refusal) in
      let name = arguments.operands[0]
      let store = try store(session)
      do throws(SecretError) { try store.remove(name) } catch { throw Refusal(error) }
      _ = try tell(session, name)
      return .print("Secret \(name) is removed.\n")
    }
  }

  private static func store(_ session: Session) throws(Refusal) -> SecretStore {
    let state = try session.file().places().state
    try Session.refuseForeignState(state)
    // Makes the state folder where it isn't there yet; one that is in use is there.
    do throws(StateError) {
      _ = try StateFolder.open(state)
    } catch {
      guard case .inUse = error else { throw Refusal(error) }
    }
    return SecretStore(folder: state + "/secrets")
  }

  /// Lets a running daemon know; whether there is one.
  private static func tell(_ session: Session, _ name: String) throws(Refusal) -> Bool {
    let file = try session.file()
    let places = try file.places()
    if let client = try Session.client(of: places.state) {
      return try client.ask(.secretChanged(name: name)).refusal == nil
    }
    // Nobody to tell; but a pipeline that had stopped is to go on with the new value at the next start. Where the file
    // has mistakes that is left to `resume`.
    if let state = try? StateFolder.open(places.state, access: .observer),
      !((try? state.pipelineIDsOnDisk()) ?? []).isEmpty,
      case .alone(let useCases, _)? = try? session.way(needsOwner: true)
    {
      _ = useCases.answer(.secretChanged(name: name)) { () throws(Refusal) in
        throw Refusal(.fault, .commandFault, "This command hands over no files.")
      }
    }
    return false
  }

  private static func readValue(_ name: String) throws(Refusal) -> [UInt8] {
    var saved = termios()
    let isTerminal = isatty(0) == 1 && tcgetattr(0, &saved) == 0
    if isTerminal {
      print("Value of \(name) (not shown): ", terminator: "")
      fflush(nil)
      var quiet = saved
      quiet.c_lflag &= ~tcflag_t(ECHO)
      tcsetattr(0, TCSANOW, &quiet)
    }
    defer {
      if isTerminal {
        tcsetattr(0, TCSANOW, &saved)
        print("")
      }
    }
    if isTerminal { return Array((readLine(strippingNewline: true) ?? "").utf8) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= SecretSource.maximumBytes {
      let count = read(0, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { break }
      bytes += chunk[..<count]
    }
    return bytes
  }
}

extension Refusal {
  fileprivate init(_ error: SecretError) {
    let outcome: Outcome = if case .badName = error { .usage } else { .needsYou }
    self.init(
      outcome, error.code, error.message.prefix(1).uppercased() + error.message.dropFirst() + ".", hint: error.hint)
  }
}
