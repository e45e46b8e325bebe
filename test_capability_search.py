#!/usr/bin/env python3
"""Facts about the search. Run: python -m unittest test_capability_search

The baseline is stated a second time, in SQL; the recommendation is held to small directories that
show a rule each, to tables of constraints in words, and to properties of seeded random directories.
"""

import contextlib
import copy
import io
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import build_fixtures  # noqa: E402
import capability_search  # noqa: E402
from capability_search import (  # noqa: E402
    AUTH_KINDS, REQUIREMENTS, THINGS, CapabilityIndex, SearchError, phrasings, stem, terms_of)

NOW = datetime(2026, 10, 20, 12, tzinfo=timezone.utc)
with open(os.path.join(HERE, "fixtures.json"), encoding="utf-8") as _file:
    FIXTURES = json.load(_file)


# ---- helpers ----

def skill(name, description="", *tags):
    """Return a skill of a card."""
    return {"id": name.lower(), "name": name, "description": description, "tags": list(tags)}


def agent(number, name="", description="", *skills, tags=(), publisher=None, listed="2026-09-01",
          observations=None, **card):
    """Return a listing; a skill may be given by its name alone, card keys by keyword."""
    skills = [one if isinstance(one, dict) else skill(one) for one in skills]
    return {"id": number, "publisher": publisher or f"Publisher {number}",
            "listed_at": f"{listed}T08:00:00+00:00", "tags": list(tags),
            "card": {"name": name, "description": description, "skills": skills, **card},
            "observations": observations or {}}


def seen(hours, ok=True):
    """Return an observation made so many hours before NOW."""
    return {"ok": ok, "at": (NOW - timedelta(hours=hours)).isoformat()}


def found(listings, query, requirements=None, limit=None):
    """Return the ids that the recommendation returns, in order."""
    items = CapabilityIndex(listings, NOW).recommend(query, requirements, limit)["items"]
    return [item["id"] for item in items]


EMPTY = CapabilityIndex([], NOW)


def read(query):
    """Return (constraints, task terms) of a query."""
    interpretation = EMPTY.recommend(query)["interpretation"]
    return interpretation["constraints"], interpretation["task_terms"]


# ---- baseline, a second time ----

# One row per listing, one per text in which a phrase may stand, with its tier. Texts are stored
# case-folded; `instr` takes %, _ and \ as they are.
SCHEMA = """
CREATE TABLE listing (id, publisher TEXT NOT NULL, signed INTEGER NOT NULL, listed INTEGER);
CREATE TABLE field (id, tier INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE allowed (id);
"""
BASELINE = """
WITH hit AS (
    SELECT id, MIN(tier) AS tier FROM field
    WHERE :phrase <> '' AND instr(text, :phrase) > 0 AND id IN (SELECT id FROM allowed)
    GROUP BY id),
turn AS (
    SELECT hit.id, tier, signed, listed, ROW_NUMBER() OVER (
        PARTITION BY tier, publisher ORDER BY signed DESC, listed DESC, listing.id) AS round
    FROM hit JOIN listing ON listing.id = hit.id)
SELECT id FROM turn ORDER BY tier, round, signed DESC, listed DESC, id
"""


class SecondBaseline:
    """The baseline's rules as a query over sqlite3, built from listings in sound form."""

    def __init__(self, listings):
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.database.executescript(SCHEMA)
        for listing in listings:
            card = listing.get("card", {})
            # SQLite itself turns times with their offsets into seconds.
            self.database.execute(
                "INSERT INTO listing VALUES (?, ?, ?, CAST(strftime('%s', ?) AS INTEGER))",
                (listing["id"], listing.get("publisher", ""), bool(card.get("signatures")),
                 listing.get("listed_at")))
            texts = [(1, card.get("name")), (4, card.get("description"))]
            texts += [(3, tag) for tag in listing.get("tags", ())]
            for one in card.get("skills", ()):
                texts += [(2, one.get("name")), (2, one.get("description"))]
                texts += [(3, tag) for tag in one.get("tags", ())]
            self.database.executemany("INSERT INTO field VALUES (?, ?, ?)", [
                (listing["id"], tier, text.casefold()) for tier, text in texts if text])
        self.allow([listing["id"] for listing in listings])

    def allow(self, ids):
        """Let only these ids be found."""
        self.database.execute("DELETE FROM allowed")
        self.database.executemany("INSERT INTO allowed VALUES (?)", [(one,) for one in ids])

    def search(self, query):
        """Return the ids that hold the query, best first."""
        phrase = re.sub(r"\s+", " ", query).strip().casefold()
        return [row[0] for row in self.database.execute(BASELINE, {"phrase": phrase})]

    def close(self):
        """Close the database."""
        self.database.close()


