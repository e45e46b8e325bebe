#!/usr/bin/env python3
"""Ask one system every query of a frozen set, and write its rankings and its unordered pool.

    $ python capture.py --system candidate-a --output candidate-a.json
    wrote candidate-a.json and candidate-a.pool.json: 50 queries, 50 answered
    $ python capture.py --system candidate-b --output candidate-b.json \\
        --engine my_ranker.py --ranker recommend --listings listings.json
    wrote candidate-b.json and candidate-b.pool.json: 50 queries, 50 answered, 3 of them
    with nothing
    $ python capture.py --system candidate-a --output a.json --origin http://directory.example
    error: usage: --origin: http is for a loopback address; elsewhere it must be https

The first asks a public HTTP API (--origin, --path); the second asks an engine in a file about
listings in a file, and uses no network. The queries are those of the frozen set beside this
script, or in the folder that --set names. No agent is contacted and no task is run.

Requests. One GET for each query, one at a time, at least a second apart (--pause). https only, with
the certificates of the system, which nothing switches off; http only to a loopback address. No
redirects. A proxy of the environment is used with --use-environment-proxy, through CONNECT. An
answer must be whole within --deadline seconds, of at most 4 MiB, of the length that it declares,
uncompressed, and strict JSON. The default address was not checked against the live service.

Answers. {"items": [...]}, at most --depth of them, in the order of the ranking. A "next_cursor" or
"next_offset" beside them is sent back as "cursor" or "offset" while fewer have come. Of an item
these are kept, as texts without e-mail and IP addresses, and nothing else: its name, description,
skills (name and description), web address, and the addresses of its card, documentation and
repository. An address of the directory itself would tell whose result it is, and is left out.

Failures. Status 429, 502, 503 and 504, silence and broken connections are tried again, three times,
after the seconds or at the date of Retry-After, at most two minutes later. What fails then, and any
other status, is the error of that query: a failure is never an empty list. A candidate that occurs
twice in one answer is an error too. Leaving the second out would move all later results up, to
ranks that the system did not give them. After three queries in a row that nothing answered the
capture stops: an outage is no capture.

Interruptions. Each answer is kept in candidate-a.journal.jsonl as it arrives. The same command goes
on from there if set, origin, path and depth are the same; the result is that of an uninterrupted
capture but for the times. Only when all is there, both files are written and the journal removed.

An engine is a Python file with RANKER_VERSION (text) and a class CapabilityIndex(listings, now)
whose methods recommend and baseline take (query, requirements=None, limit=None) and return an
ordered list of listing ids, or {"items": [{"id": ...}, ...]}. It is asked the text of a query, at
the clock of the listings or --captured-at. It must not print, exit or return an id twice.

Exit status: 0 done, also where single queries have errors, which the summary names; 2 bad input or
usage, or no answers, and then nothing is written but the journal; 130 interrupted.
"""

import contextlib
import copy
import http.client
import io
import json
import os
import re
import socket
import ssl
import sys
import tempfile
import time
import traceback
import urllib.request
import warnings
from collections import Counter, namedtuple
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from importlib.machinery import PathFinder
from ipaddress import ip_address, ip_network
from urllib.parse import quote, urlsplit

from kit import (
    HERE, VERSION, KitError, Parser, candidate_key, check_output, clean, complain, emit, encoded,
    faults_of, head, help_formatter, in_file, instant, load_set, parse_json, private_findings,
    read_bytes, reason, require_frozen, sha256, shown, visible, write_file)
from pool import pool_of


################ Data: what is asked, what is kept

ORIGIN = "https://localmark.ai"
PATH = "/api/v1/recommend?q={query}&limit={limit}"
USER_AGENT = f"prospective-capture/{VERSION} (search evaluation; one request at a time)"
PAUSE = 1               # least seconds between the end of a request and the next one
DEADLINE = 30           # seconds for a whole answer
WAITS = (1, 2, 4)       # seconds before a second, third and fourth try
MOST_WAIT = 120         # seconds that a Retry-After can ask for
GIVE_UP = 3             # queries in a row without an answer that end a capture
MOST_BYTES = 4 << 20    # of an answer with its head
MOST_DEPTH = 1000
TRY_AGAIN = (429, 502, 503, 504)
NOBODY = "."            # the host that was asked where none was: no address is on it

# Where items and listings hold what is kept; the first that is there counts.
CARD_ADDRESS = ("card_url", "cardUrl", "agent_card_url", "agentCardUrl", "wellKnownURI",
                "wellKnownUri", "card.wellKnownURI", "card.wellKnownUri")
SOURCE_ADDRESS = ("package_url", "packageUrl", "repository_url", "repositoryUrl",
                  "repository.url", "repository")
DOCUMENTATION = ("documentation_url", "documentationUrl", "card.documentationUrl")
NAME = ("name", "card.name")
DECLARATION = ("description", "declaration", "card.description")
SKILLS = ("skills", "card.skills")
ADDRESS = ("url", "card.url")

MOST_NAME, MOST_TEXT, MOST_ADDRESS = 200, 4000, 2000    # characters
MOST_SKILLS = 100
NEXT_PAGE = {"next_cursor": "cursor", "nextCursor": "cursor",      # of an answer: the parameter
             "next_offset": "offset", "nextOffset": "offset"}

