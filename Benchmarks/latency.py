#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""latency.py DIST [WARM [COLD]]: from `relay-host submit` of a 4 KB file to the receiver having all of it.

The pipeline is idle each time and its spacing is 0. Warm: its worker is there. Cold: the worker was killed while idle, and
the daemon has noticed. Beside it, on the same disk and to the same receiver: creating and syncing such a file, and `curl -T`. The
runs take turns, so that a change of the machine's mood meets all of them.
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from harness import Daemon, Receiver, percentile

SIZE = 4096


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


def submit(daemon, receiver, folder, name):
    file = folder / name
    file.write_bytes(os.urandom(SIZE))
    start = time.monotonic_ns()
    daemon.submit("bench", file)
    taken = receiver.wait(f"/bench/{name}") - start
    file.unlink()
    daemon.until_idle()
    return taken


def submit_over_socket(daemon, receiver, folder, name):
    """The same by a program that is running already: it speaks to the control socket itself."""
    file = folder / name
    file.write_bytes(os.urandom(SIZE))
    line = json.dumps({"command": "submit", "pipeline": "bench", "names": [name]}).encode() + b"\n"
    start = time.monotonic_ns()
    with socket.socket(socket.AF_UNIX) as connection, open(file, "rb") as opened:
        connection.connect(str(daemon.folder / "state/control.sock"))
        socket.send_fds(connection, [line], [opened.fileno()])
        reply = json.loads(connection.makefile().readline())
    if reply["exit"] != 0:
        raise SystemExit(f"the daemon refused: {reply}")
    taken = receiver.wait(f"/bench/{name}") - start
    file.unlink()
    daemon.until_idle()
    return taken


def start_of_program(daemon):
    """What the command costs before it does anything: most of what a person waits for."""
    start = time.monotonic_ns()
    subprocess.run([daemon.relay, "version"], check=True, capture_output=True)
    return time.monotonic_ns() - start


def show(name, values):
    p50, p99 = percentile(values, 0.5) / 1e6, percentile(values, 0.99) / 1e6
    print(f"{name:<34} {len(values):>5} {p50:>9.2f} {p99:>9.2f} {min(values) / 1e6:>9.2f} {max(values) / 1e6:>9.2f}")


def main():
    dist = sys.argv[1] if len(sys.argv) > 1 else "dist"
    warm_runs = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    cold_runs = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    # Not /tmp, which is memory on many machines: the state of a real daemon is on a disk.
    place = Path(os.environ.get("RELAY_BENCH_DIRECTORY", "."))
    receiver = Receiver()
    daemon = Daemon(dist, receiver, folder=place)
    try:
        sample = daemon.folder / "sample"
        sample.write_bytes(os.urandom(SIZE))
        for number in range(5):
            submit(daemon, receiver, daemon.folder, f"first-{number}")
        floor, peer, bare, warm, direct, cold = [], [], [], [], [], []
        for number in range(warm_runs):
            floor.append(sync_floor(daemon.folder, number))
            peer.append(curl(receiver, sample, number))
            bare.append(start_of_program(daemon))
            warm.append(submit(daemon, receiver, daemon.folder, f"warm-{number}"))
            direct.append(submit_over_socket(daemon, receiver, daemon.folder, f"direct-{number}"))
        for number in range(cold_runs):
            daemon.end_workers()
            cold.append(submit(daemon, receiver, daemon.folder, f"cold-{number}"))
        print(f"{'milliseconds, 4 KB':<34} {'runs':>5} {'p50':>9} {'p99':>9} {'least':>9} {'most':>9}")
        show("create and fsync (floor)", floor)
        show("curl -T (keeps nothing)", peer)
        show("relay-host version (does nothing)", bare)
        show("submit to received, warm", warm)
        show("the same, over the socket", direct)
        show("submit to received, worker gone", cold)
    finally:
        daemon.stop()


if __name__ == "__main__":
    main()
