# SPDX-License-Identifier: Apache-2.0
"""A receiver that behaves as its path says, for tests of HTTP targets.

    http_peer.py RECORD [--port PORT | CERTIFICATE KEY]

Listens on 127.0.0.1, prints the port, appends one JSON line a request to RECORD before it answers, and ends when stdin does.
Nothing but the standard library; the protocol is spoken by hand so that it can be broken by hand.

    /status/CODE?retry-after=…&location=…&type=…&body=…   reads everything, then answers
    /reset/head   /reset/body   /reset/answer              a reset after the head, within the body, instead of an answer
    /close/answer                                          closes instead of an answer
    /early/CODE                                            answers after the head and reads no further
    /garbage                                               answers what is not HTTP
    /stall                                                 reads everything and never answers
    /trickle                                               answers 200 and sends its body a byte at a time, for ever
    /flood                                                 answers 200 and sends a body without end
    /cut                                                   answers 200 and closes within the answer's body
    /die-second                                            on a kept connection reads the second request and closes
    /continue/CODE                                         answers 100, reads everything, then answers
    /no-expectations                                       answers 417 to Expect, else 200
    /slow-reader                                           reads 64 KiB a second
    /pace/MILLISECONDS/CODE                                waits so long after each 64 KiB, then answers
    /freeze                                                reads the head and nothing more
    /wait/MILLISECONDS/CODE                                reads everything, waits, then answers
    /script/NAME                                           behaves as the lines of the file RECORD.NAME say, each a path
                                                           of the above: the first line for the first request since the
                                                           file was changed, the last line for all others
    /chaos/PERCENT/…                                       fails in one of many ways so often, else answers 201
"""
import base64
import hashlib
import json
import os
import random
import socket
import ssl
import struct
import sys
import threading
import time
import zlib
from urllib.parse import parse_qs, unquote, urlsplit

record = open(sys.argv[1], "a", buffering=1)
lock = threading.Lock()
connections = 0
active = 0
scripts = {}
# When the body that this thread reads began to come.
begun = threading.local()


class Gone(Exception):
    pass


class Reader:
    def __init__(self, sock):
        self.sock, self.left = sock, b""

    def line(self):
        while b"\r\n" not in self.left:
            self.fill()
        line, self.left = self.left.split(b"\r\n", 1)
        return line.decode("utf-8", "replace")

    def fill(self):
        data = self.sock.recv(262144)
        if not data:
            raise Gone
        self.left += data

    def some(self, most):
        if not self.left:
            self.fill()
        data, self.left = self.left[:most], self.left[most:]
        return data


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if isinstance(sock, ssl.SSLSocket):
        sock = socket.socket(fileno=sock.detach())
    sock.close()
    raise Gone


def answer(sock, status, query, extra=(), body=None):
    body = query.get("body", [""])[0].encode() if body is None else body
    lines = [f"HTTP/1.1 {status} Answer", f"Content-Length: {len(body)}"]
    for name, key in (("Retry-After", "retry-after"), ("Location", "location"), ("Content-Type", "type")):
        if key in query:
            lines.append(f"{name}: {query[key][0]}")
    sock.sendall("\r\n".join([*lines, *extra, "", ""]).encode() + (b"" if status in (204, 304) else body))


def read_body(reader, length, pause=0.0):
    digest, tail, left = hashlib.sha256(), b"", length
    begun.value = time.monotonic()
    while left:
        data = reader.some(min(left, 65536 if pause else left))
        left -= len(data)
        digest.update(data)
        if length <= 65536:
            tail += data
        time.sleep(pause)
    return digest.hexdigest(), tail


def note(number, method, target, behaviour, headers, length, digest, tail):
    with lock:
        record.write(json.dumps({
            "connection": number, "method": method, "path": target, "behaviour": behaviour, "headers": headers,
            "plain": plain(headers, digest, tail), "length": length, "begun": int(getattr(begun, "value", time.monotonic()) * 1000),
            "sha256": digest, "body": base64.b64encode(tail).decode(), "at": int(time.monotonic() * 1000),
            "active": active}) + "\n")


def plain(headers, digest, tail):
    """The digest of what was packed by gzip, of short bodies; else that of the body."""
    if ["content-encoding", "gzip"] not in [[name.lower(), value] for name, value in headers] or not tail:
        return digest
    try:
        return hashlib.sha256(zlib.decompress(tail, 31)).hexdigest()
    except zlib.error:
        return "not gzip"


