# SPDX-License-Identifier: Apache-2.0
"""What confinement costs a delivery: beside a daemon for which the kernel has neither Landlock nor seccomp filters.

There is no switch to turn confinement off, so the other daemon, and all it starts, gets ENOSYS for the calls
(Tests/Fixtures/programs/lacking.c) and is told to go on without. Both deliver in turns, the first one changing places, to
one receiver. Warm: the worker is there. Cold: it was killed while idle.
"""

import json
import os
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

from harness import Receiver, median, percentile
from latency import SIZE
from rows import Row

WARM, COLD = 1500, 80


def lacking(folder):
    """The program that takes both away from what it becomes."""
    source = Path(__file__).resolve().parent.parent / "Tests/Fixtures/programs/lacking.c"
    program = folder / "lacking"
    subprocess.run(["cc", "-std=gnu11", "-O1", str(source), "-o", str(program)], check=True)
    return [str(program), "0", "0"]


def deliver(daemon, receiver, name):
    file = daemon.folder / name
    file.write_bytes(os.urandom(SIZE))
    start = time.monotonic_ns()
    daemon.submit_over_socket(daemon.names[0], file, name)
    taken = receiver.wait(f"/{daemon.names[0]}/{name}") - start
    file.unlink()
    daemon.until_idle()
    return taken


def rounds(daemons, receiver, count, kind):
    """Nanoseconds of each round, first of the confined daemon, then of the other."""
    found = []
    for number in range(count):
        taken = {}
        for daemon in daemons if number % 2 == 0 else reversed(daemons):
            if kind == "cold":
                daemon.end_workers()
            taken[daemon] = deliver(daemon, receiver, f"{kind}-{number}")
        found.append([taken[daemon] for daemon in daemons])
    return found


def confinement(bench):
    receiver = Receiver()
    with ExitStack() as stack:
        confined = bench.daemon(stack, receiver, ["confined"])
        free = bench.daemon(
            stack, receiver, ["free"], prefix=lacking(confined.folder), top={"confinement": "best-effort"}
        )
        have = confined.ask({"command": "status"})["result"]["confinement"]
        lack = free.ask({"command": "status"})["result"]["confinement"]
        if have["lacking"] or lack["lacking"] != ["files", "calls"]:
            raise SystemExit(f"nothing to compare: {json.dumps(have)} beside {json.dumps(lack)}")
        rounds([confined, free], receiver, 30, "first")
        for kind, count, words, must, aim in (
            ("warm", WARM, "4 KB, submit to received, worker there, confined: p50", 1.03, 1.01),
            ("cold", COLD, "the same, worker gone: p50", None, None),
        ):
            both = rounds([confined, free], receiver, count, kind)
            ours, theirs = median([pair[0] for pair in both]), median([pair[1] for pair in both])
            # Of the differences within the rounds: what the machine does from round to round is in both.
            cost = median([first - second for first, second in both])
            p99 = percentile([pair[0] for pair in both], 0.99)
            yield Row(
                words, ours / 1e6, "ms", f"not confined {theirs / 1e6:.2f} ms; p99 {p99 / 1e6:.2f} ms",
                ratio=(theirs + cost) / theirs, must=must, aim=aim, least=True,
            )