SPACES = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000", "\x1c", "\x85", "\v "]
WORDS = ["ab", "a", "b", "aß", "SSa", "é", "%", "_", "\\", "a%b", "Ω", "İ", "e\u0301", "a_b", "ﬁ"]
DATES = ["2026-09-01T08:00:00+00:00", "2026-09-01T10:00:00+02:00", "2026-09-02T08:00:00+00:00",
         "2026-09-01T08:00:00Z", "2025-12-31T23:59:59-05:00"]


def random_text(rng):
    """Return a short text of confusable words, spaced with single spaces and other white space."""
    text = rng.choice(WORDS)
    for _ in range(rng.randrange(3)):
        text += rng.choice([" ", " ", rng.choice(SPACES)]) + rng.choice(WORDS)
    return text


def random_directory(rng):
    """Return a few listings in sound form, some with fields missing."""
    numbers = rng.sample(range(-2, 30), rng.randrange(1, 7))
    if rng.random() < 0.4:
        numbers = [rng.choice("aBzé\U0001f600\uffee") + str(number) for number in numbers]
    listings = []
    for number in numbers:
        card = {"name": random_text(rng), "description": random_text(rng),
                "skills": [{"name": random_text(rng), "description": random_text(rng),
                            "tags": [random_text(rng) for _ in range(rng.randrange(2))]}
                           for _ in range(rng.randrange(3))],
                "signatures": [{"signature": "x"}] * rng.randrange(2)}
        listing = {"id": number, "publisher": rng.choice(["P", "Q", ""]),
                   "listed_at": rng.choice(DATES), "tags": [random_text(rng)], "card": card}
        for owner in (listing, card, *card["skills"]):
            for key in list(owner):
                if key != "id" and rng.random() < 0.1:
                    del owner[key]
        listings.append(listing)
    return listings


