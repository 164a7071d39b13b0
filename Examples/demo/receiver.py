#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""receiver.py PORT LOG: a small HTTP receiver that tells what it gets.

It shows what a receiver of one's own can do with the Idempotency-Key: it remembers each key, and answers a repeat like the
first time without counting it again. Port 0 takes a free one. The line "listening on PORT" is the first that it prints.
"""

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from urllib.parse import unquote

CHUNK = 64 * 1024


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    known = {}
    lock = threading.Lock()
    record = None

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        digest, left = hashlib.sha256(), length
        while left > 0:
            chunk = self.rfile.read(min(CHUNK, left))
            if not chunk:
                return  # broken off: nothing of it counts
            digest.update(chunk)
            left -= len(chunk)
        key = self.headers.get("Idempotency-Key", "")
        entry = {
            "pipeline": self.headers.get("automation-id", ""),
            "file": PurePosixPath(unquote(self.path)).name,
            "bytes": length,
            "key": key,
            "sha256": digest.hexdigest(),
            "test": "X-Relay-Test" in self.headers,
        }
        with self.lock:
            repeat = bool(key) and key in self.known
            if key:
                self.known[key] = entry
            self.record.write(json.dumps({**entry, "repeat": repeat}) + "\n")
            self.record.flush()
            kind = "a repeat of" if repeat else "a test:" if entry["test"] else "received"
            print(
                f"receiver: {kind} {entry['file']} from pipeline {entry['pipeline']}, {length} bytes,"
                f" sha256 {entry['sha256'][:12]}…, Idempotency-Key {key}",
                flush=True,
            )
        body = json.dumps({"received": length, "sha256": entry["sha256"]}).encode()
        self.send_response(200 if repeat else 201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def main():
    port, log = int(sys.argv[1]), sys.argv[2]
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    except OSError as error:
        sys.exit(f"receiver: can't listen on port {port}: {error.strerror}")
    server.daemon_threads = True
    with open(log, "a", encoding="utf-8") as record:
        Receiver.record = record
        print(f"listening on {server.server_address[1]}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
