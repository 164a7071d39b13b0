# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy that knows CONNECT alone.

    connect_proxy.py [RECORD]

Listens on 127.0.0.1, prints the port and ends when stdin does. Whatever name it is asked for, it connects to 127.0.0.1; what it was asked
for is a line in RECORD.
"""
import socket
import sys
import threading


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(inside):
    head = b""
    while b"\r\n\r\n" not in head:
        data = inside.recv(65536)
        if not data:
            return
        head += data
    method, asked = head.split()[:2]
    if len(sys.argv) > 1:
        with open(sys.argv[1], "a") as record:
            record.write(f"{method.decode()} {asked.decode()}\n")
    if method != b"CONNECT":
        inside.sendall(b"HTTP/1.1 405 Only CONNECT\r\nContent-Length: 0\r\n\r\n")
        return
    outside = socket.create_connection(("127.0.0.1", int(asked.rpartition(b":")[2])))
    inside.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    threading.Thread(target=pump, args=(outside, inside), daemon=True).start()
    pump(inside, outside)


def accept():
    while True:
        inside, _ = listener.accept()
        threading.Thread(target=serve, args=(inside,), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
threading.Thread(target=accept, daemon=True).start()
sys.stdin.read()
