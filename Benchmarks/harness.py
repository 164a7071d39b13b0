# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: a daemon from DIST in a folder of its own, and a receiver in this process.

The receiver stamps the moment at which it has the last byte of a body, before it answers. Start and arrival are taken from the same
clock (CLOCK_MONOTONIC, which is one for all processes of a machine).
"""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path


class Receiver:
    """An HTTP/1.1 server that does the least it can, so that it is not what is measured."""

    def __init__(self, answer=lambda entry: 201):
        self.answer = answer
        self.arrivals = {}
        self.condition = threading.Condition()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        stream = connection.makefile("rb")
        try:
            while self._request(stream, connection):
                pass
        except OSError:
            pass
        finally:
            connection.close()

    def _request(self, stream, connection):
        line = stream.readline()
        if not line:
            return False
        path, headers = line.split()[1].decode(), {}
        while (field := stream.readline().strip()) != b"":
            name, _, value = field.partition(b":")
            headers[name.lower().decode()] = value.strip().decode()
        if headers.get("expect") == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(headers.get("content-length", 0))
        body = stream.read(length)
        arrived = time.monotonic_ns()
        if len(body) < length:
            return False
        entry = {"key": headers.get("idempotency-key"), "sha256": hashlib.sha256(body).hexdigest(), "path": path}
        status = self.answer(entry)
        connection.sendall(f"HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n".encode())
        if 200 <= status < 300:
            with self.condition:
                self.arrivals.setdefault(path, []).append((arrived, entry))
                self.condition.notify_all()
        return True

    def wait(self, path, seconds=30.0):
        """Nanoseconds of the clock at which the first body for `path` was complete."""
        with self.condition:
            if not self.condition.wait_for(lambda: path in self.arrivals, seconds):
                raise SystemExit(f"nothing arrived at {path} within {seconds:.0f} s")
            return self.arrivals[path][0][0]


class Daemon:
    """A daemon with one or more pipelines to the receiver."""

    def __init__(self, dist, receiver, pipelines=("bench",), delivery=None, folder=None):
        self.relay = str(Path(dist).resolve() / "bin/relay-host")
        self.folder = Path(tempfile.mkdtemp(prefix="relay-bench-", dir=folder))
        self.config = self.folder / "pipelines.json"
        url = f"http://127.0.0.1:{receiver.port}/{{{{ pipeline.id }}}}/{{{{ file.name }}}}"
        entries = [
            {
                "id": name,
                "extract": {"from": "inbox"},
                "load": {"target": "http", "settings": {"url": url}},
                "delivery": {"spacing": "0s", **(delivery or {})},
            }
            for name in pipelines
        ]
        self.config.write_text(json.dumps({"state": "state", "pipelines": entries}))
        self.log = open(self.folder / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen([self.relay, "--config", str(self.config)], stderr=self.log)
        self.until("the daemon answers", lambda: all(entry["state"] == "idle" for entry in self.status()))

    def command(self, *words):
        return subprocess.run([self.relay, *words, "--config", str(self.config)], capture_output=True, text=True)

    def submit(self, pipeline, file):
        result = self.command("submit", pipeline, str(file))
        if result.returncode != 0:
            raise SystemExit(f"submit ended with {result.returncode}: {result.stderr}")

    def status(self):
        result = self.command("status", "--json")
        try:
            answer = json.loads(result.stdout)
        except ValueError:
            return [{"state": "unknown"}]
        return answer["pipelines"] if answer.get("daemon", True) else [{"state": "unknown"}]

    def until(self, what, condition, seconds=30.0):
        deadline = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.log.flush()
                raise SystemExit(f"waited in vain until {what}; the log:\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.002)

    def until_idle(self):
        self.until("the pipeline is idle", lambda: all(entry["state"] == "idle" for entry in self.status()))

    def workers(self):
        children = []
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                text = Path(f"/proc/{self.process.pid}/task/{task}/children").read_text()
            except OSError:
                continue
            children += [int(word) for word in text.split()]
        return children

    def end_workers(self):
        """Kills the idle workers, and waits until the daemon has seen it: the next delivery must start one."""
        for worker in self.workers():
            os.kill(worker, signal.SIGKILL)
        self.until("the workers are gone", lambda: not self.workers())

    def resident(self):
        """Resident memory in bytes, and open descriptors."""
        text = Path(f"/proc/{self.process.pid}/statm").read_text()
        pages = int(text.split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
