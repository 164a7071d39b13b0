#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py DIST [--once]: starts a receiver and the daemon, hands over some files, shows what arrived, runs until Ctrl-C.

With --once it stops when everything has arrived, for tests. It needs no root and writes only below its own folder.
"""

import json
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from daemon import Daemon, is_free, shown  # noqa: E402

PORT = 8931


class Demo(Daemon):
    def __init__(self, dist):
        super().__init__(dist, HERE, HERE / "pipelines.json")
        self.received = HERE / "delivered/received.ndjson"

    def prepare(self):
        self.must_be_alone()
        shutil.rmtree(self.state, ignore_errors=True)
        for file in [*HERE.glob("delivered/*/*"), self.received]:
            if file.is_file() and file.name != ".gitkeep":
                file.unlink()
        for folder in ("delivered/notes", "delivered/archive", "drop"):
            (HERE / folder).mkdir(parents=True, exist_ok=True)

    def start_receiver(self):
        port = PORT if is_free(PORT) else 0
        program = [sys.executable, str(HERE / "receiver.py"), str(port), str(self.received)]
        receiver = self.start(*program, stdout=subprocess.PIPE, text=True)
        first = receiver.stdout.readline()
        if not first.startswith("listening on "):
            sys.exit("The receiver could not start.")
        port = int(first.split()[-1])
        # From here on what it prints goes straight to this terminal.
        self.echo(receiver.stdout)
        if port != PORT:
            print(f"Port {PORT} is taken, so the receiver uses {port}; pipelines.local.json says so.")
            text = self.config.read_text().replace(f":{PORT}/", f":{port}/")
            self.config = HERE / "pipelines.local.json"
            self.config.write_text(text)
        return port

    def echo(self, stream):
        def copy():
            for line in stream:
                print(f"  {line}", end="", flush=True)

        threading.Thread(target=copy, daemon=True).start()

    def tell(self):
        print("\nWhat arrived:")
        for folder in ("delivered/notes", "delivered/archive"):
            for file in sorted((HERE / folder).glob("*")):
                if file.name != ".gitkeep":
                    print(f"  {shown(file)}  {file.stat().st_size} bytes")
        for line in self.received.read_text().splitlines():
            entry = json.loads(line)
            print(f"  {entry['file']} at the receiver  {entry['bytes']} bytes  {shown(self.received)}")
        print()
        print(self.command("status").stdout, end="")

    def stop(self):
        super().stop()
        (HERE / "pipelines.local.json").unlink(missing_ok=True)


def main():
    once = "--once" in sys.argv
    dist = Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()
    demo = Demo(dist)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        demo.prepare()
        port = demo.start_receiver()
        demo.start_daemon()
        print(f"Relay Host runs with {shown(demo.config)}; a receiver listens on port {port}.\n")
        demo.submit("notes", HERE / "samples/note.txt")
        demo.submit("reports", HERE / "samples/report.csv")
        print("$ cp", shown(HERE / "samples/letter.txt"), shown(HERE / "drop") + "/")
        arriving = HERE / "drop/.letter.txt"
        shutil.copyfile(HERE / "samples/letter.txt", arriving)
        arriving.rename(HERE / "drop/letter.txt")
        print("Waiting for all three; an inbox waits until a file has been quiet for a moment …")
        demo.wait("everything had arrived", lambda: demo.all_arrived(3))
        demo.tell()
        if once:
            return
        host = f"{shown(dist)}/bin/relay-host"
        option = f"--config {shown(demo.config)}"
        print(
            f"\nIt goes on running. In another terminal try:\n"
            f"  {host} submit reports README.md {option}\n"
            f"  {host} log reports {option}\n"
            f"  cp LICENSE {shown(HERE / 'drop')}/\n"
            f"Edit {shown(demo.config)} and save it: the change is in force at once.\n"
            f"The daemon's log is {shown(demo.log)}. Ctrl-C ends everything."
        )
        code = demo.process.wait()
        sys.exit(f"The daemon ended by itself with {code}; it said:\n" + demo.last_words())
    except KeyboardInterrupt:
        print("\nStopping …")
    finally:
        demo.stop()


if __name__ == "__main__":
    main()
