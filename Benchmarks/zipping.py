# SPDX-License-Identifier: Apache-2.0
"""An artifact of 1 000 parts, 1 GiB in all, put into one ZIP by the daemon: beside bsdtar making one of the same files in
the same run."""

import os
import random
import subprocess
import tempfile
import time
import zipfile
from contextlib import ExitStack
from pathlib import Path

from harness import compiled, median, peak_memory
from rows import Row

PARTS = 1000
ROUNDS = 3
TARGET = Path(__file__).resolve().parent.parent / "Tests/Fixtures/targets/crate.c"


def bytes_in_all():
    """1 GiB; RELAY_BENCH_ZIP_MIB asks for less, for a quick look."""
    return int(os.environ.get("RELAY_BENCH_ZIP_MIB", "1024")) << 20


def make(folder, size):
    """Lines of measurements, as an export has them: they shrink to less than half."""
    folder.mkdir()
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


class Bundler:
    """A daemon with one pipeline to a target that takes an artifact as one, and keeps what it gets in a folder."""

    def __init__(self, bench, stack, folder):
        self.crate = folder / "crate"
        self.crate.mkdir()
        pipeline = {
            "id": "zip", "extract": {"from": "inbox"},
            "load": {"target": "org.example.crate", "settings": {"directory": str(self.crate)}},
            "delivery": {"spacing": "0s"},
        }
        targets = compiled(bench.dist, folder, TARGET.read_text())
        self.daemon = bench.daemon(stack, None, [], extra=[pipeline], targets=targets)
        self.queue = self.daemon.state / "pipelines/zip/queue"

    def make(self, files):
        """Nanoseconds from `resume` to the manifest naming the bundle, which is on the disk then; the bundle as it was sent."""
        self.daemon.ask({"command": "pause", "pipeline": "zip"})
        made = self.daemon.command("submit", "zip", *files)
        if made.returncode != 0:
            raise SystemExit(f"submit ended with {made.returncode}: {made.stderr}")
        (entry,) = self.queue.iterdir()
        manifest = entry / "manifest.json"
        before = manifest.stat().st_ino
        start = time.monotonic_ns()
        self.daemon.ask({"command": "resume", "pipeline": "zip"})
        self.daemon.until("the bundle is made", lambda: inode(manifest) != before, 600)
        taken = time.monotonic_ns() - start
        self.daemon.until("the queue is empty", lambda: not any(self.queue.iterdir()), 60)
        (bundle,) = self.crate.glob("*.got")
        return taken, bundle


def inode(path):
    """None when it is gone."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def compare(ours, theirs, names):
    """Both hold the same files, packed as tightly: else one speed says nothing of the other."""
    with zipfile.ZipFile(ours) as one, zipfile.ZipFile(theirs) as other:
        packed = [{entry.filename: (entry.file_size, entry.CRC, entry.compress_size) for entry in zip.infolist()}
                  for zip in (one, other)]
    if packed[0] != packed[1] or sorted(packed[0]) != names:
        raise SystemExit(f"{ours} and {theirs} don't hold the same")


def zipping(bench):
    size = -(-bytes_in_all() // PARTS)
    speed = lambda nanoseconds: size * PARTS / nanoseconds * 1e9 / 1e6
    ours, theirs, ratios = [], [], []
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="relay-bench-", dir=bench.place))).resolve()
        folder, peer = place / "in", place / "peer.zip"
        make(folder, size)
        names = sorted(path.name for path in folder.iterdir())
        bundler = Bundler(bench, stack, place)
        for _ in range(ROUNDS):
            taken, bundle = bundler.make([str(folder / name) for name in names])
            start = time.monotonic_ns()
            subprocess.run(["bsdtar", "--format", "zip", "-cf", str(peer), *names], cwd=folder, check=True)
            beside = time.monotonic_ns() - start
            compare(bundle, peer, names)
            bundle.unlink()
            ours.append(speed(taken))
            theirs.append(speed(beside))
            ratios.append(beside / taken)
        memory = peak_memory(bundler.daemon.process.pid)
    yield Row(
        f"ZIP of {PARTS} parts, {size * PARTS >> 20} MiB: made, read back, synced", median(ours), "MB/s",
        f"bsdtar --format zip {median(theirs):.1f} MB/s", ratio=median(ratios), must=1.0,
    )
    yield Row("memory of the host meanwhile", memory / 1e6, "MB", must=64, least=True)
