#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that breaks a conversation off at a chosen byte.

    cutting_proxy.py UPSTREAM_PORT

Prints its own port. Then each line of standard input is a rule or a question. Rules for each connection that begins from there on:

    pass                 nothing is cut
    up N                 the connection ends after N bytes from the client went on to the server
    down N               it ends after N bytes from the server went on to the client (0: before the first)
    silent N             after N bytes from the server nothing moves any more, and nothing ends

Rules for one cut in all that is said from there on, over however many connections, those that are open already among them; after it
nothing is cut any more:

    once up N            the connection that brings it ends when N bytes from clients went on
    once down N          likewise for bytes from the server
    once silent-up N     on that connection nothing moves any more, either way, until the next rule, which ends it
    once silent-down N   likewise

Each rule is answered with "ok". A cut is a reset, to both sides, so that neither can take it for the end. Further:

    drop                 ends all connections; "ok" when they have ended
    count                the bytes of the last finished connection: "UP DOWN"
    since                bytes and cuts since the last rule, over all connections: "UP DOWN CUTS"

Ends with its standard input.
"""

import asyncio
import os
import socket
import struct
import sys


class Rule:
    """When something is cut: after so many bytes of a way ("up", "down", or None for never)."""

    def __init__(self, way=None, limit=0, silent=False):
        self.way, self.limit, self.silent, self.hits = way, limit, silent, False

    def share(self, way, data, before):
        """How much of what came goes on, when so much did before; whether this is where it is cut."""
        if self.way != way or self.hits or before + len(data) < self.limit:
            return data, False
        self.hits = True
        return data[: self.limit - before], True


class Connection:
    def __init__(self, own):
        self.own, self.counts = own, {"up": 0, "down": 0}
        self.stop, self.is_silent, self.ended = asyncio.Event(), False, asyncio.Event()


class Proxy:
    def __init__(self, upstream):
        self.upstream, self.last = upstream, (0, 0)
        self.connections = set()
        self.begin()

    def begin(self, each=None, once=None):
        """Takes a rule for each connection, or one for all that is said."""
        self.each, self.once = each or Rule(), once
        self.counts, self.cuts = {"up": 0, "down": 0}, 0
        for connection in self.connections:
            if connection.is_silent:
                connection.stop.set()

    async def serve(self, reader, writer):
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self.upstream)
        except OSError:
            reset(writer)
            return
        rule = self.each
        connection = Connection(Rule(rule.way, rule.limit, rule.silent))
        self.connections.add(connection)
        try:
            await self.carry(connection, (reader, writer), (back, forth))
        finally:
            self.last = (connection.counts["up"], connection.counts["down"])
            self.connections.discard(connection)
            connection.ended.set()

    async def carry(self, connection, client, server):
        """Passes on what comes until both have ended, one breaks, or it is cut."""
        (reader, writer), (back, forth) = client, server
        ways = (("up", reader, forth), ("down", back, writer))
        pumps = {asyncio.create_task(self.pump(connection, *way)) for way in ways}
        stop = asyncio.create_task(connection.stop.wait())
        waiting = pumps
        while waiting and not stop.done():
            done, waiting = await asyncio.wait({*waiting, stop}, return_when=asyncio.FIRST_COMPLETED)
            waiting.discard(stop)
            if any(task.exception() for task in done):
                break
        for task in {*pumps, stop}:
            task.cancel()
        await asyncio.gather(*pumps, stop, return_exceptions=True)
        for side in (writer, forth):
            if connection.stop.is_set():
                reset(side)
            else:
                side.close()

    async def pump(self, connection, way, source, sink):
        while data := await source.read(65536):
            if connection.is_silent:
                return await asyncio.Event().wait()
            rule, counts = (self.once, self.counts) if self.once else (connection.own, connection.counts)
            data, is_cut = rule.share(way, data, counts[way])
            connection.counts[way] += len(data)
            self.counts[way] += len(data)
            sink.write(data)
            if is_cut:
                self.cuts += 1
                connection.is_silent = rule.silent
            await sink.drain()
            if is_cut and not rule.silent:
                return connection.stop.set()
        if sink.can_write_eof():
            sink.write_eof()

    async def obey(self, line):
        words = line.split()
        if words == ["count"]:
            return "%d %d" % self.last
        if words == ["since"]:
            return "%d %d %d" % (self.counts["up"], self.counts["down"], self.cuts)
        if words == ["drop"]:
            open_ones = list(self.connections)
            for connection in open_ones:
                connection.stop.set()
            for connection in open_ones:
                await connection.ended.wait()
        elif words == ["pass"]:
            self.begin()
        elif len(words) == 2 and words[0] in ("up", "down", "silent"):
            self.begin(each=Rule("down" if words[0] == "silent" else words[0], int(words[1]), words[0] == "silent"))
        elif len(words) == 3 and words[0] == "once" and words[1].removeprefix("silent-") in ("up", "down"):
            way = words[1].removeprefix("silent-")
            self.begin(once=Rule(way, int(words[2]), way != words[1]))
        else:
            return "what?"
        return "ok"


def reset(writer):
    """Ends with RST: what is on the way is gone, as when a machine vanishes."""
    try:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        # It has been reset from the other side meanwhile.
        pass
    writer.transport.abort()


async def main():
    proxy = Proxy(int(sys.argv[1]))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        print(await proxy.obey(line.decode()), flush=True)


# A connection that another test had open while this was started is not to be kept open by it.
os.closerange(3, 4096)
asyncio.run(main())
