#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Resend, SendGrid and Postmark, built from what they publish about their APIs. It sends no mail.

    mail_services.py [--port PORT] [--record FILE] [CERTIFICATE KEY]

Listens on 127.0.0.1, prints the port and ends when stdin does. With --record each request for a mail that is answered with success adds a
line of JSON to FILE before the answer: key (Idempotency-Key), sha256 (of the body), mail (the body, read), files (name and sha256 of each
attachment), isNew (false for a repeat that was recognised).

Everything below /NAME is a world of its own, in which each service answers at its own path: POST /emails and GET /domains as Resend,
POST /v3/mail/send and GET /v3/scopes as SendGrid, POST /email and GET /server as Postmark. Requests are taken as strictly as the
services say they take them: unknown members, wrong types, texts that are missing, names that a service garbles, base64 with anything
else in it are errors.

Keys: re_good, re_send_only; SG.good, SG.no_send; pm-good, pm-sandbox. Senders of example.org are verified. inactive@… is a recipient
that Postmark has deactivated.

    POST /NAME/!next      a JSON list: what happens to the next requests, one each
        {"answer": [status, body, {header: value}]}   is answered so, and nothing is taken
        {"cut": "head" | "body"}                      closes after the head, or within the body
        {"cut": "before" | "after"}                   reads everything, takes the mail not or does, and closes
        {"cut": "line" | "fields" | "within"}         takes the mail and closes within the status line, the head, the answer's body
        {"garbage": true}                             takes the mail and answers what is no HTTP
        {"early": status}                             answers after the head and reads no further
        {"busy": true}                                the key's first request is still under way (Resend)
        {"good": true}                                nothing special
    GET /NAME/!requests   what came, as JSON: method, path, headers, length, received, sha256 of the body, status
    GET /NAME/!mails      what was taken, as JSON, attachments decoded: name, type, length, sha256
"""
import argparse
import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.dont_write_bytecode = True
from mail_service_rules import SERVICES, Refused, World, lock, resend_error  # noqa: E402

# A connection that another test had open while this was started is not to be kept open by it.
os.closerange(3, 4096)
worlds = {}
options = argparse.ArgumentParser(usage=__doc__)
options.add_argument("--port", type=int, default=0)
options.add_argument("--record", type=argparse.FileType("a"))
options.add_argument("certificate", nargs="*")
options = options.parse_args()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def handle_expect_100(self):
        # Whether the body is wanted turns out later.
        return True

    def reset(self):
        """Ends with RST, so that nobody can take it for the end of an answer."""
        self.wfile.flush()
        plain = self.connection
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if isinstance(plain, ssl.SSLSocket):
            plain = socket.socket(fileno=plain.detach())
        plain.close()
        self.close_connection = True
        self.rfile = self.wfile = open("/dev/null", "r+b", buffering=0)

    def reply(self, status, body, headers=()):
        data = (body or "").encode()
        self.send_response(status, "Answer")
        for name, value in dict(headers).items():
            self.send_header(name, value)
        if body and "Content-Type" not in dict(headers):
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def begin(self):
        name, _, path = self.path[1:].partition("/")
        with lock:
            world = worlds.setdefault(name, World())
        return world, "/" + path

    def control(self, world, path, body):
        if path == "/!next":
            world.next = json.loads(body)
            return self.reply(204, None)
        with lock:
            return self.reply(200, json.dumps(world.requests if path == "/!requests" else world.mails))

    def do_GET(self):
        self.serve(b"")

    def do_POST(self):
        self.serve(None)

    def serve(self, body):
        world, path = self.begin()
        fields = {name.lower(): value for name, value in self.headers.items()}
        length = int(fields.get("content-length", 0))
        if path.startswith("/!"):
            return self.control(world, path, self.rfile.read(length))
        with lock:
            rule = world.next.pop(0) if world.next else {}
        seen = {"method": self.command, "path": path, "headers": dict(self.headers.items()), "length": length,
                "received": 0, "sha256": "", "status": 0, "chunked": "transfer-encoding" in fields}
        with lock:
            world.requests.append(seen)
        cut = rule.get("cut")
        if cut == "head":
            return self.reset()
        if "early" in rule:
            self.close_connection = True
            return self.reply(rule["early"], "{}", {"Connection": "close"})
        if body is None:
            if fields.get("expect", "").lower() == "100-continue":
                self.send_response_only(100)
                self.end_headers()
                self.wfile.flush()
            body = self.rfile.read(min(length // 2, 65536) if cut == "body" else length)
        seen["received"], seen["sha256"] = len(body), hashlib.sha256(body).hexdigest()
        if cut in ("body", "before"):
            return self.reset()
        if len(body) < length:
            # The client gave up: what came is no request.
            self.close_connection = True
            return None
        if "answer" in rule:
            status, text, headers = rule["answer"]
            seen["status"] = status
            return self.reply(status, text, headers)
        status, text, headers = self.judged(world, path, fields, body, rule)
        seen["status"] = status
        if cut is None and "garbage" not in rule:
            return self.reply(status, text, headers)
        if "garbage" in rule:
            self.wfile.write(b"\x00\x01 this is no answer at all\r\n\r\n")
        elif cut == "line":
            self.wfile.write(b"HTTP/1.1 2")
        elif cut in ("fields", "within"):
            head = f"HTTP/1.1 {status} Answer\r\nContent-Type: application/json\r\nContent-Length: {len(text or 'x' * 9)}\r\n"
            self.wfile.write(head.encode())
            if cut == "within":
                self.wfile.write(b"\r\n" + (text or "")[: len(text or "") // 2].encode())
        self.wfile.flush()
        if cut == "within":
            # A proper end, as a gateway makes it: what was sent so far is read.
            self.close_connection = True
            return None
        return self.reset()

    def record(self, fields, body, is_new):
        mail = json.loads(body)
        attachments = mail.get("attachments") or mail.get("Attachments") or []
        files = [
            {"name": each.get("filename") or each.get("Name"),
             "sha256": hashlib.sha256(base64.b64decode(each.get("content") or each.get("Content"))).hexdigest()}
            for each in attachments]
        line = {"key": fields.get("idempotency-key", ""), "sha256": hashlib.sha256(body).hexdigest(), "mail": mail,
                "files": files, "isNew": is_new}
        with lock:
            options.record.write(json.dumps(line) + "\n")
            options.record.flush()

    def judged(self, world, path, fields, body, rule):
        try:
            service = SERVICES.get((self.command, path))
            if service is None:
                raise Refused(404, {"message": "not found"})
            if "busy" in rule:
                raise resend_error(
                    409, "concurrent_idempotent_requests",
                    "Same idempotency key used while original request is still in progress.")
            if self.command == "GET":
                status, answer, headers = service(world, fields)
            else:
                if fields.get("content-type") != "application/json" or "content-length" not in fields:
                    raise Refused(415, {"message": "wants JSON of a known length"})
                before = len(world.mails)
                status, answer, headers = service(world, fields, body)
                if options.record:
                    self.record(fields, body, len(world.mails) > before)
            return status, None if answer is None else json.dumps(answer), headers
        except Refused as refused:
            return refused.status, refused.body, refused.headers


class Server(ThreadingHTTPServer):
    def server_bind(self):
        # So that a body that isn't read stays with whoever sends it.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        super().server_bind()

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


server_socket = Server(("127.0.0.1", options.port), Handler)
if options.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*options.certificate)
    server_socket.socket = context.wrap_socket(server_socket.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server_socket.serve_forever, daemon=True).start()
print(server_socket.server_address[1], flush=True)
sys.stdin.read()