SELECTION = "The first {depth} results of the system, in its order; none added and none left out."
RANKERS = ("recommend", "baseline")
ENTRY = ("query_id", "status", "error", "captured_at", "response_sha256", "results")


class QueryError(Exception):
    """What a query has in place of results; the message is its error."""


class Unanswered(QueryError):
    """A query that nothing answered, after every try."""


class TryAgain(Exception):
    """One try in vain; `asked` is the seconds that the server asks to wait, or None."""

    def __init__(self, what, asked=None):
        super().__init__(what)
        self.asked = asked


################ What of an item is kept

def found(item, places, kind=str):
    """Return the first value of a kind, and not empty, at one of the places; else an empty one."""
    for place in places:
        value = item
        for name in place.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, kind) and value:
            return value
    return kind()


def public_text(text, most):
    """Return a text on one line, private words in it removed, of at most this many characters."""
    text = clean(text, MOST_BYTES)
    if len(text) > most + MOST_NAME:        # the rest of half an address would not be recognised
        text = text[:most + MOST_NAME].rpartition(" ")[0] or text[:most]
    if private_findings(text):
        text = " ".join("[removed]" if private_findings(word) else word for word in text.split())
    return "" if private_findings(text) else clean(text, most)


def is_of(host, asked):
    """Return whether a host is the one that was asked, or another of the same directory."""
    base = re.sub(r"^(?:api|www)\.", "", asked)
    return host == base or host.endswith(f".{base}")


def own_address(text, asked):
    """Return a public web address that is not the asked directory's; "" for any other."""
    try:
        host = urlsplit(text).hostname or ""
    except ValueError:
        return ""
    wrong = is_of(host, asked) or len(text) > MOST_ADDRESS or not candidate_key(text)
    return "" if wrong or private_findings(text) else text


def shown_address(text, asked):
    """Return an address as own_address does, without query and fragment, which may hold secrets."""
    return re.split("[?#]", own_address(text.strip(), asked))[0]


def key_of(item, asked, places=(*CARD_ADDRESS, *SOURCE_ADDRESS)):
    """Return the key of the first of these addresses that an item has, or ""."""
    return next(filter(None, (candidate_key(own_address(found(item, [place]), asked))
                              for place in places)), "")


def is_id(value):
    """Return whether value may name a listing: an integer (not a boolean) or non-empty text."""
    return type(value) is int or type(value) is str and value != ""


def id_key(value, source):
    """Return the key of an id where it comes from: "SOURCE:ID", with a digest of a private id."""
    text = str(value)
    if clean(text, MOST_NAME) != text or private_findings(text):
        text = sha256(text.encode())[:16]
    return f"{source}:{text}"


def skill_of(skill):
    """Return the public fields of a skill, an object or a name."""
    skill = {"name": skill} if isinstance(skill, str) else skill
    return {"name": public_text(found(skill, ["name"]), MOST_NAME),
            "description": public_text(found(skill, ["description"]), MOST_TEXT)}


def result_of(item, key, asked):
    """Return an item as a ranking holds it: its key and the fields that may be published."""
    skills = map(skill_of, found(item, SKILLS, list)[:MOST_SKILLS])
    evidence = [shown_address(found(item, places), asked)
                for places in (CARD_ADDRESS, DOCUMENTATION, SOURCE_ADDRESS)]
    return {"candidate_key": key,
            "name": public_text(found(item, NAME), MOST_NAME),
            "declaration": public_text(found(item, DECLARATION), MOST_TEXT),
            "skills": [skill for skill in skills if any(skill.values())],
            "url": shown_address(found(item, ADDRESS), asked),
            "evidence": list(dict.fromkeys(filter(None, evidence)))}


################ Addresses that are asked

# text: canonical. place: host, and port where it is not the scheme's own. port: always a number.
Origin = namedtuple("Origin", "text place scheme host port")
ORIGIN_FORM = re.compile(r"https?://(?:[\w.-]+|\[[0-9a-f:.]+\])(?::0*[1-9]\d*)?/?",
                         re.ASCII | re.IGNORECASE)


def is_loopback(host):
    """Return whether a host is a loopback address, or the name for one."""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    return address in ip_network("127.0.0.0/8" if address.version == 4 else "::1/128")


def origin_of(text):
    """Return the Origin of an address; raise KitError, which shows no credentials."""
    if "@" in text:
        raise KitError("usage: --origin: holds credentials; no address may")
    if not text.lower().startswith(("http://", "https://")):
        raise KitError(f"usage: --origin: must begin with https://, not {shown(text)}")
    if not ORIGIN_FORM.fullmatch(text) or len(text) > 300:
        raise KitError("usage: --origin: must be scheme, host and port alone, "
                       f"not {shown(text)}")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise KitError("usage: --origin: is no web address") from None
    if parts.scheme == "http" and not is_loopback(host):
        raise KitError("usage: --origin: http is for a loopback address; elsewhere it must be "
                       "https")
    usual = {"http": 80, "https": 443}[parts.scheme]
    place = in_brackets(host) + (f":{port}" if port not in (None, usual) else "")
    return Origin(f"{parts.scheme}://{place}", place, parts.scheme, host, port or usual)


def in_brackets(host):
    """Return a host as an address holds it."""
    return f"[{host}]" if ":" in host else host


