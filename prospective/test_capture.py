#!/usr/bin/env python3
"""Facts about captures. Run: python -m unittest test_capture

A server on loopback plays each bad answer; nothing here leaves the machine, and nothing sleeps.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from unittest import mock
from urllib.parse import parse_qs, urlsplit

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import capture  # noqa: E402
import kit  # noqa: E402

TEXTS = {"q1": "merge PDF files", "q2": "flight & hotel/car, 5 € or less", "q3": "ask #3?",
         "q4": "translate contracts"}


################ A frozen set, a server

def write_set(folder, texts=TEXTS, status="frozen", **more):
    """Write queries, protocol and manifest of a small invented set; more: keys of the queries."""
    policy = {"evidence_policy_id": "p", "what_counts_as_2": "It says so.",
              "what_counts_as_1": "It nearly says so.", "what_counts_as_0": "It does not.",
              "acceptable_evidence": "Declarations.", "cutoff": "None."}
    files = {
        "queries.json": {
            "schema": "queries/1", "set_id": "invented", "version": "1.0.0", "status": status,
            "queries": [{"query_id": name, "text": text, "need": "A need.",
                         "requirements_text": "", "evidence_policy_id": "p", "facets": []}
                        for name, text in texts.items()],
            "evidence_policies": [policy], **more},
        "protocol.json": {
            "schema": "protocol/1", "set_id": "invented", "version": "1.0.0", "depth": 3,
            "cutoff": 5, "gain": "linear", "relevant_grade": 2, "minimum_judges": 2,
            "minimum_query_coverage": 0.8, "primary": {"systems": None, "measure": "ndcg_at_5"},
            "test": "paired sign-flip randomisation", "resamples": 1000, "seed": 1}}
    data = {name: kit.encoded(value) for name, value in files.items()}
    listed = [{"path": name, "bytes": len(text), "sha256": kit.sha256(text)}
              for name, text in sorted(data.items())]
    data["manifest.json"] = kit.encoded({
        "schema": "manifest/1", "set_id": "invented", "version": "1.0.0", "status": status,
        "frozen_at": "2026-11-01T00:00:00+00:00", "files": listed,
        "ranker": {"path": "ranker.py", "version": "1", "sha256": "0" * 64}, "supersedes": None,
        "time_anchor": None})
    for name, text in data.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text)


def item(number, **fields):
    """Return an item of an answer."""
    return {"id": number, "name": f"Agent {number}", "description": "Does one thing.",
            "card_url": f"https://agent-{number}.example/.well-known/agent-card.json", **fields}


def body_of(*items, **fields):
    """Return the bytes of an answer with these items, or with items 1 and 2."""
    return json.dumps({"items": list(items or (item(1), item(2))), **fields}).encode()


def http(body, status="200 OK", *headers, length=None):
    """Return an HTTP answer; length: what it declares, if not the truth."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}",
             *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunked(*chunks, last=b"0\r\n\r\n"):
    """Return an answer in chunks."""
    parts = [b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks]
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(parts) + last


def drop_by_drop(data, seconds=0.05):
    """Return a play that sends one byte at a time until nobody listens."""
    def play(sock):
        for place in range(len(data)):
            sock.sendall(data[place:place + 1])
            time.sleep(seconds)
    return play


def silence(sock):
    """Say nothing until the other side hangs up."""
    sock.recv(1)


def reset(sock):
    """Break the connection off."""
    linger = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


class Handler(socketserver.BaseRequestHandler):
    """Answers one request with the next play of its query."""

    def handle(self):
        """Read the head of the request; send bytes, or let a function use the socket."""
        with contextlib.suppress(OSError), self.server.secure(self.request) as sock:
            self.answer(sock)
            sock.shutdown(socket.SHUT_WR)

    def answer(self, sock):
        """Read and answer on a socket that is ready."""
        head = b""
        while b"\r\n\r\n" not in head:
            more = sock.recv(1 << 16)
            if not more or more[:1] == b"\x16":     # the other side hangs up, or begins with TLS
                return
            head += more
        line, *headers = head.decode("ascii").split("\r\n")[:-2]
        api = self.server
        api.heads.append((line, dict(header.split(": ", 1) for header in headers)))
        text = parse_qs(urlsplit(line.split()[1]).query).get("q", [""])[0]
        plays = api.plays.get(text, [http(body_of())])
        play = plays.pop(0) if len(plays) > 1 else plays[0]
        if callable(play):
            play(sock)
        else:
            sock.sendall(play)


class Api(socketserver.ThreadingTCPServer):
    """A server on loopback. plays: {query text: [bytes or function]}; the last one stays."""

    daemon_threads, block_on_close = True, False

    def __init__(self, plays=None, secure=lambda sock: sock):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plays, self.heads, self.secure = plays or {}, [], secure
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, request, client_address):
        """Say nothing: clients hang up here on purpose."""

    def __exit__(self, *error):
        """Stop and close."""
        self.shutdown()
        self.server_close()

    @property
    def texts(self):
        """The query texts that were asked, in order."""
        return [parse_qs(urlsplit(line.split()[1]).query)["q"][0] for line, headers in self.heads]


