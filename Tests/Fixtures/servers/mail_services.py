#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Resend, SendGrid and Postmark, built from what they publish about their APIs. It sends no mail.

    mail_services.py [CERTIFICATE KEY]

Listens on 127.0.0.1, prints the port and ends when stdin does. Everything below /NAME is a world of its own, in which each service
answers at its own path: POST /emails and GET /domains as Resend, POST /v3/mail/send and GET /v3/scopes as SendGrid, POST /email and
GET /server as Postmark. Requests are taken as strictly as the services say they take them: unknown members, wrong types, texts
that are missing, names that a service garbles, base64 with anything else in it are errors.

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
import base64
import binascii
import hashlib
import json
import mimetypes
import re
import socket
import ssl
import struct
import sys
import threading
import uuid
from email.utils import getaddresses
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.Lock()
worlds = {}
MAILBOX = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+\Z")


class World:
    def __init__(self):
        self.next, self.requests, self.mails, self.keys = [], [], [], {}


class Refused(Exception):
    """An answer other than success."""

    def __init__(self, status, body, headers=()):
        super().__init__(status)
        self.status, self.body, self.headers = status, json.dumps(body), headers


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a member comes twice")
    return dict(pairs)


def never(text):
    raise ValueError(text)


def read_json(body):
    """The text as JSON and nothing more lenient: UTF-8, no member twice, no NaN, no byte too many."""
    return json.loads(body.decode("utf-8"), object_pairs_hook=unique, parse_constant=never)


def members(value, required, optional, wrong):
    if not isinstance(value, dict):
        wrong("must be an object")
    for name in value:
        if name not in required and name not in optional:
            wrong("has an unknown member " + name)
    for name, kind in {**required, **optional}.items():
        if name in required and name not in value:
            wrong("lacks " + name)
        if name in value and not isinstance(value[name], kind):
            wrong(name + " has the wrong type")


