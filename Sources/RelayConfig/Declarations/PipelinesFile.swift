// SPDX-License-Identifier: Apache-2.0
import RelayJSON

private let second: Int64 = 1000
private let year: Int64 = 366 * 86_400_000
private let anySize: ClosedRange<Int64> = 1...Int64.max
/// Of what is read and checked, and comes with a later version.
private let noEffect = "No effect in this version."

/// The keys of pipelines.json.
enum PipelinesFile {
  static let root = ObjectDeclaration(
    name: "the file", summary: "The whole file.",
    keys: [
      KeyDeclaration("$schema", .text, "Where an editor finds the JSON Schema of this file; not read by the program."),
      KeyDeclaration(
        "state", .path,
        defaultText:
          "`$STATE_DIRECTORY`, else `relay-data` beside the file, or `/var/lib/relay-host` for a file under `/etc`",
        "The folder that keeps everything: queues, health data, secrets. Relative to the file's own folder."),
      KeyDeclaration(
        "targets", .list(.path, atLeast: 0), default: .array([]),
        "Folders searched for targets besides those that come with the program; watched while it runs."),
      KeyDeclaration(
        "timeZone", .either([.zone, .list(.object(zonePeriod), atLeast: 1)]), defaultText: "the machine's",
        "The time zone in which times are shown, or a list of zones with the day each began; in this version the last counts."
      ),
      KeyDeclaration(
        "weekStart", .word(Weekday.allCases.map(\.rawValue)), default: .string("monday"),
        "The first day of a week, for health data. \(noEffect)"),
      KeyDeclaration(
        "workers", .integer(1...1024), default: .number(JSONNumber(64)), "The most worker processes at one time."),
      KeyDeclaration(
        "confinement", .word(ConfinementMode.allCases.map(\.rawValue)),
        defaultText: "`best-effort` for targets that come with the program, `required` for others and for all as root",
        "Whether a target may run where the kernel can't confine it."),
      KeyDeclaration("mailDomain", .domain, defaultText: "the sender's", "The domain of Message-IDs."),
      KeyDeclaration(
        "sourceOrder", .list(.text, atLeast: 1),
        default: .array(["watch", "phone", "others"].map { JSONNode(.string($0)) }),
        "Names or kinds of sources, best first, for merged values of health data. \(noEffect)"),
      KeyDeclaration(
        "server", .object(server), defaultText: "no listener at all",
        "The HTTP server for phones, console and programs. \(noEffect)"),
      KeyDeclaration(
        "pipelines", .list(.object(pipeline), atLeast: 0), required: true, "What is delivered where."),
    ])

  static let zonePeriod = ObjectDeclaration(
    name: "timeZone", summary: "A zone and the day from which it holds.",
    keys: [
      KeyDeclaration("from", .date, required: true, "The first day in this zone."),
      KeyDeclaration("zone", .zone, required: true, "The zone's IANA name."),
    ])

  static let server = ObjectDeclaration(
    name: "server", summary: "The HTTP server. \(noEffect)",
    keys: [
      KeyDeclaration("listen", .listenAddress, required: true, "Address and port, or `unix:PATH`."),
      KeyDeclaration("token", .secret, "The secret that programs and the console present."),
      KeyDeclaration(
        "tls", .either([.word(["self-signed"]), .object(serverTLS)]), "`\"self-signed\"`, or certificate and key."),
      KeyDeclaration("publicUrl", .url, "The address under which others reach the server."),
      KeyDeclaration("maxBody", .size(anySize), default: .string("256MB"), "The largest body that is taken."),
    ])

  static let serverTLS = ObjectDeclaration(
    name: "tls", summary: "The server's certificate.",
    keys: [
      KeyDeclaration("certificate", .path, required: true, "A PEM file with the certificate and its chain."),
      KeyDeclaration("key", .path, required: true, "A PEM file with the private key."),
    ])