def proxy_of(origin):
    """Return the environment's proxy for an origin, or None; raise KitError."""
    if origin.scheme == "http" or urllib.request.proxy_bypass(origin.host):
        return None
    text = urllib.request.getproxies().get("https")
    if not text:
        return None
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        proxy = Origin(text, None, parts.scheme, parts.hostname, parts.port or 80)
    except ValueError:
        proxy = None
    if "@" in text or not proxy or proxy.scheme != "http" or not proxy.host:
        raise KitError("usage: --use-environment-proxy: the proxy for https must be "
                       "http://HOST:PORT, without credentials")
    return proxy


def path_fault(path):
    """Return what is wrong with a path, or None."""
    if not re.fullmatch(r"/[!-~]*", path) or "#" in path or path.startswith("//"):
        return "must begin with one /, in ASCII, without blanks and #"
    if len(path) > 500:
        return "has more than 500 characters"
    if path.count("{query}") != 1 or path.count("{limit}") > 1:
        return "must hold {query} once, and {limit} at most once"
    return None


def target_of(path, text, depth, page=None):
    """Return what a request asks for: the path with a query's text, the limit and the page."""
    target = path.replace("{limit}", str(depth)).replace("{query}", quote(text, safe=""))
    if not page:
        return target
    return f"{target}{'&' if '?' in target else '?'}{page[0]}={quote(str(page[1]), safe='')}"


################ One request

def left(until):
    """Return the seconds left until a moment of the monotonic clock; raise TimeoutError."""
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


class TooLarge(Exception):
    """More bytes arrived than an answer may have."""


class Arriving(io.RawIOBase):
    """What a socket receives, up to a moment and to MOST_BYTES; http.client reads it as a socket.

    The time-out of a socket begins anew with every read, so that slow drops would hold it forever.
    """

    def __init__(self, sock, until):
        self.sock, self.until, self.count = sock, until, 0

    def makefile(self, mode):
        """Return this as the file that http.client reads."""
        return io.BufferedReader(self)

    def readable(self):
        """Return True."""
        return True

    def readinto(self, buffer):
        """Fill the buffer with what has arrived; return how many bytes. Raises TimeoutError."""
        self.sock.settimeout(left(self.until))
        size = self.sock.recv_into(buffer)
        self.count += size
        if self.count > MOST_BYTES:
            raise TooLarge
        return size


def reached(host, port, until, loopback=False):
    """Return a connected socket; each address of the host has its share of the time left.

    Looking up a name can't be cut short; it has the time-out of the system.
    """
    addresses = [entry for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                 if is_loopback(entry[4][0]) or not loopback]
    failure = OSError("no address")
    for place, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(left(until) / (len(addresses) - place))
            sock.connect(address)
            return sock
        except OSError as error:
            sock.close()
            failure = error
        except BaseException:
            sock.close()
            raise
    raise failure


@contextlib.contextmanager
def answer_to(sock, method, target, headers, until):
    """Send a request; give the response, its head read."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    sock.settimeout(left(until))
    sock.sendall("".join(f"{line}\r\n" for line in [*lines, ""]).encode("ascii"))
    response = http.client.HTTPResponse(Arriving(sock, until), method=method)
    try:
        response.begin()
        yield response
    finally:
        response.close()


def secured(sock, origin, proxy, until):
    """Return a socket that speaks TLS with the origin, through the proxy if there is one."""
    if proxy:
        address = f"{in_brackets(origin.host)}:{origin.port}"
        headers = [("Host", address), ("User-Agent", USER_AGENT)]
        with answer_to(sock, "CONNECT", address, headers, until) as response:
            if response.status != 200:
                raise OSError(f"the proxy answers with status {response.status}")
    sock.settimeout(left(until))
    return ssl.create_default_context().wrap_socket(sock, server_hostname=origin.host)


def received(origin, proxy, target, until):
    """Return (status, headers, body) of one GET, read to its end."""
    peer = proxy or origin
    sock = reached(peer.host, peer.port, until, loopback=origin.scheme == "http")
    try:
        if origin.scheme == "https":
            sock = secured(sock, origin, proxy, until)
        headers = [("Host", origin.place), ("User-Agent", USER_AGENT),
                   ("Accept", "application/json"), ("Accept-Encoding", "identity"),
                   ("Connection", "close")]
        with answer_to(sock, "GET", target, headers, until) as response:
            body = body_of(response) if response.status == 200 else b""
            return response.status, response.headers, body
    finally:
        sock.close()


def body_of(response):
    """Return the body of a response, as long as it declares."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise QueryError(f"the answer is encoded as {visible(coding, 40)}, which was not asked for")
    transfer = response.headers.get("Transfer-Encoding", "chunked").strip().lower()
    lengths = set(response.headers.get_all("Content-Length", []))
    if transfer != "chunked" or len(lengths) > 1 or not all(
            re.fullmatch(r"\d{1,18}", length.strip(), re.ASCII) for length in lengths):
        raise QueryError("the answer declares its length in a way that HTTP does not have")
    declared = None if response.chunked or not lengths else int(lengths.pop())
    if declared is not None and declared > MOST_BYTES:
        raise TooLarge
    parts = []
    # In pieces, because a declared length would be reserved before a byte of it has come.
    while part := response.read(1 << 16):
        parts.append(part)
    body = b"".join(parts)
    if declared is not None and len(body) != declared:
        raise ConnectionError(f"{len(body)} of {declared} bytes arrived")
    return body


