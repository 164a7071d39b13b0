# SPDX-License-Identifier: Apache-2.0
"""The receivers of the demo: server programs as people run them, each in a folder of its own and on a port of its own."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".build/python/bin/python3"
PATIENCE = 20.0


def nginx(start, folder, port):
    """A web server that takes PUT into folder/dav."""
    for name in ("dav", "temp"):
        (folder / name).mkdir(parents=True)
    temporary = "".join(f"{kind}_temp_path temp; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid nginx.pid; error_log error.log; events {{}}\n"
        f"http {{ access_log off; {temporary}\n"
        f"  server {{ listen 127.0.0.1:{port}; location /dav/ {{ root {folder}; dav_methods PUT; }} }} }}\n"
    )
    start(tool("nginx"), "-p", str(folder), "-c", "nginx.conf", stderr=subprocess.DEVNULL)


def mosquitto(start, folder, port):
    """A broker, and a client of its own that writes what comes: topic, a space, the payload in hexadecimal digits."""
    folder.mkdir(parents=True)
    (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    start(tool("mosquitto"), "-c", str(folder / "mosquitto.conf"), stderr=subprocess.DEVNULL)
    wait_for(port)
    command = [tool("mosquitto_sub"), "-p", str(port), "-t", "relay/#", "-q", "2", "-F", "%t %x"]
    start(*command, stdout=open(folder / "messages", "w", encoding="ascii"))


def aiosmtpd(start, folder, port):
    """A mail server that files every mail into the maildir folder/mail."""
    folder.mkdir(parents=True)
    handler = ["-c", "aiosmtpd.handlers.Mailbox", str(folder / "mail")]
    start(str(PYTHON), "-m", "aiosmtpd", "-n", "-l", f"127.0.0.1:{port}", *handler)


def mail_service(start, folder, port):
    """Stands in for the three mail services, which can't be had without an account."""
    folder.mkdir(parents=True)
    program = ROOT / "Tests/Fixtures/servers/mail_services.py"
    start(sys.executable, str(program), str(folder / "record"), "--port", str(port), stdout=subprocess.DEVNULL)


def radicale(start, folder, port, password):
    """A calendar server with the calendar maria/health."""
    folder.mkdir(parents=True)
    users = folder / "users"
    users.write_text(f"maria:{password}\n")
    options = [f"--server-hosts=127.0.0.1:{port}", f"--storage-filesystem-folder={folder / 'store'}"]
    options += ["--auth-type=htpasswd", f"--auth-htpasswd-filename={users}", "--auth-htpasswd-encryption=plain"]
    start(str(PYTHON), "-m", "radicale", "--config=", *options, stderr=subprocess.DEVNULL)
    wait_for(port)
    url = f"http://127.0.0.1:{port}/maria/health/"
    subprocess.run(["curl", "-sf", "-u", f"maria:{password}", "-X", "MKCALENDAR", url], check=True)


def wait_for(port):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                sys.exit(f"nothing listens on port {port} after {PATIENCE:.0f} s")
            time.sleep(0.05)


def tool(name):
    """Some servers stand where only root's PATH looks."""
    for folder in os.environ.get("PATH", "").split(":") + ["/usr/sbin", "/usr/local/sbin"]:
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    sys.exit(f"{name} is not installed; scripts/bootstrap does that")
