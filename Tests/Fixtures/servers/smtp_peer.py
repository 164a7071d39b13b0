# SPDX-License-Identifier: Apache-2.0
"""A mail server that does what it is told, for tests of SMTP targets.

    smtp_peer.py RECORD [CERTIFICATE KEY [tls]]

Listens on 127.0.0.1, prints the port, and ends when stdin does. With a certificate it can do STARTTLS, with "tls" it encrypts from the
start. Each line of stdin is a JSON object of rules for all connections from there on, answered with "ok":

    replies    {"greeting" | "EHLO" | "HELO" | "STARTTLS" | "AUTH" | "MAIL" | "RCPT" | "DATA" | "dot" | "NOOP" | "QUIT": REPLY or
               [REPLY, …] for the first, second, … of all connections (the last goes on)}
               REPLY is a text without line end ("250-a\\r\\n250 b"), or one of "close", "reset", "stall", "garbage", "flood",
               "bare:TEXT" (ends in LF alone), "late:SECONDS:TEXT", "text-close:TEXT"
    offer      lines of the answer to EHLO (["STARTTLS", "SIZE 1000"]), offerTLS those once encrypted (the same)
    login      [user, password] that AUTH takes; others get 535
    inject     sent in clear right behind the 220 of STARTTLS
    limit      after so many bytes of a mail the connection is reset
    addresses  {address: REPLY} for RCPT, before "replies"

Each event is one JSON line in RECORD: {"connection", "event": "connect" | "command" | "mail" | "end", …}. A mail is noted when its dot
came, with what was told before it, and with "bare" true if it held a line end other than CRLF; "encrypted" says whether it came over TLS.
"""
import base64
import hashlib
import json
import socket
import ssl
import struct
import sys
import threading
import time

record = open(sys.argv[1], "a", buffering=1)
lock = threading.Lock()
rules, used = {}, {}
connections = 0
context = None
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])


class Gone(Exception):
    pass


def note(**event):
    with lock:
        record.write(json.dumps(event) + "\n")