################ One query: tries and pages

def wait_asked(header, now):
    """Return the seconds that a Retry-After asks for, or None for none or nonsense."""
    text = (header or "").strip()
    if re.fullmatch(r"\d{1,18}", text, re.ASCII):
        return int(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - now).total_seconds()


class Service:
    """A public HTTP API that is asked one query at a time."""

    def __init__(self, origin, path, proxy=None, pause=PAUSE, deadline=DEADLINE,
                 sleep=time.sleep):
        self.origin, self.path, self.proxy = origin, path, proxy
        self.pause, self.deadline, self.sleep = pause, deadline, sleep
        self.ready = 0          # monotonic moment before which nothing is asked

    def get(self, target):
        """Return the body that answers a target, after further tries; raise QueryError."""
        for wait in (*WAITS, 0):
            self.sleep_until_ready()
            try:
                return self.attempt(target)
            except TryAgain as error:
                failure = error
            wait = wait if failure.asked is None else min(failure.asked, MOST_WAIT)
            self.ready = max(self.ready, time.monotonic() + wait)
        raise Unanswered(str(failure))

    def sleep_until_ready(self):
        """Sleep until the pause after the last request, or what a server asked for, has passed."""
        seconds = self.ready - time.monotonic()
        if seconds > 0:
            self.sleep(seconds)

    def attempt(self, target):
        """Return the body of one answer; raise TryAgain, or QueryError where that is no use."""
        try:
            status, headers, body = received(self.origin, self.proxy, target,
                                             time.monotonic() + self.deadline)
        except TimeoutError:
            raise TryAgain(f"no whole answer within {self.deadline:g} seconds") from None
        except TooLarge:
            raise QueryError(f"the answer is longer than {MOST_BYTES} bytes") from None
        except ssl.SSLCertVerificationError as error:       # no query will fare better
            raise KitError(f"{self.origin.text}: its certificate is not valid: "
                           f"{visible(error.verify_message, 200)}") from None
        except (OSError, http.client.IncompleteRead) as error:
            raise TryAgain(f"the connection broke: {broken(error)}") from None
        except (http.client.HTTPException, ValueError) as error:
            raise QueryError(f"the answer is not HTTP: {type(error).__name__}") from None
        finally:
            self.ready = time.monotonic() + self.pause
        if status in TRY_AGAIN:
            raise TryAgain(f"status {status}", wait_asked(headers.get("Retry-After"),
                                                          datetime.now(timezone.utc)))
        if status != 200:
            moved = ", a redirect, which is not followed" if 300 <= status < 400 else ""
            raise QueryError(f"status {status}{moved}")
        return body

    def ask(self, text, depth):
        """Return (results, SHA-256 of the answer) of a query; raise QueryError.

        Pages are asked for while an answer says that there are more and fewer than depth came.
        The digest is of the bodies of all pages, one after the other.
        """
        results, places, bodies, page, total = [], {}, [], None, None
        while True:
            body = self.get(target_of(self.path, text, depth, page))
            answer = answer_of(body)
            bodies.append(body)
            if len(bodies) > 1 and answer.get("total") != total:
                raise QueryError(f"page {len(bodies)}: the answer changed between pages: "
                                 "another total")
            total = answer.get("total")
            for item in answer["items"][:depth - len(results)]:
                result = self.result(item, len(results) + 1)
                place = places.setdefault(result["candidate_key"], len(results) + 1)
                if place <= len(results):
                    raise QueryError(f"results {place} and {len(results) + 1} are the same "
                                     f"candidate ({visible(result['candidate_key'], 100)})")
                results.append(result)
            page = next_page(answer)
            if len(results) == depth or not page:
                return results, sha256(b"".join(bodies))
            if not answer["items"]:
                raise QueryError(f"page {len(bodies)}: holds nothing and names a next page")

    def result(self, item, place):
        """Return an item of an answer as a ranking holds it; raise QueryError."""
        if not isinstance(item, dict):
            raise QueryError(f"result {place}: must be an object")
        key = key_of(item, self.origin.host)
        if not key and not is_id(item.get("id")):
            raise QueryError(f"result {place}: has neither an address nor an id")
        return result_of(item, key or id_key(item["id"], self.origin.text), self.origin.host)


def answer_of(body):
    """Return the object of an answer, with a list of items; raise QueryError."""
    try:
        answer = parse_json(body)
    except KitError as error:
        raise QueryError(f"the answer: {'; '.join(error.faults)}") from None
    items = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(items, list):
        raise QueryError('the answer: must be an object with a list "items"')
    return answer


def next_page(answer):
    """Return (parameter, value) that ask for what follows an answer, or None."""
    return next(((name, answer[key]) for key, name in NEXT_PAGE.items()
                 if is_id(answer.get(key))), None)


def broken(error):
    """Return why a connection broke, in words that are the same on every system."""
    if isinstance(error, socket.gaierror):
        return "the host has no address"
    said = str(error) if type(error) in (OSError, ConnectionError) and not error.errno else ""
    return visible(said, 100) or type(error).__name__


