#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How Resend, SendGrid and Postmark take a mail, as far as they publish it: mail_services.py speaks HTTP around it.

Each function is given a world, the request's fields by name in lower case and, for a mail, its body; it gives status, answer and fields
or raises Refused. They are as strict as the services say they are.
"""
import base64
import binascii
import hashlib
import json
import mimetypes
import re
import threading
import uuid
from email.utils import getaddresses

lock = threading.Lock()
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
