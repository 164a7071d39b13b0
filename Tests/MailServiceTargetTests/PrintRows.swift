// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import MailServiceTargetLogic

@Test func printRows() {
  for service in Service.allCases { for rule in service.rules { print("ROW", service.name, rule.row) } }
  for rule in AnswerRule.common { print("ROW", "Any", rule.row) }
  print("ENDINGS", ResendEndings.notSent.sorted().map { "`.\($0)`" }.joined(separator: ", "))
}
