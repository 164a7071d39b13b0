#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links in the documents lead somewhere, codes that they name exist, and commands that they name are in the Makefile."""

import re
import unicodedata

from report import ROOT, Report, files

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
# Keys of the configuration look alike (`delivery.timeout`), so codes of that family are told by their hyphen.
CODE = re.compile(
    r"`((?:json|config|secret|template|manifest|command)\.(?!json`)[a-z0-9-]+|delivery\.[a-z0-9]+(?:-[a-z0-9]+)+)`")
FENCE = re.compile(r"^(```|~~~)")


def anchors(text):
    """The anchors that GitHub gives to the headings."""
    found, counts, fenced = set(), {}, False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        match = None if fenced else re.match(r"^#{1,6} (.+?)\s*#*$", line)
        if not match:
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).lower()
        kept = [c for c in plain if c in " -_" or unicodedata.category(c)[0] in "LN"]
        slug = "".join(kept).replace(" ", "-")
        count = counts.get(slug, 0)
        counts[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def check_links(report, path, text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            fenced = not fenced
        if fenced:
            continue
        for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"^[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = ROOT / path.parent / name
            if name and not target.exists():
                report.found(f"{path}:{number}", f"{name} isn't there")
                continue
            headings = target.read_text() if name and target.suffix == ".md" else text
            if anchor and target.suffix in (".md", "") and anchor not in anchors(headings):
                report.found(f"{path}:{number}", f"{name or path} has no heading #{anchor}")


def main():
    report = Report("documents")
    codes = set(re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs/codes.md").read_text(), re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text()
    commands = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for path in files(".md"):
        text = (ROOT / path).read_text()
        check_links(report, path, text)
        for number, line in enumerate(text.split("\n"), 1):
            for code in CODE.findall(line):
                if code not in codes:
                    report.found(f"{path}:{number}", f"{code} isn't a code of docs/codes.md")
            for command in re.findall(r"`make ([a-z-]+)", line):
                if command not in commands:
                    report.found(f"{path}:{number}", f"the Makefile has no {command}")
    report.end()


if __name__ == "__main__":
    main()