class Baseline(unittest.TestCase):
    """The whole-phrase search."""

    def both(self, listings):
        """Return the index and its second statement."""
        second = SecondBaseline(listings)
        self.addCleanup(second.close)
        return CapabilityIndex(listings, NOW), second

    def test_agrees_with_sql_on_the_fixtures(self):
        listings = FIXTURES["listings"]
        index, second = self.both(listings)
        texts = json.dumps([listing["card"] for listing in listings], ensure_ascii=False)
        words = sorted(set(re.findall(r"[\w-]+(?: [\w-]+)?", texts)))
        queries = [case["q"] for case in FIXTURES["cases"]] + words
        self.assertGreater(len(queries), 1000)
        hits = 0
        for query in queries:
            expected = second.search(query)
            hits += len(expected) > 1
            self.assertEqual(index.baseline(query), expected, query)
        self.assertGreater(hits, 200)

    def test_agrees_with_sql_under_the_cases_requirements(self):
        index, second = self.both(FIXTURES["listings"])
        for case in FIXTURES["cases"]:
            second.allow([listing["id"] for listing in FIXTURES["listings"]
                          if meets(listing, case["requirements"])])
            for query in ("pdf", "a", "document", case["q"]):
                with self.subTest(case["id"], query=query):
                    self.assertEqual(index.baseline(query, case["requirements"]),
                                     second.search(query))

    def test_agrees_with_sql_on_random_directories(self):
        rng = random.Random(1)
        hits = longest = 0
        for _ in range(700):
            listings = random_directory(rng)
            index, second = self.both(listings)
            queries = ["", rng.choice(SPACES), rng.choice("abséß%_\\ωI"),
                       random_text(rng), rng.choice(SPACES) + random_text(rng) + "  "]
            for query in queries:
                expected = second.search(query)
                hits, longest = hits + bool(expected), max(longest, len(expected))
                self.assertEqual(index.baseline(query), expected, (query, listings))
                self.assertEqual(index.baseline(query, limit=2), expected[:2])
            if rng.random() < 0.3:
                signed = rng.random() < 0.5
                second.allow([one["id"] for one in listings
                              if bool(one.get("card", {}).get("signatures")) is signed])
                self.assertEqual(index.baseline("a", {"signed": signed}), second.search("a"))
            second.close()
        self.assertGreater(hits, 1000)
        self.assertEqual(longest, 6)

    def test_tiers_rounds_and_ties(self):
        # Worked out by hand: name, then skill name or description, then tags, then description.
        listings = [
            agent(1, "other", "about pdf files"),
            agent(2, "other", "", tags=["PDF files"]),
            agent(3, "other", "", skill("x", "makes pdf files")),
            agent(4, "Pdf Files"),
            agent(5, "other", "", skill("x", "", "pdf files")),
            agent(6, "pdf  files", "pdf\nfiles"),
        ]
        self.assertEqual(CapabilityIndex(listings, NOW).baseline(" PDF \t files\n"), [4, 3, 2, 5, 1])
        signed = {"signatures": [{}]}
        listings = [
            agent(1, "pdf", publisher="A", listed="2026-01-01"),
            agent(2, "pdf", publisher="A", listed="2026-03-01"),
            agent(3, "pdf", publisher="A", listed="2026-02-01", **signed),
            agent(4, "pdf", publisher="B", listed="2026-01-15"),
            agent(5, "pdf", publisher="B", listed="2026-01-15"),
            agent(6, "pdf", publisher="C", listed="2026-04-01"),
        ]
        # A: 3 (signed), 2, 1; B: 4, 5; C: 6. Rounds: 3 signed, 6, 4 by date; 2, 5; 1.
        for order in (listings, listings[::-1]):
            self.assertEqual(CapabilityIndex(order, NOW).baseline("pdf"), [3, 6, 4, 2, 5, 1])

    def test_constraint_words_mean_nothing_here(self):
        listings = [agent(1, "PDF without an API key"), agent(2, "PDF")]
        index = CapabilityIndex(listings, NOW)
        self.assertEqual(index.baseline("pdf without an api key"), [1])
        self.assertEqual(index.baseline("pdf no login"), [])


# ---- requirements ----

def scheme(kind):
    """Return a declared scheme of one kind."""
    name = {"api_key": "apiKeySecurityScheme", "http": "httpAuthSecurityScheme",
            "oauth2": "oauth2SecurityScheme", "oidc": "openIdConnectSecurityScheme",
            "mtls": "mtlsSecurityScheme"}[kind]
    return {name: {"description": kind}}


SCHEMES = {kind: scheme(kind) for kind in AUTH_KINDS if kind != "none"}


def needs(*alternatives, schemes=SCHEMES):
    """Return the card keys for alternatives, each a text with the schemes needed together."""
    return {"securitySchemes": schemes, "securityRequirements": [
        {"schemes": {name: {"list": []} for name in alternative.split()}}
        for alternative in alternatives]}


def kind_of(declared):
    """Return the kind of a declared scheme, by the longest word of its name that we know."""
    return next(kind for word, kind in (
        ("apiKey", "api_key"), ("oauth2", "oauth2"), ("openId", "oidc"), ("mtls", "mtls"),
        ("httpAuth", "http")) if next(iter(declared)).startswith(word))


def meets(listing, requirements):
    """Return whether a sound listing meets requirements: the table of DESIGN.md once more."""
    card, observations = listing["card"], listing.get("observations", {})
    schemes = {name: kind_of(one) for name, one in card.get("securitySchemes", {}).items()}
    ways = [sorted(schemes[name] for name in need.get("schemes", {}))
            for need in card.get("securityRequirements", [])]
    ways = ways or [[kind] for kind in schemes.values()] or [[]]

    def age(kind):
        observation = observations.get(kind, {"ok": False})
        hours = observation["ok"] and (
            NOW - datetime.fromisoformat(observation["at"])).total_seconds() / 3600
        return hours if observation["ok"] and hours >= 0 else math.inf

    for key, value in requirements.items():
        if not {
            "auth": lambda: ([] if value == "none" else [value]) in ways,
            "exclude_auth": lambda: any(not set(way or ["none"]) & set(value) for way in ways),
            "signed": lambda: bool(card.get("signatures")) == value,
            "transport": lambda: value.lower() in [
                one["protocolBinding"].lower() for one in card["supportedInterfaces"]],
            "streaming": lambda: card.get("capabilities", {}).get("streaming") is True,
            "tls": lambda: age("tls") < math.inf,
            "card_max_age_hours": lambda: age("card") <= value,
            "protocol_max_age_hours": lambda: age("protocol") <= value,
        }[key]():
            return False
    return True