################ Journal

class Journal:
    """The answers so far, one JSON line each after a head, in a file that survives the process."""

    def __init__(self, path, about, query_ids):
        """Open or start the journal of a capture that `about` identifies; raise KitError.

        Its entries are those of an earlier run; a last line that is not whole is dropped. Without
        a path it is a file without a name, which ends with the process.
        """
        self.path, self.size = path, 0
        self.entries = self.checked(list(self.lines()), about, query_ids)
        if not self.entries:        # at most a head: nothing is lost
            self.size = 0
        try:
            self.file = (tempfile.TemporaryFile(buffering=0) if path is None
                         else open(path, "ab", buffering=0))
            self.file.truncate(self.size)
        except OSError as error:
            self.fail(f"cannot be written: {reason(error)}")
        if not self.entries:
            try:
                self.write(about)
            except KitError:
                self.close()
                raise

    def lines(self):
        """Yield the objects of the lines that are whole; add their sizes to size."""
        data = read_bytes(self.path) if self.path and os.path.exists(self.path) else b""
        lines = data.splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            try:
                value = parse_json(line)
                if not line.endswith(b"\n") or not isinstance(value, dict):
                    raise KitError("is no whole object")
            except KitError:
                if number == len(lines):
                    return
                self.fail(f"line {number}: is no whole object; remove the file to start again")
            self.size += len(line)
            yield value

    def checked(self, lines, about, query_ids):
        """Return the entries below a head; raise KitError for those of another capture."""
        entries = lines[1:]
        if entries and lines[0] != about:
            differing = [key for key in about if lines[0].get(key) != about[key]]
            self.fail(f"is of another capture (another {', '.join(differing) or 'head'}); finish "
                      "that one with its own options, or remove the file to start again")
        if [entry.get("query_id") for entry in entries] != query_ids[:len(entries)] or any(
                tuple(entry) != ENTRY for entry in entries):
            self.fail("does not hold the first queries of the set; remove the file to start again")
        return entries

    def fail(self, what):
        """Raise KitError with the journal's name."""
        raise KitError(in_file(self.path, [what]))

    def write(self, value):
        """Add a line and see it to the disk; raise KitError."""
        line = json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        try:
            if os.fstat(self.file.fileno()).st_size != self.size:
                self.fail("another process writes to it; let only one capture write to one file")
            if self.file.write(line) != len(line):
                self.fail("cannot be written: there is no space")
            os.fsync(self.file.fileno())
        except OSError as error:
            self.fail(f"cannot be written: {reason(error)}")
        self.size += len(line)

    def add(self, entry):
        """Keep an entry."""
        self.write(entry)
        self.entries.append(entry)

    def close(self):
        """Close the file, which stays if it holds an answer."""
        self.file.close()
        if not self.entries:
            self.remove()

    def remove(self):
        """Remove the closed file; raise KitError."""
        try:
            if self.path:
                os.remove(self.path)
        except OSError as error:
            self.fail(f"cannot be removed: {reason(error)}")


################ A capture through the API

def entry_of(query, captured_at, results, digest):
    """Return what a ranking holds for a query that was answered."""
    return dict(zip(ENTRY, (query["query_id"], "ok", None, captured_at, digest, results)))


def error_entry(query, captured_at, error):
    """Return what a ranking holds for a query that was not; an answer's words may be in it."""
    what = public_text(str(error), MOST_NAME) or "an error whose words hold private parts"
    return dict(zip(ENTRY, (query["query_id"], "error", what, captured_at, None, [])))


def utc_now():
    """Return the present time as text, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def ask_all(service, queries, depth, journal, told):
    """Ask the queries that the journal lacks, and keep what each answers; raise KitError.

    A query that nothing answered is kept once a later one is answered: after GIVE_UP in a row it
    is the service that fails, and the next run asks them again.
    """
    silent = []
    for number, query in enumerate(queries[len(journal.entries):], len(journal.entries) + 1):
        told(number)
        try:
            results, digest = service.ask(query["text"], depth)
            entry = entry_of(query, utc_now(), results, digest)
        except Unanswered as error:
            silent.append(error_entry(query, utc_now(), error))
            if len(silent) == GIVE_UP:
                raise KitError(
                    f"{service.origin.text}: {GIVE_UP} queries in a row had no answer: {error}; "
                    f"{len(journal.entries)} of {len(queries)} are kept, and the same command "
                    "goes on from there") from None
            continue
        except QueryError as error:
            entry = error_entry(query, utc_now(), error)
        for kept in (*silent, entry):
            journal.add(kept)
        silent = []
    for kept in silent:
        journal.add(kept)
    return journal.entries


################ A capture of a local engine

class Heard(io.StringIO):
    """Takes what an engine prints; an engine cannot close it."""

    def close(self):
        """Do nothing."""


class Folder:
    """Finds the modules that an engine imports from its own folder, before this kit's."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module in the folder, or None."""
        if path is None and name not in sys.stdlib_module_names:
            return PathFinder.find_spec(name, [self.folder])
        return None


