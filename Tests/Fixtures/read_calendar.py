# SPDX-License-Identifier: Apache-2.0
"""Reads calendars with PyPI icalendar and prints their events as JSON: a reader that isn't ours.

    read_calendar.py FILE…
"""
import datetime
import json
import sys

import icalendar


def moment(value):
    if value is None:
        return None
    value = value.dt
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ") if value.tzinfo else "floating"
    return value.isoformat()


events = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        calendar = icalendar.Calendar.from_ical(file.read())
    for event in calendar.walk("VEVENT"):
        if event.errors:
            sys.exit(f"{path}: {event.errors}")
        events.append({
            "calendar": str(calendar.get("X-WR-CALNAME", "")), "uid": str(event["UID"]), "title": str(event.get("SUMMARY", "")),
            "start": moment(event["DTSTART"]), "end": moment(event.get("DTEND")), "sequence": int(event.get("SEQUENCE", -1)),
            "changed": moment(event.get("LAST-MODIFIED")), "stamp": moment(event["DTSTAMP"]),
            "notes": str(event["DESCRIPTION"]) if "DESCRIPTION" in event else None,
            "location": str(event["LOCATION"]) if "LOCATION" in event else None,
            "key": str(event["X-RELAY-KEY"]) if "X-RELAY-KEY" in event else None,
            "alarms": len(event.walk("VALARM")), "color": str(event.get("COLOR", ""))})
print(json.dumps(events))