class Session:
    def __init__(self, sock, number):
        self.sock, self.number, self.left = sock, number, b""
        self.encrypted, self.user = False, None
        self.sender, self.recipients = None, []

    def encrypt(self):
        self.sock = context.wrap_socket(self.sock, server_side=True)
        self.encrypted = True

    def fill(self):
        data = self.sock.recv(262144)
        if not data:
            raise Gone
        self.left += data

    def line(self):
        while b"\n" not in self.left:
            self.fill()
        line, self.left = self.left.split(b"\n", 1)
        return line.rstrip(b"\r").decode("utf-8", "replace")

    def send(self, text):
        self.sock.sendall(text.encode() + b"\r\n")

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if isinstance(self.sock, ssl.SSLSocket):
            self.sock = socket.socket(fileno=self.sock.detach())
        self.sock.close()
        raise Gone

    def reply(self, phase, default, address=None):
        """Does what the rules say for this phase; returns the reply that was given."""
        chosen = rules.get("addresses", {}).get(address)
        if chosen is None:
            chosen = rules.get("replies", {}).get(phase, default)
            if isinstance(chosen, list):
                with lock:
                    count = used.get(phase, 0)
                    used[phase] = count + 1
                chosen = chosen[min(count, len(chosen) - 1)]
        if chosen is None:
            chosen = default
        if chosen == "close":
            raise Gone
        if chosen == "reset":
            self.reset()
        if chosen == "stall":
            while True:
                self.fill()
        if chosen == "garbage":
            self.sock.sendall(b"\x00\xff this is no answer\r\nHTTP/1.1 400 Bad Request\r\n\r\n")
            raise Gone
        if chosen == "flood":
            while True:
                self.sock.sendall(b"250-more\r\n" * 1000)
        if chosen.startswith("bare:"):
            self.sock.sendall(chosen[5:].encode() + b"\n")
            return chosen[5:]
        if chosen.startswith("late:"):
            _, seconds, chosen = chosen.split(":", 2)
            time.sleep(float(seconds))
        if chosen.startswith("text-close:"):
            self.send(chosen[11:])
            raise Gone
        self.send(chosen)
        return chosen.split("\n")[-1]

    def serve(self):
        note(connection=self.number, event="connect")
        if "tls" in sys.argv[4:]:
            self.encrypt()
        self.reply("greeting", "220 peer.example ESMTP")
        while True:
            line = self.line()
            verb = line.split(" ")[0].upper().split(":")[0]
            shown = verb if verb == "AUTH" else line
            note(connection=self.number, event="command", line=shown, verb=verb, encrypted=self.encrypted)
            getattr(self, "do_" + verb.lower(), self.do_other)(line)

    def do_other(self, line):
        self.send("502 5.5.2 what?")

    def do_ehlo(self, line):
        offer = rules.get("offer", [])
        if self.encrypted:
            offer = rules.get("offerTLS", [word for word in offer if word != "STARTTLS"])
        lines = ["peer.example", *offer]
        text = "\r\n".join(["250-" + word for word in lines[:-1]] + ["250 " + lines[-1]])
        self.reply("EHLO", text)

    def do_helo(self, line):
        self.reply("HELO", "250 peer.example")

    def do_noop(self, line):
        self.reply("NOOP", "250 2.0.0 ok")

    def do_rset(self, line):
        self.sender, self.recipients = None, []
        self.send("250 2.0.0 ok")

    def do_quit(self, line):
        self.reply("QUIT", "221 2.0.0 bye")
        raise Gone

    def do_starttls(self, line):
        if self.reply("STARTTLS", "220 2.0.0 go ahead").startswith("220"):
            if "inject" in rules:
                self.sock.sendall(rules["inject"].encode())
            self.left = b""
            self.encrypt()

    def do_auth(self, line):
        words = line.split(" ")
        if words[1] == "PLAIN":
            if len(words) < 3:
                self.send("334 ")
                words.append(self.line())
            given = base64.b64decode(words[2]).decode().split("\0")[1:]
        else:
            given = []
            for prompt in ("VXNlcm5hbWU6", "UGFzc3dvcmQ6"):
                self.send("334 " + prompt)
                given.append(base64.b64decode(self.line()).decode())
        good = given == rules.get("login")
        note(connection=self.number, event="login", mechanism=words[1], good=good, encrypted=self.encrypted)
        default = "235 2.7.0 welcome" if good else "535 5.7.8 bad password"
        self.reply("AUTH", default)

    def do_mail(self, line):
        if self.reply("MAIL", "250 2.1.0 ok").startswith("2"):
            self.sender, self.recipients = line[len("MAIL FROM:"):], []

    def do_rcpt(self, line):
        address = line[len("RCPT TO:<"):].split(">")[0]
        if self.reply("RCPT", "250 2.1.5 ok", address).startswith("2"):
            self.recipients.append(address)

    def do_data(self, line):
        if not self.reply("DATA", "354 go ahead").startswith("354"):
            return
        limit = rules.get("limit")
        digest, head, tail, count, bare, last = hashlib.sha256(), b"", b"", 0, False, b""
        keep = rules.get("keep", 1 << 20)
        while True:
            if not self.left:
                self.fill()
            data, self.left = tail + self.left, b""
            end = 0 if count == 0 and data.startswith(b".\r\n") else data.find(b"\r\n.\r\n")
            part = data[:end + 2] if end > 0 else data[:0] if end == 0 else data[:-4]
            joined = last + part
            rest = joined.replace(b"\r\n", b"")
            bare = bare or b"\n" in rest or b"\r" in (rest[:-1] if joined.endswith(b"\r") else rest)
            last = b"\r" if joined.endswith(b"\r") else b""
            digest.update(part)
            count += len(part)
            head = (head + part)[:keep]
            if limit is not None and count >= limit:
                self.reset()
            if end >= 0:
                self.left = data[end + (5 if end else 3):]
                break
            tail = data[-4:] if len(data) > 4 else data
        note(connection=self.number, event="mail", sender=self.sender, recipients=self.recipients, length=count,
             sha256=digest.hexdigest(), bare=bare, encrypted=self.encrypted, body=base64.b64encode(head).decode())
        self.reply("dot", "250 2.0.0 ok queued as Q%d" % self.number)


def handle(sock, number):
    session = Session(sock, number)
    try:
        session.serve()
    except (Gone, OSError, ValueError, IndexError):
        pass
    finally:
        try:
            session.sock.close()
        except OSError:
            pass
        note(connection=number, event="end")


def accept(listener):
    global connections
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connections += 1
        threading.Thread(target=handle, args=(sock, connections), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
threading.Thread(target=accept, args=(listener,), daemon=True).start()
print(listener.getsockname()[1], flush=True)
for line in sys.stdin:
    with lock:
        rules, used = json.loads(line), {}
    print("ok", flush=True)
