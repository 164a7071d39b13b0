# SPDX-License-Identifier: Apache-2.0
"""An artifact of 1 000 parts, 1 GiB in all, put into one ZIP: beside bsdtar making one of the same files in the same run."""

import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from harness import median
from rows import Row

PARTS = 1000
ROUNDS = 3
DAY = "20000"


def bytes_in_all():
    """1 GiB; RELAY_BENCH_ZIP_MIB asks for less, for a quick look."""
    return int(os.environ.get("RELAY_BENCH_ZIP_MIB", "1024")) << 20


def make(folder, size):
    """Lines of measurements, as an export has them: they shrink to a fifth or so."""
    chance = random.Random(1)
    kinds = ["steps", "heart rate", "weight", "sleep"]
    for number in range(PARTS):
        lines, length = [], 0
        while length < size:
            day = f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
            moment = f"{day}T{chance.randrange(24):02}:{chance.randrange(60):02}:00Z"
            lines.append(f"{chance.randrange(1 << 31)},{chance.random():.6f},{moment},{chance.choice(kinds)}\n")
            length += len(lines[-1])
        (folder / f"{number:04}.csv").write_text("".join(lines)[:size])


def peak(command, **options):
    """Nanoseconds, the largest resident set in bytes, and what it printed."""
    start = time.monotonic_ns()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
    printed = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {child.returncode}")
    return time.monotonic_ns() - start, usage.ru_maxrss * 1024, printed


def zipping(bench):
    size = bytes_in_all() // PARTS
    speed = lambda nanoseconds: size * PARTS / nanoseconds * 1e9 / 1e6
    ours, theirs, ratios, memory = [], [], [], []
    with tempfile.TemporaryDirectory(prefix="relay-bench-", dir=bench.place) as place:
        folder = Path(place) / "in"
        folder.mkdir()
        make(folder, size)
        names = sorted(path.name for path in folder.iterdir())
        files = [str(folder / name) for name in names]
        for _ in range(ROUNDS):
            state = Path(place) / "state"
            _, resident, printed = peak([str(bench.tools / "relay-bench"), "bundle", str(state), DAY, *files])
            made = json.loads(printed)
            taken = made["nanoseconds"]
            shutil.rmtree(state)
            peer, _, _ = peak(["bsdtar", "--format", "zip", "-cf", str(Path(place) / "peer.zip"), *names], cwd=folder)
            ours.append(speed(taken))
            theirs.append(speed(peer))
            ratios.append(peer / taken)
            memory.append(resident)
    yield Row(
        f"ZIP of {PARTS} parts, {size * PARTS >> 20} MiB: made, read back, synced", median(ours), "MB/s",
        f"bsdtar --format zip {median(theirs):.0f} MB/s", ratio=median(ratios), must=1.0,
    )
    yield Row("memory of the program meanwhile", max(memory) / 1e6, "MB", must=64, least=True)