def speaks(*bindings):
    """Return the card key for interfaces with these protocol bindings."""
    return {"supportedInterfaces": [{"url": "https://a.example", "protocolBinding": binding,
                                     "protocolVersion": "1.0"} for binding in bindings]}


# Each listing is called by what it declares; all of them make a PDF.
DECLARED = {
    "nothing": {},
    "no requirements, no schemes": {"securitySchemes": {}, "securityRequirements": []},
    "an empty alternative": needs(""),
    "api_key": needs("api_key"),
    "http": needs("http"),
    "oauth2": needs("oauth2"),
    "oidc": needs("oidc"),
    "mtls": needs("mtls"),
    "api_key or nothing": needs("api_key", ""),
    "api_key or oauth2": needs("api_key", "oauth2"),
    "api_key with mtls": needs("api_key mtls"),
    "oidc with mtls, or http": needs("oidc mtls", "http"),
    "schemes http and oauth2": {"securitySchemes": {k: SCHEMES[k] for k in ("http", "oauth2")}},
    "schemes, empty requirements": {"securitySchemes": {"api_key": SCHEMES["api_key"]},
                                    "securityRequirements": []},
    "an unknown scheme": needs("magic", schemes={}),
    "flat apiKey": needs("k", schemes={"k": {"type": "apiKey", "in": "header"}}),
    "flat openIdConnect": needs("k", schemes={"k": {"type": "openIdConnect"}}),
}
FREE = {"nothing", "no requirements, no schemes", "an empty alternative", "api_key or nothing"}
WITH_KEY_ONLY = {"api_key", "api_key with mtls", "schemes, empty requirements", "flat apiKey"}

AUTH_FACTS = [
    ({"auth": "none"}, FREE),
    ({"auth": "api_key"}, {"api_key", "api_key or nothing", "api_key or oauth2",
                           "schemes, empty requirements", "flat apiKey"}),
    ({"auth": "http"}, {"http", "oidc with mtls, or http", "schemes http and oauth2"}),
    ({"auth": "oauth2"}, {"oauth2", "api_key or oauth2", "schemes http and oauth2"}),
    ({"auth": "oidc"}, {"oidc", "flat openIdConnect"}),
    ({"auth": "mtls"}, {"mtls"}),
    ({"exclude_auth": ["api_key"]}, set(DECLARED) - WITH_KEY_ONLY),
    ({"exclude_auth": ["none"]}, set(DECLARED) - FREE | {"api_key or nothing"}),
    ({"exclude_auth": ["oauth2"]}, set(DECLARED) - {"oauth2"}),
    ({"exclude_auth": ["http", "oauth2"]}, set(DECLARED) - {
        "http", "oauth2", "schemes http and oauth2"}),
    ({"exclude_auth": ["mtls", "http"]}, set(DECLARED) - {
        "http", "mtls", "api_key with mtls", "oidc with mtls, or http"}),
    ({"exclude_auth": list(AUTH_KINDS)}, {"an unknown scheme"}),
    ({"auth": "api_key", "exclude_auth": ["oauth2"]}, {
        "api_key", "api_key or nothing", "api_key or oauth2", "schemes, empty requirements",
        "flat apiKey"}),
    ({"auth": "none", "exclude_auth": ["none"]}, {"api_key or nothing"}),
    ({}, set(DECLARED)),
    (None, set(DECLARED)),
]

