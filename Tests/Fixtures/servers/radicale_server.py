# SPDX-License-Identifier: Apache-2.0
"""Radicale's own server on a free port, for one user; run it with the interpreter that has the version wanted.

    radicale_server.py FOLDER USER PASSWORD [CERTIFICATE KEY]

Listens on 127.0.0.1, prints the port, keeps its collections in FOLDER and ends when stdin does. Its own log, a line for each request and
each answer, is FOLDER/log.
"""
import logging
import os
import socket
import sys
import threading

from radicale import config, server

folder, user, password = sys.argv[1:4]
encryption = {}
if len(sys.argv) > 4:
    encryption = {"ssl": "True", "certificate": sys.argv[4], "key": sys.argv[5]}
os.makedirs(folder, exist_ok=True)
users = os.path.join(folder, "users")
with open(users, "w") as file:
    file.write(f"{user}:{password}\n")

plain_bind = server.ParallelHTTPServer.server_bind


def bind(self):
    # The configuration of newer versions takes no port 0.
    self.server_address = ("127.0.0.1", 0)
    plain_bind(self)
    print(self.socket.getsockname()[1], flush=True)


server.ParallelHTTPServer.server_bind = bind

configuration = config.load()
configuration.update({
    "server": {"hosts": "127.0.0.1:1", **encryption},
    "auth": {"type": "htpasswd", "htpasswd_filename": users, "htpasswd_encryption": "plain", "delay": "0"},
    "storage": {"filesystem_folder": os.path.join(folder, "collections")},
}, "test", privileged=True)
# What tests provoke is no news on a terminal.
logging.getLogger("radicale").handlers.clear()
logging.basicConfig(filename=os.path.join(folder, "log"), format="%(message)s", level=logging.INFO, force=True)
end, ended = socket.socketpair()


def wait():
    sys.stdin.read()
    end.close()


threading.Thread(target=wait, daemon=True).start()
server.serve(configuration, ended)