class Case(unittest.TestCase):
    """A test with a frozen set in a folder of its own."""

    texts = TEXTS

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.set = os.path.join(self.folder, "set")
        os.mkdir(self.set)
        write_set(self.set, self.texts)
        self.output = self.path("a.json")
        self.slept = []

    def path(self, name):
        """Return a path in the test's folder."""
        return os.path.join(self.folder, name)

    def write(self, name, text):
        """Write a text, or a value as JSON; return the path."""
        with open(self.path(name), "w", encoding="utf-8", newline="\n") as file:
            file.write(textwrap.dedent(text) if isinstance(text, str) else json.dumps(text))
        return self.path(name)

    def read(self, name="a.json"):
        """Return the value of a JSON file."""
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def run_main(self, *arguments):
        """Return (status, stdout, stderr) of the command on the test's set."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = capture.main(["--system", "a", "--set", self.set, "--output", self.output,
                                   *arguments], _sleep=self.slept.append)
        return status, out.getvalue(), err.getvalue()

    def capture(self, api, *arguments):
        """Return the summary of a capture that works."""
        status, out, err = self.run_main("--origin", api.origin, *arguments)
        self.assertEqual((status, err), (0, ""))
        return out

    def refused(self, pattern, *arguments):
        """Assert one line of error of this pattern, status 2, and that nothing is written."""
        status, out, err = self.run_main(*arguments)
        self.assertEqual((status, out), (2, ""), err)
        self.assertRegex(err, rf"\Aerror: [^\n]*{pattern}[^\n]*\n\Z")
        self.assertFalse(os.path.exists(self.output))

    def without_times(self, name="a.json"):
        """Return a ranking without its times."""
        ranking = self.read(name)
        for key in ("observed_from", "observed_until"):
            del ranking["corpus"][key]
        for entry in ranking["queries"]:
            del entry["captured_at"]
        return ranking


################ A capture that works

class ThroughTheApi(Case):
    """What is asked, and what is written."""

    def test_files(self):
        with Api({TEXTS["q3"]: [http(b'{"items": []}')]}) as api:
            out = self.capture(api)
        self.assertEqual(out, f"wrote {self.output} and {self.path('a.pool.json')}: "
                              "4 queries, 4 answered, 1 of them with nothing\n")
        ranking = self.read()
        self.assertEqual(list(ranking), [
            "schema", "set_id", "version", "manifest_sha256", "system", "selection_policy",
            "corpus", "capture", "queries"])
        self.assertEqual(ranking["system"], {"name": "a", "version": "", "operator": "",
                                             "developed_with_this_set": False})
        self.assertEqual(ranking["capture"], {
            "origin": api.origin, "request": "GET /api/v1/recommend?q={query}&limit=3",
            "depth": 3, "tool_version": capture.VERSION})
        self.assertEqual([entry["query_id"] for entry in ranking["queries"]], list(TEXTS))
        self.assertEqual([len(entry["results"]) for entry in ranking["queries"]], [2, 2, 0, 2])
        first = ranking["queries"][0]
        self.assertEqual(first["response_sha256"], kit.sha256(body_of()))
        self.assertEqual(first["results"][0], {
            "candidate_key": kit.candidate_key(item(1)["card_url"]), "name": "Agent 1",
            "declaration": "Does one thing.", "skills": [], "url": "",
            "evidence": [item(1)["card_url"]]})
        self.assertEqual(ranking["corpus"]["observed_from"], first["captured_at"])
        self.assertEqual(kit.faults_of(ranking, "ranking"), [])
        self.assertEqual(kit.faults_of(self.read("a.pool.json"), "pool"), [])
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "a.pool.json", "set"])

    def test_requests(self):
        with Api() as api:
            self.capture(api, "--path", "/find?n={limit}&q={query}", "--depth", "7")
        self.assertEqual(api.texts, list(TEXTS.values()))
        line, headers = api.heads[1]
        self.assertEqual(line, "GET /find?n=7&q=flight%20%26%20hotel%2Fcar%2C%205%20%E2%82%AC"
                               "%20or%20less HTTP/1.1")
        self.assertEqual(headers, {
            "Host": api.origin[len("http://"):], "User-Agent": capture.USER_AGENT,
            "Accept": "application/json", "Accept-Encoding": "identity", "Connection": "close"})

    def test_a_second_between_requests(self):
        with Api() as api:
            self.capture(api)
            self.assertEqual(len(self.slept), 3)
            self.assertTrue(all(0.9 < seconds <= 1 for seconds in self.slept), self.slept)
            self.slept.clear()
            self.capture(api, "--pause", "2.5")
        self.assertTrue(all(2.4 < seconds <= 2.5 for seconds in self.slept), self.slept)

    def test_what_is_said_about_the_system(self):
        with Api() as api:
            self.capture(api, "--operator", "An Operator", "--system-version", "7",
                         "--developed-with-this-set", "--selection-policy", "By hand.",
                         "--corpus", "All cards.")
        ranking = self.read()
        self.assertEqual(ranking["system"], {"name": "a", "version": "7",
                                             "operator": "An Operator",
                                             "developed_with_this_set": True})
        self.assertEqual(ranking["selection_policy"], "By hand.")
        self.assertEqual(ranking["corpus"]["description"], "All cards.")

    def test_forms_of_sound_answers(self):
        body = body_of()
        for name, play in {
                "chunked": chunked(body[:10], body[10:]),
                "until the end": b"HTTP/1.0 200 OK\r\n\r\n" + body,
                "identity": http(body, "200 OK", "Content-Encoding: identity"),
                "in pieces": drop_by_drop(http(body), 0)}.items():
            with self.subTest(name), Api({text: [play] for text in TEXTS.values()}) as api:
                self.assertIn("4 answered\n", self.capture(api))
                self.assertEqual(self.read()["queries"][0]["response_sha256"], kit.sha256(body))

    def test_more_than_the_depth_is_cut(self):
        many = http(body_of(*(item(number) for number in range(9))))
        with Api({TEXTS["q1"]: [many]}) as api:
            self.capture(api)
        self.assertEqual([result["name"] for result in self.read()["queries"][0]["results"]],
                         ["Agent 0", "Agent 1", "Agent 2"])

    def test_standard_output(self):
        with Api() as api:
            status, out, err = self.run_main("--origin", api.origin, "--output", "-")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(kit.faults_of(json.loads(out), "ranking"), [])
        self.assertEqual(os.listdir(self.folder), ["set"])

    def test_what_is_invented_says_so(self):
        write_set(self.set, invented="Invented, evidence of nothing.")
        with Api() as api:
            self.capture(api)
        for name in ("a.json", "a.pool.json"):
            self.assertEqual(self.read(name)["invented"], "Invented, evidence of nothing.")

    def test_progress_on_a_terminal_only(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True
        err = Terminal()
        with Api() as api, contextlib.redirect_stderr(err), contextlib.redirect_stdout(
                io.StringIO()):
            capture.main(["--system", "a", "--set", self.set, "--output", self.output,
                          "--origin", api.origin], _sleep=self.slept.append)
        self.assertIn("\rquery 4 of 4", err.getvalue())


################ Answers that are no ranking

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
BODY = body_of()
DEEP = b'{"items": ' + b"[" * 100000 + b"]" * 100000 + b"}"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
# {name: a play that takes too long}
SLOW = {
    "head": drop_by_drop(http(BODY)),
    "body": lambda sock: (sock.sendall(http(BODY)[:60]), drop_by_drop(BODY)(sock)),
    "chunks": drop_by_drop(chunked(*[b" "] * 100)),
    "interim answers": drop_by_drop(INTERIM * 1000, 0.001),
    "silence": silence,
}
# (name, play, the error, how often it is asked). Four times is once and three further tries.
BAD = [
    ("reset", reset, "the connection broke", 4),
    ("nothing", b"", "the connection broke: RemoteDisconnected", 4),
    ("cut off", http(BODY, length=len(BODY) + 1), rf"{len(BODY)} of {len(BODY) + 1} bytes", 4),
    ("cut chunk", chunked(BODY, last=b"50\r\n{"), "the connection broke: IncompleteRead", 4),
    ("no last chunk", chunked(BODY, last=b""), "the connection broke: IncompleteRead", 4),
    ("length too short", http(BODY, length=len(BODY) - 1), "the answer: .*not JSON", 1),
    ("length in words", http(BODY, length="long"), "declares its length in a way", 1),
    ("negative length", http(BODY, length=-1), "declares its length in a way", 1),
    ("two lengths", http(BODY, "200 OK", "Content-Length: 5"), "declares its length in a way", 1),
    ("declared too large", http(BODY, length=10 ** 15), "longer than 4194304 bytes", 1),
    ("too large", http(b" " * (5 << 20)), "longer than 4194304 bytes", 1),
    ("too large in the end", b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (5 << 20), "longer than", 1),
    ("too large in chunks", chunked(*[b" " * (1 << 20)] * 5), "longer than 4194304 bytes", 1),
    ("chunk of a negative size", chunked(last=b"-5\r\n" + BODY),
     "the connection broke|not HTTP", None),
    ("chunk of an enormous size", chunked(last=b"f" * 15 + b"\r\n" + BODY), "connection broke", 4),
    ("gzip", http(b"\x1f\x8b", "200 OK", "Content-Encoding: gzip"), "encoded as gzip", 1),
    ("gzip below chunks", http(BODY, "200 OK", "Transfer-Encoding: gzip, chunked"),
     "declares its length in a way", 1),
    ("no HTTP", b"SSH-2.0-OpenSSH\r\n", "the answer is not HTTP: BadStatusLine", 1),
    ("long header", http(BODY, "200 OK", "X: " + "y" * 70000), "not HTTP: LineTooLong", 1),
    ("many headers", http(BODY, "200 OK", *["X: y"] * 200), "not HTTP: HTTPException", 1),
    ("500", http(BODY, "500 Oops"), "status 500$", 1),
    ("404", http(BODY, "404 Not Found"), "status 404$", 1),
    ("204", b"HTTP/1.1 204 No Content\r\n\r\n", "status 204$", 1),
    ("203", http(BODY, "203 Other"), "status 203$", 1),
    ("429", http(b"", "429 Slow Down"), "status 429$", 4),
    ("503", http(b"", "503 Later"), "status 503$", 4),
    ("redirect to another host", http(b"", "302 Found", "Location: https://other.example/"),
     "status 302, a redirect, which is not followed", 1),
    ("redirect to http", http(b"", "308 Moved", "Location: http://localmark.ai/"),
     "status 308, a redirect, which is not followed", 1),
    ("no JSON", http(b"<html>"), "the answer: line 1 column 1: not JSON", 1),
    ("empty", http(b""), "the answer: is empty", 1),
    ("not UTF-8", http(b'{"items": ["\xff"]}'), "the answer: .*UTF-8", 1),
    ("repeated key", http(b'{"items": [], "items": []}'), "the answer: key 'items': occurs", 1),
    ("NaN", http(b'{"items": [], "score": NaN}'), "the answer: NaN", 1),
    ("deep", http(DEEP), "the answer: nested deeper", 1),
    ("half a character", http(b'{"items": [], "x": "\\ud800"}'), "the answer: .*surrogate", 1),
    ("null", http(b"null"), "must be an object with a list", 1),
    ("a list", http(b"[]"), "must be an object with a list", 1),
    ("null items", http(b'{"items": null}'), "must be an object with a list", 1),
    ("no items", http(b'{"results": []}'), "must be an object with a list", 1),
    ("error object", http(b'{"error": "overloaded"}'), "must be an object with a list", 1),
    ("items of numbers", http(body_of(7)), "result 1: must be an object", 1),
    ("no key", http(body_of({"name": "x"})), "result 1: has neither an address nor an id", 1),
    ("id true", http(body_of({"id": True})), "result 1: has neither an address nor an id", 1),
    ("repeated id", http(body_of({"id": 1}, {"id": 2}, {"id": 1})),
     "results 1 and 3 are the same candidate", 1),
    ("a private key twice", http(body_of({"id": "bob@mail.example"}, {"id": "bob@mail.example"})),
     "results 1 and 2 are the same candidate", 1),
    ("repeated address", http(body_of(item(1), item(2, card_url="HTTPS://Agent-1.EXAMPLE:443"
                                                    "/.well-known/agent.json#x"))),
     "results 1 and 2 are the same candidate", 1),
]


class BadAnswers(Case):
    """One query's failure is its error, in words, and never an empty list."""

    def errors(self, plays, *arguments):
        """Return (entry of each play, texts that were asked, summary); a good one comes last."""
        write_set(self.set, {f"q{place}": name for place, name in enumerate([*plays, "good"])})
        with Api(plays) as api, mock.patch.object(capture, "GIVE_UP", len(plays) + 1):
            out = self.capture(api, *arguments)
        *entries, good = self.read()["queries"]
        self.assertEqual((good["status"], len(good["results"])), ("ok", 2))
        self.assertEqual(kit.private_findings(" ".join(entry["error"] for entry in entries)), [])
        for entry in entries:
            self.assertEqual((entry["status"], entry["results"], entry["response_sha256"]),
                             ("error", [], None), entry)
        return entries, api.texts, out

    def test_bad(self):
        entries, asked, out = self.errors({name: [play] for name, play, error, count in BAD})
        for (name, play, error, count), entry in zip(BAD, entries):
            with self.subTest(name):
                self.assertRegex(entry["error"], error)
                self.assertIn(asked.count(name), [count] if count else [1, 4])
                self.assertIn(f"  {entry['query_id']}: {kit.visible(entry['error'])}\n", out)
        self.assertIn(f"{len(BAD) + 1} queries, 1 answered, {len(BAD)} with an error\n", out)

    def test_slow(self):
        with mock.patch.object(capture, "WAITS", (1,)):
            entries, asked, out = self.errors({name: [play] for name, play in SLOW.items()},
                                              "--deadline", "0.2")
        for name, entry in zip(SLOW, entries):
            self.assertEqual(entry["error"], "no whole answer within 0.2 seconds", name)
            self.assertEqual(asked.count(name), 2)

    def test_a_slow_answer_holds_no_longer_than_the_deadline(self):
        for play in (drop_by_drop(http(BODY)), silence):
            with Api({"x": [play]}) as api:
                service = capture.Service(capture.origin_of(api.origin), capture.PATH,
                                          deadline=0.4, sleep=self.slept.append)
                start = time.monotonic()
                with self.assertRaises(capture.TryAgain):
                    service.attempt("/?q=x")
                self.assertLess(time.monotonic() - start, 0.8)

    def test_private_address_of_a_redirect_is_not_asked(self):
        with Api() as other, Api() as api:
            api.plays[TEXTS["q1"]] = [http(b"", "302 Found", f"Location: {other.origin}/")]
            self.capture(api)
        self.assertEqual(other.heads, [])


