// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// The page `docs/configuration.md`, made of the declarations by which the file is read.
package enum ConfigurationDocumentation {
  package static func page() -> String {
    var page = """
      # pipelines.json

      The keys of the configuration file. This page is made from the source by `scripts/update-docs`.

      Durations are a whole number and a unit: `500ms`, `30s`, `15m`, `6h`, `2d`, `1w`. Sizes likewise: `64KB`, `10MB`,
      `2GB`, where 1 KB is 1000 bytes. Paths that don't start with `/` start at the file's own folder. A secret is never
      written into the file: `{"secret": "name"}` stands for it, and `relay-host secret set name` stores it. Unknown keys,
      keys that are there twice, comments and commas after the last entry are errors.

      Some keys are read and checked, and what they ask for comes with a later version. They say so here.

      """
    for (title, declaration) in sections { page += section(title, declaration) }
    return page
  }

  private static let sections: [(String, ObjectDeclaration)] = [
    ("The file", PipelinesFile.root), ("`timeZone` as a list", PipelinesFile.zonePeriod),
    ("`server`", PipelinesFile.server),
    ("`server.tls` as an object", PipelinesFile.serverTLS), ("A pipeline", PipelinesFile.pipeline),
    ("`trigger`: every", PipelinesFile.triggerEvery), ("`trigger`: at", PipelinesFile.triggerAt),
    ("`extract`", PipelinesFile.extract), ("`extract.range`: previous days", PipelinesFile.previousDays),
    ("`extract.range`: last days", PipelinesFile.lastDays), ("`extract.range`: dates", PipelinesFile.dates),
    ("`extract.grouping` as an object", PipelinesFile.groupingEvery),
    ("`extract.sources` as an object", PipelinesFile.preferredSources),
    ("`transform`: a template", PipelinesFile.transformTemplate),
    ("`transform`: a format", PipelinesFile.transformFormat),
    ("`load`", PipelinesFile.load), ("`delivery`", PipelinesFile.delivery),
    ("`delivery.maxQueued`", PipelinesFile.maxQueued), ("`notify`", PipelinesFile.notify),
  ]

  private static func section(_ title: String, _ declaration: ObjectDeclaration) -> String {
    var text = "\n## \(title)\n\n\(declaration.summary)\n\n| key | value | default | |\n|---|---|---|---|\n"
    for key in declaration.keys {
      text += "| `\(key.name)` | \(values(key.type)) | \(byDefault(key)) | \(key.summary) |\n"
    }
    return text
  }

  private static func byDefault(_ key: KeyDeclaration) -> String {
    if key.isRequired { return "required" }
    return key.defaultText ?? key.defaultValue.map { "`\(JSONNode($0).text())`" } ?? "none"
  }

  private static func values(_ type: ValueType) -> String {
    switch type {
    case .integer(let bounds):
      bounds.upperBound == Int64.max
        ? "whole number from \(bounds.lowerBound)" : "whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
    case .duration(let bounds):
      "duration from \(Quantity.text(milliseconds: bounds.lowerBound)) to \(Quantity.text(milliseconds: bounds.upperBound))"
    case .size: "size"
    case .word(let words): words.map { "`\($0)`" }.joined(separator: " ")
    case .list(let entry, _): "list of: \(values(entry))"
    case .object(let declaration): "object `{\(declaration.keys.map(\.name).joined(separator: ", "))}`"
    case .either(let types): types.map(values).joined(separator: "; ")
    case .any: "object"
    case .secret: "`{\"secret\": \"name\"}`"
    default: type.expectation
    }
  }
}