def decoded(content, wrong):
    try:
        return base64.b64decode(content.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        wrong("is no base64")


def has_control(text):
    return any(ord(c) < 32 or ord(c) == 127 for c in text)


def attachment(name, kind, content, **more):
    return {"name": name, "type": kind, "length": len(content), "sha256": hashlib.sha256(content).hexdigest(), **more}


# --- Resend ---------------------------------------------------------------------------------------------------------


def resend_error(status, name, message):
    return Refused(status, {"statusCode": status, "name": name, "message": message})


def resend_key(headers):
    text = headers.get("authorization", "")
    if not text.startswith("Bearer "):
        raise resend_error(401, "missing_api_key", "Missing API Key")
    if text[7:] not in ("re_good", "re_send_only"):
        raise resend_error(401, "validation_error", "API key is invalid")
    return text[7:]


def resend_mailbox(text, field):
    message = f"Invalid `{field}` field. The email address needs to follow the `email@example.com` or `Name <email@example.com>` format."
    found = re.fullmatch(r"(?:([^<>\",;:@\\]+) <([^<>]+)>)|([^<> ]+)", text)
    mailbox = found and (found[2] or found[3])
    if not mailbox or not MAILBOX.match(mailbox) or has_control(text) or text.startswith("=?"):
        raise resend_error(422, "validation_error", message)
    return mailbox


def natural_type(name):
    kind, encoding = mimetypes.guess_type(name)
    return {"gzip": "application/gzip"}.get(encoding, "application/octet-stream") if encoding else kind or "application/octet-stream"


def resend(world, headers, body):
    resend_key(headers)

    def wrong(what):
        raise resend_error(422, "validation_error", what)

    try:
        mail = read_json(body)
    except ValueError as error:
        raise resend_error(400, "validation_error", str(error))
    members(
        mail, {"from": str, "to": (str, list), "subject": str},
        {"cc": (str, list), "bcc": (str, list), "reply_to": (str, list), "html": str, "text": str, "headers": dict,
         "attachments": list, "tags": list, "scheduled_at": str}, wrong)
    if not mail.get("text") and not mail.get("html"):
        raise resend_error(422, "missing_required_field", "Missing `html` or `text` field.")
    sender = resend_mailbox(mail["from"], "from")
    to = [mail["to"]] if isinstance(mail["to"], str) else mail["to"]
    if not 1 <= len(to) <= 50:
        wrong("The `to` field must have between 1 and 50 recipients.")
    to = [resend_mailbox(one, "to") for one in to]
    if not sender.endswith("@example.org"):
        raise resend_error(
            403, "validation_error",
            f"The {sender.split('@')[1]} domain is not verified. Please, add and verify your domain.")
    for name, value in mail.get("headers", {}).items():
        if not isinstance(value, str) or has_control(value):
            wrong("headers")
    files = []
    for each in mail.get("attachments", []):
        members(each, {}, {"filename": str, "content": str, "path": str, "content_type": str, "content_id": str}, wrong)
        if not each.get("content"):
            raise resend_error(422, "invalid_attachment", "The attachment content is empty.")
        content = decoded(each["content"], wrong)
        natural = natural_type(each.get("filename", ""))
        kind = each.get("content_type", natural)
        # Taken, and never sent.
        stuck = not each.get("filename") or (kind in mimetypes.types_map.values() and kind != natural)
        files.append(attachment(each.get("filename"), kind, content, stuck=stuck))
    if sum(len(each.get("content", "")) for each in mail.get("attachments", [])) > 40_000_000:
        raise resend_error(413, "validation_error", "Attachments are larger than 40 MB")
    key, digest = headers.get("idempotency-key"), hashlib.sha256(body).hexdigest()
    if key is not None and not 1 <= len(key) <= 256:
        raise resend_error(400, "invalid_idempotency_key", "Idempotency keys must have between 1 and 256 characters.")
    with lock:
        if key in world.keys:
            known, name = world.keys[key]
            if known != digest:
                raise resend_error(
                    409, "invalid_idempotent_request", "Same idempotency key used with a different request payload.")
            return 200, {"id": name}, {}
        name = str(uuid.uuid4())
        world.keys[key] = (digest, name)
        world.mails.append({
            "service": "resend", "id": name, "from": mail["from"], "to": to, "subject": mail["subject"],
            "text": mail["text"], "headers": mail.get("headers", {}), "attachments": files})
    return 200, {"id": name}, {}


def domains(_, headers):
    if resend_key(headers) == "re_send_only":
        raise resend_error(401, "restricted_api_key", "This API key is restricted to only send emails.")
    return 200, {"object": "list", "has_more": False, "data": [{"name": "example.org", "status": "verified"}]}, {}


# --- SendGrid -------------------------------------------------------------------------------------------------------


def sendgrid_error(status, message, field=None):
    return Refused(status, {"errors": [{"message": message, "field": field, "help": None}]})


def sendgrid_key(headers):
    key = headers.get("authorization", "")
    if key not in ("Bearer SG.good", "Bearer SG.no_send"):
        raise sendgrid_error(401, "The provided authorization grant is invalid, expired, or revoked")
    return key


def sendgrid_mailbox(value, field):
    def wrong(what):
        raise sendgrid_error(400, what, field)

    members(value, {"email": str}, {"name": str}, wrong)
    if not MAILBOX.match(value["email"]):
        raise sendgrid_error(400, "Does not contain a valid address.", field + ".email")
    if has_control(value.get("name", "")):
        wrong("name")
    return value["email"]


def sendgrid(world, headers, body):
    if sendgrid_key(headers) == "Bearer SG.no_send":
        raise sendgrid_error(403, "access forbidden")
    if len(body) > 30_000_000:
        raise sendgrid_error(413, "The request is larger than 30 MB")

    def wrong(what, field=None):
        raise sendgrid_error(400, what, field)

    try:
        mail = read_json(body)
    except ValueError as error:
        wrong("Bad Request: " + str(error))
    members(
        mail, {"personalizations": list, "from": dict, "subject": str, "content": list},
        {"headers": dict, "custom_args": dict, "attachments": list, "reply_to": dict, "mail_settings": dict}, wrong)
    to = []
    for number, one in enumerate(mail["personalizations"]):
        members(one, {"to": list}, {}, wrong)
        to += [sendgrid_mailbox(each, f"personalizations.{number}.to.{n}") for n, each in enumerate(one["to"])]
    if not 1 <= len(to) <= 1000:
        wrong("There is a limit of 1000 total recipients (to + cc + bcc) per request.", "personalizations")
    if len({one.lower() for one in to}) != len(to):
        wrong("Each unique email address in the personalizations array should only be included once.", "personalizations")
    sender = sendgrid_mailbox(mail["from"], "from")
    if not sender.endswith("@example.org"):
        raise sendgrid_error(
            403, "The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved.",
            "from")
    if not mail["subject"]:
        wrong("The subject is required.", "subject")
    for each in mail["content"]:
        members(each, {"type": str, "value": str}, {}, wrong)
        if not each["value"]:
            wrong("The content value must be a string at least one character in length.", "content.0.value")
    if not mail["content"]:
        wrong("content")
    for name, value in mail.get("headers", {}).items():
        reserved = ("x-sg-id", "x-sg-eid", "received", "dkim-signature", "to", "from", "subject", "cc", "bcc", "reply-to",
                    "content-type", "content-transfer-encoding")
        if name.lower() in reserved or not isinstance(value, str) or has_control(value):
            wrong("headers", "headers")
    for value in mail.get("custom_args", {}).values():
        if not isinstance(value, str):
            wrong("custom_args", "custom_args")
    files = []
    for each in mail.get("attachments", []):
        members(each, {"content": str, "filename": str}, {"type": str, "disposition": str, "content_id": str}, wrong)
        if not each["content"]:
            wrong("The attachment content is required.", "attachments.0.content")
        if re.search(r"[;\r\n]", each.get("type", "")):
            wrong("The attachment type cannot contain ';', or CRLF characters.", "attachments.0.type")
        if not each["filename"] or has_control(each["filename"]) or ";" in each["filename"]:
            wrong("The attachment filename cannot contain CRLF characters.", "attachments.0.filename")
        if each.get("disposition", "attachment") not in ("inline", "attachment"):
            wrong("disposition", "attachments.0.disposition")
        garbled = not each["filename"].isascii() or each.get("type", "").startswith("text/")
        files.append(attachment(each["filename"], each.get("type"), decoded(each["content"], wrong), stuck=garbled))
    name = uuid.uuid4().hex[:22]
    with lock:
        world.mails.append({
            "service": "sendgrid", "id": name, "from": mail["from"], "to": to, "subject": mail["subject"],
            "text": mail["content"][0]["value"], "headers": mail.get("headers", {}),
            "args": mail.get("custom_args", {}), "attachments": files})
    return 202, None, {"X-Message-Id": name}


def scopes(_, headers):
    names = ["alerts.read", "sender_verification_eligible"] + [f"filler.of.a.full.key.{n}" for n in range(400)]
    return 200, {"scopes": names if sendgrid_key(headers) == "Bearer SG.no_send" else [*names, "mail.send"]}, {}


# --- Postmark -------------------------------------------------------------------------------------------------------


def postmark_error(code, message, status=422):
    return Refused(status, {"ErrorCode": code, "Message": message})


def postmark_key(headers):
    if headers.get("x-postmark-server-token") not in ("pm-good", "pm-sandbox"):
        raise postmark_error(10, "Request does not contain a valid Server token.", 401)
    return headers["x-postmark-server-token"]


def postmark_mailboxes(text, field):
    if has_control(text):
        raise postmark_error(300, f"Invalid '{field}' address: '{text}'.")
    found = []
    for name, mailbox in getaddresses([text]):
        if not MAILBOX.match(mailbox):
            raise postmark_error(300, f"Invalid '{field}' address: '{text}'.")
        found.append(mailbox)
    return found


def postmark(world, headers, body):
    postmark_key(headers)
    if len(body) > 10 * 1024 * 1024:
        raise Refused(413, {})
    try:
        mail = read_json(body)
    except ValueError as error:
        raise postmark_error(402, "Received invalid JSON input: " + str(error))

    def wrong(what):
        raise postmark_error(403, what)

    members(
        mail, {"From": str, "To": str},
        {"Subject": str, "TextBody": str, "HtmlBody": str, "MessageStream": str, "Headers": list, "Metadata": dict,
         "Attachments": list, "ReplyTo": str, "Tag": str, "TrackOpens": bool, "TrackLinks": str}, wrong)
    if not mail.get("TextBody") and not mail.get("HtmlBody"):
        raise postmark_error(300, "Provide either email TextBody or HtmlBody or both.")
    sender, to = postmark_mailboxes(mail["From"], "From"), postmark_mailboxes(mail["To"], "To")
    if len(sender) != 1 or not to:
        raise postmark_error(300, "Invalid 'From' address.")
    if len(to) > 50:
        raise postmark_error(300, "Maximum of 50 recipients allowed per email message.")
    if not sender[0].endswith("@example.org"):
        raise postmark_error(400, "The Sender Signature was not found.")
    if mail.get("MessageStream", "outbound") != "outbound":
        raise postmark_error(1235, "The stream provided does not exist on this server.")
    for each in mail.get("Headers", []):
        members(each, {"Name": str, "Value": str}, {}, wrong)
    if len(mail.get("Metadata", {})) > 10 or any(len(k) > 20 or len(v) > 80 for k, v in mail.get("Metadata", {}).items()):
        raise postmark_error(300, "Metadata is too large.")
    files = []
    for each in mail.get("Attachments", []):
        members(each, {"Name": str, "Content": str, "ContentType": str}, {"ContentID": str}, wrong)
        content = decoded(each["Content"], wrong)
        if not content:
            raise postmark_error(300, "Zero-sized attachments not allowed.")
        if each["Name"].lower().endswith((".exe", ".bat", ".vbs")):
            raise postmark_error(300, "The attachment's type isn't allowed.")
        files.append(attachment(each["Name"], each["ContentType"], content, stuck=False))
    inactive = [one for one in to if one.startswith("inactive@")]
    if len(inactive) == len(to):
        raise postmark_error(406, "You tried to send to recipient(s) that have been marked as inactive.")
    said = "OK" if not inactive else "Message OK, but will not deliver to these inactive recipients: " + ", ".join(inactive)
    name = str(uuid.uuid4())
    with lock:
        world.mails.append({
            "service": "postmark", "id": name, "from": mail["From"], "to": to, "subject": mail.get("Subject"),
            "text": mail["TextBody"], "headers": {each["Name"]: each["Value"] for each in mail.get("Headers", [])},
            "args": mail.get("Metadata", {}), "attachments": files})
    return 200, {"To": mail["To"], "SubmittedAt": "2026-11-30T12:00:00Z", "MessageID": name, "ErrorCode": 0,
                 "Message": said}, {}


def server(_, headers):
    kind = "Sandbox" if postmark_key(headers) == "pm-sandbox" else "Live"
    return 200, {"ID": 1, "Name": "Home", "DeliveryType": kind}, {}


SERVICES = {
    ("POST", "/emails"): resend, ("POST", "/v3/mail/send"): sendgrid, ("POST", "/email"): postmark,
    ("GET", "/domains"): domains, ("GET", "/v3/scopes"): scopes, ("GET", "/server"): server,
}

# --- HTTP -----------------------------------------------------------------------------------------------------------


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
                status, answer, headers = service(world, fields, body)
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


server_socket = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server_socket.socket = context.wrap_socket(server_socket.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server_socket.serve_forever, daemon=True).start()
print(server_socket.server_address[1], flush=True)
sys.stdin.read()
