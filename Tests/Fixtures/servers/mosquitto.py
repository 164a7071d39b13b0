#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mosquitto with a configuration of the test's, on a port of its own.

    mosquitto.py FOLDER [LINE…]

LINE is one of mosquitto.conf after the listener's; %s in it stands for FOLDER. Prints the port when the broker accepts. Then each
line of standard input is obeyed and answered with "ok": stop, start (on the same port), restart. Ends with its standard input.
The broker's log is FOLDER/log.
"""
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
program = shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def end_with_parent():
    """The broker ends with this program, however that ends (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def start(port):
    # Started as root it would become another user, who may not read the tests' folder.
    lines = [f"listener {port} 127.0.0.1", "user root", f"log_dest file {folder}/log", "log_type all"]
    lines += [line.replace("%s", folder) for line in sys.argv[2:]]
    if not any(line.startswith(("allow_anonymous", "password_file")) for line in lines):
        lines.append("allow_anonymous true")
    with open(f"{folder}/mosquitto.conf", "w") as file:
        file.write("\n".join(lines) + "\n")
    child = subprocess.Popen(
        [program, "-c", f"{folder}/mosquitto.conf"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=end_with_parent,
    )
    for _ in range(2000):
        if child.poll() is not None:
            return None
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return child
        except OSError:
            time.sleep(0.005)
    child.kill()
    return None


def stop(child):
    # While it starts it takes a signal without ending by it: asked again until it has heard.
    while True:
        child.terminate()
        try:
            child.wait(0.5)
            return
        except subprocess.TimeoutExpired:
            pass


for _ in range(5):
    port = free_port()
    broker = start(port)
    if broker:
        break
else:
    sys.exit("mosquitto does not start; see " + folder + "/log")
print(port, flush=True)
for command in sys.stdin:
    if command.strip() in ("stop", "restart"):
        stop(broker)
    if command.strip() in ("start", "restart"):
        broker = start(port)
    print("ok" if broker else "it does not start", flush=True)
if broker:
    stop(broker)