SECOND = 1 / 3600
# What of a card or of its observations, and the requirements that it meets out of those beside it.
OTHER_FACTS = [
    ("signature", "signed", [
        ({"signatures": [{"protected": "e30", "signature": "x"}]}, [True]),
        ({"signatures": []}, [False]), ({}, [False])], [True, False]),
    ("interface", "transport", [
        (speaks("JSONRPC"), ["JSONRPC", "jsonrpc", " JsonRpc "]),
        (speaks("grpc"), ["GRPC", "grpc"]),
        (speaks("HTTP+JSON", "GRPC"), ["HTTP+JSON", "http+json", "GRPC", "grpc"]),
        (speaks("x-Pigeon"), ["X-PIGEON"]), (speaks(), []), ({}, [])],
     ["JSONRPC", "jsonrpc", " JsonRpc ", "GRPC", "grpc", "HTTP+JSON", "http+json", "X-PIGEON",
      "HTTP", "RPC"]),
    ("streaming", "streaming", [
        ({"capabilities": {"streaming": True}}, [True]),
        ({"capabilities": {"streaming": False}}, []), ({"capabilities": {"streaming": "true"}}, []),
        ({"capabilities": {"streaming": 1}}, []), ({"capabilities": {}}, []), ({}, [])], [True]),
    ("tls", "tls", [
        ({"observations": {"tls": seen(1)}}, [True]),
        ({"observations": {"tls": seen(24 * 400)}}, [True]),
        ({"observations": {"tls": seen(0)}}, [True]),
        ({"observations": {"tls": seen(1, ok=False)}}, []),
        ({"observations": {"tls": seen(-SECOND)}}, []),
        ({"observations": {"card": seen(1), "protocol": seen(1)}}, []), ({}, [])], [True]),
    *((f"{kind} observation", f"{kind}_max_age_hours", [
        ({"observations": {kind: seen(24)}}, [24, 24.5, 1e9]),
        ({"observations": {kind: seen(24 + SECOND)}}, [24.5, 1e9]),
        ({"observations": {kind: seen(24 - SECOND)}}, [24, 24.5, 1e9]),
        ({"observations": {kind: seen(0)}}, [0.001, 24, 24.5, 1e9]),
        ({"observations": {kind: {"ok": True, "at": "2026-10-20T14:00:00+02:00"}}},
         [0.001, 24, 24.5, 1e9]),
        ({"observations": {kind: {"ok": True, "at": "2026-10-19T12:00:00Z"}}}, [24, 24.5, 1e9]),
        ({"observations": {kind: seen(-SECOND)}}, []),
        ({"observations": {kind: seen(-24)}}, []),
        ({"observations": {kind: seen(1, ok=False)}}, []),
        ({"observations": {other: seen(1), "tls": seen(1)}}, []), ({}, [])],
       [0.001, 24, 24.5, 1e9]) for kind, other in (("card", "protocol"), ("protocol", "card"))),
]

# Bad requirements, and what the message has to name.
BAD_REQUIREMENTS = [
    ({"auth": "magic"}, ["auth", "'magic'"]),
    ({"auth": "API_KEY"}, ["auth", "'API_KEY'"]),
    ({"auth": ["none"]}, ["auth", "['none']"]),
    ({"auth": None}, ["auth", "None"]),
    ({"exclude_auth": "oauth2"}, ["exclude_auth", "'oauth2'"]),
    ({"exclude_auth": []}, ["exclude_auth", "[]"]),
    ({"exclude_auth": ["oauth2", "magic"]}, ["exclude_auth", "'magic'"]),
    ({"exclude_auth": [["oauth2"]]}, ["exclude_auth", "[['oauth2']]"]),
    ({"signed": "true"}, ["signed", "'true'"]),
    ({"signed": 1}, ["signed", "1"]),
    ({"transport": ""}, ["transport", "''"]),
    ({"transport": 5}, ["transport", "5"]),
    ({"streaming": False}, ["streaming", "False"]),
    ({"streaming": 1}, ["streaming", "1"]),
    ({"tls": "yes"}, ["tls", "'yes'"]),
    ({"card_max_age_hours": 0}, ["card_max_age_hours", "0"]),
    ({"card_max_age_hours": True}, ["card_max_age_hours", "True"]),
    ({"card_max_age_hours": "24"}, ["card_max_age_hours", "'24'"]),
    ({"protocol_max_age_hours": -1}, ["protocol_max_age_hours", "-1"]),
    ({"protocol_max_age_hours": math.nan}, ["protocol_max_age_hours", "nan"]),
    ({"protocol_max_age_hours": math.inf}, ["protocol_max_age_hours", "inf"]),
    ({"colour": "red"}, ["colour"]),
    ({"Auth": "none"}, ["Auth"]),
    ({"colour": "red", "signed": 3, "tls": True}, ["colour", "signed", "3"]),
    ({7: True}, ["7"]),
    ([], ["requirements", "[]"]),
    ("auth", ["requirements", "'auth'"]),
]


