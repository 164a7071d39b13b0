# SPDX-License-Identifier: Apache-2.0
"""Many pipelines at once: small parts from submit to accepted beside Postfix, and commits many at once beside one by one."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import postfix
from harness import median
from rows import Row

SIZE = 4096
PIPELINES = 64
ROUNDS = 3
# Postfix takes in faster with few senders and is kept busier by many: what counts is the better of both.
SENDERS = (10, 64)


def sync_rate(folder, count=500):
    """Files of 4 KB created and synced a second, one by one: what the disk gives to one that waits each time."""
    data = os.urandom(SIZE)
    start = time.monotonic()
    for number in range(count):
        path = Path(folder) / f"floor-{number}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.close(descriptor)
    taken = time.monotonic() - start
    for number in range(count):
        (Path(folder) / f"floor-{number}").unlink()
    return count / taken


def submit(bench, daemon, artifacts, parts, size=SIZE):
    """One client a pipeline, each with so many artifacts one after the other; when the first began, in nanoseconds."""
    output = subprocess.run(
        [str(bench.tools / "relay-bench"), "submit", str(daemon.state), str(artifacts), str(parts), str(size),
         *daemon.names],
        check=True, capture_output=True, text=True,
    ).stdout
    return json.loads(output)["began"]


def deliver_until_empty(bench, daemon, artifacts):
    """Artifacts of one part a second, from the first submit until all were delivered and removed."""
    began = submit(bench, daemon, artifacts, 1)
    daemon.until_empty()
    return artifacts * len(daemon.names) / (time.monotonic_ns() - began) * 1e9


def deliver(bench, daemon, receiver, artifacts, parts):
    """Parts a second until the last was accepted, and until the queues were empty."""
    receiver.forget()
    began = submit(bench, daemon, artifacts, parts)
    count = artifacts * parts * len(daemon.names)
    arrivals = receiver.wait(count)
    daemon.until_empty()
    empty = time.monotonic_ns()
    last = max(moment for moment, _, _ in arrivals)
    return count / (last - began) * 1e9, count / (empty - began) * 1e9


def parts(bench):
    """64 pipelines, 4 KB parts, one a submit, from submit to accepted."""
    names = [f"bench-{number}" for number in range(PIPELINES)]
    reason = postfix.missing()
    ours, emptied, eight, floor = [], [], [], []
    theirs = {senders: [] for senders in SENDERS}
    with ExitStack() as stack:
        receiver = bench.fast_receiver(stack)
        daemon = bench.daemon(stack, receiver, names)
        peer = None
        if not reason:
            peer = postfix.Postfix(bench.place, PIPELINES)
            stack.callback(peer.stop)
            peer.relay(500, SIZE, PIPELINES)
        deliver(bench, daemon, receiver, 10, 1)
        for _ in range(ROUNDS):
            floor.append(sync_rate(bench.place))
            accepted, empty = deliver(bench, daemon, receiver, 100, 1)
            ours.append(accepted)
            emptied.append(empty)
            for senders in SENDERS if peer else ():
                theirs[senders].append(peer.relay(2500, SIZE, senders))
        for _ in range(2):
            eight.append(deliver(bench, daemon, receiver, 25, 8)[0])
    best = max(median(rates) for rates in theirs.values()) if peer else None
    beside = f"Postfix {best:.0f}/s" if peer else f"no Postfix: {reason}"
    yield Row("create and sync 4 KB, one by one", median(floor), "files/s", "the disk itself")
    yield Row(
        "64 pipelines, 4 KB, submit to accepted", median(ours), "parts/s", beside,
        ratio=median(ours) / best if peer else None, must=1.5 if peer else None, aim=2.5 if peer else None,
    )
    yield Row(
        "the same, until the queues are empty", median(emptied), "parts/s", beside,
        ratio=median(emptied) / best if peer else None,
    )
    yield Row("the same with eight parts a submit", max(eight), "parts/s")


def commit_rates(bench, waiting, seconds, size=SIZE):
    """Durable commits of real artifacts a second: one by one, and with so many threads that each wait for their own."""
    folder = Path(tempfile.mkdtemp(prefix="relay-bench-", dir=bench.place))
    try:
        output = subprocess.run(
            [str(bench.tools / "relay-bench"), "commits", str(folder / "state"), str(waiting), str(seconds), str(size)],
            check=True, capture_output=True, text=True,
        ).stdout
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rounds = [json.loads(line) for line in output.splitlines()]
    one = median([entry["perSecond"] for entry in rounds if entry["waiting"] == 1])
    return one, median([entry["perSecond"] for entry in rounds if entry["waiting"] != 1] or [one])


def commits(bench):
    """Durable commits of real artifacts with 64 waiting beside one by one."""
    one, many = commit_rates(bench, PIPELINES, 2)
    yield Row(
        "durable commits, 64 waiting", many, "artifacts/s", f"one by one {one:.0f}/s", ratio=many / one, must=2.5, aim=3.5
    )
