// SPDX-License-Identifier: Apache-2.0

/// What a template can ask for. Times are milliseconds since 1970 UTC.
package struct TemplateContext: Equatable, Sendable {
  package var fileName: String
  package var artifactID: String
  /// From 1.
  package var partIndex: Int
  package var partCount: Int
  package var pipelineID: String
  package var pipelineName: String
  /// When the output is written.
  package var now: Int64
  /// When the artifact was made.
  package var created: Int64
  /// Seconds east of UTC in which times are shown.
  package var zoneOffset: Int64

  package init(
    fileName: String, artifactID: String, partIndex: Int, partCount: Int, pipelineID: String, pipelineName: String,
    now: Int64, created: Int64, zoneOffset: Int64
  ) {
    self.fileName = fileName
    self.artifactID = artifactID
    self.partIndex = partIndex
    self.partCount = partCount
    self.pipelineID = pipelineID
    self.pipelineName = pipelineName
    self.now = now
    self.created = created
    self.zoneOffset = zoneOffset
  }
}

/// The names that a template may use.
enum TemplateName: String, CaseIterable, Sendable {
  case fileName = "file.name"
  case fileStem = "file.stem"
  case fileExtension = "file.extension"
  case artifactID = "artifact.id"
  case partIndex = "part.index"
  case partCount = "part.count"
  case pipelineID = "pipeline.id"
  case pipelineName = "pipeline.name"
  case now
  case created

  var isTime: Bool { self == .now || self == .created }

  func text(in context: TemplateContext) -> String {
    switch self {
    case .fileName: context.fileName
    case .fileStem: Self.split(context.fileName).stem
    case .fileExtension: Self.split(context.fileName).fileExtension
    case .artifactID: context.artifactID
    case .partIndex: String(context.partIndex)
    case .partCount: String(context.partCount)
    case .pipelineID: context.pipelineID
    case .pipelineName: context.pipelineName
    case .now, .created: ""
    }
  }

  func time(in context: TemplateContext) -> Int64 { self == .now ? context.now : context.created }

  /// The last dot parts them, but not one at the start; the extension comes without its dot.
  private static func split(_ name: String) -> (stem: String, fileExtension: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
    return (String(name[..<dot]), String(name[name.index(after: dot)...]))
  }
}
