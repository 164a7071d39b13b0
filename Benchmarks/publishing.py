# SPDX-License-Identifier: Apache-2.0
"""MQTT with QoS 1: parts of 1 KB from one queue to a broker, one after the other, each marked on the disk before the next;
beside `mosquitto_pub -l`, which keeps nothing, the rate at which artifacts of the same size are committed one by one, and the
disk's own rate of syncs."""

import os
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import postfix
from harness import median
from rows import Row
from throughput import commit_rates, submit, sync_rate

COUNT = 2000
SIZE = 1024
ROUNDS = 3


class Broker:
    """mosquitto, which keeps nothing on the disk."""

    def __init__(self, stack):
        self.port = postfix.free_port()
        path = os.environ.get("PATH", "") + ":/usr/sbin"
        process = subprocess.Popen(
            ["mosquitto", "-p", str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PATH": path},
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        deadline = time.monotonic() + 30
        while not self.listens():
            if time.monotonic() > deadline:
                raise SystemExit("mosquitto doesn't listen; is Debian's mosquitto installed?")
            time.sleep(0.01)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def publish_lines(self, lines):
        """Messages a second by mosquitto_pub."""
        start = time.monotonic()
        subprocess.run(
            ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(self.port), "-q", "1", "-t", "bench", "-l"], input=lines, check=True
        )
        return len(lines.splitlines()) / (time.monotonic() - start)


def publishing(bench):
    ours, theirs, floor, committed = [], [], [], []
    with ExitStack() as stack:
        broker = Broker(stack)
        settings = {"host": "127.0.0.1", "port": broker.port, "topic": "bench/{{ file.name }}", "qos": 1}
        entry = {
            "id": "mqtt", "extract": {"from": "inbox"}, "load": {"target": "mqtt", "settings": settings},
            "delivery": {"spacing": "0s"},
        }
        daemon = bench.daemon(stack, None, [], extra=[entry])
        daemon.names = ["mqtt"]
        lines = (b"x" * SIZE + b"\n") * COUNT
        for _ in range(ROUNDS):
            floor.append(sync_rate(bench.place))
            committed.append(commit_rates(bench, 1, 1, SIZE)[0])
            theirs.append(broker.publish_lines(lines))
            daemon.ask({"command": "pause", "pipeline": "mqtt"})
            submit(bench, daemon, COUNT, 1, SIZE)
            start = time.monotonic()
            daemon.ask({"command": "resume", "pipeline": "mqtt"})
            daemon.until_empty(120)
            ours.append(COUNT / (time.monotonic() - start))
    yield Row(
        "MQTT with QoS 1, 1 KB, one pipeline: confirmed, marked and removed", median(ours), "parts/s",
        f"commits one by one {median(committed):.0f}/s, the disk {median(floor):.0f} syncs/s "
        f"({median(ours) / median(floor):.2f} ×), mosquitto_pub -l {median(theirs):.0f}/s",
        ratio=median(ours) / median(committed), must=0.7, aim=0.9,
    )
