#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows the checks what they must find, and what they must not."""

import contextlib
import io
import sys
from pathlib import Path

import documents
import modules
import sources
from report import Report

WRONG = {
    "let a = list.first!": "force unwrap",
    "send(value!)": "force unwrap",
    'let a = map["k"]!': "force unwrap",
    "let a = try! read()": "try!",
    "let a = b as! Int": "as!",
    'fatalError("x")': "ends the program",
    "precondition(a > 0)": "ends the program",
    "import Foundation": "Foundation",
    "public import FoundationEssentials": "Foundation",
    "final class A: @unchecked Sendable {": "reason",
    "let a = Mutex<(@Sendable () -> Void)?>(nil)": "keep it in a struct",
}
RIGHT = ["if !a && b != c {", 'let a = "try! this!"', "// fatalError( is never called", "let a = b as? Int", "guard !list.isEmpty else {"]


def findings(call, *arguments):
    report, text = Report("self-test"), io.StringIO()
    with contextlib.redirect_stdout(text):
        call(report, *arguments)
    return text.getvalue()


def main():
    program, test = Path("Sources/A/A.swift"), Path("Tests/A/A.swift")
    for line, word in WRONG.items():
        assert word in findings(sources.check_swift, program, [line]), f"not found: {line}"
    for line in RIGHT:
        assert not findings(sources.check_swift, program, [line]), f"wrongly found: {line}"
    assert "doesn't sleep" in findings(sources.check_swift, test, ["    usleep(100)"])
    assert "lacks" in findings(sources.check_licence, program, "import Glibc\n")
    assert sources.foreign_paths().search("see " + "/ro" + "ot/x")
    assert "isn't there" in findings(documents.check_links, Path("README.md"), "[a](nowhere.md)")
    assert "no heading" in findings(documents.check_links, Path("README.md"), "# One\n[a](#two)")
    assert not findings(documents.check_links, Path("README.md"), "# One `b`!\n[a](#one-b)")
    modules.self_test()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
