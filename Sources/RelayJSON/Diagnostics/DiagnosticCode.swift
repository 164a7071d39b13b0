// SPDX-License-Identifier: Apache-2.0

/// The registry of every code that the program prints in brackets; `docs/codes.md` is made from it.
///
/// A code is `area.kind`. Programs compare codes, so a released one keeps its meaning; one that is no longer used
/// moves to
/// `retired` and never comes back.
package enum DiagnosticCode: String, CaseIterable, Sendable {
  // Text that should be JSON.
  case jsonEmpty = "json.empty"
  case jsonTooLarge = "json.too-large"
  case jsonTooDeep = "json.too-deep"
  case jsonByteOrderMark = "json.byte-order-mark"
  case jsonUnexpectedEnd = "json.unexpected-end"
  case jsonUnexpectedCharacter = "json.unexpected-character"
  case jsonUnexpectedComma = "json.unexpected-comma"
  case jsonMismatchedBracket = "json.mismatched-bracket"
  case jsonTrailingComma = "json.trailing-comma"
  case jsonTrailingContent = "json.trailing-content"
  case jsonMissingComma = "json.missing-comma"
  case jsonMissingColon = "json.missing-colon"
  case jsonMissingName = "json.missing-name"
  case jsonMissingValue = "json.missing-value"
  case jsonComment = "json.comment"
  case jsonSingleQuotes = "json.single-quotes"
  case jsonUnquotedName = "json.unquoted-name"
  case jsonUnterminatedString = "json.unterminated-string"
  case jsonUnterminatedComment = "json.unterminated-comment"
  case jsonControlCharacter = "json.control-character"
  case jsonBadEscape = "json.bad-escape"
  case jsonLoneSurrogate = "json.lone-surrogate"
  case jsonInvalidUTF8 = "json.invalid-utf8"
  case jsonBadNumber = "json.bad-number"
  case jsonNumberOutOfRange = "json.number-out-of-range"
  case jsonBadLiteral = "json.bad-literal"

  // pipelines.json: what is written.
  case configUnknownKey = "config.unknown-key"
  case configDuplicateKey = "config.duplicate-key"
  case configMissingKey = "config.missing-key"
  case configWrongType = "config.wrong-type"
  case configBadValue = "config.bad-value"
  case configOutOfRange = "config.out-of-range"
  case configBadDuration = "config.bad-duration"
  case configBadSize = "config.bad-size"
  case configBadID = "config.bad-id"
  case configBadDate = "config.bad-date"
  case configBadTime = "config.bad-time"
  case configBadZone = "config.bad-zone"
  case configBadAddress = "config.bad-address"
  case configBadURL = "config.bad-url"

  // pipelines.json: what doesn't go together.
  case configDuplicateID = "config.duplicate-id"
  case configDuplicateInbox = "config.duplicate-inbox"
  case configUnknownTarget = "config.unknown-target"
  case configUnknownPipeline = "config.unknown-pipeline"
  case configArrivalNeedsInbox = "config.arrival-needs-inbox"
  case configAskNeedsManual = "config.ask-needs-manual"
  case configNativeNeedsChangedDays = "config.native-needs-changed-days"
  case configNativeNeedsAllSections = "config.native-needs-all-sections"
  case configInboxTakesNoTransform = "config.inbox-takes-no-transform"
  case configKeyNeedsHealth = "config.key-needs-health"
  case configKeyNeedsInbox = "config.key-needs-inbox"
  case configReversedRange = "config.reversed-range"
  case configNotifyItself = "config.notify-itself"
  case configProtectedPath = "config.protected-path"
  case configLoop = "config.loop"
  case configHealthNotRun = "config.health-not-run"
  case configTemplateIgnored = "config.template-ignored"
  case configNotYet = "config.not-yet"
  case configNeedsRestart = "config.needs-restart"
  case configTooMany = "config.too-many"
  case configMoreWarnings = "config.more-warnings"

  // Secrets.
  case secretPlainText = "secret.plain-text"
  case secretNotAllowed = "secret.not-allowed"
  case secretBadName = "secret.bad-name"
  case secretNotFound = "secret.not-found"
  case secretUnreadable = "secret.unreadable"
  case secretLoosePermissions = "secret.loose-permissions"
  case secretShort = "secret.short"

  // Templates.
  case templateSyntax = "template.syntax"
  case templateUnknownName = "template.unknown-name"

  // What a target says of itself.
  case manifestUnknownKey = "manifest.unknown-key"
  case manifestDuplicateKey = "manifest.duplicate-key"
  case manifestMissingKey = "manifest.missing-key"
  case manifestWrongType = "manifest.wrong-type"
  case manifestBadValue = "manifest.bad-value"
  case manifestBadSchema = "manifest.bad-schema"
  case manifestHostTooOld = "manifest.host-too-old"

  // The command line.
  case commandUsage = "command.usage"
  case commandNoConfiguration = "command.no-configuration"
  case commandNotFound = "command.file-not-found"
  case commandFault = "command.fault"

  // The daemon and its state folder.
  case controlUnreachable = "control.unreachable"
  case controlProtocol = "control.protocol"
  case stateInUse = "state.in-use"
  case stateNewerFormat = "state.newer-format"
  case stateOlderFormat = "state.older-format"
  case stateUnfinishedRestore = "state.unfinished-restore"
  case stateUnusable = "state.unusable"
  case stateNotSaved = "state.not-saved"

  // Backups.
  case backupBadFolder = "backup.bad-folder"
  case backupFailed = "backup.failed"
  case backupNone = "backup.none"
  case backupDamaged = "backup.damaged"
  case backupNewer = "backup.newer"
  case restoreNotEmpty = "restore.not-empty"
  case restoreFailed = "restore.failed"

  // Pipelines, what is handed to them, and what they hold.
  case pipelineUnknown = "pipeline.unknown"
  case pipelineNotRun = "pipeline.not-run"
  case pipelineTakesNoFiles = "pipeline.takes-no-files"
  case submitNoFile = "submit.unreadable-file"
  case submitFull = "submit.queue-full"
  case submitDiskFull = "submit.disk-full"
  case submitChanged = "submit.file-changed"
  case submitFailed = "submit.failed"
  case submitUnknown = "submit.unknown"
  case submitTooMany = "submit.too-many"
  case submitUnit = "submit.one-file"
  case artifactUnknown = "artifact.unknown"
  case artifactDamaged = "artifact.damaged"

  // Deliveries.
  case deliveryNeedsAttention = "delivery.needs-attention"
  case deliveryTargetMisbehaves = "delivery.target-misbehaves"
  case deliveryUnsure = "delivery.unsure"
  case deliveryRefusedFull = "delivery.refused-full"
  case deliveryTargetMissing = "delivery.target-missing"
  case deliveryUnconfined = "delivery.unconfined"
  case deliveryTestFailed = "delivery.test-failed"

  /// Codes of earlier versions, never to be used again.
  package static let retired: [String] = []
}

