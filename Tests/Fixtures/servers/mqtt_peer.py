#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A broker that behaves as it is told, for tests of the MQTT target: it answers with any code and breaks off anywhere.

    mqtt_peer.py RECORD

Listens on 127.0.0.1, prints the port, and appends each packet that it was sent to RECORD as one line of JSON, and one with the packet
END when a connection is closed. Each line of standard
input is the rule from there on, as JSON, answered with "ok":

    connack, puback, pubrec, pubcomp    the code to answer with (0)
    words                               a reason string for these answers (MQTT 5)
    limits                              properties of CONNACK, as hexadecimal digits (MQTT 5)
    versions                            protocol levels that are known ([4, 5]); others get the CONNACK of 3.1.1 with code 1
    at                                  where to do something else than answer: connect (CONNECT has come), connack (CONNACK is
                                        sent), middle (some of PUBLISH has come), publish (all of it has), pubrec (PUBREC is sent),
                                        pubrel (PUBREL has come), done (the last answer is sent); or a list of these
    do                                  what: reset, close, silence, disconnect (with "code"), or hexadecimal digits to send
    times                               how often that is done (always)

Ends with its standard input.
"""
import json
import socket
import struct
import sys
import threading

record = open(sys.argv[1], "a", buffering=1)
lock = threading.Lock()
rule = {}
connections = 0
NAMES = {1: "CONNECT", 3: "PUBLISH", 4: "PUBACK", 6: "PUBREL", 8: "SUBSCRIBE", 10: "UNSUBSCRIBE", 12: "PINGREQ", 14: "DISCONNECT"}


class Gone(Exception):
    pass


class Peer:
    def __init__(self, sock, number):
        self.sock, self.number, self.level = sock, number, 5

    @property
    def rule(self):
        return rule

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = self.sock.recv(min(count - len(data), 262144))
            if not piece:
                raise Gone
            data += piece
        return data

    def varint(self):
        value = shift = 0
        while True:
            byte = self.read(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def packet(self):
        first = self.read(1)[0]
        length = self.varint()
        if first >> 4 == 3:
            head = self.read(min(length, 1))
            self.maybe("middle")
            body = head + self.read(length - len(head))
        else:
            body = self.read(length)
        return first >> 4, first & 15, body

    def send(self, kind, body):
        self.sock.sendall(bytes([kind << 4 | (2 if kind == 6 else 0)]) + varint(len(body)) + body)

    def answer(self, kind, mid, code):
        """An acknowledgement; the short form where there is nothing to say."""
        body = struct.pack(">H", mid)
        words = self.rule.get("words", "")
        if self.level == 5 and (code or words):
            properties = bytes([31]) + text(words) if words else b""
            body += bytes([code]) + varint(len(properties)) + properties
        self.send(kind, body)

    def maybe(self, stage):
        """Does what the rule says for this stage, if anything."""
        stages = self.rule.get("at", [])
        if stage not in ([stages] if isinstance(stages, str) else stages):
            return
        with lock:
            if "times" in rule:
                if rule["times"] <= 0:
                    return
                rule["times"] -= 1
        what = self.rule.get("do", "close")
        if what == "reset":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif what == "silence":
            while self.sock.recv(65536):
                pass
        elif what == "disconnect":
            self.send(14, bytes([self.rule.get("code", 0), 0]))
        elif what != "close":
            self.sock.sendall(bytes.fromhex(what))
            return
        raise Gone

    def serve(self):
        while True:
            kind, flags, body = self.packet()
            note = {"connection": self.number, "packet": NAMES.get(kind, str(kind)), "flags": flags}
            note.update(self.describe(kind, flags, body))
            with lock:
                record.write(json.dumps(note) + "\n")
            if kind == 1:
                self.greet()
            elif kind == 3:
                self.maybe("publish")
                if flags & 6 == 2:
                    self.answer(4, note["mid"], self.rule.get("puback", 0))
                    self.maybe("done")
                elif flags & 6 == 4:
                    self.answer(5, note["mid"], self.rule.get("pubrec", 0))
                    self.maybe("pubrec")
            elif kind == 6:
                self.maybe("pubrel")
                self.answer(7, note["mid"], self.rule.get("pubcomp", 0))
                self.maybe("done")
            elif kind == 8:
                self.send(9, struct.pack(">H", note["mid"]) + (b"\0" if self.level == 5 else b"") + b"\x87")
            elif kind == 10:
                self.send(11, struct.pack(">H", note["mid"]) + (b"\0\0" if self.level == 5 else b""))
            elif kind == 14:
                raise Gone

    def greet(self):
        self.maybe("connect")
        if self.level not in self.rule.get("versions", [4, 5]):
            self.send(2, b"\0\x01")
            raise Gone
        code = self.rule.get("connack", 0)
        body = bytes([0, code])
        if self.level == 5:
            properties = bytes.fromhex(self.rule.get("limits", ""))
            if self.rule.get("words"):
                properties += bytes([31]) + text(self.rule["words"])
            body += varint(len(properties)) + properties
        self.send(2, body)
        if code:
            raise Gone
        self.maybe("connack")

    def describe(self, kind, flags, body):
        reader = Fields(body)
        if kind == 1:
            reader.text()
            self.level, connect_flags, keep_alive = reader.byte(), reader.byte(), reader.short()
            if self.level == 5:
                reader.properties()
            note = {"level": self.level, "clean": bool(connect_flags & 2), "keepAlive": keep_alive, "clientId": reader.text()}
            if connect_flags & 0x80:
                note["username"] = reader.text()
            if connect_flags & 0x40:
                note["password"] = reader.text()
            return note
        if kind == 3:
            note = {"topic": reader.text(), "retain": bool(flags & 1), "qos": flags >> 1 & 3}
            note["mid"] = reader.short() if flags & 6 else 0
            note["properties"] = reader.properties() if self.level == 5 else []
            payload = body[reader.at :]
            note.update(length=len(payload), payload=payload[:4096].decode("utf-8", "replace"))
            return note
        return {"mid": reader.short()} if len(body) >= 2 else {}


class Fields:
    def __init__(self, body):
        self.body, self.at = body, 0

    def byte(self):
        self.at += 1
        return self.body[self.at - 1]

    def short(self):
        return self.byte() << 8 | self.byte()

    def text(self):
        length = self.short()
        self.at += length
        return self.body[self.at - length : self.at].decode("utf-8", "replace")

    def properties(self):
        """Texts and pairs of texts; the others are skipped."""
        length = shift = 0
        while True:
            byte = self.byte()
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        end, found = self.at + length, []
        while self.at < end:
            kind = self.byte()
            if kind == 38:
                found.append([self.text(), self.text()])
            elif kind == 3:
                found.append(["content-type", self.text()])
            elif kind in (2, 17, 24, 39):
                self.at += 4
            elif kind in (19, 33, 34, 35):
                self.at += 2
            elif kind in (1, 23, 25, 36, 37, 40, 41, 42):
                self.at += 1
            else:
                break
        self.at = end
        return found


def varint(value):
    out = b""
    while True:
        value, byte = value >> 7, value & 127
        out += bytes([byte | (128 if value else 0)])
        if not value:
            return out


def text(words):
    data = words.encode()
    return struct.pack(">H", len(data)) + data


def serve(sock, number):
    try:
        Peer(sock, number).serve()
    except (Gone, OSError, IndexError):
        pass
    finally:
        sock.close()
        with lock:
            record.write(json.dumps({"connection": number, "packet": "END"}) + "\n")


def accept(server):
    global connections
    while True:
        sock, _ = server.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with lock:
            connections += 1
            number = connections
        threading.Thread(target=serve, args=(sock, number), daemon=True).start()


server = socket.create_server(("127.0.0.1", 0), backlog=64)
threading.Thread(target=accept, args=(server,), daemon=True).start()
print(server.getsockname()[1], flush=True)
for line in sys.stdin:
    with lock:
        rule = json.loads(line)
    print("ok", flush=True)
