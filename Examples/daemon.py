#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A daemon of Relay Host and what a demo starts beside it; the demos import this."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

PATIENCE = 30.0


class Daemon:
    """The daemon with the configuration `config` and the state `relay-data` in `folder`, and programs that end along with it."""

    def __init__(self, dist, folder, config):
        self.relay = str(dist / "bin/relay-host")
        self.folder = folder
        self.config = config
        self.state = folder / "relay-data"
        self.log = folder / "relay-data.log"
        self.children = []
        self.process = None

    def start(self, *command, **options):
        # A session of its own: Ctrl-C reaches this program alone, which then ends its children in order.
        child = subprocess.Popen(command, start_new_session=True, **options)
        self.children.append(child)
        return child

    def must_be_alone(self):
        if listens(self.state):
            sys.exit(f"A demo runs already (its state is {shown(self.state)}); end that one first.")

    def start_daemon(self):
        log = open(self.log, "w", encoding="utf-8")
        self.process = self.start(self.relay, "--config", str(self.config), stdout=log, stderr=log)
        self.wait("the daemon answers", lambda: listens(self.state))

    def command(self, *words, **options):
        command = [self.relay, *words, "--config", str(self.config)]
        return subprocess.run(command, capture_output=True, text=True, **options)

    def submit(self, pipeline, *files):
        names = " ".join(shown(file) for file in files)
        print(f"$ {shown(self.relay)} submit {pipeline} {names} --config {shown(self.config)}")
        result = self.command("submit", pipeline, *(str(file) for file in files))
        if result.returncode != 0:
            sys.exit(f"submit ended with {result.returncode}:\n{result.stdout}{result.stderr}")
        print("".join(f"  {line}\n" for line in result.stdout.splitlines()), end="")

    def status(self):
        result = self.command("status", "--json")
        try:
            return {entry["id"]: entry for entry in json.loads(result.stdout)["pipelines"]}
        except (ValueError, KeyError):
            return {}

    def all_arrived(self, count):
        delivered = [
            entry["queued"]["artifacts"] == 0 and (entry["lastVerdict"] or {}).get("code") == "delivered"
            for entry in self.status().values()
        ]
        return len(delivered) == count and all(delivered)

    def wait(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if self.process.poll() is not None:
                sys.exit(f"The daemon ended with {self.process.returncode}; it said:\n" + self.last_words())
            if time.monotonic() > deadline:
                sys.exit(f"{PATIENCE:.0f} s passed before {what}; the daemon said:\n" + self.last_words())
            time.sleep(0.05)

    def last_words(self, lines=20):
        return "\n".join(self.log.read_text().splitlines()[-lines:])

    def stop(self):
        for child in reversed(self.children):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                try:
                    child.wait(20)
                except subprocess.TimeoutExpired:
                    child.kill()


def listens(state):
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