class Engine:
    """A ranker from a file, in a context that hides this kit's modules and hears what it prints."""

    def __init__(self, path):
        self.path, self.source = path, read_bytes(path)
        self.finder = Folder(os.path.dirname(os.path.abspath(path)))

    def __enter__(self):
        """Return self, with the file executed; raise KitError."""
        self.modules, self.writes = dict(sys.modules), sys.dont_write_bytecode
        for name in self.modules:
            file = os.path.join(self.finder.folder, f"{name}.py")
            if name not in sys.stdlib_module_names and name != "__main__" and os.path.exists(file):
                del sys.modules[name]
        sys.dont_write_bytecode = True
        sys.meta_path.insert(0, self.finder)
        try:
            self.load()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        """Put back what the import system was."""
        sys.meta_path.remove(self.finder)
        sys.dont_write_bytecode = self.writes
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None) or ""
            if name not in self.modules and file.startswith(self.finder.folder):
                del sys.modules[name]
        sys.modules.update(self.modules)

    def load(self):
        """Execute the file; check the names that it must define."""
        module = self.module = type(sys)("engine")
        module.__file__ = os.path.abspath(self.path)
        sys.modules["engine"] = module
        code = self.guarded("import", compile, self.source, module.__file__, "exec", 0, True)
        self.guarded("import", exec, code, module.__dict__)
        self.version = getattr(module, "RANKER_VERSION", None)
        if type(self.version) is not str or not self.version:
            self.fail("RANKER_VERSION: must be text that is not empty")
        if not callable(getattr(module, "CapabilityIndex", None)):
            self.fail("CapabilityIndex: the class is missing")

    def fail(self, what):
        """Raise KitError with the engine's name."""
        raise KitError(in_file(self.path, [what]))

    def guarded(self, where, call, *arguments):
        """Return call(*arguments); raise KitError for what it raises or prints."""
        heard = Heard()
        try:
            with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard), \
                    warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = call(*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.fail(f"{where}: raised {described(error, self.module.__file__)}")
        if heard.getvalue():
            self.fail(f"{where}: printed {shown(heard.getvalue())}; "
                      "an engine must not print")
        return answer


def described(error, file):
    """Return an exception's type, message and line in a file."""
    try:
        message = visible(str(error), 300)
    except Exception:
        message = "(its message cannot be shown)"
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__)
             if frame.f_code.co_filename == file]
    return ": ".join(filter(None, [type(error).__name__, message])) + (
        f" (line {lines[-1]})" if lines else "")


def ids_of(method, text, depth):
    """Return the ids that a ranker's method answers, in a new list; raise TypeError."""
    answer = method(text, None, depth)
    if isinstance(answer, dict):
        answer = [item["id"] for item in answer["items"]]
    if not isinstance(answer, (list, tuple)):
        raise TypeError(f"the answer must be a list, not {type(answer).__name__}")
    return list(answer)


def engine_entries(engine, ranker, listings, keys, now, queries, depth, told):
    """Return what each query gets from a local engine; keys: {id: key}. Raises KitError."""
    index = engine.guarded("CapabilityIndex", engine.module.CapabilityIndex,
                           copy.deepcopy(listings), now)
    method = engine.guarded("CapabilityIndex", getattr, index, ranker, None)
    if not callable(method):
        engine.fail(f"CapabilityIndex.{ranker}: the method is missing")
    by_id = {listing["id"]: listing for listing in listings}
    entries = []
    for number, query in enumerate(queries, 1):
        told(number)
        where = f"{ranker}, query {visible(query['query_id'])}"
        ids = engine.guarded(where, ids_of, method, query["text"], depth)[:depth]
        for place, value in enumerate(ids, 1):
            if not is_id(value) or value not in by_id:
                engine.fail(f"{where}: result {place} is {described_value(value)}, "
                            "which is no listing's id")
            if value in ids[:place - 1]:
                engine.fail(f"{where}: result {place} repeats {described_value(value)}")
        results = [result_of(by_id[value], keys[value], NOBODY) for value in ids]
        entries.append(entry_of(query, now.isoformat(), results, sha256(encoded(ids))))
    return entries


def described_value(value):
    """Return a value of an engine for a message."""
    if is_id(value):
        return shown(value)
    return f"a value of type {type(value).__name__}"


def listing_keys(listings, digest):
    """Return {id: candidate key} of listings.

    The key is an address that no other listing has, else the snapshot and the id: several servers
    may live in one repository, and engines that rank one snapshot mean the same by its ids.
    """
    places = (*CARD_ADDRESS, *SOURCE_ADDRESS, "url")
    keys = {listing["id"]: key_of(listing, NOBODY, places) for listing in listings}
    counts = Counter(keys.values())
    return {value: key if key and counts[key] == 1 else id_key(value, f"listings-{digest[:16]}")
            for value, key in keys.items()}


def read_listings(path):
    """Return (listings, their bytes, text of their clock or None) of a file; raise KitError."""
    data = read_bytes(path)
    try:
        value = parse_json(data)
    except KitError as error:
        raise KitError(in_file(path, error.faults)) from None
    listings = value.get("listings") if isinstance(value, dict) else value
    if not isinstance(listings, list) or not all(
            isinstance(listing, dict) and is_id(listing.get("id")) for listing in listings):
        raise KitError(in_file(path, ["must be a list of listings, or an object that has one; "
                                      "each an object with an id, an integer or text"]))
    if len({listing["id"] for listing in listings}) != len(listings):
        raise KitError(in_file(path, ["listings: an id occurs more than once"]))
    clock = found(value, ("clock", "captured_at"))
    return listings, data, clock or None


