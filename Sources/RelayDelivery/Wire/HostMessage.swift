// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol
import TargetABI

/// What a worker process may use; nil is no limit of ours.
package struct WorkerLimits: Sendable, Equatable {
  /// Bytes of address space (`RLIMIT_AS`).
  package var memory: UInt64?
  /// Bytes that can be written to, in all mappings that are its own (`RLIMIT_DATA`).
  package var data: UInt64?
  package var openFiles: UInt64?
  /// Bytes of a file that it writes (`RLIMIT_FSIZE`).
  package var fileSize: UInt64?
  /// Processes and threads of the whole user (`RLIMIT_NPROC`), not of this worker alone.
  package var processes: UInt64?

  /// What a target gets: 4 GiB of address space, since runtimes reserve far more than they use, 1 GiB of it to write to, and
  /// 256 open files. A file that it writes may be of any size: a part may be. Processes can't be limited for one worker of a
  /// user; its confinement lets it start threads only, whose stacks count as data.
  package static let ofTargets = WorkerLimits(memory: 4 << 30, data: 1 << 30, openFiles: 256)

  /// For one that says what it is and nothing else: it writes no file.
  package static let ofDescribing = WorkerLimits(memory: 4 << 30, data: 1 << 30, openFiles: 64, fileSize: 1 << 20)

  package init(
    memory: UInt64? = nil, data: UInt64? = nil, openFiles: UInt64? = nil, fileSize: UInt64? = nil,
    processes: UInt64? = nil
  ) {
    self.memory = memory
    self.data = data
    self.openFiles = openFiles
    self.fileSize = fileSize
    self.processes = processes
  }
}

/// What the host says to a worker.
package enum HostMessage: Sendable, Equatable {
  /// Before `load`: what is to be let in of the paths that travel along, opened, in this order; at most
  /// `RELAY_ACCESS_MAXIMUM` at a time.
  case access([WorkerConfinement.PathMode])
  /// `path` is absolute.
  case load(path: String, pipelineID: String, limits: WorkerLimits, confinement: WorkerConfinement)
  case describe
  case open(settings: [SettingEntry], secrets: [SecretEntry], settingsJSON: [UInt8])
  /// `overlay`: settings rendered for this delivery. `verifiedChecksum`: the `PartChecksum` of the part if its SHA-256 was compared
  /// beforehand; nil lets the worker ask (`WorkerMessage.verify`) before it hands out the last chunk.
  case deliver(DeliveryFields, overlay: [SettingEntry], verifiedChecksum: UInt64?)
  case check
  /// `code` is `RELAY_OK`, `RELAY_ABSENT`, `RELAY_DENIED` or `RELAY_FAILED`.
  case stateAnswer(code: Int32, value: [UInt8])
  case scratchAnswer(code: Int32)
  case verifyAnswer(code: Int32, checksum: UInt64)
  case leave

  /// How many descriptors must travel with the frame's first byte, in this order: paths; part, cancel; cancel; scratch file.
  package var descriptorCount: Int {
    switch self {
    case .access(let modes): modes.count
    case .deliver: 2
    case .check: 1
    case .scratchAnswer(let code): code == RELAY_OK ? 1 : 0
    default: 0
    }
  }

  /// The frame's bytes.
  ///
  /// Throws `messageTooLong` above 1 MiB and `badDigest`.
  package func encoded(requestID: UInt64) throws(WireError) -> [UInt8] {
    var writer = WireWriter()
    switch self {
    case .access(let modes):
      writer.count(modes.count)
      for mode in modes { writer.u32(mode.rawValue) }
    case .load(let path, let pipelineID, let limits, let confinement):
      writer.u32(RELAY_PROTOCOL_VERSION)
      writer.text(path)
      writer.text(pipelineID)
      writer.u64(limits.memory ?? 0)
      writer.u64(limits.data ?? 0)
      writer.u64(limits.openFiles ?? 0)
      writer.u64(limits.fileSize ?? 0)
      writer.u64(limits.processes ?? 0)
      writer.confinement(confinement)
    case .describe, .check, .leave: break
    case .open(let settings, let secrets, let settingsJSON):
      writer.settings(settings)
      writer.count(secrets.count)
      for secret in secrets {
        writer.text(secret.path)
        writer.text(secret.value)
      }
      writer.data(settingsJSON)
    case .deliver(let fields, let overlay, let verifiedChecksum):
      try writer.delivery(fields)
      writer.settings(overlay)
      writer.u8(verifiedChecksum == nil ? 0 : 1)
      writer.u64(verifiedChecksum ?? 0)
    case .stateAnswer(let code, let value):
      writer.i32(code)
      writer.data(value)
    case .scratchAnswer(let code): writer.i32(code)
    case .verifyAnswer(let code, let checksum):
      writer.i32(code)
      writer.u64(checksum)
    }
    return try writer.frame(type: type, requestID: requestID)
  }

  private var type: UInt32 {
    switch self {
    case .access: RELAY_FRAME_ACCESS
    case .load: RELAY_FRAME_LOAD
    case .describe: RELAY_FRAME_DESCRIBE
    case .open: RELAY_FRAME_OPEN
    case .deliver: RELAY_FRAME_DELIVER
    case .check: RELAY_FRAME_CHECK
    case .stateAnswer: RELAY_FRAME_STATE_ANSWER
    case .scratchAnswer: RELAY_FRAME_SCRATCH_ANSWER
    case .verifyAnswer: RELAY_FRAME_VERIFY_ANSWER
    case .leave: RELAY_FRAME_LEAVE
    }
  }
}