extension DiagnosticCode {
  package init?(_ kind: JSONError.Kind) { self.init(rawValue: "json.\(kind.rawValue)") }

  package var severity: Diagnostic.Severity {
    switch self {
    case .configHealthNotRun, .configTemplateIgnored, .configNotYet, .configMoreWarnings, .secretLoosePermissions,
      .secretShort,
      .manifestUnknownKey:
      .warning
    default: .error
    }
  }

  /// Whether a configuration with this problem is left aside whole.
  ///
  /// An unknown target only stops its own pipeline.
  package var blocksLoading: Bool { severity == .error && self != .configUnknownTarget }

  /// What the code stands for, for `docs/codes.md` and `relay-host help CODE`.
  package var meaning: String {
    if rawValue.hasPrefix("json."), let kind = JSONError.Kind(rawValue: String(rawValue.dropFirst(5))) {
      return "\(kind.message); \(kind.hint)"
    }
    return switch self {
    case .configUnknownKey: "an object holds a key that it doesn't know; most often a slip of the pen"
    case .configDuplicateKey: "a key is there twice in one object; only one of the two can be meant"
    case .configMissingKey: "a key that must be there is missing"
    case .configWrongType: "a value has another type than its key takes, such as a number where text belongs"
    case .configBadValue: "a value is not one of those that its key takes"
    case .configOutOfRange: "a number, duration, size or length is below or above what its key takes"
    case .configBadDuration: "a duration is a whole number with a unit: 500ms 30s 15m 6h 2d 1w"
    case .configBadSize: "a size is a whole number with a unit: B, KB, MB, GB or TB, each 1000 of the one before"
    case .configBadID:
      "an id is made of a to z, 0 to 9 and -, starts with a letter or digit and has at most 63 characters"
    case .configBadDate: "a date is written 2026-01-31 and exists in the calendar"
    case .configBadTime: "a time of day is written 06:30, from 00:00 to 23:59"
    case .configBadZone: "a time zone is an IANA name such as Europe/Berlin that this machine knows"
    case .configBadAddress: "an address to listen on is written 127.0.0.1:8480, [::1]:8480 or unix:PATH"
    case .configBadURL: "an address starts with a scheme that its key takes, such as https://, and names a host"
    case .configDuplicateID: "two pipelines have the same id"
    case .configDuplicateInbox: "two pipelines take their files from the same folder"
    case .configUnknownTarget:
      "no target of that id was found; the pipeline keeps its queue and needs attention, all others run"
    case .configUnknownPipeline: "a pipeline is named that isn't in the file"
    case .configArrivalNeedsInbox: "the trigger \"arrival\" waits for files, so the pipeline must extract from an inbox"
    case .configAskNeedsManual:
      "the range \"ask\" is given when a person starts a run, so the trigger must be \"manual\""
    case .configNativeNeedsChangedDays:
      "the native format delivers whole days as they change, so the range must be \"changed-days\""
    case .configNativeNeedsAllSections:
      "the native format owns each day it lists; leaving a section out would erase it at the receiver"
    case .configInboxTakesNoTransform: "files from an inbox are delivered as they are"
    case .configKeyNeedsHealth: "the key says how health data is read and means nothing for an inbox"
    case .configKeyNeedsInbox: "the key belongs to an inbox and means nothing for health data"
    case .configReversedRange: "a range ends before it starts"
    case .configNotifyItself: "a pipeline can't tell of its own failure through itself"
    case .configProtectedPath:
      "a target would be let into the state folder, the configuration file, a folder of targets or the secrets, or an inbox would take them away; a folder around them counts, too"
    case .configLoop: "what a pipeline delivers would come back into its own inbox, for ever"
    case .configHealthNotRun:
      "this version doesn't run pipelines that read health data; the pipeline is checked and left alone"
    case .configTemplateIgnored: "a setting holds {{ but is not one that is rendered; it is delivered as it stands"
    case .configNotYet: "the key is known and checked, and what it asks for comes with a later version"
    case .configNeedsRestart: "the changed file is good, but what it changes can't be changed while the daemon runs"
    case .configTooMany: "there are more mistakes than are shown at once"
    case .configMoreWarnings: "there are more warnings than are shown at once"
    case .secretPlainText: "a secret is written into the file where only {\"secret\": \"name\"} is taken"
    case .secretNotAllowed: "{\"secret\": \"name\"} stands where no secret is taken"
    case .secretBadName: "the name of a secret is made like an id"
    case .secretNotFound: "a secret was found in none of its three places"
    case .secretUnreadable: "a secret is there and can't be read"
    case .secretLoosePermissions: "the file of a secret can be read by others; chmod 600 mends it"
    case .secretShort: "a secret of fewer than 8 bytes can only be blanked out of messages as a whole word"
    case .templateSyntax: "a template can't be read"
    case .templateUnknownName: "a template asks for a value that isn't there"
    case .manifestUnknownKey: "a target's manifest holds a key that this version doesn't know"
    case .manifestDuplicateKey: "a target's manifest holds a key twice"
    case .manifestMissingKey: "a target's manifest lacks a key that must be there"
    case .manifestWrongType: "a value in a target's manifest has the wrong type"
    case .manifestBadValue: "a value in a target's manifest is not one that its key takes"
    case .manifestBadSchema:
      "the settings schema of a target's manifest is outside of the part of JSON Schema that is taken"
    case .manifestHostTooOld: "the target needs a newer Relay Host"
    case .commandUsage: "the words of the command line don't fit the command; --help shows how it reads"
    case .commandNoConfiguration: "no pipelines.json was named with --config and none lies where it is looked for"
    case .commandNotFound: "a file that was named can't be read"
    case .commandFault: "something went wrong that is a fault of the program or the machine, not of what was asked"
    case .controlUnreachable: "the daemon can't be reached over its control socket"
    case .controlProtocol: "the daemon and the command don't understand each other; their versions differ, most often"
    case .stateInUse: "another process works with the state folder; only one may"
    case .stateNewerFormat: "the state folder was written by a newer version of the program; it is not touched"
    case .stateOlderFormat:
      "the state folder was written by an older version and must be brought up by the daemon first"
    case .stateUnfinishedRestore: "a restore into the state folder was cut short; it is to be run again"
    case .backupBadFolder: "the folder that was named for a backup can't be used for one"
    case .backupFailed: "the backup was not written; the state folder is as it was"
    case .backupNone: "the folder holds no backup, or one that was cut short"
    case .backupDamaged: "a file of the backup is not as it was written; nothing was put back"
    case .backupNewer: "the backup, or the state folder in it, is a newer version's"
    case .restoreNotEmpty: "a backup is put back into an empty state folder only"
    case .restoreFailed: "the backup was not put back whole; the daemon doesn't start with what there is of it"
    case .stateUnusable: "the state folder can't be opened, read or written"
    case .stateNotSaved: "what was said holds while the daemon runs and could not be saved yet; a restart would undo it"
    case .pipelineUnknown: "no pipeline of that id is in the configuration"
    case .pipelineNotRun: "the pipeline reads health data, which this version doesn't run"
    case .pipelineTakesNoFiles: "files can only be handed to a pipeline whose extract.from is inbox"
    case .submitNoFile: "a file that was to be handed over can't be read"
    case .submitFull: "the pipeline holds as much as delivery.maxQueued allows; nothing was taken"
    case .submitDiskFull:
      "the disk has no room for the artifact beside the reserve that is kept free; nothing was taken"
    case .submitChanged: "a file changed while it was taken; nothing was taken"
    case .submitFailed: "the artifact could not be put on the disk; nothing was taken"
    case .submitUnknown: "whether the artifact is on the disk is not known; submitted again, it arrives twice at most"
    case .submitTooMany: "an artifact has at most 10000 parts"
    case .submitUnit: "the target takes one file at a time; each goes as an artifact of its own"
    case .artifactUnknown: "no artifact of that id is there"
    case .artifactDamaged: "an artifact's files are not what was accepted"
    case .deliveryNeedsAttention: "the receiver or the settings need a person; nothing is sent until then"
    case .deliveryTargetMisbehaves: "the target failed ten times in a row without a verdict"
    case .deliveryUnsure: "everything was sent, the answer was lost, and delivery.onUnsure is hold"
    case .deliveryRefusedFull: "refused/ has reached delivery.maxRefused; a person must look through it"
    case .deliveryTargetMissing: "the target that the pipeline names can't be used"
    case .deliveryUnconfined: "the kernel can't confine the target, and it may not run without that"
    case .deliveryTestFailed: "a test delivery was not accepted"
    default: ""
    }
  }

  /// The page `docs/codes.md`.
  package static func documentation() -> String {
    var page = """
      # Codes

      Each problem that Relay Host tells ends with a code in brackets. Codes are stable: programs may compare them.
      This page is made from the registry in the source by `scripts/update-docs`.

      | code | severity | what it means |
      |---|---|---|

      """
    for code in allCases {
      let meaning = code.meaning.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
      page += "| `\(code.rawValue)` | \(code.severity.rawValue) | \(meaning) |\n"
    }
    if !retired.isEmpty {
      page += "\nRetired, never used again: \(retired.map { "`\($0)`" }.joined(separator: ", ")).\n"
    }
    return page
  }
}
