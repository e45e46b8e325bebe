#!/usr/bin/env python3
"""Facts about reading other directories. Run: python -m unittest test_read_directory

Each form that cards and records come in is a row: what the source says, what the listing holds.
"""

import contextlib
import copy
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import capability_search  # noqa: E402
from capability_search import CapabilityIndex, SearchError, read_listings  # noqa: E402
from read_directory import read_documents  # noqa: E402

NOW = datetime(2026, 10, 20, 12, tzinfo=timezone.utc)
CARD = {"name": "Ledger", "url": "https://ledger.example/a2a",
        "skills": [{"id": "post", "name": "Post an entry", "description": "Books a payment."}]}
SERVER = {"name": "io.github.acme/ledger", "description": "Books payments.", "version": "1.2.0"}


def listings_of(*values):
    """Return the listings of these values, each as if it were a file; all can be read."""
    directory = read_documents([("file.json", value) for value in values])
    assert not directory.skipped, directory.skipped
    return directory.listings


def listing_of(value):
    """Return the one listing of a value."""
    [listing] = listings_of(value)
    return listing


def card_of(**fields):
    """Return what becomes of CARD with these fields."""
    return listing_of({**CARD, **fields})["card"]


def server_of(**fields):
    """Return the listing of SERVER with these fields."""
    return listing_of({"servers": [{**SERVER, **fields}]})


def auth_of(card):
    """Return the kinds of authentication that hold for a card, as the search reads it."""
    index = CapabilityIndex([{"id": 1, "card": {**card, "name": "findable"}}], NOW)
    return [kind for kind in capability_search.AUTH_KINDS
            if index.baseline("findable", {"auth": kind})]


################ A2A Agent Cards

# Where the cards stand in a file, and the names that are read.
PLACES_OF_CARDS = [
    (CARD, ["Ledger"]),
    ([CARD, {**CARD, "name": "Second"}], ["Ledger", "Second"]),
    ({"cards": [{"listed_at": "2026-01-30T21:49:56+00:00", "card": CARD}]}, ["Ledger"]),
    ({"cards": [CARD, {"card": {**CARD, "name": "Second"}}], "source": "x"}, ["Ledger", "Second"]),
    ([{"card": CARD}], ["Ledger"]),
    ({"card": CARD}, ["Ledger"]),
    ({"name": "Bare", "description": "Nothing but a name and a text."}, ["Bare"]),
    ({"cards": []}, []),
]

