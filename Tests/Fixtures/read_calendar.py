# SPDX-License-Identifier: Apache-2.0
"""Reads calendars with PyPI icalendar and prints their events as JSON: a reader that isn't ours.

    read_calendar.py FILE…
"""
import datetime
import json
import re
import sys

import icalendar


def moment(value):
    if value is None:
        return None
    value = value.dt
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ") if value.tzinfo else "floating"
    return value.isoformat()


def text(component, name):
    """A text whose type this library doesn't know, and therefore leaves as it is written."""
    if name not in component:
        return None
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], str(component[name]))


events = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        calendar = icalendar.Calendar.from_ical(file.read())
    for event in calendar.walk("VEVENT"):
        if event.errors:
            sys.exit(f"{path}: {event.errors}")
        events.append({
            "calendar": text(calendar, "X-WR-CALNAME") or "", "uid": str(event["UID"]), "title": str(event.get("SUMMARY", "")),
            "start": moment(event["DTSTART"]), "end": moment(event.get("DTEND")), "sequence": int(event.get("SEQUENCE", -1)),
            "changed": moment(event.get("LAST-MODIFIED")), "stamp": moment(event["DTSTAMP"]),
            "notes": str(event["DESCRIPTION"]) if "DESCRIPTION" in event else None,
            "location": str(event["LOCATION"]) if "LOCATION" in event else None,
            "key": text(event, "X-RELAY-KEY"),
            "alarms": len(event.walk("VALARM")), "color": str(event.get("COLOR", ""))})
print(json.dumps(events))