class Requirements(unittest.TestCase):
    """Explicit evidence filters; both rankers are asked each time."""

    def returned(self, named, requirements):
        """Return the names of the listings that both rankers return under the requirements."""
        listings = []
        for name, facts in named.items():
            facts = dict(facts)
            observations = facts.pop("observations", {})
            listings.append(agent(name, "Sheet", "", skill("Make a PDF"), publisher="P",
                                  observations=observations, **facts))
        index = CapabilityIndex(listings, NOW)
        items = index.recommend("make a pdf", requirements)["items"]
        ids = {item["id"] for item in items}
        self.assertEqual(len(ids), len(items))
        self.assertEqual(set(index.baseline("make a pdf", requirements)), ids)
        return ids

    def test_auth(self):
        for requirements, expected in AUTH_FACTS:
            with self.subTest(requirements=requirements):
                self.assertEqual(self.returned(DECLARED, requirements), expected)

    def test_the_other_keys(self):
        for what, key, facts, values in OTHER_FACTS:
            named = {f"{what} {number}": declared for number, (declared, _) in enumerate(facts)}
            for value in values:
                with self.subTest(what, value=value):
                    self.assertEqual(self.returned(named, {key: value}), {
                        name for name, (_, met) in zip(named, facts)
                        if value in met})

    def test_every_key_has_a_fact(self):
        stated = {key for requirements, _ in AUTH_FACTS for key in requirements or ()}
        self.assertEqual(stated | {key for _, key, _, _ in OTHER_FACTS}, set(REQUIREMENTS))

    def test_all_must_hold(self):
        named = {str(number): {"signatures": [{}] * (number & 1),
                               "capabilities": {"streaming": bool(number & 2)},
                               "observations": {"tls": seen(1, ok=bool(number & 4))}}
                 for number in range(8)}
        self.assertEqual(self.returned(named, {"signed": True, "streaming": True, "tls": True}),
                         {"7"})
        self.assertEqual(self.returned(named, {"signed": False, "tls": True}), {"4", "6"})

    def test_bad_requirements(self):
        index = CapabilityIndex([agent(1, "PDF")], NOW)
        for requirements, fragments in BAD_REQUIREMENTS:
            messages = set()
            for ranker in (index.baseline, index.recommend):
                with self.subTest(requirements=requirements, ranker=ranker.__name__):
                    with self.assertRaises(SearchError) as caught:
                        ranker("pdf", requirements)
                    messages.add(str(caught.exception))
                    for fragment in fragments:
                        self.assertIn(fragment, str(caught.exception))
            self.assertEqual(len(messages), 1)
        self.assertTrue(issubclass(SearchError, ValueError))

    def test_bad_arguments(self):
        index = CapabilityIndex([agent(1, "PDF")], NOW)
        for ranker in (index.baseline, index.recommend):
            for query in (None, 5, b"pdf", ["pdf"]):
                with self.assertRaisesRegex(SearchError, "query"):
                    ranker(query)
            for limit in (-1, 1.0, True, "3"):
                with self.assertRaisesRegex(SearchError, "limit"):
                    ranker("pdf", None, limit)

    def test_bad_listings(self):
        for listings, fragments in [
            ([5], ["listings[0]", "5"]),
            ([{}], ["listings[0].id", "None"]),
            ([{"id": True}], ["listings[0].id", "True"]),
            ([{"id": ""}], ["listings[0].id", "''"]),
            ([{"id": 1.0}], ["listings[0].id", "1.0"]),
            ([{"id": [1]}], ["listings[0].id", "[1]"]),
            ([{"id": 1}, {"id": "1"}], ["listings[1].id", "'1'"]),
            ([{"id": 1}, {"id": 2}, {"id": 1}], ["listings[2].id", "1"]),
            ([{"id": 1, "listed_at": "yesterday"}], ["listings[0]", "listed_at", "'yesterday'"]),
            ([{"id": 1, "listed_at": "2026-09-01T08:00:00"}], ["listings[0]", "listed_at",
                                                             "2026-09-01T08:00:00"]),
            ([{"id": 1}, {"id": 2, "observations": {"tls": {"ok": True, "at": "2026-10-20T09:00"}}}],
             ["listings[1]", "observations.tls.at", "2026-10-20T09:00"]),
            ([{"id": 1, "observations": {"card": {"ok": True}}}],
             ["listings[0]", "observations.card.at", "None"]),
        ]:
            with self.subTest(listings=listings):
                with self.assertRaises(SearchError) as caught:
                    CapabilityIndex(listings, NOW)
                for fragment in fragments:
                    self.assertIn(fragment, str(caught.exception))
        for now in (None, "2026-10-20T12:00:00+00:00", datetime(2026, 10, 20)):
            with self.subTest(now=now), self.assertRaisesRegex(SearchError, "now"):
                CapabilityIndex([], now)


