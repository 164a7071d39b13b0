# SPDX-License-Identifier: Apache-2.0
"""Reads a mail from standard input with Python's email package and prints what is in it as one line of JSON.

Ends with an error when the package finds a defect anywhere in it.
"""
import email
import email.policy
import email.utils
import hashlib
import json
import sys

raw = sys.stdin.buffer.read()
message = email.message_from_bytes(raw, policy=email.policy.default)
parts, defects = [], [str(defect) for defect in message.defects]
for name in message:
    defects += [f"{name}: {defect}" for defect in message[name].defects]
for part in message.walk():
    defects += [str(defect) for defect in part.defects]
    if part.is_multipart():
        continue
    content = part.get_payload(decode=True)
    parts.append({
        "type": part.get_content_type(), "name": part.get_filename(), "disposition": part.get_content_disposition(),
        "short": part["Content-Type"].params.get("name"), "charset": part.get_content_charset(),
        "length": len(content), "sha256": hashlib.sha256(content).hexdigest(),
        "text": content.decode() if part.get_content_maintype() == "text" and len(content) < 10000 else None,
    })


def addresses(name):
    return [[a.display_name, a.addr_spec] for a in message[name].addresses] if name in message else []


print(json.dumps({
    "names": message.keys(), "subject": message["Subject"], "from": addresses("From"), "to": addresses("To"),
    "cc": addresses("Cc"), "messageID": message["Message-ID"],
    "date": int(message["Date"].datetime.timestamp()) if "Date" in message else None, "zone": str(message["Date"])[-5:],
    "test": message["X-Relay-Test"], "type": message.get_content_type(), "parts": parts, "defects": defects,
    "longest": max(len(line) for line in raw.split(b"\r\n")), "ascii": raw.isascii(),
}))
