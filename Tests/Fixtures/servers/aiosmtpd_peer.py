# SPDX-License-Identifier: Apache-2.0
"""aiosmtpd as a mail server: takes mail over STARTTLS after a login (user u, password right), 40 MB at most.

    aiosmtpd_peer.py FOLDER CERTIFICATE KEY

Listens on 127.0.0.1, prints the port, keeps mail N as FOLDER/N.eml with the envelope in FOLDER/N.json, and ends when stdin does.
"""
import json
import pathlib
import socket
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

folder = pathlib.Path(sys.argv[1])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
count = 0


class Handler:
    async def handle_DATA(self, server, session, envelope):
        global count
        count += 1
        (folder / f"{count}.eml").write_bytes(envelope.original_content)
        (folder / f"{count}.json").write_text(json.dumps({
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": session.ssl is not None,
            "user": session.auth_data.decode() if session.auth_data else None}))
        return f"250 2.0.0 kept as {count}"


def authenticate(server, session, envelope, mechanism, data):
    good = (data.login, data.password) == (b"u", b"right")
    return AuthResult(success=good, handled=False, auth_data=data.login if good else None)


with socket.create_server(("127.0.0.1", 0)) as listener:
    port = listener.getsockname()[1]
controller = Controller(
    Handler(), hostname="127.0.0.1", port=port, data_size_limit=40 << 20, tls_context=context, require_starttls=True,
    authenticator=authenticate, auth_required=True, enable_SMTPUTF8=True)
controller.start()
print(port, flush=True)
sys.stdin.read()
controller.stop()