# (what a card says, its interfaces).
AT = "https://ledger.example/a2a"
INTERFACES = [
    ({}, [{"url": AT, "protocolBinding": "JSONRPC"}]),
    ({"protocolVersion": "0.2.6"},
     [{"url": AT, "protocolBinding": "JSONRPC", "protocolVersion": "0.2.6"}]),
    ({"preferredTransport": "GRPC", "protocolVersion": "0.3.0"},
     [{"url": AT, "protocolBinding": "GRPC", "protocolVersion": "0.3.0"}]),
    ({"preferredTransport": "http+json"}, [{"url": AT, "protocolBinding": "HTTP+JSON"}]),
    ({"preferredTransport": "json-rpc 2.0"}, [{"url": AT, "protocolBinding": "JSONRPC"}]),
    ({"preferredTransport": "carrier pigeon"},
     [{"url": AT, "protocolBinding": "carrier pigeon"}]),
    ({"additionalInterfaces": [{"url": AT, "transport": "JSONRPC"},
                               {"url": "https://ledger.example/grpc", "transport": "GRPC"}]},
     [{"url": AT, "protocolBinding": "JSONRPC"},
      {"url": "https://ledger.example/grpc", "protocolBinding": "GRPC"}]),
    ({"supportedInterfaces": [{"url": AT, "protocolBinding": "HTTP+JSON",
                               "protocolVersion": "1.0", "tenant": "t"}]},
     [{"url": AT, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0", "tenant": "t"}]),
    ({"supportedInterfaces": "none", "additionalInterfaces": [7]},
     [{"url": AT, "protocolBinding": "JSONRPC"}]),
]

# (what a card says, the kinds of which one alone is enough, the requirements that become of it).
NESTED_KEY = {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}
AUTHENTICATION = [
    ({}, ["none"], None),
    ({"security": []}, ["none"], None),
    ({"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
      "security": [{"key": []}]}, ["api_key"], [{"schemes": {"key": {"list": []}}}]),
    ({"securitySchemes": {"key": NESTED_KEY},
      "securityRequirements": [{"schemes": {"key": {"list": []}}}]},
     ["api_key"], [{"schemes": {"key": {"list": []}}}]),
    ({"securitySchemes": {"o": {"type": "oauth2", "flows": {}}}, "security": [{"o": ["read"]}]},
     ["oauth2"], [{"schemes": {"o": {"list": ["read"]}}}]),
    ({"securitySchemes": {"h": {"type": "http", "scheme": "bearer"}}, "security": [{"h": []}]},
     ["http"], [{"schemes": {"h": {"list": []}}}]),
    ({"securitySchemes": {"c": {"type": "openIdConnect", "openIdConnectUrl": "https://c.example"}},
      "security": [{"c": []}]}, ["oidc"], [{"schemes": {"c": {"list": []}}}]),
    ({"securitySchemes": {"m": {"type": "mutualTLS"}}, "security": [{"m": []}]},
     ["mtls"], [{"schemes": {"m": {"list": []}}}]),
    ({"securitySchemes": {"key": NESTED_KEY}, "security": [{}, {"key": []}]},
     ["none", "api_key"], [{"schemes": {}}, {"schemes": {"key": {"list": []}}}]),
    ({"securitySchemes": {"key": NESTED_KEY, "m": {"type": "mutualTLS"}},
      "security": [{"key": [], "m": []}]},
     [], [{"schemes": {"key": {"list": []}, "m": {"list": []}}}]),
    ({"securitySchemes": {"key": NESTED_KEY}}, ["api_key"], None),
    ({"security": [{"bearer": []}]}, ["http"], [{"schemes": {"bearer": {"list": []}}}]),
    ({"security": ["apiKey"]}, ["api_key"], [{"schemes": {"apiKey": {"list": []}}}]),
    ({"securitySchemes": {"odd": {"type": "handshake"}}, "security": [{"odd": []}]},
     [], [{"schemes": {"odd": {"list": []}}}]),
    ({"authentication": {"schemes": ["Bearer"]}}, ["http"],
     [{"schemes": {"Bearer": {"list": []}}}]),
    ({"authentication": {"schemes": ["apiKey", "oauth2"], "credentials": "hidden"}},
     ["api_key", "oauth2"], [{"schemes": {"apiKey": {"list": []}}},
                             {"schemes": {"oauth2": {"list": []}}}]),
    ({"authentication": {"schemes": ["none"]}}, ["none"], [{"schemes": {}}]),
    ({"authentication": {"type": "apiKey", "apiKeyHeader": "X-Key"}}, ["api_key"],
     [{"schemes": {"apiKey": {"list": []}}}]),
    ({"authentication": None}, ["none"], None),
    ({"authentication": {"schemes": ["Bearer"]}, "securitySchemes": {"key": NESTED_KEY},
      "security": [{"key": []}]}, ["api_key"], [{"schemes": {"key": {"list": []}}}]),
]

# (what a card says, the id of its listing).
IDS_OF_CARDS = [
    ({}, "ledger.example/a2a"),
    ({"url": "https://ledger.example/"}, "ledger.example"),
    ({"url": "https://user:secret@ledger.example:8443/a?key=1#x"}, "ledger.example:8443/a"),
    ({"wellKnownURI": "https://other.example/b/.well-known/agent-card.json"}, "other.example/b"),
    ({"wellKnownUri": "https://other.example/.well-known/agent.json"}, "other.example"),
    ({"url": ""}, "ledger"), ({"url": None}, "ledger"), ({"url": "https://[bad"}, "ledger"),
    ({"url": "http://192.0.2.7:80/a"}, "ledger"), ({"url": "http://[2001:db8::7]/a"}, "ledger"),
    ({"url": "", "name": "Größe & Maß"}, "größe-maß"), ({"url": "", "name": "??"}, "unnamed"),
]

# A card that cannot be read, and what its line says.
BAD_CARDS = [
    ({**CARD, "name": ""}, "(no name): name: must be text that is not empty, not ''"),
    ({**CARD, "name": 7}, "(no name): name: must be text that is not empty, not 7"),
    ({"skills": []}, "(no name): name: must be text that is not empty, not None"),
    ({**CARD, "skills": "all"}, "'Ledger': skills: must be a list, not 'all'"),
    ({**CARD, "skills": [{}, 7]}, "'Ledger': skills[1]: must be an object or a name, not 7"),
    ({"card": 5}, "(no name): card: must be an object, not 5"),
    ("ledger", "(no name): must be an object, not 'ledger'"),
    (None, "(no name): must be an object, not None"),
]


class Cards(unittest.TestCase):

    def test_places(self):
        for value, names in PLACES_OF_CARDS:
            with self.subTest(value=value):
                self.assertEqual([one["card"]["name"] for one in listings_of(value)], names)

    def test_interfaces(self):
        for said, expected in INTERFACES:
            with self.subTest(said=said):
                self.assertEqual(card_of(**said)["supportedInterfaces"], expected)

    def test_authentication(self):
        for said, kinds, requirements in AUTHENTICATION:
            with self.subTest(said=said):
                card = card_of(**said)
                self.assertEqual(auth_of(card), kinds)
                self.assertEqual(card.get("securityRequirements"), requirements)
                self.assertNotIn("hidden", json.dumps(card))

    def test_flat_and_nested_schemes_are_one(self):
        flat = {"type": "apiKey", "in": "header", "name": "X-Key", "description": "Ask us."}
        nested = {"apiKeySecurityScheme": {"description": "Ask us.", "location": "header",
                                           "name": "X-Key"}}
        for scheme in (flat, nested):
            self.assertEqual(card_of(securitySchemes={"key": scheme})["securitySchemes"],
                             {"key": nested})

    def test_ids(self):
        for said, expected in IDS_OF_CARDS:
            with self.subTest(said=said):
                self.assertEqual(listing_of({**CARD, **said})["id"], expected)

    def test_same_address_twice(self):
        ids = [one["id"] for one in listings_of([CARD, CARD, {**CARD, "url": AT + "-2"}, CARD])]
        self.assertEqual(ids, ["ledger.example/a2a", "ledger.example/a2a-3", "ledger.example/a2a-2",
                               "ledger.example/a2a-4"])

    def test_bad_cards(self):
        for card, line in BAD_CARDS:
            with self.subTest(card=card):
                directory = read_documents([("f.json", {"cards": [CARD, card]})])
                self.assertEqual(directory.skipped, [f"f.json: cards[1] {line}"])
                self.assertEqual(directory.count, "read 1 of 2 records; 1 could not be read")
                self.assertEqual(len(directory.listings), 1)

    def test_nothing_is_invented(self):
        self.assertEqual(listing_of({"name": "Bare", "description": ""}),
                         {"id": "bare", "card": {"name": "Bare"}})
        self.assertEqual(listing_of(CARD), {
            "id": "ledger.example/a2a", "url": AT,
            "card": {"name": "Ledger",
                     "supportedInterfaces": [{"url": AT, "protocolBinding": "JSONRPC"}],
                     "skills": CARD["skills"]}})

    def test_a_whole_card(self):
        self.assertEqual(listing_of({"cards": [{"listed_at": "2026-01-30T21:49:56+00:00", "card": {
            **CARD, "protocolVersion": "0.3.0", "description": "Keeps books.", "version": "2",
            "provider": {"organization": "Acme", "url": "https://acme.example", "x": 1},
            "capabilities": {"streaming": True, "pushNotifications": "yes", "magic": True},
            "defaultInputModes": ["text/plain", 5], "tags": ["money"],
            "registryTags": ["money", ""],
            "skills": ["Post", {"name": "Close", "tags": "year", "secret": 1}],
            "signatures": [{"protected": "e30"}], "author": "someone"}}]}), {
            "id": "ledger.example/a2a", "publisher": "Acme",
            "listed_at": "2026-01-30T21:49:56+00:00", "url": AT, "tags": ["money"],
            "card": {
                "name": "Ledger", "description": "Keeps books.", "version": "2",
                "provider": {"organization": "Acme", "url": "https://acme.example"},
                "supportedInterfaces": [{"url": AT, "protocolBinding": "JSONRPC",
                                         "protocolVersion": "0.3.0"}],
                "capabilities": {"streaming": True}, "defaultInputModes": ["text/plain"],
                "signatures": [{"protected": "e30"}],
                "skills": [{"name": "Post"}, {"name": "Close"}]}})

    def test_publishers(self):
        for said, expected in (({"provider": "Acme"}, "Acme"), ({"author": "Ada"}, "Ada"),
                               ({"provider": {"name": "Acme"}}, "Acme"),
                               ({"author": {"name": "Ada", "url": "x"}}, "Ada"),
                               ({"provider": {"organization": "A"}, "author": "B"}, "A"),
                               ({"provider": 5}, None), ({}, None)):
            with self.subTest(said=said):
                self.assertEqual(listing_of({**CARD, **said}).get("publisher"), expected)


################ MCP registries

EARLY = {"id": "60b9", "name": "io.github.acme/ledger", "description": "Books payments.",
         "repository": {"url": "https://github.com/acme/ledger", "source": "github", "id": "1"},
         "version_detail": {"version": "0.0.1", "release_date": "2025-05-16T19:02:30Z",
                            "is_latest": True},
         "packages": [{"registry_name": "npm", "name": "@acme/ledger", "version": "1.0.9",
                       "environment_variables": [{"description": "...", "name": "ACME_TOKEN"},
                                                 {"description": "true", "name": "LOG"}]}]}
META = "io.modelcontextprotocol.registry/official"

PLACES_OF_SERVERS = [
    {"servers": [SERVER]}, {"servers": [{"server": SERVER}]}, [SERVER], SERVER, {"server": SERVER},
    [{"server": SERVER}], [{"servers": [{"server": SERVER}]}, {"servers": []}],
    {"servers": [{"server": SERVER, "_meta": {META: {"status": "active"}}}],
     "metadata": {"nextCursor": "x", "count": 1}},
]

# (what a server's record says, the kinds of authentication of which one alone is enough).
SECRETS = [
    ({}, ["none"]),
    ({"packages": [{"environmentVariables": [{"name": "LOG_LEVEL"}]}]}, ["none"]),
    ({"packages": [{"environmentVariables": [{"name": "X", "isSecret": True,
                                              "isRequired": True}]}]}, ["api_key"]),
    ({"packages": [{"environmentVariables": [{"name": "API_KEY"}]}]}, ["api_key"]),
    ({"packages": [{"environment_variables": [{"name": "DB_PASSWORD"}]}]}, ["api_key"]),
    ({"packages": [{"environmentVariables": [{"name": "API_KEY", "isSecret": False}]}]}, ["none"]),
    ({"packages": [{"environmentVariables": [{"name": "API_KEY", "isRequired": False}]}]},
     ["none"]),
    ({"remotes": [{"type": "sse", "url": "https://a.example", "headers": [
        {"name": "Authorization", "isSecret": True, "isRequired": True}]}]}, ["api_key"]),
    ({"remotes": [{"type": "sse", "url": "https://a.example", "headers": [{"name": "X-Trace"}]}]},
     ["none"]),
]
# Names that hold a secret, and names that do not.
SECRET_NAMES = ("API_KEY api-key OPENAI_API_KEY SECRET GITHUB_PERSONAL_ACCESS_TOKEN DB_PASSWORD "
                "Authorization X-API-Key AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID APIKEY "
                "CLIENT_SECRET GITLAB_PAT").split()
OTHER_NAMES = ("KEYWORD TOKENIZER MAX_TOKENS LOG_LEVEL HOST PORT KEYBOARD PUBLIC_KEY MONKEY "
               "PATH USER URL").split()

BAD_SERVERS = [
    ({**SERVER, "name": ""}, "(no name): name: must be text that is not empty, not ''"),
    ({"server": 5}, "(no name): server: must be an object, not 5"),
    (5, "(no name): must be an object, not 5"),
]


class Servers(unittest.TestCase):

    def test_places(self):
        for value in PLACES_OF_SERVERS:
            with self.subTest(value=value):
                self.assertEqual(listing_of(value), {
                    "id": "io.github.acme/ledger", "publisher": "io.github.acme",
                    "card": {"name": "ledger", "description": "Books payments.",
                             "version": "1.2.0"}})

    def test_a_record_of_the_early_registry(self):
        self.assertEqual(listing_of([EARLY]), {
            "id": "io.github.acme/ledger", "publisher": "io.github.acme",
            "listed_at": "2025-05-16T19:02:30Z", "url": "https://github.com/acme/ledger",
            "card": {"name": "ledger", "description": "Books payments.", "version": "0.0.1",
                     "supportedInterfaces": [{"url": "pkg:npm/%40acme/ledger"}],
                     "securitySchemes": {"ACME_TOKEN": {"apiKeySecurityScheme": {
                         "location": "environment", "name": "ACME_TOKEN"}}},
                     "securityRequirements": [{"schemes": {"ACME_TOKEN": {"list": []}}}]}})

    def test_a_record_of_today(self):
        self.assertEqual(listing_of({"servers": [{
            "server": {**SERVER, "title": "Ledger", "websiteUrl": "https://acme.example",
                       "remotes": [{"type": "streamable-http", "url": "https://acme.example/mcp"}],
                       "packages": [{"registryType": "oci", "identifier": "acme/ledger",
                                     "transport": {"type": "stdio"}}]},
            "_meta": {META: {"status": "active", "publishedAt": "2025-09-08T14:05:33.123456Z",
                             "isLatest": True}}}]}), {
            "id": "io.github.acme/ledger", "publisher": "io.github.acme",
            "listed_at": "2025-09-08T14:05:33.123456Z", "url": "https://acme.example",
            "card": {"name": "Ledger", "description": "Books payments.", "version": "1.2.0",
                     "documentationUrl": "https://acme.example",
                     "supportedInterfaces": [
                         {"url": "https://acme.example/mcp",
                          "protocolBinding": "MCP/streamable-http"},
                         {"url": "pkg:oci/acme/ledger", "protocolBinding": "MCP/stdio"}]}})

    def test_secrets(self):
        for said, kinds in SECRETS:
            with self.subTest(said=said):
                self.assertEqual(auth_of(server_of(**said)["card"]), kinds)

    def test_names_of_secrets(self):
        for names, kinds in ((SECRET_NAMES, ["api_key"]), (OTHER_NAMES, ["none"])):
            for name in names:
                with self.subTest(name=name):
                    card = server_of(packages=[{"environmentVariables": [{"name": name}]}])["card"]
                    self.assertEqual(auth_of(card), kinds)

    def test_one_version_of_a_server(self):
        def version(number, **facts):
            return {"server": {**SERVER, "version": number}, "_meta": {META: facts}}

        old, new = {"publishedAt": "2025-01-01T00:00:00Z"}, {"publishedAt": "2026-01-01T00:00:00Z"}
        for records, expected in (
                ([version("1", **new), version("2", **old)], ["1"]),
                ([version("1", isLatest=True, **old), version("2", **new)], ["1"]),
                ([version("1"), version("2")], ["2"]),
                ([version("1", **old), version("2", status="deleted", **new)], ["1"]),
                ([version("1", status="deleted")], []),
                ([version("1", publishedAt="soon"), version("2", **old)], ["2"]),
        ):
            with self.subTest(records=records):
                directory = read_documents([("f.json", {"servers": records})])
                self.assertEqual([one["card"]["version"] for one in directory.listings], expected)
                self.assertEqual(directory.skipped, [])
                self.assertIn("deleted or of an older version", directory.count)

    def test_pages(self):
        pages = [{"servers": [{"server": {**SERVER, "name": f"io.example/s{number}"}}],
                  "metadata": {"nextCursor": "x"}} for number in (1, 2)]
        for values in ([pages], pages):
            self.assertEqual([one["id"] for one in listings_of(*values)],
                             ["io.example/s1", "io.example/s2"])

    def test_bad_servers(self):
        for record, line in BAD_SERVERS:
            with self.subTest(record=record):
                directory = read_documents([("f.json", {"servers": [SERVER, record]})])
                self.assertEqual(directory.skipped, [f"f.json: servers[1] {line}"])


################ Properties

PIECES = [None, True, 0, 5, -1.5, "", "x", "https://x.example/a", [], {}, ["x"], [5], [{}],
          {"x": {}}, {"schemes": {"x": []}}, {"schemes": ["apiKey", 5]}, [{"url": 5}],
          [{"type": "apiKey"}], {"x": {"type": []}}, "2026-01-01T00:00:00Z", "\x1b[31m\n", [None],
          [{"name": "API_KEY", "isSecret": "yes"}], [{"x": None}], [{"x": {"list": 5}}], "io.a/b"]
KEYS = ("name url skills security securityRequirements securitySchemes authentication provider "
        "author capabilities supportedInterfaces additionalInterfaces preferredTransport tags "
        "registryTags wellKnownURI protocolVersion packages remotes repository version_detail "
        "websiteUrl title server card _meta listed_at signatures").split()


class Properties(unittest.TestCase):

    def test_any_record_is_read_or_named(self):
        chance = random.Random(20261201)
        for _ in range(3000):
            records = [{key: chance.choice(PIECES) for key in chance.sample(KEYS, 5)}
                       for _ in range(3)]
            value = {chance.choice(["cards", "servers"]): records}
            before = copy.deepcopy(value)
            directory = read_documents([("f.json", value)])
            self.assertEqual(value, before)
            left_out = re.search(r"(\d) deleted or of an older version", directory.count)
            self.assertEqual(len(directory.listings) + len(directory.skipped)
                             + (int(left_out[1]) if left_out else 0), 3)
            ids = [one["id"] for one in directory.listings]
            self.assertEqual(len(set(ids)), len(ids))
            self.assertTrue(all(line.startswith("f.json: ") for line in directory.skipped))
            if ids:
                CapabilityIndex(directory.listings, NOW).recommend("name a thing")


################ Files

class Files(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)

    def write(self, name, content):
        """Write JSON data or text to a file in the folder; return its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def search(self, *argv):
        """Return (status, standard output, standard error) of a search in-process."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = capability_search.main(["book a payment", *argv])
        return status, out.getvalue(), err.getvalue()

    def test_a_folder(self):
        self.write("b.json", {**CARD, "name": "B"})
        self.write("a.json", {**CARD, "name": "A"})
        self.write("broken.json", "{")
        self.write("notes.txt", "{")
        os.mkdir(os.path.join(self.folder, "d.json"))
        error = io.StringIO()
        with contextlib.redirect_stderr(error):
            listings, clock = read_listings(self.folder)
        self.assertEqual([one["card"]["name"] for one in listings], ["A", "B"])
        self.assertIsNone(clock)
        lines = error.getvalue().splitlines()
        self.assertTrue(lines[0].startswith(
            f"skipped: {os.path.join(self.folder, 'broken.json')}: line 1 column 2: not JSON"))
        self.assertEqual(lines[1:], [f"{self.folder}: read 2 of 3 records; 1 could not be read"])
        with self.assertRaises(SearchError):
            read_listings(self.folder, strict=True)

    def test_an_empty_folder(self):
        self.assertEqual(self.search("--listings", self.folder),
                         (2, "", f"error: {self.folder}: holds no *.json file\n"))

    def test_search(self):
        path = self.write("cards.json", {"cards": [CARD, {"card": 5}]})
        status, out, err = self.search("--listings", path)
        self.assertEqual(status, 0)
        self.assertIn("1. Ledger  [ledger.example/a2a]", out)
        line = f"{path}: cards[1] (no name): card: must be an object, not 5\n"
        count = f"{path}: read 1 of 2 records; 1 could not be read\n"
        self.assertEqual(err, f"skipped: {line}{count}")
        self.assertEqual(self.search("--listings", path, "--strict"), (2, "", f"error: {line}"))

    def test_a_clock_in_the_file(self):
        path = self.write("cards.json", {"captured_at": "2026-01-30T21:49:56Z", "cards": [CARD]})
        self.assertEqual(read_listings(path)[1],
                         datetime(2026, 1, 30, 21, 49, 56, tzinfo=timezone.utc))
        path = self.write("cards.json", {"clock": "soon", "cards": [CARD]})
        status, out, err = self.search("--listings", path)
        self.assertEqual((status, out), (2, ""))
        self.assertTrue(err.startswith(f"error: {path}: clock: must be an ISO 8601 time"), err)

    def test_control_characters(self):
        path = self.write("cards.json", {"cards": [CARD, {"name": "\x1b[31m\nred", "skills": 1}]})
        err = self.search("--listings", path)[2]
        self.assertTrue(err.replace("\n", "").isprintable(), err)
        self.assertEqual(err.count("\n"), 2)

    def test_without_this_file(self):
        copied = os.path.join(self.folder, "capability_search.py")
        shutil.copy(os.path.join(HERE, "capability_search.py"), copied)
        path = self.write("card.json", CARD)
        run = subprocess.run(
            [sys.executable, copied, "book a payment", "--listings", path], capture_output=True,
            encoding="utf-8")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertEqual(run.stderr.count("\n"), 1)
        self.assertIn("put that file beside capability_search.py", run.stderr)


if __name__ == "__main__":
    unittest.main()
