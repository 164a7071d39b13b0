# SPDX-License-Identifier: Apache-2.0
"""aiosmtpd as a mail server: takes mail over STARTTLS after a login (user u, password right), 40 MB at most.

    aiosmtpd_peer.py FOLDER [CERTIFICATE KEY]

Without a certificate there is neither STARTTLS nor a login. Listens on 127.0.0.1, prints the port, keeps mail N as FOLDER/N.eml with the
envelope in FOLDER/N.json, and ends when stdin does. FOLDER/record gets a line of JSON for each mail before it is answered: number,
messageID, sha256 (of all bytes), attachments (name, sha256). The server's own log is FOLDER/log.
"""
import email
import email.policy
import hashlib
import json
import logging
import pathlib
import socket
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

folder = pathlib.Path(sys.argv[1])
context = None
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
# What tests provoke is no news on a terminal.
logging.basicConfig(filename=folder / "log")
record = open(folder / "record", "a", buffering=1)
count = 0


def note(number, content):
    message = email.message_from_bytes(content, policy=email.policy.default)
    attachments = [
        {"name": each.get_filename(), "sha256": hashlib.sha256(each.get_payload(decode=True)).hexdigest()}
        for each in message.iter_attachments()]
    record.write(json.dumps({
        "number": number, "messageID": message["Message-ID"], "sha256": hashlib.sha256(content).hexdigest(),
        "attachments": attachments}) + "\n")


class Handler:
    async def handle_DATA(self, server, session, envelope):
        global count
        count += 1
        (folder / f"{count}.eml").write_bytes(envelope.original_content)
        (folder / f"{count}.json").write_text(json.dumps({
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": session.ssl is not None,
            "user": session.auth_data.decode() if session.auth_data else None}))
        note(count, envelope.original_content)
        return f"250 2.0.0 kept as {count}"


def authenticate(server, session, envelope, mechanism, data):
    good = (data.login, data.password) == (b"u", b"right")
    return AuthResult(success=good, handled=False, auth_data=data.login if good else None)


with socket.create_server(("127.0.0.1", 0)) as listener:
    port = listener.getsockname()[1]
terms = {"tls_context": context, "require_starttls": True, "authenticator": authenticate, "auth_required": True}
controller = Controller(
    Handler(), hostname="127.0.0.1", port=port, data_size_limit=40 << 20, enable_SMTPUTF8=True, **(terms if context else {}))
controller.start()
print(port, flush=True)
sys.stdin.read()
controller.stop()
