# SPDX-License-Identifier: Apache-2.0
"""One part of 2 GiB to a local receiver: throughput beside curl, and the memory that it takes."""

import os
import subprocess
import time
from contextlib import ExitStack

from harness import median, peak_memory
from rows import Row

GIB = 1 << 30
ROUNDS = 3


def make(path, size):
    block = os.urandom(1 << 20)
    with open(path, "wb") as file:
        for number in range(size >> 20):
            file.write(number.to_bytes(8, "little") + block[8:])
        file.flush()
        os.fsync(file.fileno())


def timed(*command):
    start = time.monotonic_ns()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic_ns() - start


def large(bench):
    size = 2 * GIB
    speed = lambda nanoseconds: size / nanoseconds * 1e9 / 1e6
    curl, digest, openssl, taken, queued, delivered = [], [], [], [], [], []
    with ExitStack() as stack:
        receiver = bench.fast_receiver(stack)
        daemon = bench.daemon(stack, receiver, ["large"])
        sample = daemon.folder / "sample"
        make(sample, size)
        timed("cat", str(sample))  # both find it in the page cache
        for number in range(ROUNDS):
            digest.append(speed(timed("sha256sum", str(sample))))
            openssl.append(speed(timed("openssl", "dgst", "-sha256", str(sample))))
            receiver.forget()
            start = time.monotonic_ns()
            timed("curl", "--silent", "-T", str(sample), f"http://127.0.0.1:{receiver.port}/curl/")
            curl.append(speed(receiver.wait(1)[0][0] - start))
            daemon.ask({"command": "pause", "pipeline": "large"})
            receiver.forget()
            start = time.monotonic_ns()
            daemon.submit_over_socket("large", sample, f"part-{number}")
            kept = time.monotonic_ns()
            queued.append(speed(kept - start))
            begun = time.monotonic_ns()
            daemon.ask({"command": "resume", "pipeline": "large"})
            arrived = receiver.wait(1)[0][0]
            delivered.append(speed(arrived - begun))
            taken.append(speed((kept - start) + (arrived - begun)))
            daemon.until_empty()
        memory = peak_memory(daemon.process.pid)
        workers = [peak_memory(worker) for worker in daemon.workers()]
    hashing = f"sha256sum {median(digest):.0f}, openssl {median(openssl):.0f}"
    beside = f"curl -T {median(curl):.0f}, {hashing} MB/s"
    yield Row(
        "2 GiB from the queue to received, hashed", median(delivered), "MB/s", beside,
        ratio=median(delivered) / median(curl), must=0.45, aim=0.7,
    )
    yield Row("2 GiB submitted: copied, hashed, synced", median(queued), "MB/s", "the disk's own speed counts")
    yield Row("2 GiB from submit to received, both", median(taken), "MB/s", beside, ratio=median(taken) / median(curl))
    yield Row("memory of the host meanwhile", memory / 1e6, "MB", must=64, aim=32, least=True)
    yield Row("memory of the worker meanwhile", max(workers, default=0) / 1e6, "MB", must=32, aim=16, least=True)
