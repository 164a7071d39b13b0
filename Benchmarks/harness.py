# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: a daemon from DIST in a folder of its own, receivers, and helpers to measure with.

A receiver stamps the moment at which it has the last byte of a body, before it answers. Start and arrival are taken from
the same clock (CLOCK_MONOTONIC, which is one for all processes of a machine).
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
    """An HTTP/1.1 server in this process that can look at what it gets: for correctness, not for speed."""

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


class FastReceiver:
    """The receiver in C, which keeps nothing: one for us and for our peers."""

    def __init__(self, tools, folder):
        self.log_path = Path(folder) / f"arrivals-{time.monotonic_ns()}"
        self.process = subprocess.Popen(
            [str(Path(tools) / "bench-receiver"), str(self.log_path)], stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline())
        self.log = open(self.log_path, "rb")
        self.rest = b""
        self.arrivals = []  # (nanoseconds, bytes, path)

    def look(self):
        lines = (self.rest + self.log.read()).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            moment, size, path = line.split(b" ", 2)
            self.arrivals.append((int(moment), int(size), path.decode()))
        return len(self.arrivals)

    def wait(self, count, seconds=120.0, pause=0.005):
        """The arrivals, once there are so many."""
        deadline = time.monotonic() + seconds
        while self.look() < count:
            if time.monotonic() > deadline:
                raise SystemExit(f"{len(self.arrivals)} of {count} bodies arrived within {seconds:.0f} s")
            time.sleep(pause)
        return self.arrivals

    def forget(self):
        self.look()
        self.arrivals = []

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.log_path.unlink()


class Daemon:
    """A daemon with one or more pipelines to a receiver.

    `prefix` are words that start it, `top` is what stands beside the pipelines. `place` is the folder to work in, made when it isn't given; it is removed with the daemon unless it was given.
    """

    def __init__(
        self, dist, receiver, pipelines=("bench",), delivery=None, folder=None, place=None, extra=(), targets=None,
        patience=30.0, waits=True, prefix=(), top=None,
    ):
        self.relay = str(Path(dist).resolve() / "bin/relay-host")
        self.keeps = place is not None
        self.folder = Path(place) if place else Path(tempfile.mkdtemp(prefix="relay-bench-", dir=folder)).resolve()
        self.config = self.folder / "pipelines.json"
        self.names = list(pipelines)
        entries = [self.entry(name, receiver, delivery) for name in pipelines] + list(extra)
        document = {"state": "state", "pipelines": entries, **(top or {})}
        if targets:
            document["targets"] = [str(targets)]
        self.config.write_text(json.dumps(document))
        self.log = open(self.folder / "log", "w", encoding="utf-8")
        self.started = time.monotonic_ns()
        self.process = subprocess.Popen([*prefix, self.relay, "--config", str(self.config)], stderr=self.log)
        if waits:
            self.until("the daemon answers", self.answers, patience)

    @staticmethod
    def entry(name, receiver, delivery=None, path=None):
        url = f"http://127.0.0.1:{receiver.port}{path or '/{{ pipeline.id }}'}/{{{{ file.name }}}}"
        return {
            "id": name,
            "extract": {"from": "inbox"},
            "load": {"target": "http", "settings": {"url": url}},
            "delivery": {"spacing": "0s", **(delivery or {})},
        }

    @property
    def state(self):
        return self.folder / "state"

    def command(self, *words):
        return subprocess.run([self.relay, *words, "--config", str(self.config)], capture_output=True, text=True)

    def ask(self, request, files=()):
        """One request over the control socket, as a program would do it."""
        line = json.dumps(request).encode() + b"\n"
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.state / "control.sock"))
            socket.send_fds(connection, [line], [file.fileno() for file in files])
            return json.loads(connection.makefile().readline())

    def submit(self, pipeline, file):
        result = self.command("submit", pipeline, str(file))
        if result.returncode != 0:
            raise SystemExit(f"submit ended with {result.returncode}: {result.stderr}")

    def submit_over_socket(self, pipeline, path, name):
        with open(path, "rb") as file:
            reply = self.ask({"command": "submit", "pipeline": pipeline, "names": [name]}, [file])
        if reply["exit"] != 0:
            raise SystemExit(f"the daemon refused: {reply}")

    def status(self):
        try:
            return self.ask({"command": "status"})["result"]["pipelines"]
        except (OSError, ValueError):
            return [{"state": "unknown"}]

    def answers(self):
        return all(entry["state"] == "idle" for entry in self.status())

    def until(self, what, condition, seconds=30.0):
        deadline = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.log.flush()
                raise SystemExit(f"waited in vain until {what}; the log:\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.002)

    def until_idle(self):
        self.until("the pipeline is idle", lambda: all(entry["state"] == "idle" for entry in self.status()))

    def until_empty(self, seconds=60.0):
        """Until nothing is left in the queue folders: what was delivered has also been removed."""
        queues = [self.state / "pipelines" / name / "queue" for name in self.names]
        self.until("the queues are empty", lambda: not any(any(os.scandir(queue)) for queue in queues), seconds)

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
        return pages * os.sysconf("SC_PAGE_SIZE"), self.open_files()

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self, kills=False):
        if kills:
            self.process.kill()
        else:
            self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        if not self.keeps:
            shutil.rmtree(self.folder, ignore_errors=True)


def compiled(dist, folder, text):
    """A targets folder in `folder`, with the one target that is made of `text`, in C."""
    targets = Path(folder).resolve() / "targets"
    targets.mkdir()
    source = Path(folder) / "target.c"
    source.write_text(text)
    subprocess.run(
        ["cc", "-std=c11", "-O2", "-shared", "-fPIC", "-I", str(Path(dist) / "include"), "-o", str(targets / "target.so"),
         str(source)],
        check=True,
    )
    return targets


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values):
    return percentile(values, 0.5)


def peak_memory(pid):
    """The most memory that a process has held at one time (VmHWM), in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def processor_time(pid):
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
