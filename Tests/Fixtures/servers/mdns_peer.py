# SPDX-License-Identifier: Apache-2.0
"""A machine that answers for one local name by multicast DNS (RFC 6762), as Avahi does, to questions from any port.

    mdns_peer.py NAME ADDRESS [TROUBLE…]
    mdns_peer.py possible

Prints "ready" and ends when stdin does. Before each right answer it gives a wrong one for every TROUBLE: garbage, id (another question's),
name (another's), port (not the one for this), loop (a name that leads in circles), silent (no right answer at all). The second form ends with 0 where messages to all come back to this machine.
"""
import fcntl
import socket
import struct
import sys
import threading

GROUP, PORT = "224.0.0.251", 5353


def interfaces():
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _, interface in socket.if_nameindex():
        try:
            yield fcntl.ioctl(probe, 0x8915, struct.pack("256s", interface.encode()))[20:24]
        except OSError:
            pass  # it has no address


def encoded(text):
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


def answer(question, ident, owner=b"\xc0\x0c"):
    record = owner + struct.pack(">HHIH", 1, 0x8001, 10, 4) + socket.inet_aton(address)
    note = encoded("note.local") + struct.pack(">HHIH", 16, 1, 10, 3) + b"\x02hi"
    return ident + b"\x84\0" + struct.pack(">HHHH", 1, 2, 0, 0) + question + note + record


def serve():
    while True:
        message, sender = line.recvfrom(9000)
        # Only questions, and only for our name: its first question stands behind the head.
        question = encoded(name) + struct.pack(">HH", 1, 1)
        if len(message) < 12 or message[2] & 0x80 or not message[12:].lower().startswith(question):
            continue
        ident = message[:2]
        wrong = {
            "garbage": b"\xff" * 40,
            "id": answer(question, bytes([ident[0] ^ 1, ident[1]])),
            "name": answer(question, ident, encoded("other.local")),
            "loop": answer(question, ident, b"\xc0" + bytes([12 + len(question) + len(encoded("note.local")) + 13])),
        }
        for trouble in troubles:
            if trouble in wrong:
                line.sendto(wrong[trouble], sender)
            if trouble == "port":
                other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                other.sendto(answer(question, ident).replace(socket.inet_aton(address), b"\x7f\x09\x09\x09"), sender)
        if "silent" not in troubles:
            line.sendto(answer(question, ident), sender)


line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
line.bind(("", PORT))
for own in interfaces():
    try:
        line.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + own)
    except OSError:
        pass
if sys.argv[1] == "possible":
    line.settimeout(1)
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for own in interfaces():
        try:
            probe.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
            probe.sendto(b"relay-host: possible?", (GROUP, PORT))
        except OSError:
            pass
    try:
        while line.recv(9000) != b"relay-host: possible?":
            pass
    except OSError:
        sys.exit(1)
    sys.exit(0)
name, address, troubles = sys.argv[1].rstrip(".").lower(), sys.argv[2], sys.argv[3:]
threading.Thread(target=serve, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
