# SPDX-License-Identifier: Apache-2.0
"""Postfix as a peer: it too keeps what it accepts on the disk until the next one has it.

An instance of its own with its own folders beside our state folder, never the machine's mail system. It may use as many
processes at once as we have pipelines; limits that would slow it on purpose are off, it asks no DNS and writes no log.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

MAIN = """
compatibility_level = 3.6
config_directory = {folder}/config
queue_directory = {folder}/queue
data_directory = {folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = bench.invalid
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_client_event_limit_exceptions = 127.0.0.0/8
smtpd_peername_lookup = no
smtp_dns_support_level = disabled
relayhost = [127.0.0.1]:{sink}
relay_transport = smtp:[127.0.0.1]:{sink}
default_transport = smtp:[127.0.0.1]:{sink}
alias_maps =
alias_database =
local_recipient_maps =
default_process_limit = {processes}
default_destination_concurrency_limit = {concurrency}
initial_destination_concurrency = {concurrency}
default_destination_recipient_limit = 1
smtp_connection_cache_on_demand = yes
smtp_connection_cache_destinations = 127.0.0.1
in_flow_delay = 0
debug_peer_list =
maximal_queue_lifetime = 1h
"""

MASTER = """
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - - smtp
retry unix - - n - - error
error unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
"""

QUEUES = ("maildrop", "incoming", "active", "deferred", "hold")


def missing():
    """Why it can't be measured here, or None."""
    programs = ("postfix", "smtp-source", "smtp-sink")
    path = os.environ.get("PATH", "") + ":/usr/sbin"
    lacking = [name for name in programs if not shutil.which(name, path=path)]
    if lacking:
        return f"{', '.join(lacking)} not installed"
    return None if os.geteuid() == 0 else "Postfix must be started by root"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Postfix:
    def __init__(self, folder, concurrency):
        self.folder = Path(tempfile.mkdtemp(prefix="postfix-bench-", dir=folder)).resolve()
        self.folder.chmod(0o755)
        self.environment = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        self.port, self.sink_port = free_port(), free_port()
        for name in ("config", "queue", "data"):
            (self.folder / name).mkdir()
        shutil.chown(self.folder / "data", "postfix")
        values = {
            "folder": self.folder, "sink": self.sink_port, "port": self.port, "processes": 2 * concurrency,
            "concurrency": concurrency,
        }
        (self.folder / "config/main.cf").write_text(MAIN.format(**values))
        (self.folder / "config/master.cf").write_text(MASTER.format(**values))
        self.sink = subprocess.Popen(
            ["smtp-sink", "-u", "postfix", "-c", f"127.0.0.1:{self.sink_port}", "1024"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment,
        )
        self.control("start")
        self.until(self.listens)

    def control(self, word, check=True):
        # What it says goes to its log only, unless it has a terminal.
        done = subprocess.run(
            ["postfix", "-v", "-c", str(self.folder / "config"), word], env=self.environment, capture_output=True
        )
        if check and done.returncode != 0:
            raise SystemExit(f"postfix {word} ended with {done.returncode}; try it by hand in {self.folder}")

    def listens(self):
        for port in (self.port, self.sink_port):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                return False
        return True

    def until(self, condition, seconds=120.0, pause=0.01):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit(f"Postfix: waited in vain; see {self.folder}")
            time.sleep(pause)

    def is_empty(self):
        """Whether no mail is left in any queue."""
        return not any(files for name in QUEUES for _, _, files in os.walk(self.folder / "queue" / name))

    def relay(self, count, size, senders):
        """Mails a second, from the first submitted to none left in the queue; each sender keeps its connection."""
        start = time.monotonic()
        subprocess.run(
            ["smtp-source", "-d", "-s", str(senders), "-l", str(size), "-m", str(count), "-f", "a@bench.invalid",
             "-t", "b@bench.invalid", f"127.0.0.1:{self.port}"],
            check=True, env=self.environment, stdout=subprocess.DEVNULL,
        )
        self.until(self.is_empty)
        return count / (time.monotonic() - start)

    def stop(self):
        self.control("stop", check=False)
        self.sink.kill()
        self.sink.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
