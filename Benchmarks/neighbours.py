# SPDX-License-Identifier: Apache-2.0
"""What one pipeline notices of the trouble of two others: a receiver that never answers, and a target that crashes on
everything it is given."""

import os
import tempfile
import threading
import time
from contextlib import ExitStack

from harness import Daemon, compiled, percentile
from rows import Row

CRASH = """
#include <stdlib.h>
#include "relay_target.h"

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  static const char manifest[] = "{\\"id\\": \\"org.example.crash\\", \\"name\\": \\"Crash\\", \\"version\\": \\"1\\","
    " \\"license\\": \\"Apache-2.0\\", \\"unit\\": \\"part\\", \\"settings\\": {\\"type\\": \\"object\\"}}";
  host->emit_manifest(host->context, manifest, sizeof manifest - 1);
  return 0;
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  (void)host, (void)instance, (void)verdict;
  return 0;
}

int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  (void)host, (void)instance, (void)delivery, (void)verdict;
  abort();
}
"""

BLOCKS = 8
RUNS = 100
SIZE = 4096


class Trouble:
    """Keeps two pipelines in trouble for as long as it is told to."""

    def __init__(self, daemon, sample):
        self.daemon, self.sample = daemon, sample
        self.wanted = threading.Event()
        self.over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        for number in range(50):
            for pipeline in ("hang", "crash"):
                daemon.submit_over_socket(pipeline, sample, f"trouble-{number}")
        self.thread.start()

    def run(self):
        while not self.over:
            if self.wanted.wait(0.1):
                # After ten crashes in a row it waits for a person: this one is quick.
                self.daemon.ask({"command": "resume", "pipeline": "crash"})
                time.sleep(0.25)

    def set(self, on):
        for pipeline in ("hang", "crash"):
            self.daemon.ask({"command": "resume" if on else "pause", "pipeline": pipeline})
        if on:
            self.wanted.set()
        else:
            self.wanted.clear()
        time.sleep(1)

    def stop(self):
        self.over = True
        self.thread.join()


def neighbours(bench):
    started = {False: {}, True: {}}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="relay-bench-", dir=bench.place))
        receiver = bench.fast_receiver(stack)
        trouble = [
            Daemon.entry("hang", receiver, path="/hang"),
            {"id": "crash", "extract": {"from": "inbox"}, "load": {"target": "org.example.crash"},
             "delivery": {"spacing": "0s", "retryFirst": "1ms", "retryMax": "100ms"}},
        ]
        daemon = bench.daemon(
            stack, receiver, ["calm"], kills=True, extra=trouble, targets=compiled(bench.dist, folder, CRASH)
        )
        sample = daemon.folder / "sample"
        sample.write_bytes(os.urandom(SIZE))
        daemon.submit_over_socket("calm", sample, "first")
        others = Trouble(daemon, sample)
        receiver.wait(1)
        for block in range(BLOCKS):
            on = block % 2 == 1
            others.set(on)
            for number in range(RUNS):
                name = f"{block}-{number}"
                started[on][f"/calm/{name}"] = time.monotonic_ns()
                daemon.submit_over_socket("calm", sample, name)
                receiver.wait(2 + block * RUNS + number, pause=0.0005)
        others.stop()
        arrived = {path: moment for moment, _, path in receiver.arrivals}
    times = {on: [arrived[path] - begun for path, begun in runs.items()] for on, runs in started.items()}
    p50, p99 = ({on: percentile(values, share) / 1e6 for on, values in times.items()} for share in (0.5, 0.99))
    yield Row(
        "submit to received beside two in trouble, p99", p99[True], "ms", f"alone {p99[False]:.2f} ms",
        ratio=p99[True] / p99[False], must=1.2, aim=1.0, least=True,
    )
    yield Row(
        "the same, p50", p50[True], "ms", f"alone {p50[False]:.2f} ms", ratio=p50[True] / p50[False], least=True
    )
