#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py DIST [--once]: starts a receiver and the daemon, hands over some files, shows what arrived, runs until Ctrl-C.

With --once it stops when everything has arrived, for tests. It needs no root and writes only below its own folder.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORT = 8931
PATIENCE = 30.0


class Demo:
    def __init__(self, dist):
        self.relay = str(dist / "bin/relay-host")
        self.config = HERE / "pipelines.json"
        self.state = HERE / "relay-data"
        self.received = HERE / "delivered/received.ndjson"
        self.children = []

    def start(self, *command, **options):
        # A session of its own: Ctrl-C reaches this program alone, which then ends its children in order.
        child = subprocess.Popen(command, start_new_session=True, **options)
        self.children.append(child)
        return child

    def prepare(self):
        if daemon_listens(self.state):
            sys.exit(f"A demo runs already (its state is {shown(self.state)}); end that one first.")
        shutil.rmtree(self.state, ignore_errors=True)
        for file in [*HERE.glob("delivered/*/*"), self.received]:
            if file.is_file() and file.name != ".gitkeep":
                file.unlink()
        for folder in ("delivered/notes", "delivered/archive", "drop"):
            (HERE / folder).mkdir(parents=True, exist_ok=True)

    def start_receiver(self):
        port = PORT if is_free(PORT) else 0
        program = [sys.executable, str(HERE / "receiver.py"), str(port), str(self.received)]
        receiver = self.start(*program, stdout=subprocess.PIPE, text=True)
        first = receiver.stdout.readline()
        if not first.startswith("listening on "):
            sys.exit("The receiver could not start.")
        port = int(first.split()[-1])
        # From here on what it prints goes straight to this terminal.
        self.echo(receiver.stdout)
        if port != PORT:
            print(f"Port {PORT} is taken, so the receiver uses {port}; pipelines.local.json says so.")
            text = self.config.read_text().replace(f":{PORT}/", f":{port}/")
            self.config = HERE / "pipelines.local.json"
            self.config.write_text(text)
        return port

    def echo(self, stream):
        def copy():
            for line in stream:
                print(f"  {line}", end="", flush=True)

        threading.Thread(target=copy, daemon=True).start()

    def start_daemon(self):
        log = open(HERE / "relay-data.log", "w", encoding="utf-8")
        daemon = self.start(self.relay, "--config", str(self.config), stdout=log, stderr=log)
        self.wait("the daemon answers", lambda: daemon_listens(self.state), daemon)
        return daemon

    def command(self, *words):
        result = subprocess.run([self.relay, *words, "--config", str(self.config)], capture_output=True, text=True)
        return result

    def submit(self, pipeline, file):
        print(f"$ {shown(self.relay)} submit {pipeline} {shown(file)} --config {shown(self.config)}")
        result = self.command("submit", pipeline, str(file))
        if result.returncode != 0:
            sys.exit(f"submit ended with {result.returncode}:\n{result.stdout}{result.stderr}")
        print("".join(f"  {line}\n" for line in result.stdout.splitlines()), end="")

    def status(self):
        result = self.command("status", "--json")
        try:
            return {entry["id"]: entry for entry in json.loads(result.stdout)["pipelines"]}
        except (ValueError, KeyError):
            return {}

    def all_arrived(self):
        status = self.status()
        delivered = [
            entry["queued"]["artifacts"] == 0 and (entry["lastVerdict"] or {}).get("code") == "delivered"
            for entry in status.values()
        ]
        return len(delivered) == 3 and all(delivered)

    def wait(self, what, condition, daemon):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if daemon.poll() is not None:
                sys.exit(f"The daemon ended with {daemon.returncode}; it said:\n" + tail(HERE / "relay-data.log"))
            if time.monotonic() > deadline:
                sys.exit(f"{PATIENCE:.0f} s passed before {what}; the daemon said:\n" + tail(HERE / "relay-data.log"))
            time.sleep(0.05)

    def tell(self):
        print("\nWhat arrived:")
        for folder in ("delivered/notes", "delivered/archive"):
            for file in sorted((HERE / folder).glob("*")):
                if file.name != ".gitkeep":
                    print(f"  {shown(file)}  {file.stat().st_size} bytes")
        for line in self.received.read_text().splitlines():
            entry = json.loads(line)
            print(f"  {entry['file']} at the receiver  {entry['bytes']} bytes  {shown(self.received)}")
        print()
        print(self.command("status").stdout, end="")

    def stop(self):
        for child in reversed(self.children):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                try:
                    child.wait(20)
                except subprocess.TimeoutExpired:
                    child.kill()
        (HERE / "pipelines.local.json").unlink(missing_ok=True)


def daemon_listens(state):
    path = os.path.relpath(state / "control.sock")  # socket paths are short; relative ones are shorter
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(path)
        return True
    except OSError:
        return False


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def shown(path):
    return os.path.relpath(path)


def tail(file, lines=20):
    return "\n".join(file.read_text().splitlines()[-lines:])


def main():
    once = "--once" in sys.argv
    dist = Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()
    demo = Demo(dist)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        demo.prepare()
        port = demo.start_receiver()
        daemon = demo.start_daemon()
        print(f"Relay Host runs with {shown(demo.config)}; a receiver listens on port {port}.\n")
        demo.submit("notes", HERE / "samples/note.txt")
        demo.submit("reports", HERE / "samples/report.csv")
        print("$ cp", shown(HERE / "samples/letter.txt"), shown(HERE / "drop") + "/")
        arriving = HERE / "drop/.letter.txt"
        shutil.copyfile(HERE / "samples/letter.txt", arriving)
        arriving.rename(HERE / "drop/letter.txt")
        print("Waiting for all three; an inbox waits until a file has been quiet for a moment …")
        demo.wait("everything had arrived", demo.all_arrived, daemon)
        demo.tell()
        if once:
            return
        host = f"{shown(dist)}/bin/relay-host"
        option = f"--config {shown(demo.config)}"
        print(
            f"\nIt goes on running. In another terminal try:\n"
            f"  {host} submit reports README.md {option}\n"
            f"  {host} log reports {option}\n"
            f"  cp LICENSE {shown(HERE / 'drop')}/\n"
            f"Edit {shown(demo.config)} and save it: the change is in force at once.\n"
            f"The daemon's log is {shown(HERE / 'relay-data.log')}. Ctrl-C ends everything."
        )
        code = daemon.wait()
        sys.exit(f"The daemon ended by itself with {code}; it said:\n" + tail(HERE / "relay-data.log"))
    except KeyboardInterrupt:
        print("\nStopping …")
    finally:
        demo.stop()


if __name__ == "__main__":
    main()
