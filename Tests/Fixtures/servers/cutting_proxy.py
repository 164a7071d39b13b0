#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that breaks a conversation off at a chosen byte.

    cutting_proxy.py UPSTREAM_PORT

Prints its own port. Then each line of standard input is the rule for all connections from there on:

    pass                 nothing is cut
    up N                 the connection ends after N bytes from the client went on to the server
    down N               it ends after N bytes from the server went on to the client (0: before the first)
    silent N             after N bytes from the server nothing moves any more, and nothing ends

Each rule is answered with "ok". A cut is a reset, to both sides, so that neither can take it for the end. "count" is answered with
the bytes of the last finished connection: "UP DOWN". Ends with its standard input.
"""

import asyncio
import os
import socket
import struct
import sys


class Proxy:
    def __init__(self, upstream):
        self.upstream, self.rule, self.last = upstream, ("pass", 0), (0, 0)

    async def serve(self, reader, writer):
        kind, limit = self.rule
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self.upstream)
        except OSError:
            reset(writer)
            return
        counts = {"up": 0, "down": 0}
        stop = asyncio.Event()

        async def pump(source, sink, way):
            while data := await source.read(65536):
                if kind == way and counts[way] + len(data) >= limit:
                    data = data[: limit - counts[way]]
                    sink.write(data)
                    await sink.drain()
                    counts[way] += len(data)
                    stop.set()
                    return
                if kind == "silent" and way == "down" and counts[way] + len(data) >= limit:
                    sink.write(data[: limit - counts[way]])
                    await sink.drain()
                    await asyncio.Event().wait()
                sink.write(data)
                await sink.drain()
                counts[way] += len(data)
            if sink.can_write_eof():
                sink.write_eof()

        async def both():
            await asyncio.gather(pump(reader, forth, "up"), pump(back, writer, "down"))

        work = asyncio.ensure_future(both())
        ends = [work, asyncio.ensure_future(stop.wait())]
        done, waiting = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        for task in done:
            task.exception()
        if stop.is_set():
            reset(writer)
            reset(forth)
        else:
            writer.close()
            forth.close()
        self.last = (counts["up"], counts["down"])

    def obey(self, line):
        words = line.split()
        if words == ["count"]:
            return "%d %d" % self.last
        if words == ["pass"]:
            self.rule = ("pass", 0)
        elif len(words) == 2 and words[0] in ("up", "down", "silent"):
            self.rule = (words[0], int(words[1]))
        else:
            return "what?"
        return "ok"


def reset(writer):
    """Ends with RST: what is on the way is gone, as when a machine vanishes."""
    connection = writer.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def main():
    proxy = Proxy(int(sys.argv[1]))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        print(proxy.obey(line.decode()), flush=True)


# A connection that another test had open while this was started is not to be kept open by it.
os.closerange(3, 4096)
asyncio.run(main())
