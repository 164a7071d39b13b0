#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py DIST SECONDS: submits without pause to several pipelines while the receiver fails now and then.

Afterwards each file must have arrived, with the right bytes and one identity, and the daemon's memory and descriptors must not
have grown since the first tenth of the time.
"""

import hashlib
import os
import random
import sys
import time

from harness import Daemon, Receiver

PIPELINES = [f"soak-{number}" for number in range(4)]
# What may be more at the end than after the first tenth: allocators settle slowly.
MEMORY_SLACK = 16 << 20
DESCRIPTOR_SLACK = 16


def main():
    dist, seconds = sys.argv[1], float(sys.argv[2])
    chance = random.Random(1)
    receiver = Receiver(answer=lambda entry: 503 if chance.random() < 0.05 else 201)
    daemon = Daemon(dist, receiver, PIPELINES, {"retryFirst": "1s", "retryMax": "2s"})
    sent, base = {}, None
    try:
        start = time.monotonic()
        while time.monotonic() - start < seconds:
            pipeline, name = chance.choice(PIPELINES), f"file-{len(sent)}"
            file = daemon.folder / name
            data = os.urandom(chance.choice([0, 1, 4096, 300_000]))
            file.write_bytes(data)
            daemon.submit(pipeline, file)
            file.unlink()
            sent[f"/{pipeline}/{name}"] = hashlib.sha256(data).hexdigest()
            if base is None and time.monotonic() - start > seconds / 10:
                base = daemon.resident()
        daemon.until("all has been delivered", lambda: len(receiver.arrivals) == len(sent), seconds=60 + seconds)
        daemon.until_idle()
        memory, descriptors = daemon.resident()
    finally:
        daemon.stop()
    problems = [path for path, digest in sent.items() if receiver.arrivals[path][0][1]["sha256"] != digest]
    repeats = sum(len(arrivals) - 1 for arrivals in receiver.arrivals.values())
    base = base or (memory, descriptors)
    print(f"{len(sent)} files in {seconds:.0f} s, {repeats} repeats, {len(problems)} damaged")
    print(f"memory {base[0] >> 20} MB, then {memory >> 20} MB; descriptors {base[1]}, then {descriptors}")
    if problems or repeats or memory > base[0] + MEMORY_SLACK or descriptors > base[1] + DESCRIPTOR_SLACK:
        sys.exit("soak: failed")
    print("soak: fine")


if __name__ == "__main__":
    main()