################ The files

def ranking_of(a_set, options, depth, entries, about):
    """Return the ranking file's value; raise KitError where it breaks the format.

    about: version, corpus, snapshot_sha256, origin and request of this kind of capture.
    """
    times = [entry["captured_at"] for entry in entries]
    ranking = {
        **head("ranking", a_set),
        "system": {"name": options.system, "version": options.system_version or about["version"],
                   "operator": options.operator or "",
                   "developed_with_this_set": options.developed_with_this_set},
        "selection_policy": options.selection_policy or SELECTION.format(depth=depth),
        "corpus": {"description": options.corpus or about["corpus"], "observed_from": times[0],
                   "observed_until": times[-1], "snapshot_sha256": about["snapshot_sha256"]},
        "capture": {"origin": about["origin"], "request": about["request"], "depth": depth,
                    "tool_version": VERSION},
        "queries": entries}
    faults = faults_of(ranking, "ranking")
    if faults:
        raise KitError(in_file(options.output, faults))
    return ranking


def service_of(options, sleep):
    """Return the Service that the options name; raise KitError."""
    origin = origin_of(options.origin or ORIGIN)
    return Service(origin, options.path or PATH,
                   proxy_of(origin) if options.use_environment_proxy else None,
                   options.pause or PAUSE, options.deadline or DEADLINE, sleep)


def capture_service(a_set, options, service, depth, told):
    """Return (ranking of an API's answers, the journal that holds them); raise KitError."""
    origin = service.origin.text
    identity = {**head("capture-journal", a_set), "origin": origin, "path": service.path,
                "depth": depth, "tool_version": VERSION}
    journal = Journal(None if options.output == "-" else beside(options.output, ".journal.jsonl"),
                      identity, [query["query_id"] for query in a_set.queries])
    try:
        entries = ask_all(service, a_set.queries, depth, journal, told)
    finally:
        journal.close()
    if all(entry["status"] == "error" for entry in entries):
        journal.remove()
        raise KitError(f"{origin}: no query has an answer; the first: {entries[0]['error']}")
    return ranking_of(a_set, options, depth, entries, {
        "version": "", "corpus": f"Public listings that {origin} searches.",
        "snapshot_sha256": None, "origin": origin,
        "request": f"GET {service.path.replace('{limit}', str(depth))}"}), journal


def capture_engine(a_set, options, depth, told):
    """Return the ranking of a local engine's answers."""
    listings, data, clock = read_listings(options.listings)
    now = instant(options.captured_at or clock)
    if now is None:
        raise KitError("usage: --captured-at is needed, a time with an offset such as "
                       "2026-10-20T12:00:00+00:00: the listings have no such clock")
    digest = sha256(data)
    with Engine(options.engine) as engine:
        entries = engine_entries(engine, options.ranker, listings, listing_keys(listings, digest),
                                 now, a_set.queries, depth, told)
    return ranking_of(a_set, options, depth, entries, {
        "version": engine.version, "corpus": f"{len(listings)} listings of a file.",
        "snapshot_sha256": digest, "origin": f"engine:{os.path.basename(options.engine)}",
        "request": f"{options.ranker} limit {depth}; engine sha256 {sha256(engine.source)}"})


################ The command

def beside(output, ending):
    """Return the path of a file that belongs to the output: its name with another ending."""
    return (output[:-len(".json")] if output.endswith(".json") else output) + ending


def parse(argv):
    """Return (options, help text) of a command line; raise KitError."""
    parser = Parser(prog="capture.py", description=__doc__, allow_abbrev=False, add_help=False,
                    formatter_class=help_formatter)
    add = parser.add_argument
    add("--system", metavar="NAME", help="what the system is called in the evaluation")
    add("--output", metavar="FILE", help="the ranking, with the pool beside it; - is standard "
        "output, without pool and journal")
    add("--set", metavar="FOLDER", default=HERE, help="the frozen set (default: this folder)")
    add("--depth", metavar="N", type=int, help="results kept (default: of the protocol)")
    about = parser.add_argument_group("what the ranking says about the system")
    add = about.add_argument
    add("--operator", metavar="TEXT", help="who runs it")
    add("--system-version", metavar="TEXT", help="its version (default: the engine's)")
    add("--developed-with-this-set", action="store_true", help="these queries helped develop it")
    add("--selection-policy", metavar="TEXT", help="how results were chosen")
    add("--corpus", metavar="TEXT", help="what was searched")
    api = parser.add_argument_group("a public HTTP API")
    add = api.add_argument
    add("--origin", metavar="ADDRESS", help=f"scheme, host and port (default: {ORIGIN})")
    add("--path", help=f"with {{query}} and {{limit}} (default: {PATH})")
    add("--pause", metavar="SECONDS", type=float, help=f"between requests (default: {PAUSE})")
    add("--deadline", metavar="SECONDS", type=float,
        help=f"for a whole answer (default: {DEADLINE})")
    add("--use-environment-proxy", action="store_true", help="go through the proxy for https")
    engine = parser.add_argument_group("a local engine")
    add = engine.add_argument
    add("--engine", metavar="FILE", help="the ranker")
    add("--ranker", choices=RANKERS, help="the method that is asked")
    add("--listings", metavar="FILE", help="what it searches")
    add("--captured-at", metavar="TIME", help="its clock (default: of the listings)")
    add = parser.add_argument
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if not options.help and not options.version:
        check_options(parser, options)
    return options, parser.format_help() if options.help else ""


