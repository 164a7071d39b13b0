// SPDX-License-Identifier: Apache-2.0
import Glibc

// Load for the benchmarks that must not be what is measured; never shipped.
var arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
do {
  switch arguments.text("a command") {
  case "bundle": try Bundles.run(&arguments)
  case "commits": try Commits.run(&arguments)
  case "fill": try Filling.run(&arguments)
  case "submit": try Submitting.run(&arguments)
  case let other: Arguments.end("there is no command \(other)")
  }
} catch {
  Arguments.end("\(error)")
}
