# SPDX-License-Identifier: Apache-2.0
"""Reads back what each receiver got, with tools that know nothing of Relay Host, as SHA-256 sums."""

import base64
import email
import email.policy
import hashlib
import json
import subprocess
import zipfile
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

from servers import PYTHON


def sums_of_files(folder):
    """By sha256sum."""
    files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    lines = subprocess.run(["sha256sum", *files], capture_output=True, text=True, check=True).stdout.splitlines()
    # Where a name has a backslash or a line break, the line begins with a backslash.
    return [line.removeprefix("\\")[:64] for line in lines]


def sums_of_messages(file):
    """What mosquitto_sub wrote: topic, a space, the payload in hexadecimal digits."""
    lines = [line.split() for line in Path(file).read_text(encoding="ascii").splitlines()]
    return [hashlib.sha256(bytes.fromhex(payload)).hexdigest() for _, payload in lines]


def sums_of_mails(maildir):
    """Python's email package reads the mails, unzip tests the attachment, zipfile unpacks it."""
    sums = []
    for number, file in enumerate(sorted(Path(maildir, "new").iterdir())):
        message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        for attachment in message.iter_attachments():
            sums += sums_of_zip(Path(maildir).with_name(f"attachment-{number}.zip"), attachment.get_content())
    return sums


def sums_of_service(record):
    """The requests that the stand-in noted, in the form of Resend; unzip and zipfile as above."""
    sums = []
    for number, line in enumerate(Path(record).read_text(encoding="utf-8").splitlines()):
        for attachment in json.loads(line)["mail"]["attachments"]:
            content = base64.b64decode(attachment["content"], validate=True)
            sums += sums_of_zip(Path(record).with_name(f"attachment-{number}.zip"), content)
    return sums


def sums_of_zip(file, content):
    file.write_bytes(content)
    subprocess.run(["unzip", "-tqq", file], check=True)
    with zipfile.ZipFile(file) as archive:
        return [hashlib.sha256(archive.read(entry)).hexdigest() for entry in archive.infolist()]


def events_of_samples(files):
    """One sum an event: what a calendar should hold of it."""
    events = [event for file in files for event in json.loads(file.read_text(encoding="utf-8"))["events"]]
    return [sum_of_event(each["title"], each["start"], each["end"], each["allDay"]) for each in events]


def events_of_calendars(texts):
    """The package icalendar reads them, in the Python where it is installed."""
    program = (
        "import sys, json, icalendar\n"
        "for text in json.load(sys.stdin):\n"
        "  for event in icalendar.Calendar.from_ical(text).walk('VEVENT'):\n"
        "    print(json.dumps([event['SUMMARY'], event['DTSTART'].dt.isoformat(), event['DTEND'].dt.isoformat()]))\n"
    )
    command = [str(PYTHON), "-c", program]
    result = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    return [sum_of_event(title, start, end, "T" not in start, ends_after=True) for title, start, end in events]


def events_of_server(port, password):
    """curl fetches the collection whole."""
    url = f"http://127.0.0.1:{port}/maria/health/"
    command = ["curl", "-sf", "--noproxy", "*", "-u", f"maria:{password}", url]
    return events_of_calendars([subprocess.run(command, capture_output=True, text=True, check=True).stdout])


def sum_of_event(title, start, end, all_day, ends_after=False):
    """A calendar names the day after an all-day event as its end; a sample names its last day."""
    if all_day:
        last = date.fromisoformat(end) - timedelta(days=1 if ends_after else 0)
        words = [title, start, last.isoformat()]
    else:
        words = [title, *(datetime.fromisoformat(each).astimezone(timezone.utc).isoformat() for each in (start, end))]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()
