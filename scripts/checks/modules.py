#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the package with the table of modules in docs/architecture.md.

Each target of Package.swift that isn't a test needs a row; it may depend on what its row allows and on nothing else; and a
row allows only what stands above it, so that imports go one way. A row without a target is stale. With the argument
`--self-test` the comparison is run against tables that are wrong, each of which must be told.
"""

import json
import re
import subprocess
import sys
import tempfile

from report import ROOT, Report

ROW = re.compile(r"^\| (`[^|]+`) \| ([^|]+) \| ([^|]+) \|$")
NAME = re.compile(r"`([\w-]+)`")
# What only tests, proofs, measurements and fuzzing are made of; the program can't depend on it, see below.
NOT_THE_PROGRAM = ("Tests/", "Benchmarks/", "Fuzz/")


def package_targets():
    """Names of all targets but tests and what only tests use, with what each depends on."""
    # A build folder and a lock of its own: this also runs from inside `swift test`.
    with tempfile.TemporaryDirectory() as scratch:
        command = ["swift", "package", "--package-path", str(ROOT), "--scratch-path", scratch, "dump-package"]
        package = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    targets = {}
    for target in package["targets"]:
        if target["type"] in ("test", "system") or (target.get("path") or "").startswith(NOT_THE_PROGRAM):
            continue
        targets[target["name"]] = [next(iter(edge.values()))[0] for edge in target["dependencies"]]
    return targets


def table(text):
    """Rows in order: (names, allowed)."""
    rows = []
    for line in text.split("\n"):
        match = ROW.match(line)
        if match:
            rows.append((NAME.findall(match[1]), set(NAME.findall(match[3]))))
    return rows


def compare(targets, rows):
    problems, above, seen = [], set(), set()
    for names, allowed in rows:
        for name in sorted(allowed):
            if name not in above and name not in names and (name in targets or not name.startswith("C")):
                problems.append(f"the row of {names[0]} allows {name}, which doesn't stand above it")
        for name in names:
            if name not in targets:
                problems.append(f"the row of {name} is stale: there is no such target")
            if name in seen:
                problems.append(f"{name} has two rows")
            seen.add(name)
            for used in targets.get(name, []):
                if used not in allowed and used not in names:
                    problems.append(f"{name} depends on {used}, which its row doesn't allow")
        above.update(names)
    problems += [f"{name} has no row" for name in sorted(set(targets) - seen)]
    return problems


def self_test():
    right = {"Low": [], "High": ["Low"]}
    cases = [
        (right, [(["Low"], set()), (["High"], {"Low"})], 0),
        (right, [(["Low"], set())], 1),
        (right, [(["Low"], set()), (["High"], set())], 1),
        (right, [(["High"], {"Low"}), (["Low"], set())], 1),
        (right, [(["Low"], set()), (["High"], {"Low"}), (["Gone"], set())], 1),
        ({"Low": ["High"], "High": []}, [(["Low"], {"High"}), (["High"], set())], 1),
    ]
    for targets, rows, count in cases:
        problems = compare(targets, rows)
        if len(problems) != count:
            sys.exit(f"expected {count} problems, got {problems}")


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return
    report = Report("modules")
    rows = table((ROOT / "docs/architecture.md").read_text())
    for problem in compare(package_targets(), rows):
        report.found("docs/architecture.md", problem)
    report.end()


if __name__ == "__main__":
    main()
