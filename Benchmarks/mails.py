# SPDX-License-Identifier: Apache-2.0
"""Mail: many small ones through 16 pipelines beside Postfix, and one large attachment beside curl, all to smtp-sink."""

import base64
import os
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import postfix
from harness import median, peak_memory
from large import GIB, make
from rows import Row
from throughput import SIZE, deliver_until_empty

PIPELINES = 16
ROUNDS = 5


class Sink:
    """smtp-sink, which reads a mail, keeps nothing and says yes."""

    def __init__(self, stack):
        self.port = postfix.free_port()
        path = os.environ.get("PATH", "") + ":/usr/sbin"
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        process = subprocess.Popen(
            ["smtp-sink", *user, f"127.0.0.1:{self.port}", "1024"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PATH": path},
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        deadline = time.monotonic() + 30
        while not self.listens():
            if time.monotonic() > deadline:
                raise SystemExit("smtp-sink doesn't listen; is Debian's postfix installed?")
            time.sleep(0.01)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False


def pipeline(name, sink):
    settings = {
        "host": "127.0.0.1", "port": sink.port, "security": "none", "from": "a@bench.invalid", "to": "b@bench.invalid",
    }
    return {
        "id": name, "extract": {"from": "inbox"}, "load": {"target": "smtp", "settings": settings},
        "delivery": {"spacing": "0s"},
    }


def mails(bench):
    """4 KB mails from submit to accepted, and a gibibyte in one."""
    reason = postfix.missing()
    ours, theirs = [], {10: [], PIPELINES: []}
    with ExitStack() as stack:
        sink = Sink(stack)
        names = [f"mail-{number}" for number in range(PIPELINES)]
        daemon = bench.daemon(stack, None, [], extra=[pipeline(name, sink) for name in names])
        daemon.names = names
        peer = None
        if not reason:
            peer = postfix.Postfix(bench.place, PIPELINES)
            stack.callback(peer.stop)
            peer.relay(500, SIZE, PIPELINES)
        deliver_until_empty(bench, daemon, 10)
        for _ in range(ROUNDS):
            ours.append(deliver_until_empty(bench, daemon, 100))
            for senders in theirs if peer else ():
                theirs[senders].append(peer.relay(1600, SIZE, senders))
    best = max(median(rates) for rates in theirs.values()) if peer else None
    yield Row(
        "16 pipelines, 4 KB mails, submit to accepted and removed", median(ours), "mails/s",
        f"Postfix {best:.0f}/s" if peer else f"no Postfix: {reason}",
        ratio=median(ours) / best if peer else None, must=1.5 if peer else None, aim=2.5 if peer else None,
    )
    yield from attachment(bench)


def message(sample, path):
    """A mail with the sample attached, as a mail program would have made it beforehand."""
    with open(sample, "rb") as source, open(path, "wb") as file:
        file.write(b"From: a@bench.invalid\r\nTo: b@bench.invalid\r\nSubject: x\r\nMIME-Version: 1.0\r\n")
        file.write(b"Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n")
        # 57 bytes make a line of 76.
        while block := source.read(57 * 16384):
            text = base64.b64encode(block)
            file.write(b"\r\n".join(text[start:start + 76] for start in range(0, len(text), 76)) + b"\r\n")


def attachment(bench):
    ours, theirs = [], []
    with ExitStack() as stack:
        sink = Sink(stack)
        daemon = bench.daemon(stack, None, [], extra=[pipeline("large", sink)])
        daemon.names = ["large"]
        sample, ready = daemon.folder / "sample", daemon.folder / "message"
        make(sample, GIB)
        message(sample, ready)
        for number in range(ROUNDS):
            start = time.monotonic_ns()
            subprocess.run(
                ["curl", "--silent", "--show-error", f"smtp://127.0.0.1:{sink.port}", "--mail-from", "a@bench.invalid",
                 "--mail-rcpt", "b@bench.invalid", "--upload-file", str(ready)],
                check=True,
            )
            theirs.append(GIB / (time.monotonic_ns() - start) * 1e3)
            daemon.ask({"command": "pause", "pipeline": "large"})
            daemon.submit_over_socket("large", sample, f"sample-{number}.bin")
            start = time.monotonic_ns()
            daemon.ask({"command": "resume", "pipeline": "large"})
            daemon.until_empty(600)
            ours.append(GIB / (time.monotonic_ns() - start) * 1e3)
        workers = [peak_memory(worker) for worker in daemon.workers()]
    yield Row(
        "1 GiB attached to one mail, from the queue to accepted", median(ours), "MB/s",
        f"curl sending the ready-made message {median(theirs):.0f} MB/s", ratio=median(ours) / median(theirs), must=0.5, aim=0.8,
    )
    yield Row("memory of the worker meanwhile", max(workers, default=0) / 1e6, "MB", must=32, least=True)
