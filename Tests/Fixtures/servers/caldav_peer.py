# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a CalDAV server, for what a real one does seldom: built from RFC 4791 and the words of sabre/dav and Nextcloud.

    caldav_peer.py

Listens on 127.0.0.1, prints the port and ends when stdin does. /NAME/cal/ is a calendar in memory; each NAME is a world of its
own. It takes PUT, GET, DELETE, PROPFIND (Depth 0) and REPORT (calendar-query by UID), with conditions.

    POST /NAME/!rules    a JSON object: how the world behaves from now on
        "cut": [number, count, "before" | "after" | "within"]   closes at so many requests from that one on (from 1), before or
                                                                after acting on each, or within the answer's head
        "answers": [{"method", "status", "body", "headers"}]   given out one by one to requests of the method, without acting
        "tags": "absent-on-put" | "absent" | "weak-on-get" | "strong"
        "normalises": true     rewrites what is put, as Nextcloud does, and sends no tag then
        "trash": true          a deleted UID stays occupied, with Nextcloud's words
        "conflict": "condition" | "words"     how a UID that is taken is told
        "unconditional-get": true             no 304
        "missing": 404 | 409                  the calendar is gone
    GET /NAME/!requests  the requests since the last rules, as JSON
    GET /NAME/!objects   what the calendar holds, as JSON
"""
import hashlib
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.Lock()
worlds = {}
MULTI = '<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:cal="urn:ietf:params:xml:ns:caldav">%s</d:multistatus>'
SABRE = ('<?xml version="1.0" encoding="utf-8"?>\n<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">\n'
         "  <s:exception>Sabre\\DAV\\Exception\\BadRequest</s:exception>\n  <s:message>%s</s:message>\n</d:error>")
CONFLICT = ('<?xml version="1.0"?><d:error xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">'
            "<c:no-uid-conflict/></d:error>")


class World:
    def __init__(self):
        self.objects, self.rules, self.requests, self.trash, self.count = {}, {}, [], set(), 0


def uid(text):
    found = re.search(r"^UID:(.*?)\r?$", re.sub(r"\r?\n[ \t]", "", text), re.M)
    return found[1] if found else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave in one piece, and at once.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def tag(self, text):
        return '"%s"' % hashlib.sha256(text.encode()).hexdigest()[:16]

    def answer(self, status, body="", headers=()):
        data = body.encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if status not in (204, 304):
            self.wfile.write(data)
        self.wfile.flush()

    def cut(self):
        self.close_connection = True
        self.wfile = open("/dev/null", "wb")
        self.connection.shutdown(2)

    def handle_one(self):
        with lock:
            name = self.path.split("/")[1]
            world = worlds.setdefault(name, World())
            length = self.headers.get("Content-Length")
            body = self.rfile.read(int(length or 0)).decode()
            if "!" in self.path:
                return self.control(world, body)
            world.count += 1
            world.requests.append({
                "method": self.command, "path": self.path, "body": body, "length": length is not None,
                "headers": {key.lower(): value for key, value in self.headers.items()}})
            number, count, when = world.rules.get("cut", [0, 0, ""])
            is_cut = number <= world.count < number + count
            if is_cut and when == "before":
                return self.cut()
            for given in world.rules.get("answers", []):
                if given["method"] == self.command:
                    world.rules["answers"].remove(given)
                    return self.answer(given["status"], given.get("body", ""), given.get("headers", {}).items())
            status, text, headers = self.act(world, body)
            if is_cut and when == "after":
                return self.cut()
            if is_cut and when == "within":
                self.wfile.write(b"HTTP/1.1 2")
                self.wfile.flush()
                return self.cut()
            self.answer(status, text, headers)

    def control(self, world, body):
        what = self.path.split("!")[1]
        if what == "rules":
            world.rules, world.requests, world.count = json.loads(body), [], 0
            return self.answer(204)
        self.answer(200, json.dumps(world.requests if what == "requests" else world.objects))

    def act(self, world, body):
        method, rules = self.command, world.rules
        if "missing" in rules:
            return (rules["missing"] if method == "PUT" else 404), "", ()
        if method in ("PROPFIND", "REPORT"):
            return self.ask(world, method, body)
        text = world.objects.get(self.path)
        if method == "GET":
            if text is None:
                return 404, "", ()
            tag = self.tag(text)
            if self.headers.get("If-None-Match") == tag and not rules.get("unconditional-get"):
                return 304, "", [("ETag", tag)]
            kind = rules.get("tags", "strong")
            tags = {"absent": [], "weak-on-get": [("ETag", "W/" + tag)]}.get(kind, [("ETag", tag)])
            return 200, text, [("Content-Type", "text/calendar; charset=utf-8"), *tags]
        if method == "DELETE":
            if text is None:
                return 404, "", ()
            world.trash.add(uid(text))
            del world.objects[self.path]
            return 204, "", ()
        return self.put(world, text, body)

    def put(self, world, text, body):
        rules, own = world.rules, uid(body)
        if self.headers.get("If-None-Match") == "*" and text is not None:
            return 412, "", ()
        match = self.headers.get("If-Match")
        if match and (text is None or match not in ("*", self.tag(text))):
            return 412, "", ()
        if text is None and rules.get("trash") and own in world.trash:
            return 400, SABRE % "Deleted calendar object with uid already exists in this calendar collection.", ()
        if any(path != self.path and uid(other) == own for path, other in world.objects.items()):
            if rules.get("conflict", "condition") == "condition":
                return 409, CONFLICT, ()
            return 400, SABRE % "Calendar object with uid already exists in this calendar collection.", ()
        if rules.get("normalises"):
            body = body.replace("VERSION:2.0\r\n", "VERSION:2.0\r\nX-NORMALISED:1\r\n").replace("\r\nDTSTART:", "\r\nDTSTART;X-A=b:")
        world.objects[self.path] = body
        quiet = rules.get("normalises") or rules.get("tags") in ("absent-on-put", "absent")
        return (201 if text is None else 204), "", ([] if quiet else [("ETag", self.tag(body))])

    def ask(self, world, method, body):
        if method == "REPORT":
            wanted = re.search(r"<C:text-match[^>]*>(.*?)</C:text-match>", body)[1]
            found = [path for path, text in world.objects.items() if uid(text) == wanted]
        else:
            found = [self.path] if self.path in world.objects or self.path.endswith("/cal/") else []
            if not found:
                return 404, "", ()
        parts = []
        for path in found:
            if path in world.objects:
                tag = "" if world.rules.get("tags") == "absent" else self.tag(world.objects[path]).replace('"', "&quot;")
                properties = f"<d:getetag>{tag}</d:getetag>"
            else:
                properties = world.rules.get("properties", "<d:resourcetype><d:collection/><cal:calendar/></d:resourcetype>")
            parts.append(f"<d:response><d:href>{path}</d:href><d:propstat><d:prop>{properties}</d:prop>"
                         "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>")
        return 207, MULTI % "".join(parts), [("Content-Type", "application/xml; charset=utf-8")]

    do_PUT = do_GET = do_DELETE = do_PROPFIND = do_REPORT = do_POST = handle_one


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