class SecondTries(Case):
    """What passes after another try, and how long it waits."""

    texts = {"q1": "x"}

    def waits(self, *plays):
        """Return what was slept for a query that is answered after these plays."""
        self.slept.clear()
        with Api({"x": [*plays, http(BODY)]}) as api:
            self.assertIn("1 answered\n", self.capture(api))
        return [round(seconds, 1) for seconds in self.slept]

    def busy(self, *headers):
        """Return the play of a server that is busy."""
        return http(b"", "429 Slow Down", *headers)

    def test_waits_grow(self):
        self.assertEqual(self.waits(self.busy(), http(b"", "503 Later"), http(b"", "502 Bad")),
                         [1.0, 2.0, 4.0])
        self.assertEqual(self.waits(b"", http(b"", "504 Late")), [1.0, 2.0])

    def test_retry_after(self):
        for text, seconds in [
                ("7", 7), (" 7 ", 7), ("0", 1), ("99999", 120), ("9" * 18, 120), ("9" * 30, 1),
                ("soon", 1), ("", 1), ("-5", 1), ("1.5", 1), ("٣", 1), (DATE[:10], 1),
                ("Fri, 01 Jan 1999 00:00:00 GMT", 1), ("Fri, 31 Dec 9999 23:59:59 GMT", 120),
                ("Fri, 99 Foo 2026 99:99:99 GMT", 1)]:
            with self.subTest(text):
                header = f"Retry-After: {text}".encode().decode("latin-1")
                self.assertEqual(self.waits(self.busy(header)), [seconds])

    def test_retry_after_a_date(self):
        later = datetime.now(timezone.utc) + timedelta(seconds=30)
        [seconds] = self.waits(self.busy(f"Retry-After: {format_datetime(later, usegmt=True)}"))
        self.assertTrue(25 < seconds <= 30, seconds)