def scripted(name):
    """The path that the script says for this request."""
    path = f"{sys.argv[1]}.{name}"
    with lock, open(path) as file:
        lines = file.read().splitlines()
        identity, done = (os.fstat(file.fileno()).st_ino, os.fstat(file.fileno()).st_mtime_ns), 0
        if scripts.get(name, (None, 0))[0] == identity:
            done = scripts[name][1]
        scripts[name] = (identity, done + 1)
        return lines[min(done, len(lines) - 1)]


# What may go wrong with a delivery, without its worker waiting for long.
TROUBLE = [
    "/status/503", "/status/429?retry-after=0", "/status/500", "/early/503", "/reset/head", "/reset/body", "/reset/answer",
    "/close/answer", "/garbage", "/cut", "/status/408", "/wait/30/503", "/wait/50/201", "/pace/2/201", "/status/425",
]


def chosen(target):
    """What is done for this request: what its path says, unless that leaves it to a script or to chance."""
    if target.startswith("/script/"):
        target = scripted(target.split("/")[2])
    if target.startswith("/chaos/"):
        return random.choice(TROUBLE) if random.random() * 100 < float(target.split("/")[2]) else "/status/201"
    return target


def count_active(change):
    global active
    with lock:
        active += change


def serve(sock, number):
    reader, count = Reader(sock), 0
    while True:
        method, target, _ = reader.line().split(" ", 2)
        count += 1
        # HEAD only asks whether somebody is there.
        weight = 0 if method == "HEAD" else 1
        count_active(weight)
        try:
            exchange(sock, number, reader, count, method, target)
        finally:
            count_active(-weight)


def exchange(sock, number, reader, count, method, target):
    headers = []
    while line := reader.line():
        name, _, value = line.partition(":")
        headers.append([name, value.strip(" ")])
    fields = {name.lower(): value for name, value in headers}
    behaviour = "/status/200" if method == "HEAD" and not target.startswith("/status/") else chosen(target)
    parts, query = urlsplit(behaviour), parse_qs(urlsplit(behaviour).query, keep_blank_values=True)
    words = [unquote(word) for word in parts.path.strip("/").split("/")]
    length = int(fields.get("content-length", 0))

    def noted(digest="", tail=b""):
        note(number, method, target, behaviour, headers, length, digest, tail)

    if words == ["reset", "head"]:
        noted()
        reset(sock)
    if words[0] == "early":
        noted()
        answer(sock, int(words[1]), query, ["Connection: close"])
        sock.shutdown(socket.SHUT_WR)
        raise Gone
    if words == ["no-expectations"] and "expect" in fields:
        noted()
        answer(sock, 417, query, ["Connection: close"])
        raise Gone
    if words == ["reset", "body"]:
        reader.some(max(1, length // 2))
        noted()
        reset(sock)
    if words[0] == "continue":
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    if words == ["freeze"]:
        noted()
        time.sleep(60)
    pause = {"slow-reader": 1.0, "pace": int(words[1]) / 1000 if words[0] == "pace" else 0.0}.get(words[0], 0.0)
    noted(*read_body(reader, length, pause))
    if words == ["reset", "answer"]:
        reset(sock)
    if words == ["close", "answer"] or (words == ["die-second"] and count == 2):
        raise Gone
    if words == ["garbage"]:
        sock.sendall(b"\x00\x01 this is no answer at all\r\n\r\n")
        raise Gone
    if words == ["stall"]:
        reader.fill()
    if words[0] == "wait":
        time.sleep(int(words[1]) / 1000)
        return answer(sock, int(words[2]), query)
    if words[0] == "pace":
        return answer(sock, int(words[2]), query)
    if words[0] in ("trickle", "flood", "cut"):
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\nx")
        if words == ["cut"]:
            raise Gone
        while True:
            sock.sendall(b"x" * (1 if words == ["trickle"] else 65536))
            time.sleep(0.1 if words == ["trickle"] else 0)
    if method == "HEAD":
        answer(sock, int(words[1]) if words[0] == "status" else 200, query, body=b"")
    elif words[0] in ("status", "continue"):
        answer(sock, int(words[1]), query)
    else:
        answer(sock, 200, query, ["X-Request-Id: r-1"])


def handle(sock, number):
    try:
        if context:
            sock = context.wrap_socket(sock, server_side=True)
        serve(sock, number)
    except (Gone, OSError, ValueError):
        pass
    finally:
        try:
            sock.close()
        except OSError:
            pass


context, port = None, 0
if sys.argv[2:3] == ["--port"]:
    port = int(sys.argv[3])
elif len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 4:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(sys.argv[4])
listener = socket.create_server(("127.0.0.1", port), backlog=128)


def accept():
    global connections
    while True:
        sock, _ = listener.accept()
        connections += 1
        threading.Thread(target=handle, args=(sock, connections), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
