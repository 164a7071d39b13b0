# SPDX-License-Identifier: Apache-2.0
"""From submit of a 4 KB file to the receiver having all of it; the pipeline is idle each time and its spacing is 0.

Warm: its worker is there. Cold: the worker was killed while idle, and the daemon has noticed. Beside it, on the same disk
and to the same receiver: creating and syncing such a file, and `curl -T`. The runs take turns, so that a change of the
machine's mood meets all of them.
"""

import os
import subprocess
import time
from contextlib import ExitStack

from harness import Receiver, percentile
from rows import Row

SIZE = 4096
WARM, COLD = 200, 60


def sync_floor(folder, number):
    path = folder / f"floor-{number}"
    data = os.urandom(SIZE)
    start = time.monotonic_ns()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    taken = time.monotonic_ns() - start
    path.unlink()
    return taken


def curl(receiver, file, number):
    path = f"/curl/{number}"
    url = f"http://127.0.0.1:{receiver.port}{path}"
    start = time.monotonic_ns()
    subprocess.run(["curl", "--silent", "--show-error", "-T", str(file), url], check=True, capture_output=True)
    return receiver.wait(path) - start


def submit(daemon, receiver, name, over_socket):
    file = daemon.folder / name
    file.write_bytes(os.urandom(SIZE))
    start = time.monotonic_ns()
    if over_socket:
        daemon.submit_over_socket("bench", file, name)
    else:
        daemon.submit("bench", file)
    taken = receiver.wait(f"/bench/{name}") - start
    file.unlink()
    daemon.until_idle()
    return taken


def start_of_program(daemon):
    """What the command costs before it does anything: most of what a person waits for."""
    start = time.monotonic_ns()
    subprocess.run([daemon.relay, "version"], check=True, capture_output=True)
    return time.monotonic_ns() - start


def latency(bench):
    receiver = Receiver()
    floor, peer, bare, warm, direct, cold = [], [], [], [], [], []
    with ExitStack() as stack:
        daemon = bench.daemon(stack, receiver, ["bench"])
        sample = daemon.folder / "sample"
        sample.write_bytes(os.urandom(SIZE))
        for number in range(5):
            submit(daemon, receiver, f"first-{number}", False)
        for number in range(WARM):
            floor.append(sync_floor(daemon.folder, number))
            peer.append(curl(receiver, sample, number))
            bare.append(start_of_program(daemon))
            warm.append(submit(daemon, receiver, f"warm-{number}", False))
            direct.append(submit(daemon, receiver, f"direct-{number}", True))
        for number in range(COLD):
            daemon.end_workers()
            cold.append(submit(daemon, receiver, f"cold-{number}", False))
    for name, values, beside, bounds in (
        ("submit to received, 4 KB, worker there", warm, (peer, "curl -T"), (15, 6)),
        ("the same, worker gone", cold, (peer, "curl -T"), (80, 40)),
        ("the same by a program over the socket, worker there", direct, (floor, "one sync"), (None, None)),
        ("relay-host version, which does nothing", bare, (peer, "curl -T"), (None, None)),
    ):
        (p50, p99), (other50, other99) = at(values), at(beside[0])
        yield Row(
            f"{name}: p99", p99, "ms", f"p50 {p50:.2f} ms; {beside[1]} p99 {other99:.2f}, p50 {other50:.2f} ms",
            must=bounds[0], aim=bounds[1], least=True,
        )


def at(values):
    """Half of them take at most the first, 99 of a hundred at most the second, in milliseconds."""
    return percentile(values, 0.5) / 1e6, percentile(values, 0.99) / 1e6