# ---- words ----

# Words on one line have one stem; different lines, different stems.
STEMS = """
create creates created creating
bake bakes baked baking
stop stops stopped stopping
plan plans planned planning
bill bills billed billing
translate translates translated translating
query queries queried querying
company companies
verify verifies verified verifying
copy copies copied copying
box boxes boxed boxing
match matches matched matching
address addresses addressed addressing
process processes processed processing
pay pays paying paid
send sends sending sent
write writes writing written wrote
read reads reading
child children
person people
index indices indexed indexing
pdf pdfs
key keys
api apis
image images imaging
cache caches cached caching
status
bus
news
sing sings singing
string strings
bed beds
red
need needs needed needing
free
invoice invoices invoiced invoicing
schedule schedules scheduled scheduling
chart charts charted charting
analysis
is
""".strip().splitlines()

TERMS = [
    ("listPDFs", "list pdf"), ("PDFs", "pdf"), ("pdf", "pdf"), ("Pdf", "pdf"),
    ("formatCode", "format code"), ("getHTTPResponse", "get http response"),
    ("createInvoicePDF", "create invoice pdf"), ("XMLParser", "xml parser"),
    ("OAuth", "oauth"), ("iPhone", "iphone"), ("APIs", "api"), ("the", ""), ("Please", ""),
    ("invoice's", "invoice"), ("companies’", "company"), ("csv2json", "csv json"),
    ("Größe", "größe"), ("ΩΜΈΓΑ", "ωμέγα"), ("перевод", "перевод"), ("h2o", "h2o"),
    ("天気予報", "天気 気予 予報"), ("天", "天"),
]
# Texts of names in one spelling, and queries that have to find them.
SPELLINGS = [
    ("extract_text", "extract text"), ("extract-text", "extract text"), ("extractText", "text extraction"),
    ("ExtractText", "extracting texts"), ("EXTRACT TEXT", "extract text"),
    ("extract.text", "extract text"), ("extract/text", "extract text"),
    ("renameFiles", "rename a file"), ("rename_files", "renaming files"),
    ("PDFMerger", "merge pdf"), ("csv2json", "csv to json"), ("csv to json", "csv2json"),
    ("Translate", "TRANSLATE"), ("Übersetzung", "übersetzung"), ("перевод", "Перевод"),
    ("天気予報", "天気予報"), ("날씨 예보", "날씨"), ("weather forecast", "forecasts for the weather"),
    ("e-mail sender", "send e-mails"), ("Children's books", "child book"),
]


class Words(unittest.TestCase):
    """How words are made equal."""

    def test_stems(self):
        stems = {}
        for line in STEMS:
            with self.subTest(line):
                (one,) = {stem(word) for word in line.split()}
                self.assertNotIn(one, stems, stems.get(one))
                stems[one] = line

    def test_terms_of_a_token(self):
        for token, words in TERMS:
            with self.subTest(token):
                expected = [stem(word) for word in words.split()]
                self.assertEqual(terms_of(token)[:len(expected)] if expected else terms_of(token),
                                 expected)

    def test_spellings_find_one_another(self):
        filling = [agent(number, f"Filler {number}", "Paints fences in any colour.",
                         skill("Paint a fence")) for number in range(2, 8)]
        for name, query in SPELLINGS:
            with self.subTest(name, query=query):
                self.assertEqual(found([agent(1, "X", "", skill(name)), *filling], query), [1])
