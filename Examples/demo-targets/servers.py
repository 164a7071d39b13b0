# SPDX-License-Identifier: Apache-2.0
"""The receivers of the demo: server programs as people run them, each in a folder of its own and on a port of its own."""

import os
import pwd
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
        f'  server {{ listen 127.0.0.1:{port}; location /dav/ {{ root "{folder}"; dav_methods PUT; }} }} }}\n'
    )
    start(tool("nginx"), "-p", str(folder), "-c", "nginx.conf", stderr=subprocess.DEVNULL)


def mosquitto(start, folder, port):
    """A broker, and a client of its own that writes what comes: topic, a space, the payload in hexadecimal digits."""
    folder.mkdir(parents=True)
    # Started by root it would become another user, who may not read this folder.
    me = pwd.getpwuid(os.getuid()).pw_name
    (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nuser {me}\n")
    start(tool("mosquitto"), "-c", str(folder / "mosquitto.conf"), stderr=subprocess.DEVNULL)
    wait_for(port)
    # What is said before somebody listens is said to nobody: the subscription outlives the connection that makes it.
    reader = [tool("mosquitto_sub"), "-p", str(port), "-i", "reader", "-c", "-q", "2", "-t", "relay/#"]
    subprocess.run([*reader, "-E"], check=True)
    start(*reader, "-F", "%t %x", stdout=open(folder / "messages", "w", encoding="ascii"))


def aiosmtpd(start, folder, port):
    """A mail server that files every mail into the maildir folder/mail."""
    folder.mkdir(parents=True)
    handler = ["-c", "aiosmtpd.handlers.Mailbox", str(folder / "mail")]
    start(str(PYTHON), "-m", "aiosmtpd", "-n", "-l", f"127.0.0.1:{port}", *handler)


def mail_service(start, folder, port):
    """Stands in for the three mail services, which can't be had without an account; it notes each mail as a line of folder/record."""
    folder.mkdir(parents=True)
    program = ROOT / "Tests/Fixtures/servers/mail_services.py"
    command = [str(PYTHON), str(program), "--port", str(port), "--record", str(folder / "record")]
    start(*command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


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
    subprocess.run(["curl", "-sf", "--noproxy", "*", "-u", f"maria:{password}", "-X", "MKCALENDAR", url], check=True)


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
