#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""binaries.py DIST: what the built programs and targets export and need."""

import re
import subprocess
import sys
from pathlib import Path

from report import Report

REQUIRED = {"relay_target_abi", "relay_target_describe", "relay_target_open", "relay_target_deliver"}
OPTIONAL = {"relay_target_check", "relay_target_close"}
SEARCH = {
    "bin/relay-host": ["$ORIGIN/../lib/relay-host/swift"],
    "libexec/relay-host/relay-worker": [],
    "lib/relay-host/targets": ["$ORIGIN/../swift"],
    "lib/relay-host/swift": ["$ORIGIN"],
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(file):
    lines = output("nm", "--dynamic", "--defined-only", "--extern-only", str(file)).split("\n")
    return {line.split()[-1] for line in lines if line.strip()}


def headers(file):
    text = output("readelf", "--dynamic", "--wide", str(file))
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", text)
    paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.+)\]", text)
    return needed, [part for path in paths for part in path.split(":") if part]


def main():
    dist = Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()
    report = Report("binaries")
    worker = dist / "libexec/relay-host/relay-worker"
    targets = sorted((dist / "lib/relay-host/targets").glob("*.so"))
    runtime = sorted((dist / "lib/relay-host/swift").glob("*.so"))
    if not targets:
        report.found(dist, "holds no targets")
    for target in targets:
        names = exported(target)
        for name in sorted(names - REQUIRED - OPTIONAL):
            report.found(target, f"exports {name}")
        for name in sorted(REQUIRED - names):
            report.found(target, f"lacks {name}")
    for name in sorted(exported(worker)):
        report.found(worker, f"exports {name}")
    needed, _ = headers(worker)
    if sorted(needed) != ["libc.so.6", "libseccomp.so.2"]:
        report.found(worker, f"needs {' '.join(needed)}; libc and libseccomp alone are allowed")
    for file in [dist / "bin/relay-host", worker, *targets, *runtime]:
        relative = str(file.relative_to(dist))
        expected = SEARCH.get(relative) or SEARCH.get(str(file.parent.relative_to(dist)), [])
        if headers(file)[1] != expected:
            report.found(file, f"looks for libraries in {headers(file)[1]}; expected {expected}")
        if "Foundation" in " ".join(headers(file)[0]):
            report.found(file, "needs Foundation")
    report.end()


if __name__ == "__main__":
    main()
