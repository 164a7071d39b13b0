#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules of the sources that no compiler and no formatter knows: licence line, length, traps, imports, foreign paths."""

import re
import shutil
from pathlib import Path

from report import ROOT, Report, files

LONG, TOO_LONG = 400, 700
LICENCE = "SPDX-License-Identifier: Apache-2.0"
SOURCES = (".swift", ".c", ".h", ".cpp", ".py", ".sh", ".modulemap")

# What may never stand in the program itself: each of these ends the process, or hides a race, on input that is merely bad.
# An executor's checkIsolated is the exception: to end the program is what the language asks of it.
TRAPS = [
    (re.compile(r"\btry!"), "try! ends the program"),
    (re.compile(r"\bas!"), "as! ends the program"),
    (re.compile(r"\b(?:fatalError|preconditionFailure|precondition|assertionFailure|assert)\("), "ends the program"),
    (re.compile(r"(?<=[\w)\]])!(?=[.\s,)\]\[(:;]|$)(?!=)"), "a force unwrap ends the program"),
    (re.compile(r"\bunsafelyUnwrapped\b"), "an unchecked unwrap"),
    (re.compile(r"@_cdecl\b|@_silgen_name\b"), "use @c"),
]
REASONED = re.compile(r"@unchecked Sendable|nonisolated\(unsafe\)")
FOUNDATION = re.compile(r"^\s*(?:@\w+ )*(?:public |package |internal |private |fileprivate )*import Foundation")
XCTEST = re.compile(r"^\s*import XCTest\b")
# Tests run side by side in one process: what belongs to the whole process isn't a test's to change.
PROCESS_WIDE = re.compile(r"(?<![.\w])(?:umask|chdir|setrlimit|setuid|seteuid)\(")
# The compiler takes a closure out of such a box, and puts it back, with one more wrapper each time: calling it takes ever longer.
BOXED_CLOSURE = re.compile(r"\bMutex<[^=]*->")
SLEEP = re.compile(r"(?<!\.)\b(?:u|nano)?sleep\(|\bTask\.sleep|Thread\.sleep")
MAY_SLEEP = {
    # The wait of which all tests' waits are made.
    "Tests/RelayTestSupport/Eventually.swift",
    # Waits for nothing: picks the moments at which the daemon is killed.
    "Tests/ScenarioTests/CrashScenarios.swift",
    # Likewise, and the measure of an idle program.
    "Tests/Proof/Program/Soak.swift",
}
# Paths of a machine. The last ones are this machine's own: the checkout, the home and the toolchain.
FOREIGN = [r"/(?:work|root|opt/swift)/", r"/tmp/(?:brief|build-)"]


def foreign_paths():
    own = [str(ROOT) + "/", str(Path.home()) + "/"]
    swift = shutil.which("swift")
    if swift:
        own.append(str(Path(swift).resolve().parents[2]) + "/")
    return re.compile("|".join(FOREIGN + [re.escape(path) for path in own if path.count("/") > 2 and path != "/usr/"]))


def without_text_and_comments(line):
    line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
    return line.split("//")[0]


def check_licence(report, path, text):
    head = "\n".join(text.split("\n")[:2])
    is_script = text.startswith("#!")
    if (path.suffix in SOURCES or is_script or path.name in ("Makefile", "exports.map")) and LICENCE not in head:
        report.found(f"{path}:1", f"the first line lacks {LICENCE}")


def check_swift(report, path, lines):
    is_program = path.parts[0] in ("Sources", "Plugins")
    in_literal = False
    for number, line in enumerate(lines, 1):
        place = f"{path}:{number}"
        if line.count('"""') % 2 == 1:
            in_literal = not in_literal
            continue
        if in_literal:
            continue
        code = without_text_and_comments(line)
        if BOXED_CLOSURE.search(code):
            report.found(place, "a closure in a Mutex grows with each look at it: keep it in a struct")
        if XCTEST.search(code):
            report.found(place, "tests are written with Swift Testing")
        if not is_program:
            if SLEEP.search(code) and str(path) not in MAY_SLEEP:
                report.found(place, "a test waits for what happens, it doesn't sleep")
            if PROCESS_WIDE.search(code):
                report.found(place, "changes the whole process, in which other tests run at the same time")
            continue
        if FOUNDATION.search(code):
            report.found(place, "neither the program nor a target uses Foundation")
        for pattern, problem in TRAPS:
            if pattern.search(code) and "func checkIsolated" not in lines[max(0, number - 2)]:
                report.found(place, problem)
        near = "\n".join(lines[max(0, number - 5) : number + 3])
        if REASONED.search(code) and "//" not in near:
            report.found(place, "needs the reason beside it why this is safe")


def main():
    report = Report("sources")
    foreign = foreign_paths()
    for path in files():
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        lines = text.split("\n")
        check_licence(report, path, text)
        if path.suffix in SOURCES and "Golden" not in path.parts:
            if len(lines) > TOO_LONG:
                report.found(path, f"{len(lines)} lines; {TOO_LONG} is the limit")
            elif len(lines) > LONG:
                report.warn(path, f"{len(lines)} lines are a lot; a file holds one aspect")
        if path.suffix == ".swift":
            check_swift(report, path, lines)
        for number, line in enumerate(lines, 1):
            if foreign.search(line):
                report.found(f"{path}:{number}", "names a path of one machine")
    report.end()


if __name__ == "__main__":
    main()
