// SPDX-License-Identifier: Apache-2.0
import RelayTestSupport
import ScenarioSupport

extension ProofCommand {
  static func cuts(_ options: [String: String]) throws -> Int32 {
    var sweep = CutSweep(program: options["program"].map(absolute) ?? Installation.program)
    sweep.sample = options["sample"].flatMap { Int($0) }
    sweep.lanes = options["lanes"].flatMap { Int($0) } ?? sweep.lanes
    if let way = options["way"].flatMap(CutPoint.Way.init(rawValue:)), let bytes = options["at"].flatMap({ Int($0) }) {
      sweep.only = CutPoint(way: way, bytes: bytes)
    }
    let targets = options["target"].map { name in (CutTarget.all + CutTarget.bad).filter { $0.name == name } }
    var violations = 0
    say(
      pad("target", 24) + pad("points up", 11) + pad("points down", 13) + pad("silent", 8) + pad("runs", 7)
        + pad("cuts", 7) + pad("repeats", 9) + pad("violations", 12))
    for target in targets ?? CutTarget.all {
      let row = try sweep.run(target)
      violations += row.findings.count
      say(
        pad(target.name, 24) + pad("\(row.up)", 11) + pad("\(row.down)", 13) + pad("\(row.silent)", 8)
          + pad("\(row.runs)", 7) + pad("\(row.cuts)", 7) + pad("\(row.repeats)", 9) + pad("\(row.findings.count)", 12)
          + target.words)
      for finding in row.findings { say("  \(finding)") }
    }
    say("violations \(violations)")
    return violations == 0 ? 0 : 1
  }

  /// What is wrong with the options of `cuts`.
  static func cutMistake(in options: [String: String]) -> String? {
    let names = (CutTarget.all + CutTarget.bad).map(\.name)
    if let name = options["target"], !names.contains(name) {
      return "there is no target \"\(name)\"; there are \(names.joined(separator: ", "))"
    }
    if let way = options["way"] {
      guard CutPoint.Way(rawValue: way) != nil else { return "--way takes up or down, not \(way)" }
      guard options["at"] != nil, options["target"] != nil else { return "--way goes with --target and --at" }
    }
    return nil
  }
}
