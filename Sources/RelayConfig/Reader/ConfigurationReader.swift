// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// Reads pipelines.json, with every problem found in one pass.
package enum ConfigurationReader {
  /// The configuration, unless a problem blocks loading, and all problems in the order of the file.
  ///
  /// - Parameters:
  ///   - file: the file's path as a person named it; shown in messages and the start of relative paths.
  ///   - targets: the manifests of the targets that were found.
  package static func read(
    bytes: [UInt8], file: String, targets: [TargetManifest],
    environment: ConfigurationEnvironment = ConfigurationEnvironment()
  ) -> (configuration: Configuration?, problems: [Diagnostic]) {
    var problems = DiagnosticList(file: file, bytes: bytes)
    let (root, syntax) = JSONTree.parseCollecting(bytes, limits: JSONLimits(depth: 64, bytes: 8 << 20))
    // An object without its keys would be the next mistake.
    for error in syntax { problems.add(error, hint: error.kind == .empty ? "write at least {\"pipelines\": []}" : nil) }
    guard let root else {
      problems.maskAllTexts()
      return (nil, problems.sorted())
    }
    var check = DeclarationCheck(problems: problems, family: .config, environment: environment, syntax: syntax)
    check.checkDuplicates(in: root)
    check.checkObject(root, PipelinesFile.root)
    var decoder = ConfigurationDecoder(
      file: file, targets: targets, environment: environment, problems: check.problems, root: root)
    let configuration = decoder.configuration()
    decoder.checkTogether(configuration)
    problems = decoder.problems
    return (problems.blocksLoading ? nil : configuration, problems.sorted())
  }
}