  static let pipeline = ObjectDeclaration(
    name: "a pipeline", summary: "One way from a source to a destination.",
    keys: [
      KeyDeclaration("id", .id, required: true, "`[a-z0-9][a-z0-9-]{0,62}`; names its folder and never changes."),
      KeyDeclaration("name", .text, defaultText: "the id", "The name for people."),
      KeyDeclaration(
        "paused", .flag, default: .bool(false), "Stops sending; days and inbox files go on gathering."),
      KeyDeclaration(
        "trigger",
        .either([.word(["manual", "arrival", "health-changes"]), .object(triggerEvery), .object(triggerAt)]),
        defaultText: "`manual`; `arrival` for an inbox",
        "What starts a run. In this version `arrival` and `every` work, for an inbox; with the others its folder is not "
          + "looked at, and `submit` works with all of them."),
      KeyDeclaration("extract", .object(extract), required: true, "Where the data comes from."),
      KeyDeclaration(
        "transform", .either([.object(transformTemplate), .object(transformFormat)]),
        defaultText: "native; none for an inbox", "How health data becomes text. \(noEffect)"),
      KeyDeclaration("load", .object(load), required: true, "Where it is delivered."),
      KeyDeclaration("delivery", .object(delivery), "How it is delivered."),
      KeyDeclaration("notify", .object(notify), "Who is told of what. \(noEffect)"),
    ])

  static let triggerEvery = ObjectDeclaration(
    name: "trigger", summary: "A run again and again: an inbox is looked at this often.",
    keys: [KeyDeclaration("every", .duration(second...year), required: true, "The time between runs.")])

  static let triggerAt = ObjectDeclaration(
    name: "trigger", summary: "A run at a time of day. \(noEffect)",
    keys: [
      KeyDeclaration("at", .time, required: true, "The time on the wall in the file's time zone."),
      KeyDeclaration(
        "days", .list(.word(Weekday.allCases.map(\.short)), atLeast: 1), defaultText: "every day", "On which days."),
    ])

  static let transformTemplate = ObjectDeclaration(
    name: "transform", summary: "A template.",
    keys: [KeyDeclaration("template", .text, required: true, "A template's name, or a path to one.")])

  static let transformFormat = ObjectDeclaration(
    name: "transform", summary: "A built-in format.",
    keys: [KeyDeclaration("format", .word(["native"]), required: true, "The native format.")])

  static let load = ObjectDeclaration(
    name: "load", summary: "The destination.",
    keys: [
      KeyDeclaration("target", .targetID, required: true, "A target's id; `relay-host targets` lists them."),
      KeyDeclaration("settings", .any, "What this target needs, as its manifest says."),
    ])

  static let delivery = ObjectDeclaration(
    name: "delivery", summary: "How output is delivered.",
    keys: [
      KeyDeclaration("spacing", .duration(0...year), default: .string("1s"), "The time between two deliveries."),
      KeyDeclaration(
        "retryFirst", .duration(1...year), default: .string("1m"),
        "The wait after the first failure; doubles from there."),
      KeyDeclaration("retryMax", .duration(1...year), default: .string("6h"), "The longest wait."),
      KeyDeclaration(
        "timeout", .duration(second...86_400_000), default: .string("30s"),
        "How long a delivery may make no progress; never a limit on the whole."),
      KeyDeclaration("encode", .word(["gzip"]), defaultText: "none", "Compresses what is sent."),
      KeyDeclaration(
        "onUnsure", .word(UnsurePolicy.allCases.map(\.rawValue)), default: .string("retry"),
        "What happens when all was sent and the answer was lost. With hold "
          + "a person decides, also when the program itself ended in the middle."),
      KeyDeclaration("maxQueued", .object(maxQueued), "How much may wait before no more is taken."),
      KeyDeclaration(
        "keepDelivered", .either([.integer(0...1_000_000), .duration(second...(100 * year))]), defaultText: "none",
        "Keeps what was delivered for a resend: the last so many artifacts, or so long. \(noEffect)"),
      KeyDeclaration(
        "maxRefused", .size(anySize), default: .string("1GB"),
        "How much may be set aside as refused before the pipeline needs attention."),
    ])

  static let maxQueued = ObjectDeclaration(
    name: "maxQueued", summary: "The bounds of a pipeline's backlog.",
    keys: [
      KeyDeclaration("bytes", .size(anySize), default: .string("10GB"), "Bytes that may wait."),
      KeyDeclaration(
        "artifacts", .integer(1...10_000_000), default: .number(JSONNumber(10_000)), "Artifacts that may wait."),
    ])

  static let notify = ObjectDeclaration(
    name: "notify", summary: "What is told to people. \(noEffect)",
    keys: [
      KeyDeclaration("failed", .flag, default: .bool(false), "Tells when a run or delivery needs a person."),
      KeyDeclaration("finished", .flag, default: .bool(false), "Tells when a run was delivered."),
      KeyDeclaration(
        "overdue", .duration(second...year), defaultText: "none", "Tells when a run is late by this much."),
      KeyDeclaration("ready", .flag, default: .bool(false), "Tells when output waits for a person."),
      KeyDeclaration("through", .id, defaultText: "none", "The pipeline that carries the message."),
    ])
}