class Outages(Case):
    """When nothing answers, no ranking is written, and the same command goes on."""

    texts = {f"q{number}": f"text {number}" for number in range(6)}

    def test_three_in_a_row(self):
        down = http(b"", "503 Later")
        with Api({f"text {number}": [down] for number in (2, 3, 4, 5)}) as api:
            self.refused("3 queries in a row had no answer: status 503; 2 of 6 are kept",
                         "--origin", api.origin)
            self.assertEqual(len(api.heads), 2 + 3 * 4)
            api.plays.clear()
            self.assertIn("6 answered\n", self.capture(api))
            self.assertEqual(api.texts[-4:], [f"text {number}" for number in (2, 3, 4, 5)])

    def test_two_in_a_row(self):
        down = http(b"", "503 Later")
        with Api({f"text {number}": [down] for number in (0, 1, 3, 4)}) as api:
            self.assertIn("6 queries, 2 answered, 4 with an error\n", self.capture(api))
            del api.plays["text 0"], api.plays["text 1"], api.plays["text 3"]
            api.plays["text 5"] = [down]
            self.assertIn("6 queries, 4 answered, 2 with an error\n", self.capture(api))

    def test_nobody_there(self):
        with Api() as api:
            pass
        self.refused("3 queries in a row had no answer: the connection broke: "
                     "ConnectionRefusedError; 0 of 6", "--origin", api.origin)
        with mock.patch.object(socket, "getaddrinfo", side_effect=socket.gaierror(-2, "?")):
            self.refused("the host has no address", "--origin", "https://nobody.example")

    def test_no_query_answered(self):
        with Api({text: [http(BODY, "404 Not Found")] for text in self.texts.values()}) as api:
            self.refused("no query has an answer; the first: status 404", "--origin", api.origin)
            self.assertEqual(os.listdir(self.folder), ["set"])
            api.plays.clear()
            self.assertIn("6 answered\n", self.capture(api))


class Pages(Case):
    """Further pages are asked for while an answer says so and fewer than the depth came."""

    texts = {"q1": "x"}

    def pages(self, *pages):
        """Return (entry, targets) of a capture to a depth of five."""
        with Api({"x": [http(page) for page in pages]}) as api, mock.patch.object(
                capture, "GIVE_UP", 9):
            with contextlib.suppress(AssertionError):
                self.capture(api, "--depth", "5")
        entry = self.read()["queries"][0] if os.path.exists(self.output) else None
        return entry, [line.split()[1] for line, headers in api.heads]

    def error(self, *pages):
        """Return the error of a query with these pages."""
        service = capture.Service(capture.origin_of("http://127.0.0.1"), capture.PATH)
        with mock.patch.object(service, "get", mock.Mock(side_effect=pages)):
            with self.assertRaises(capture.QueryError) as caught:
                service.ask("x", 5)
        return str(caught.exception)

    def test_a_page_is_enough(self):
        for page in (body_of(), body_of(total=90), body_of(next_cursor=None, next="/2"),
                     body_of(*map(item, range(5)), next_cursor="more")):
            self.assertEqual(len(self.pages(page)[1]), 1)

    def test_cursor_and_offset(self):
        first = body_of(item(1), item(2), nextCursor="a/b&c")
        second = body_of(item(3), item(4), next_offset=4)
        third = body_of(item(5), item(6), item(7))
        entry, targets = self.pages(first, second, third)
        head = "/api/v1/recommend?q=x&limit=5"
        self.assertEqual(targets, [head, f"{head}&cursor=a%2Fb%26c", f"{head}&offset=4"])
        self.assertEqual([result["name"] for result in entry["results"]],
                         [f"Agent {number}" for number in (1, 2, 3, 4, 5)])
        self.assertEqual(entry["response_sha256"], kit.sha256(first + second + third))

    def test_an_answer_that_changes_between_pages(self):
        first = body_of(item(1), item(2), next_cursor="2", total=9)
        for second, error in [
                (body_of(item(2), item(3), total=9), "results 2 and 3 are the same candidate"),
                (first, "results 1 and 3 are the same candidate"),
                (body_of(item(3), total=8), "page 2: the answer changed between pages"),
                (b'{"items": [], "total": 9, "next_cursor": "3"}', "page 2: holds nothing and"),
                (b"{}", "the answer: must be an object")]:
            with self.subTest(error):
                self.assertIn(error, self.error(first, second))


################ What is kept of an item

