#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py DIST [--spoil]: hands one artifact of three files to every target there is, with a server of its kind behind each, reads back
what arrived with other people's tools, and compares by hash. Ends with 1 where something differs.

With --spoil a byte of what the web server got is changed before it is read back: the comparison must notice. The servers are
installed by scripts/bootstrap. It needs no root and writes only below its own folder.
"""

import collections
import hashlib
import shutil
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import readers  # noqa: E402
import servers  # noqa: E402
from daemon import Daemon, is_free, shown  # noqa: E402

PORTS = {"http": 8941, "mqtt": 8942, "smtp": 8943, "mail-service": 8944, "caldav": 8945}
# The key is the one that the stand-in knows.
SECRETS = {"mail-service": "re_good", "calendar": "a-password-of-the-demo"}
RECEIVED = HERE / "received"


def ports(config):
    """Those of pipelines.json, and others in a copy of it where one is taken."""
    free = iter(port for port in range(8951, 9951) if is_free(port))
    chosen = {name: port if is_free(port) else next(free) for name, port in PORTS.items()}
    if chosen == PORTS:
        return chosen, config
    text = config.read_text(encoding="utf-8")
    for name, port in PORTS.items():
        text = text.replace(str(port), str(chosen[name]))
    local = config.with_name("pipelines.local.json")
    local.write_text(text, encoding="utf-8")
    print(f"Some ports are taken; {shown(local)} has others.")
    return chosen, local


def start_servers(start, port):
    servers.nginx(start, RECEIVED / "web", port["http"])
    servers.mosquitto(start, RECEIVED / "broker", port["mqtt"])
    servers.aiosmtpd(start, RECEIVED / "mailbox", port["smtp"])
    servers.mail_service(start, RECEIVED / "service", port["mail-service"])
    servers.radicale(start, RECEIVED / "calendar", port["caldav"], SECRETS["calendar"])
    for each in port.values():
        servers.wait_for(each)


def compare(samples, port):
    """Prints a line for each pipeline; whether all are right."""
    sent = [hashlib.sha256(file.read_bytes()).hexdigest() for file in samples]
    events = readers.events_of_samples(samples)
    rows = [
        ("folder", "sha256sum", sent, lambda: readers.sums_of_files(RECEIVED / "folder")),
        ("http", "nginx; sha256sum", sent, lambda: readers.sums_of_files(RECEIVED / "web/dav")),
        ("mqtt", "mosquitto; mosquitto_sub", sent, lambda: readers.sums_of_messages(RECEIVED / "broker/messages")),
        ("smtp", "aiosmtpd; Python's email, unzip", sent, lambda: readers.sums_of_mails(RECEIVED / "mailbox/mail")),
        ("mail-service", "a stand-in; Python's base64, unzip", sent, lambda: readers.sums_of_service(RECEIVED / "service/record")),
        (
            "calendar-ics", "Radicale; curl, icalendar", events,
            lambda: readers.events_of_server(port["caldav"], SECRETS["calendar"]),
        ),
        (
            "calendar-ics", "a file; icalendar", events,
            lambda: readers.events_of_calendars([(RECEIVED / "health.ics").read_text(encoding="utf-8")]),
        ),
    ]
    good = True
    print(f"\n{'target':<14}{'receiver; read back with':<36}{'sent':>5}{'same':>6}{'other':>7}  SHA-256 of the parts or events")
    for target, tools, expected, read in rows:
        wanted, found = collections.Counter(expected), collections.Counter(read())
        same, other = (wanted & found).total(), (found - wanted).total()
        good = good and wanted == found
        sums = " ".join(each[:8] for each in sorted(found.elements()))
        print(f"{target:<14}{tools:<36}{wanted.total():>5}{same:>6}{other:>7}  {sums}")
    return good


def spoil(file):
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def main():
    dist = Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    port, config = ports(HERE / "pipelines.json")
    demo = Daemon(dist, HERE, config)
    demo.must_be_alone()
    shutil.rmtree(demo.state, ignore_errors=True)
    shutil.rmtree(RECEIVED, ignore_errors=True)
    (RECEIVED / "folder").mkdir(parents=True)
    samples = sorted((HERE / "samples").iterdir())
    try:
        start_servers(demo.start, port)
        for name, secret in SECRETS.items():
            demo.command("secret", "set", name, input=secret, check=True)
        demo.start_daemon()
        pipelines = demo.status()
        for pipeline in pipelines:
            demo.submit(pipeline, *samples)
        demo.wait("everything had arrived", lambda: demo.all_arrived(len(pipelines)))
        if "--spoil" in sys.argv:
            spoil(RECEIVED / "web/dav/2.json")
        if not compare(samples, port):
            sys.exit("\nSomething differs; the daemon said:\n" + demo.last_words())
        print(f"\nAll is the same. What arrived is in {shown(RECEIVED)}, the daemon's log in {shown(demo.log)}.")
    except KeyboardInterrupt:
        sys.exit("\nStopped before the end.")
    finally:
        demo.stop()
        (HERE / "pipelines.local.json").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
