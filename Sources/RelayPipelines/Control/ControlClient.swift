// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem

/// Asks a running daemon over its control socket.
package final class ControlClient {
  package static let socketName = "control.sock"

  /// In milliseconds: after so long without a word from the daemon the person is told that it isn't the command that hangs.
  private static let silence: Int64 = 10_000

  private let connection: ControlConnection
  /// Called when the daemon has said nothing for a while; waiting goes on.
  package var onSilence: () -> Void = {}

  /// Connects to the daemon of a state folder; nil when none listens there.
  ///
  /// - Throws: when one may listen but this user can't reach it.
  package init?(stateFolder: String) throws(Refusal) {
    do {
      let folder = try Directory(stateFolder)
      let socket = try UnixSocket.connect(in: folder, Self.socketName)
      connection = ControlConnection(socket)
    } catch {
      switch error.code {
      case ENOENT, ECONNREFUSED, ENOTDIR: return nil
      default:
        throw Refusal(
          .unreachable, .controlUnreachable, "The daemon of \(stateFolder) can't be reached: \(error.message).",
          hint: "run this as the user that runs the daemon")
      }
    }
  }

  /// Sends a request and waits for its reply.
  package func ask(_ request: ControlRequest) throws(Refusal) -> ControlReply {
    try send(request.line)
    return try reply()
  }

  /// Hands over files, a few at a time, and waits until the daemon has them all on disk.
  ///
  /// - Parameter open: opens the file with that place in the request; called once for each, in order.
  package func submit(
    _ pipeline: String, names: [String], open: (Int) throws(Refusal) -> Descriptor
  ) throws(Refusal) -> ControlReply {
    var sent = 0
    do throws(Refusal) {
      return try submit(pipeline, names: names, sent: &sent, open: open)
    } catch {
      guard error == Self.gone else { throw error }
      guard sent >= names.count else {
        throw Refusal(
          error.outcome, error.code, "The daemon ended before it had all files, so nothing was accepted.",
          hint: "submit them again")
      }
      throw Refusal(
        .fault, .submitUnknown,
        "The daemon ended before it answered, so whether the artifact is on the disk is not known.",
        hint: "look with `relay-host queue \(pipeline)`; submitted again, it arrives twice at most")
    }
  }

  private func submit(
    _ pipeline: String, names: [String], sent: inout Int, open: (Int) throws(Refusal) -> Descriptor
  ) throws(Refusal) -> ControlReply {
    while true {
      var files: [Descriptor] = []
      for place in sent..<min(names.count, sent + ControlConnection.descriptorsPerLine) {
        files.append(try open(place))
      }
      let line =
        sent == 0
        ? ControlRequest.submit(pipeline: pipeline, names: names).line : Array("{\"more\":\(files.count)}\n".utf8)
      try send(line, with: files)
      sent += files.count
      if sent >= names.count { return try reply() }
      let answer = try next()
      guard answer["continue"] != nil else {
        guard let reply = ControlReply(answer) else { throw Self.strange }
        return reply
      }
    }
  }

  /// Hands over the folder that a backup is to be written to, and waits until it is whole.
  ///
  /// - Parameter progress: told now and then how far it has come.
  package func backup(
    into folder: Directory, withSecrets: Bool, progress: (JSONNode) -> Void
  ) throws(Refusal) -> ControlReply {
    do throws(Refusal) {
      try send(
        ControlRequest.backup(folder: folder.path, withSecrets: withSecrets).line, with: [folder.descriptor])
      while true {
        let answer = try next()
        if let done = answer["progress"] {
          progress(done)
          continue
        }
        guard let reply = ControlReply(answer) else { throw Self.strange }
        return reply
      }
    } catch {
      guard error == Self.gone else { throw error }
      throw Refusal(
        error.outcome, error.code, "The daemon ended before the backup was whole.",
        hint: "what lies in \(folder.path) is no backup; the next one into that folder clears it")
    }
  }

  private func reply() throws(Refusal) -> ControlReply {
    guard let reply = ControlReply(try next()) else { throw Self.strange }
    return reply
  }

  private func send(_ line: [UInt8], with files: [Descriptor] = []) throws(Refusal) {
    do throws(ControlConnection.Failure) {
      try connection.send(line, with: files)
    } catch {
      throw Self.gone
    }
  }

  private func next() throws(Refusal) -> JSONNode {
    do throws(ControlConnection.Failure) {
      if try !connection.waitReadable(milliseconds: Self.silence) { onSilence() }
      guard let node = try connection.receive() else { throw ControlConnection.Failure.closed }
      return node
    } catch {
      throw error == .notJSON ? Self.strange : Self.gone
    }
  }

  private static let gone = Refusal(
    .unreachable, .controlUnreachable, "The daemon closed the connection before it answered.",
    hint: "whether it did what was asked is not known: look with `relay-host status`"
  )
  private static let strange = Refusal(
    .fault, .controlProtocol, "The daemon's answer can't be understood.",
    hint: "are the daemon and this command of the same version? see `relay-host version`")
}
