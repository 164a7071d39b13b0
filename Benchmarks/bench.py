#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py DIST TOOLS [--json FILE] [--markdown] [--strict] [FIGURE…]: measures, and prints one table.

DIST is what `make build` leaves, TOOLS the folder of relay-bench and bench-receiver. Without a name all figures are
measured. Ratios are of one run on one machine; compare them, not the machines. --json also writes the rows to a file,
--markdown prints the table for docs/performance.md, --strict fails when a figure doesn't reach what it must.

State folders are made in RELAY_BENCH_DIRECTORY, else here: not in /tmp, which is memory on many machines.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import confinement
import large
import latency
import mails
import neighbours
import publishing
import rows
import scale
import throughput
import zipping
from harness import Daemon, FastReceiver

FIGURES = {
    # Single moments first. On ext4 without a journal each new file looks through the inodes that were deleted within the last
    # minutes: what makes files by the thousand stands where nothing has deleted as many for a while.
    "latency": latency.latency,
    "confinement": confinement.confinement,
    "neighbours": neighbours.neighbours,
    "mqtt": publishing.publishing,
    "parts": throughput.parts,
    "mails": mails.mails,
    "large": large.large,
    "zip": zipping.zipping,
    "idle": scale.idle,
    "commits": throughput.commits,
    "backlog": scale.backlog,
}


@dataclass
class Bench:
    dist: Path
    tools: Path
    place: Path

    def fast_receiver(self, stack):
        """A receiver that ends with the stack, as what follows does."""
        receiver = FastReceiver(self.tools, self.place)
        stack.callback(receiver.stop)
        return receiver

    def daemon(self, stack, receiver, pipelines, kills=False, **options):
        daemon = Daemon(self.dist, receiver, pipelines, **{"folder": self.place, **options})
        stack.callback(daemon.stop, kills)
        return daemon


def main():
    parser = argparse.ArgumentParser(description="Measures, and prints one table.")
    parser.add_argument("dist", type=Path)
    parser.add_argument("tools", type=Path)
    parser.add_argument("figures", nargs="*", help=" ".join(FIGURES))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    unknown = [name for name in options.figures if name not in FIGURES]
    if unknown:
        parser.error(f"no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    place = Path(os.environ.get("RELAY_BENCH_DIRECTORY", ".")).resolve()
    bench = Bench(options.dist.resolve(), options.tools.resolve(), place)
    found = []
    for name in options.figures or FIGURES:
        start = time.monotonic()
        found += FIGURES[name](bench)
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    print(rows.markdown(found) if options.markdown else rows.table(found))
    if options.json:
        options.json.write_text(json.dumps([row.json() for row in found], indent=2, ensure_ascii=False) + "\n")
    short = [row.name for row in found if row.verdict == "SHORT"]
    if short:
        print(f"short of what they must reach: {'; '.join(short)}", file=sys.stderr)
    if short and options.strict:
        sys.exit(1)


if __name__ == "__main__":
    main()