ENGINE_OPTIONS = ("--ranker", "--listings", "--captured-at")
API_OPTIONS = ("--origin", "--path", "--pause", "--deadline", "--use-environment-proxy")
TEXT_OPTIONS = {"--system": 100, "--operator": 200, "--system-version": 100,
                "--selection-policy": MOST_TEXT, "--corpus": MOST_TEXT}      # and their lengths


def check_options(parser, options):
    """Raise KitError for options that are missing, do not go together, or make no sense."""
    given = {f"--{name.replace('_', '-')}": value for name, value in vars(options).items()
             if value not in (None, False)}
    for name in ("--system", "--output"):
        if name not in given:
            parser.error(f"{name} is needed")
    for name, value in given.items():
        if value == "" or "\0" in str(value):
            parser.error(f"{name}: {shown(value)} is of no use")
    for name, most in TEXT_OPTIONS.items():
        text = given.get(name, "")
        if clean(text, most) != text or private_findings(text):
            parser.error(f"{name}: must be one line of at most {most} characters that may be "
                         f"published, not {shown(text)}")
    others = API_OPTIONS if "--engine" in given else ENGINE_OPTIONS
    wrong = [name for name in others if name in given]
    if wrong:
        parser.error(f"{', '.join(wrong)}: does not go with "
                     f"{'--engine' if '--engine' in given else 'a capture without --engine'}")
    for name in ("--ranker", "--listings") if "--engine" in given else ():
        if name not in given:
            parser.error(f"--engine needs {name}")
    if options.captured_at is not None and instant(options.captured_at) is None:
        parser.error(f"--captured-at: {shown(options.captured_at)} must be a time with an offset, "
                     "such as 2026-10-20T12:00:00+00:00")
    if options.depth is not None and not 1 <= options.depth <= MOST_DEPTH:
        parser.error(f"--depth: must be from 1 to {MOST_DEPTH}")
    if options.pause is not None and not PAUSE <= options.pause <= 3600:
        parser.error(f"--pause: must be from {PAUSE} to 3600 seconds")
    if options.deadline is not None and not 0 < options.deadline <= 3600:
        parser.error("--deadline: must be above 0 and at most 3600 seconds")
    if options.path is not None and path_fault(options.path):
        parser.error(f"--path: {path_fault(options.path)}")


def summary(ranking, names):
    """Return the lines that say what was written, and what has no answer."""
    entries = ranking["queries"]
    failed = [entry for entry in entries if entry["status"] != "ok"]
    empty = sum(entry["status"] == "ok" and not entry["results"] for entry in entries)
    parts = [f"{len(entries)} quer{'y' if len(entries) == 1 else 'ies'}",
             f"{len(entries) - len(failed)} answered"]
    if empty:
        parts.append(f"{empty} of them with nothing")
    if failed:
        parts.append(f"{len(failed)} with an error")
    return [f"wrote {' and '.join(map(visible, names))}: {', '.join(parts)}",
            *(f"  {visible(entry['query_id'])}: {visible(entry['error'])}" for entry in failed)]


@contextlib.contextmanager
def progress(total):
    """Give a function that shows the number of the query that is asked, on a terminal only."""
    stream = sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None

    def told(number):
        if stream:
            print(f"\rquery {number} of {total} ", end="", file=stream, flush=True)

    try:
        yield told
    finally:
        if stream:
            print("\r" + " " * 40, end="\r", file=stream, flush=True)


def run(options, sleep):
    """Return what goes to standard output, after all files are written; raise KitError."""
    service = None if options.engine else service_of(options, sleep)
    a_set = load_set(options.set)
    require_frozen(a_set, options.set)
    depth = options.depth or a_set.protocol["depth"]
    to_stdout = options.output == "-"
    outputs = [] if to_stdout else [options.output, beside(options.output, ".pool.json")]
    inputs = [options.engine, options.listings] if options.engine else []
    inputs += [os.path.join(options.set, name)
               for name in ("queries.json", "protocol.json", "manifest.json")]
    for path in outputs:
        check_output(path, inputs)
    journal = None
    with progress(len(a_set.queries)) as told:
        if options.engine:
            ranking = capture_engine(a_set, options, depth, told)
        else:
            ranking, journal = capture_service(a_set, options, service, depth, told)
    if to_stdout:
        return encoded(ranking)
    pool = pool_of(a_set, [ranking], depth)
    for path, value in zip(outputs, (ranking, pool)):
        write_file(path, encoded(value))
    if journal:
        journal.remove()
    return "".join(f"{line}\n" for line in summary(ranking, outputs))


def main(argv=None, *, _sleep=time.sleep):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    try:
        options, manual = parse(argv)
        if options.version:
            manual = f"capture.py {VERSION}\n"
        emit(manual or run(options, _sleep))
        return 0
    except KitError as error:
        complain(f"error: {fault}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain(["interrupted"])
        return 130


if __name__ == "__main__":
    sys.exit(main())