class Kept(Case):
    """Allowed public fields alone, without private parts."""

    def result(self, **fields):
        """Return what becomes of an item."""
        return capture.result_of(fields, "key", "directory.example")

    def test_unknown_fields_are_dropped(self):
        kept = self.result(name="N", score=0.5, reasons=["R"], observations={}, owner_email="e")
        self.assertEqual(kept, {"candidate_key": "key", "name": "N", "declaration": "",
                                "skills": [], "url": "", "evidence": []})

    def test_fields_of_a_card(self):
        kept = self.result(card={
            "name": "N", "description": "D", "url": "https://a.example/rpc?token=1#x",
            "documentationUrl": "https://a.example/docs",
            "skills": [{"id": "s", "name": "S", "description": " many \n blanks ", "tags": []},
                       "T", {}, 7, None]},
            repository={"url": "https://code.example/a"})
        self.assertEqual(kept, {
            "candidate_key": "key", "name": "N", "declaration": "D",
            "skills": [{"name": "S", "description": "many blanks"},
                       {"name": "T", "description": ""}],
            "url": "https://a.example/rpc",
            "evidence": ["https://a.example/docs", "https://code.example/a"]})

    def test_private_parts(self):
        for text in ("ask bob.smith@mail.example today", "at 192.0.2.17 or so",
                     "see 10.1.2.3:8080/path"):
            kept = self.result(name="N", description=text)
            self.assertEqual(kit.private_findings(json.dumps(kept)), [], text)
            self.assertIn("[removed]", kept["declaration"])
        self.assertEqual(self.result(description="Speaks A2A 1.0.0.")["declaration"],
                         "Speaks A2A 1.0.0.")

    def test_a_cut_leaves_no_half_of_an_address(self):
        text = "x" * (capture.MOST_NAME - 6) + " bob@mail.example"
        self.assertNotIn("bob", self.result(name=text)["name"])

    def test_private_parts_are_found_quickly(self):
        for piece in ("a", "a-", "a.", "a@", "1.", "f:", "a://", "key=", "eyJ-", "sk-", "a%.",
                      "eyJaaaaaaaa.", "bearer a", "x@a.a", ".local", "AKIA"):
            start = time.perf_counter()
            kit.private_findings("-" + piece * (12000 // len(piece)))
            self.assertLess(time.perf_counter() - start, 0.2, piece)

    def test_control_characters(self):
        kept = self.result(name="a\x1b[31m\u202eb\x00c")
        self.assertTrue(kept["name"].isprintable())

    def test_addresses_that_are_not_kept(self):
        for address in ("https://directory.example/agents/7", "https://www.directory.example/7",
                        "https://me:secret@a.example/",
                        "javascript:alert(1)", "file:///etc/passwd", "http://192.0.2.1/", "a",
                        "https://[x", "https://a.example/" + "x" * 2000, 7, ["https://a.example"]):
            self.assertEqual(self.result(url=address, card_url=address)["url"], "", address)
            self.assertEqual(self.result(url=address, card_url=address)["evidence"], [], address)

    def test_hosts_of_the_directory(self):
        for host, asked, same in [
                ("directory.example", "directory.example", True),
                ("directory.example", "api.directory.example", True),
                ("www.directory.example", "api.directory.example", True),
                ("otherdirectory.example", "directory.example", False),
                ("example", "directory.example", False), ("a.example", capture.NOBODY, False)]:
            self.assertIs(capture.is_of(host, asked), same, (host, asked))

    def test_keys(self):
        for fields, key in [
                ({"card_url": "https://A.example/.well-known/agent.json"},
                 kit.candidate_key("https://a.example/.well-known/agent-card.json")),
                ({"repository_url": "https://code.example/x/"}, "https://code.example/x"),
                ({"repository": "https://code.example/x"}, "https://code.example/x"),
                ({"repository": {"url": "https://code.example/x"}}, "https://code.example/x"),
                ({"card_url": "https://directory.example/7", "repository": "https://c.example/x"},
                 "https://c.example/x"),
                ({"name": "Name", "url": "https://directory.example/7"}, "")]:
            self.assertEqual(capture.key_of(fields, "directory.example"), key, fields)
        self.assertEqual([capture.id_key(value, "o") for value in (7, "x")], ["o:7", "o:x"])
        self.assertEqual([value for value in (None, True, 1.5, "", []) if capture.is_id(value)], [])
        for value in ("bob@mail.example", "x\ny", "x" * 300):
            self.assertRegex(capture.id_key(value, "o"), r"\Ao:[0-9a-f]{16}\Z")


################ Interruptions

# A background job of a shell ignores SIGINT, and so would its children.
PROCESS = """
    import signal
    import sys
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, {here!r})
    import capture
    sys.exit(capture.main(sys.argv[1:], _sleep=lambda seconds: None))
"""


class Interruptions(Case):
    """A journal of answers survives the process; the same command goes on."""

    def start(self, api):
        """Return a process that captures without pauses."""
        script = self.write("process.py", PROCESS.format(here=HERE))
        process = subprocess.Popen(
            [sys.executable, script, "--system", "a", "--set", self.set, "--output", self.output,
             "--origin", api.origin, "--deadline", "60"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        self.addCleanup(process.kill)
        return process

    def journal(self):
        """Return the path of the journal."""
        return self.path("a.journal.jsonl")

    def stopped(self, send):
        """Return (status, stderr) of a process that gets a signal while its third query waits."""
        asked = threading.Event()

        def play(sock):
            asked.set()
            silence(sock)

        with Api({TEXTS["q3"]: [play]}) as api:
            process = self.start(api)
            self.assertTrue(asked.wait(20), "the third query was not asked")
            send(process)
            out, err = process.communicate(timeout=20)
        self.assertEqual(out, "")
        self.assertFalse(os.path.exists(self.output))
        return process.returncode, err

    def gone_on(self):
        """Assert that a capture asks the last two queries alone, and ends as if undisturbed."""
        head, *kept = self.lines()
        with Api() as api:
            # What was asked before had another port; the rest of the line is the same.
            self.rewrite([{**head, "origin": api.origin}, *kept])
            self.assertIn("4 answered\n", self.capture(api))
            self.assertEqual(api.texts, [TEXTS["q3"], TEXTS["q4"]])
            self.assertFalse(os.path.exists(self.journal()))
            resumed = self.without_times()
            self.capture(api)
        self.assertEqual(resumed, self.without_times())

    def lines(self):
        """Return the values of the journal's lines."""
        with open(self.journal(), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def rewrite(self, values, torn=b""):
        """Write a journal of these lines, and a torn one."""
        with open(self.journal(), "wb") as file:
            for value in values:
                file.write(json.dumps(value).encode() + b"\n")
            file.write(torn)

    def test_killed(self):
        self.stopped(lambda process: process.kill())
        self.assertEqual([line.get("query_id") for line in self.lines()], [None, "q1", "q2"])
        self.gone_on()

    @unittest.skipIf(os.name == "nt", "Windows has no SIGINT for a child alone")
    def test_control_c(self):
        status, err = self.stopped(lambda process: process.send_signal(signal.SIGINT))
        self.assertEqual((status, err), (130, "interrupted\n"))
        self.gone_on()

    def begun(self, api):
        """Return the lines of a journal after two queries."""
        with mock.patch.object(capture.Journal, "add", side_effect=self.add_two, autospec=True):
            with self.assertRaises(ZeroDivisionError):
                self.capture(api)
        return self.lines()

    def add_two(self, journal, entry):
        """Add an entry, but fail at the third."""
        if len(journal.entries) == 2:
            raise ZeroDivisionError
        journal.write(entry)
        journal.entries.append(entry)

    def test_torn_last_line(self):
        for torn in (b"", b"{", b'{"query_id": "q3", "stat', b"{}x\n", b"\0\0\0\n", b"\xff\n",
                     b'{"query_id": "q3"}'):
            with self.subTest(torn), Api() as api:
                self.rewrite(self.begun(api), torn)
                self.assertIn("4 answered\n", self.capture(api))
                self.assertEqual(api.texts[-2:], [TEXTS["q3"], TEXTS["q4"]])

    def test_torn_head(self):
        self.rewrite([], b'{"schema": "capture-jou')
        with Api() as api:
            self.assertIn("4 answered\n", self.capture(api))

    def test_all_answers_are_there(self):
        with Api() as api:
            self.capture(api)
            with mock.patch.object(capture, "write_file", side_effect=ZeroDivisionError):
                with self.assertRaises(ZeroDivisionError):
                    self.capture(api)
            asked, times = len(api.heads), self.lines()[1]["captured_at"]
            self.assertIn("4 answered\n", self.capture(api))
            self.assertEqual(len(api.heads), asked)
        self.assertEqual(self.read()["queries"][0]["captured_at"], times)

    def test_of_another_capture(self):
        with Api() as api:
            head, *entries = self.begun(api)
            for key, value in [("origin", "https://other.example"), ("path", "/{query}"),
                               ("depth", 9), ("manifest_sha256", "0"), ("set_id", "other"),
                               ("version", "2"), ("tool_version", "9")]:
                self.rewrite([{**head, key: value}, *entries])
                self.refused(rf"a.journal.jsonl: is of another capture \(another {key}\)",
                             "--origin", api.origin)
            self.rewrite([head, *entries[::-1]])
            self.refused("does not hold the first queries", "--origin", api.origin)
            with open(self.journal(), "wb") as file:
                file.write(b"x\n{}\n{}\n")
            self.refused("line 1: is no whole object", "--origin", api.origin)
            self.rewrite([head, {"query_id": "q1"}])
            self.refused("does not hold the first queries", "--origin", api.origin)
            self.rewrite([{**head, "depth": 9}])
            self.assertIn("4 answered\n", self.capture(api))

    def test_a_journal_that_cannot_be_written(self):
        with Api() as api:
            with mock.patch.object(os, "fsync", side_effect=OSError(28, "No space left")):
                self.refused("a.journal.jsonl: cannot be written: No space left",
                             "--origin", api.origin)
            os.mkdir(self.journal())
            self.refused("a.journal.jsonl: cannot be read", "--origin", api.origin)
        self.assertEqual(api.heads, [])

    def test_two_processes(self):
        def play(sock):
            with open(self.journal(), "ab") as file:
                file.write(b"{}\n")
            sock.sendall(http(BODY))
        with Api({TEXTS["q2"]: [play]}) as api:
            self.refused("another process writes to it", "--origin", api.origin)


################ What is not asked

class Refused(Case):
    """Addresses, options and sets that are refused before anything is asked."""

    def test_origins(self):
        for origin, error in [
                ("http://directory.example", "http is for a loopback address"),
                ("http://192.168.1.1", "http is for a loopback address"),
                ("http://127.0.0.1.example", "http is for a loopback address"),
                ("http://localhost.example", "http is for a loopback address"),
                ("http://2130706433", "http is for a loopback address"),
                ("http://0.0.0.0", "http is for a loopback address"),
                ("http://[::2]", "http is for a loopback address"),
                ("http://[::ffff:8.8.8.8]", "http is for a loopback address"),
                ("https://me:pass@directory.example", "holds credentials"),
                ("https://me@directory.example", "holds credentials"),
                ("http://localhost@directory.example", "holds credentials"),
                ("file:///etc/passwd", "must begin with https://"),
                ("data:application/json,{}", "must begin with https://"),
                ("ftp://directory.example", "must begin with https://"),
                ("directory.example", "must begin with https://"),
                ("//directory.example", "must begin with https://"),
                ("https://", "must be scheme, host and port alone"),
                ("https://directory.example/api", "must be scheme, host and port alone"),
                ("https://directory.example?x", "must be scheme, host and port alone"),
                ("https://directory.example#x", "must be scheme, host and port alone"),
                ("https://dir ectory.example", "must be scheme, host and port alone"),
                ("https://directory.example\r\nX: y", "must be scheme, host and port alone"),
                ("https://directory.example\\x", "must be scheme, host and port alone"),
                ("https://dïrectory.example", "must be scheme, host and port alone"),
                ("https://directory.example:0", "must be scheme, host and port alone"),
                ("https://directory.example:99999", "is no web address"),
                ("https://[::1", "must be scheme, host and port alone")]:
            with self.subTest(origin):
                self.refused(f"--origin: {error}", "--origin", origin)
        self.assertNotIn("pass", self.run_main("--origin", "https://me:pass@a.example")[2])

    def test_origins_that_may_be_asked(self):
        for text, canonical in [
                ("https://Directory.EXAMPLE/", "https://directory.example"),
                ("https://directory.example:443", "https://directory.example"),
                ("https://directory.example:8443", "https://directory.example:8443"),
                ("HTTPS://directory.example", "https://directory.example"),
                ("http://127.8.8.8:80", "http://127.8.8.8"),
                ("http://[::1]:8080", "http://[::1]:8080"),
                ("http://localhost:8080", "http://localhost:8080")]:
            self.assertEqual(capture.origin_of(text).text, canonical)

    def test_http_reaches_loopback_addresses_alone(self):
        elsewhere = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))]
        with mock.patch.object(socket, "getaddrinfo", return_value=elsewhere):
            with self.assertRaisesRegex(OSError, "no address"):
                capture.reached("localhost", 80, time.monotonic() + 1, loopback=True)

    def test_options(self):
        engine = ["--engine", "e.py", "--ranker", "recommend", "--listings", "l.json"]
        for arguments, error in [
                (["--system", ""], "--system: '' is of no use"),
                (["--origin", ""], "--origin: '' is of no use"),
                (["--ranker", "recommend"], "--ranker: does not go with a capture without"),
                (["--captured-at", "2026-10-20T12:00:00Z"], "--captured-at: does not go with"),
                ([*engine, "--origin", "https://a.example"], "--origin: does not go with --engine"),
                ([*engine, "--use-environment-proxy"], "--use-environment-proxy: does not go"),
                (["--engine", ""], "--engine: '' is of no use"),
                ([*engine[:5], "a\0b"], r"--listings: 'a\\x00b' is of no use"),
                (["--operator", "me@mail.example"], "--operator: must be one line of at most 200"),
                (["--system", "a\nb"], "--system: must be one line of at most 100"),
                (["--system", "a" * 101], "--system: must be one line of at most 100"),
                (engine[:4], "--engine needs --listings"),
                (engine[:2] + engine[4:], "--engine needs --ranker"),
                ([*engine, "--captured-at", "yesterday"], "--captured-at: 'yesterday' must be"),
                (["--depth", "0"], "--depth: must be from 1 to 1000"),
                (["--depth", "1001"], "--depth: must be from 1 to 1000"),
                (["--depth", "x"], "invalid int value"),
                (["--pause", "0.9"], "--pause: must be from 1"),
                (["--pause", "nan"], "--pause: must be from 1"),
                (["--deadline", "0"], "--deadline: must be above 0"),
                (["--deadline", "inf"], "--deadline: must be above 0"),
                (["--path", "find?q={query}"], "--path: must begin with one /"),
                (["--path", "//other.example/{query}"], "--path: must begin with one /"),
                (["--path", "/{query} HTTP/1.1"], "--path: must begin with one /"),
                (["--path", "/{query}\r\nX: y"], "--path: must begin with one /"),
                (["--path", "/{query}#x"], "--path: must begin with one /"),
                (["--path", "/find"], r"--path: must hold \{query\} once"),
                (["--path", "/{query}{query}"], r"--path: must hold \{query\} once"),
                (["--org", "https://a.example"], "unrecognized arguments: --org"),
                (["--insecure"], "unrecognized arguments: --insecure"),
                (["\x1b[31m"], r"\\x1b\[31m")]:
            with self.subTest(arguments):
                self.refused(error, *arguments)

    def test_what_is_needed(self):
        for arguments, name in [([], "--system"), (["--system", "a"], "--output")]:
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                self.assertEqual(capture.main(arguments), 2)
            self.assertEqual(err.getvalue(), f"error: usage: {name} is needed; see --help\n")

    def test_outputs(self):
        queries = os.path.join(self.set, "queries.json")
        for output, error in [(queries, "is an input"), (self.folder, "is a folder"),
                              (self.path("no/a.json"), "folder does not exist")]:
            status, out, err = self.run_main("--output", output)
            self.assertEqual((status, out), (2, ""))
            self.assertRegex(err, rf"\Aerror: [^\n]*{error}[^\n]*\n\Z")

    def test_sets_that_are_not_frozen(self):
        for status in ("draft", "development", "superseded"):
            write_set(self.set, status=status)
            self.refused(f"'{status}'", "--origin", "http://127.0.0.1:9")

    def test_help_and_version(self):
        for arguments, start in [(["--help"], "usage: capture.py"),
                                 (["--version"], f"capture.py {capture.VERSION}\n")]:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(capture.main(arguments), 0)
            self.assertTrue(out.getvalue().startswith(start))


################ TLS and proxies

@unittest.skipUnless(shutil.which("openssl"), "makes certificates with openssl")
class Tls(Case):
    """https with the system's certificates, directly or through a proxy."""

    texts = {"q1": "x"}

    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.keys)
        cls.certificate, key = (os.path.join(cls.keys, name) for name in ("cert.pem", "key.pem"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
             "-keyout", key, "-out", cls.certificate], check=True, capture_output=True)
        cls.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.context.load_cert_chain(cls.certificate, key)

    def server(self, plays=None):
        """Return a server that speaks TLS."""
        api = Api(plays, lambda sock: self.context.wrap_socket(sock, server_side=True))
        api.origin = f"https://localhost:{api.server_address[1]}"
        return api

    def trusting(self, **environment):
        """Return a context in which the system trusts the certificate."""
        clean = {name: "" for name in os.environ if name.lower().endswith("_proxy")}
        return mock.patch.dict(os.environ, {**clean, "SSL_CERT_FILE": self.certificate,
                                            **environment})

    def test_trusted(self):
        with self.server() as api, self.trusting():
            self.assertIn("1 answered\n", self.capture(api))

    def test_slow(self):
        with self.server({"x": [drop_by_drop(http(BODY))]}) as api, self.trusting():
            with mock.patch.object(capture, "WAITS", ()):
                self.refused("no query has an answer.*no whole answer within 0.3 seconds",
                             "--origin", api.origin, "--deadline", "0.3")

    def test_not_trusted(self):
        with self.server() as api:
            self.refused("its certificate is not valid: self.signed", "--origin", api.origin)
            with self.trusting():
                self.refused("certificate is not valid: .*(mismatch|not valid for)", "--origin",
                             api.origin.replace("localhost", "127.0.0.1"))
        self.assertEqual(api.heads, [])

    def test_plain_http_where_tls_was_expected(self):
        with Api() as api:
            self.refused("no query has an answer.*the connection broke: SSL", "--origin",
                         api.origin.replace("http:", "https:"))

    def tunnel(self, status="200 OK"):
        """Return a proxy that lets CONNECT through."""
        def play(sock):
            line, headers = proxy.heads[-1]
            if status != "200 OK":
                sock.sendall(f"HTTP/1.1 {status}\r\n\r\n".encode())
                return
            host, port = line.split()[1].rsplit(":", 1)
            with socket.create_connection((host, int(port)), 5) as other:
                sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                back = threading.Thread(target=pumped, args=(other, sock), daemon=True)
                back.start()
                pumped(sock, other)
                back.join(5)
        proxy = Api({"": [play]})
        return proxy

    def test_proxy(self):
        with self.server() as api, self.tunnel() as proxy, self.trusting(
                https_proxy=proxy.origin, no_proxy=""):
            self.assertIn("1 answered\n", self.capture(api))
            self.assertEqual(proxy.heads, [])
            self.assertIn("1 answered\n", self.capture(api, "--use-environment-proxy"))
            self.assertEqual(proxy.heads, [
                (f"CONNECT {api.origin[len('https://'):]} HTTP/1.1",
                 {"Host": api.origin[len("https://"):], "User-Agent": capture.USER_AGENT})])
            with mock.patch.dict(os.environ, no_proxy="localhost"):
                self.capture(api, "--use-environment-proxy")
            self.assertEqual(len(proxy.heads), 1)

    def test_proxy_that_refuses(self):
        with self.server() as api, self.tunnel("407 No") as proxy, self.trusting(
                https_proxy=proxy.origin, no_proxy=""):
            self.refused("no query has an answer.*the proxy answers with status 407", "--origin",
                         api.origin, "--use-environment-proxy")

    def test_proxies_that_are_refused(self):
        for address in ("http://me:pass@127.0.0.1:9", "socks5://127.0.0.1:9", "http://[", "http://",
                        "https://127.0.0.1:9"):
            with self.subTest(address), self.trusting(https_proxy=address, no_proxy=""):
                self.refused("the proxy for https must be http://HOST:PORT", "--origin",
                             "https://directory.example", "--use-environment-proxy")


def pumped(source, target):
    """Send on what arrives until either side ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


################ A local engine

ENGINE = """
    RANKER_VERSION = "3.1"

    class CapabilityIndex:
        def __init__(self, listings, now):
            self.ids = [listing["id"] for listing in listings]
            self.now = now

        def recommend(self, query, requirements=None, limit=None):
            return {"items": [{"id": value} for value in self.ids[:limit]]}

        def baseline(self, query, requirements=None, limit=None):
            return [value for value in self.ids[::-1] if "PDF" in query]
"""
LISTINGS = {"clock": "2026-10-20T12:00:00+00:00", "listings": [
    {"id": 1, "url": "https://one.example/", "card": {
        "name": "One", "description": "First. Mail one@mail.example.",
        "skills": [{"name": "S", "description": "D"}]}},
    {"id": 2, "url": "https://code.example/shared", "card": {"name": "Two"}},
    {"id": 3, "url": "https://code.example/shared", "card": {"name": "Three"}},
    {"id": 4, "card": {"name": "Four"}}]}


class LocalEngine(Case):
    """An engine from a file, asked without a network."""

    def arguments(self, engine=ENGINE, listings=LISTINGS, ranker="recommend"):
        """Return the options for an engine that is given as text."""
        return ["--engine", self.write("engine.py", engine), "--ranker", ranker,
                "--listings", self.write("listings.json", listings)]

    def run_engine(self, *more, **which):
        """Return the ranking of an engine that works."""
        with mock.patch.object(socket, "socket", side_effect=AssertionError("network")):
            status, out, err = self.run_main(*self.arguments(**which), *more)
        self.assertEqual((status, err), (0, ""))
        return self.read()

    def test_ranking(self):
        ranking = self.run_engine()
        digest = kit.sha256(open_bytes(self.path("listings.json")))
        self.assertEqual(ranking["system"]["version"], "3.1")
        self.assertEqual(ranking["corpus"], {
            "description": "4 listings of a file.", "snapshot_sha256": digest,
            "observed_from": LISTINGS["clock"], "observed_until": LISTINGS["clock"]})
        self.assertEqual(ranking["capture"]["origin"], "engine:engine.py")
        self.assertTrue(ranking["capture"]["request"].startswith("recommend limit 3"))
        entry = ranking["queries"][1]
        self.assertEqual(entry["captured_at"], LISTINGS["clock"])
        self.assertEqual([result["candidate_key"] for result in entry["results"]],
                         [kit.candidate_key("https://one.example/"),
                          f"listings-{digest[:16]}:2", f"listings-{digest[:16]}:3"])
        self.assertEqual(entry["results"][0], {
            "candidate_key": kit.candidate_key("https://one.example/"), "name": "One",
            "declaration": "First. Mail [removed]",
            "skills": [{"name": "S", "description": "D"}], "url": "https://one.example/",
            "evidence": []})
        self.assertEqual(kit.faults_of(ranking, "ranking"), [])

    def test_the_same_bytes_again(self):
        self.run_engine()
        first = open_bytes(self.output), open_bytes(self.path("a.pool.json"))
        self.run_engine()
        self.assertEqual((open_bytes(self.output), open_bytes(self.path("a.pool.json"))), first)

    def test_baseline_and_depth(self):
        ranking = self.run_engine("--depth", "2", ranker="baseline")
        self.assertEqual([[result["name"] for result in entry["results"]]
                          for entry in ranking["queries"]], [["Four", "Three"], [], [], []])

    def test_clock(self):
        listings = LISTINGS["listings"]
        self.refused("--captured-at is needed", *self.arguments(listings=listings))
        self.run_engine("--captured-at", "2026-11-01 00:00Z", listings=listings)
        self.assertEqual(self.read()["queries"][0]["captured_at"], "2026-11-01T00:00:00+00:00")
        time_given = "2026-11-01T00:00:00+02:00"
        ranking = self.run_engine("--captured-at", time_given, listings=listings)
        self.assertEqual(ranking["corpus"]["observed_from"], time_given)
        engine = ENGINE.replace("self.now = now", "assert now.isoformat() == %r" % time_given)
        self.run_engine("--captured-at", time_given, engine=engine)

    def test_imports_of_its_own_folder(self):
        self.write("helper.py", "IDS = [4, 1]\n")
        self.write("pool.py", "IDS = [2]\n")        # this kit has a module of that name
        self.write("colorsys.py", "raise SystemExit\n")
        engine = "import colorsys\nimport helper\nimport pool\n" + textwrap.dedent(ENGINE).replace(
            'limit=None):\n        return {"items": [{"id": value} for value in self.ids[:limit]]}',
            "limit=None):\n        return helper.IDS + pool.IDS")
        import colorsys  # noqa: F401   the engine's would be another one
        self.addCleanup(sys.modules.setdefault, "colorsys", sys.modules.pop("colorsys"))
        before = dict(sys.modules), list(sys.meta_path)
        with mock.patch.object(sys, "dont_write_bytecode", False):
            ranking = self.run_engine(engine=engine)
            self.assertIs(sys.dont_write_bytecode, False)
        self.assertEqual([result["name"] for result in ranking["queries"][0]["results"]],
                         ["Four", "One", "Two"])
        sys.modules.pop("colorsys")
        self.assertEqual((dict(sys.modules), list(sys.meta_path)), before)
        self.assertNotIn("__pycache__", os.listdir(self.folder))

    def test_warnings_are_not_printing(self):
        self.run_engine(engine=ENGINE + "\n    import warnings; warnings.warn('x'); '\\d'\n")

    def test_an_engine_may_change_its_copy_of_the_listings(self):
        engine = ENGINE.replace("self.now = now", "listings[0]['card']['name'] = 'Changed'")
        self.assertEqual(self.run_engine(engine=engine)["queries"][0]["results"][0]["name"], "One")

    def test_engines_that_are_refused(self):
        answer = 'return {"items": [{"id": value} for value in self.ids[:limit]]}'
        for old, new, error in [
                ('RANKER_VERSION = "3.1"', "", "RANKER_VERSION: must be text"),
                ('RANKER_VERSION = "3.1"', "RANKER_VERSION = 3", "RANKER_VERSION: must be text"),
                ("class CapabilityIndex", "class Other", "CapabilityIndex: the class is missing"),
                ("def recommend", "def other", "CapabilityIndex.recommend: the method is missing"),
                ('RANKER_VERSION = "3.1"', "import missing_module", "import: raised ModuleNot"),
                ('RANKER_VERSION = "3.1"', "x = (", "import: raised SyntaxError"),
                ('RANKER_VERSION = "3.1"', "print('hello')", r"import: printed 'hello\\n'"),
                ("self.now = now", "raise OSError('x\\n\\x1by')", r"CapabilityIndex: raised OSErr"),
                (answer, "1 / 0", r"recommend, query q1: raised ZeroDivisionError: .* \(line 10\)"),
                (answer, "exit()", "recommend, query q1: raised SystemExit"),
                (answer, "import sys; sys.stdout.close(); sys.stderr.write('x'); return []",
                 "recommend, query q1: printed 'x'"),
                (answer, "return None", "raised TypeError: the answer must be a list"),
                (answer, "return {}", "raised KeyError"),
                (answer, "return {'items': [1]}", "raised TypeError"),
                (answer, "return '123'", "the answer must be a list, not str"),
                (answer, "return [9]", "result 1 is 9, which is no listing's id"),
                (answer, "return [True]", "result 1 is a value of type bool, which is no"),
                (answer, "return [1, '1']", "result 2 is '1', which is no listing's id"),
                (answer, "return [1, 2, 1]", "result 3 repeats 1"),
                (answer, "return [object()]", "result 1 is a value of type object")]:
            with self.subTest(new):
                self.assertIn(old, ENGINE)
                self.refused(error, *self.arguments(engine=ENGINE.replace(old, new)))

    def test_control_c_in_an_engine(self):
        engine = ENGINE.replace("self.now = now", "raise KeyboardInterrupt")
        self.assertEqual(self.run_main(*self.arguments(engine=engine)), (130, "", "interrupted\n"))

    def test_listings_that_are_refused(self):
        for listings, error in [
                ("[", "listings.json: line 1 column 2: not JSON"), ("", "listings.json: is empty"),
                ({}, "must be a list of listings"), ([7], "must be a list of listings"),
                ([{"id": None}], "must be a list of listings"),
                ([{"id": ""}], "must be a list of listings"),
                ([{"id": 1}, {"id": 1}], "listings: an id occurs more than once")]:
            with self.subTest(error):
                self.refused(error, *self.arguments(listings=listings))

    def test_outputs_that_are_inputs(self):
        arguments = self.arguments()
        status, out, err = self.run_main(*arguments, "--output", self.path("listings.json"))
        self.assertEqual((status, out), (2, ""))
        self.assertIn("is an input", err)


def open_bytes(path):
    """Return the bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    unittest.main()
