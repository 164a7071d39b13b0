# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the repository's files, and findings with their place."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def files(*suffixes, under=()):
    """Files that git knows or would add, as paths relative to the root."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *under]
    names = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
    paths = sorted({Path(name) for name in names if name})
    return [path for path in paths if (ROOT / path).is_file() and (not suffixes or path.name.endswith(suffixes))]


class Report:
    def __init__(self, title):
        self.title = title
        self.findings = 0

    def found(self, place, problem):
        self.findings += 1
        print(f"{place}: {problem}")

    def warn(self, place, remark):
        print(f"{place}: warning: {remark}")

    def end(self):
        print(f"{self.title}: " + (f"{self.findings} to mend" if self.findings else "fine"))
        sys.exit(1 if self.findings else 0)
