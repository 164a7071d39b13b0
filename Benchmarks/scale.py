# SPDX-License-Identifier: Apache-2.0
"""Much at once: a long backlog at the start, and many pipelines that have nothing to do."""

import os
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from harness import median, peak_memory, processor_time
from rows import Row

SIZE = 512
ROUNDS = 3


def remove(place):
    """Hundreds of thousands of files; one folder after the other takes long where the disk has other work, too."""
    queues = [str(path) for path in place.glob("state/pipelines/*/queue/*")]
    subprocess.run(["xargs", "-P", "8", "-n", "200", "rm", "-rf"], input="\n".join(queues), text=True, check=True)
    subprocess.run(["rm", "-rf", str(place)], check=True)


def drop_caches():
    """Whether the kernel has forgotten what it read; root's business."""
    try:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
        return True
    except OSError:
        return False


def start(bench, place, names, receiver, seconds):
    """Milliseconds to the first delivery, then the most memory and files within some seconds of delivering."""
    receiver.forget()
    delivery = {"maxQueued": {"artifacts": 1_000_000}}
    with ExitStack() as stack:
        daemon = bench.daemon(stack, receiver, names, kills=True, delivery=delivery, place=place, waits=False)
        first = receiver.wait(1, pause=0.001)[0][0]
        files, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            files = max(files, daemon.open_files())
            time.sleep(0.02)
        return (first - daemon.started) / 1e9, peak_memory(daemon.process.pid), files, receiver.look() / seconds


def backlog(bench):
    """100 000 queued parts: as one-part artifacts of one pipeline, and as ten pipelines with artifacts of ten parts."""
    for what, pipelines, artifacts, parts in (
        ("1 pipeline, artifacts of 1 part", 1, 100_000, 1),
        ("10 pipelines, artifacts of 10 parts", 10, 1000, 10),
    ):
        with ExitStack() as stack:
            place = Path(tempfile.mkdtemp(prefix="relay-bench-", dir=bench.place))
            stack.callback(remove, place)
            receiver = bench.fast_receiver(stack)
            words = [str(number) for number in (pipelines, artifacts, parts, SIZE)]
            subprocess.run([str(bench.tools / "relay-bench"), "fill", str(place / "state"), *words], check=True)
            names = [f"bench-{number}" for number in range(pipelines)]
            runs = [start(bench, place, names, receiver, 3) for _ in range(ROUNDS)]
            cold = start(bench, place, names, receiver, 1)[0] if drop_caches() else None
        beside = f"{cold:.2f} s when nothing is in the page cache" if cold else ""
        yield Row(
            f"100 000 parts ({what}): to the first delivery", median([run[0] for run in runs]), "s", beside,
            must=5, aim=1, least=True,
        )
        yield Row(
            "memory of the host meanwhile", max(run[1] for run in runs) / 1e6, "MB", must=128, aim=64, least=True
        )
        yield Row("open files meanwhile", max(run[2] for run in runs), "files", must=300, least=True)


def idle(bench, seconds=60):
    """1 000 pipelines that have nothing to do."""
    names = [f"bench-{number}" for number in range(1000)]
    with ExitStack() as stack:
        daemon = bench.daemon(stack, bench.fast_receiver(stack), names, patience=120)
        time.sleep(5)  # what begins with the program ends
        before = processor_time(daemon.process.pid)
        time.sleep(seconds)
        used = (processor_time(daemon.process.pid) - before) / seconds * 100
        memory, files = daemon.resident()
        peak = peak_memory(daemon.process.pid)
    yield Row("1 000 idle pipelines: processor, of one", used, "%", f"over {seconds} s", must=0.5, aim=0.1, least=True)
    yield Row(
        "memory of the host", memory / 1e6, "MB", f"at most {peak / 1e6:.0f} MB, {files} open files", must=100, aim=50,
        least=True,
    )
