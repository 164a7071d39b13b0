// SPDX-License-Identifier: Apache-2.0
import RelayJSON

extension PipelinesFile {
  static let extract = ObjectDeclaration(
    name: "extract",
    summary:
      "The source of a pipeline. All but `from` and `directory` is for health data, and waits for a later version.",
    keys: [
      KeyDeclaration(
        "from", .word(["health", "inbox"]), required: true,
        "Health data, or files that are dropped into a folder. This version reads no health data: such a pipeline is "
          + "checked and left alone."),
      KeyDeclaration(
        "directory", .path, defaultText: "`<state>/pipelines/<id>/inbox`", "Any folder as the inbox. Inbox only."),
      KeyDeclaration(
        "range",
        .either([
          .word(["changed-days", "since-last-run", "today", "yesterday", "ask"]), .object(previousDays),
          .object(lastDays), .object(dates),
        ]), default: .string("changed-days"), "Which days are read."),
      KeyDeclaration(
        "sections", .list(.word(HealthSection.allCases.map(\.rawValue)), atLeast: 1),
        default: .array([JSONNode(.string("metrics"))]), "Which kinds of health data are read."),
      KeyDeclaration("metrics", .list(.text, atLeast: 1), defaultText: "all", "Which metrics, by name."),
      KeyDeclaration("workoutTypes", .list(.text, atLeast: 1), defaultText: "all", "Which workouts, by type."),
      KeyDeclaration("routes", .flag, default: .bool(false), "Whether workouts come with their routes."),
      KeyDeclaration(
        "workoutDetail", .word(WorkoutDetail.allCases.map(\.rawValue)), default: .string("none"),
        "How finely the course of a workout is read."),
      KeyDeclaration(
        "workoutMetadata", .flag, default: .bool(false), "Whether workouts come with all that their source told."),
      KeyDeclaration(
        "grouping", .either([.word(GroupingUnit.allCases.map(\.rawValue)), .object(groupingEvery)]),
        default: .string("day"), "The spans into which values are gathered; automatic is minutes."),
      KeyDeclaration(
        "sources", .either([.word(["merged", "each"]), .object(preferredSources)]), default: .string("merged"),
        "How values of several sources become one."),
      KeyDeclaration(
        "sleep", .word(SleepForm.allCases.map(\.rawValue)), default: .string("summarized"),
        "A night as one summary, or as its samples."),
    ])

  /// The keys that mean something only for health data.
  static let healthKeys: Set<String> = Set(extract.keys.map(\.name)).subtracting(["from", "directory"])

  static let previousDays = ObjectDeclaration(
    name: "range", summary: "Whole days before today.",
    keys: [KeyDeclaration("previousDays", .integer(1...36_600), required: true, "So many days, without today.")])

  static let lastDays = ObjectDeclaration(
    name: "range", summary: "Days up to and with today.",
    keys: [KeyDeclaration("lastDays", .integer(1...36_600), required: true, "So many days, today among them.")])

  static let dates = ObjectDeclaration(
    name: "range", summary: "Fixed days.",
    keys: [
      KeyDeclaration("from", .date, required: true, "The first day."),
      KeyDeclaration("to", .date, required: true, "The last day, included."),
    ])

  static let groupingEvery = ObjectDeclaration(
    name: "grouping", summary: "Spans of any length.",
    keys: [KeyDeclaration("every", .duration(1000...(366 * 86_400_000)), required: true, "The length of a span.")])

  static let preferredSources = ObjectDeclaration(
    name: "sources", summary: "One source after the other.",
    keys: [
      KeyDeclaration("preferred", .list(.text, atLeast: 1), required: true, "Names of sources, best first.")
    ])
}
