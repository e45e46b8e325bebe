#!/usr/bin/env python3
"""Facts about the search. Run: python -m unittest test_capability_search

The baseline is stated a second time, in SQL; the recommendation is held to small directories that
show a rule each, to tables of constraints in words, and to properties of seeded random directories.
"""

import contextlib
import copy
import io
import itertools
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
import time
import unittest
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import build_fixtures  # noqa: E402
import capability_search  # noqa: E402
from capability_search import (  # noqa: E402
    AUTH_KINDS, REQUIREMENTS, THINGS, CapabilityIndex, SearchError, parse_time, phrasings, stem,
    terms_of)

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
        for _ in range(350):
            listings = random_directory(rng)
            index, second = self.both(listings)
            queries = ["", rng.choice(SPACES), rng.choice("abséß%_\\ωI"),
                       random_text(rng), rng.choice(SPACES) + random_text(rng) + "  "]
            for query in queries:
                expected = second.search(query)
                hits, longest = hits + bool(expected), max(longest, len(expected))
                self.assertEqual(index.baseline(query), expected, (query, listings))
            self.assertEqual(index.baseline("a", limit=2), second.search("a")[:2])
            if rng.random() < 0.3:
                signed = rng.random() < 0.5
                second.allow([one["id"] for one in listings
                              if bool(one.get("card", {}).get("signatures")) is signed])
                self.assertEqual(index.baseline("a", {"signed": signed}), second.search("a"))
            second.close()
        self.assertGreater(hits, 400)
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
        index = CapabilityIndex(listings, NOW)
        self.assertEqual(index.baseline(" PDF \t files\n"), [4, 3, 2, 5, 1])
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
            ([{"id": 1}, {"id": 2, "observations": {
                "tls": {"ok": True, "at": "2026-10-20T09:00"}}}],
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
    ("Größe", "große"), ("Café", "caf"), ("ΩΜΈΓΑ", "ωμέγα"), ("перевод", "перевод"), ("h2o", "h2o"),
    ("天気予報", "天気 気予 予報"), ("天", "天"),
]
# Texts of names in one spelling, and queries that have to find them.
SPELLINGS = [
    ("extract_text", "extract text"), ("extract-text", "extract text"),
    ("extractText", "text extraction"),
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


# ---- constraints in words ----

# How a name of THINGS is asked for and refused, behind tasks that none of the words belong to.
ASKING = ["{task}, with {name}", "{task} using {name}", "{task} via {name}", "{task} over {name}",
          "{task}, {name} only", "{task}, {name} required", "{task}. {name} only.",
          "{name} only, {task}", "I want to {task} with {name}", "{task}, {name} please"]
REFUSING = ["{task} without {name}", "{task} without a {name}", "{task}, no {name}",
            "{task} (no {name})", "without {name}, {task}", "{task} but no {name}",
            "{task}; no {name} please"]
NOT_NEEDING = ["{task}, {name} not needed", "{task}, doesn't need {name}",
               "{task}, that doesn't require {name}", "{task}, {name}-free",
               "{task}, no {name} needed"]
STANDING = ["{task}, {name}", "{name}, {task}", "{task} ({name})", "{task}. {name}.",
            "{task}, {name} please"]
CARD_AGES = ["{task}, card {name} in the last {span}", "{task}, listing {name} within {span}",
             "{task} with a card that was {name} less than {span} ago"]
PROTOCOL_AGES = ["{task}, {name} in the last {span}", "{task}, {name} within {span}",
                 "{task}, that {name} within the past {span}"]
RECENT = ["{task}, recently {name}", "{task}, {name} recently"]
SPANS = {"24 hours": 24, "3 days": 72, "two weeks": 336, "an hour": 1}
TASKS = {"paint a fence": ["paint", "fence"],
         "translate a letter into Welsh": ["translate", "letter", "welsh"],
         "show me where the nearest bakery is": ["show", "nearest", "bakery"]}
# No reading of the words can be had under these names.
BEYOND = {"oauth2.0", "re-checked"}

NO_KEY, NO_LOGIN, SIGNED = {"exclude_auth": ["api_key"]}, {"auth": "none"}, {"signed": True}
UNSIGNED, NO_OAUTH = {"signed": False}, {"exclude_auth": ["oauth2"]}
OAUTH, OIDC, BEARER, MTLS = ({"auth": kind} for kind in ("oauth2", "oidc", "http", "mtls"))
GRPC, RPC, REST = ({"transport": name} for name in ("GRPC", "JSONRPC", "HTTP+JSON"))
STREAMING, TLS = {"streaming": True}, {"tls": True}


def fresh(hours):
    """Return the requirement that the card was seen in the last hours."""
    return {"card_max_age_hours": hours}


def answered(hours):
    """Return the requirement that the agent answered in the last hours."""
    return {"protocol_max_age_hours": hours}


# What is said behind "paint a fence", and the requirement that it is.
SAID = [
    (" without an API key", NO_KEY), (", no API key needed", NO_KEY), (", api key free", NO_KEY),
    (" that does not need an API key", NO_KEY), (" which requires no API key", NO_KEY),
    ("; I have no API key", NO_KEY), (", I don't have an API key", NO_KEY),
    (" without having to get an API key", NO_KEY), (" with no key", NO_KEY), (", keyless", NO_KEY),
    (", API key not required", NO_KEY), (" with zero API keys", NO_KEY),
    (" without any API key whatsoever", NO_KEY), (" without requiring API keys", NO_KEY),
    (" WITHOUT AN API KEY", NO_KEY), (" without an api-key", NO_KEY),
    (" without an apiKey", NO_KEY), (" without an “API key”", NO_KEY),
    (", no need for an API key", NO_KEY),
    (" with an API key", {"auth": "api_key"}), (", API key only", {"auth": "api_key"}),
    (" without logging in", NO_LOGIN), (" with no sign-in", NO_LOGIN), (", no sign-up", NO_LOGIN),
    (" without signing up", NO_LOGIN), (" without creating an account", NO_LOGIN),
    (" without having to set up an account", NO_LOGIN), (", no account required", NO_LOGIN),
    (" without authentication", NO_LOGIN), (", no auth", NO_LOGIN), (" anonymously", NO_LOGIN),
    (" without credentials", NO_LOGIN), (", anonymous access", NO_LOGIN),
    (", no authentication at all", NO_LOGIN), (", no registration", NO_LOGIN),
    (" without any kind of login", NO_LOGIN), (", authentication not required", NO_LOGIN),
    (", must not require a login", NO_LOGIN), (", shouldn't ask for a password", NO_LOGIN),
    (" with open access", NO_LOGIN), (", I don't want to create an account", NO_LOGIN),
    (", no need to log in", NO_LOGIN), (", there should be no login", NO_LOGIN),
    (", doesn’t need a login", NO_LOGIN), (" — no login", NO_LOGIN), (" [no login]", NO_LOGIN),
    ("\n\twithout\tlogin ", NO_LOGIN), (" no login", NO_LOGIN),
    (" with OAuth 2.0", OAUTH), (" using OAuth2", OAUTH), (", must use OAuth", OAUTH),
    (", supports OAuth", OAUTH), (" via OAuth login", OAUTH), (", secured with OAuth", OAUTH),
    (" that uses OAuth", OAUTH), (", OAuth2 authentication", OAUTH),
    (" with OpenID Connect", OIDC), (", OIDC login", OIDC), (" with a bearer token", BEARER),
    (", bearer token auth", BEARER), (" over mutual TLS", MTLS), (" with mTLS", MTLS),
    (", client certificate required", MTLS),
    (" without OAuth", NO_OAUTH), (", not OAuth", NO_OAUTH), (", except OAuth", NO_OAUTH),
    (", no OAuth or API key", {"exclude_auth": ["api_key", "oauth2"]}),
    (" without OAuth or bearer tokens", {"exclude_auth": ["http", "oauth2"]}),
    (", neither OAuth nor mutual TLS", {"exclude_auth": ["oauth2", "mtls"]}),
    (", signed card only", SIGNED), (" with a signed agent card", SIGNED),
    (", verified publisher signature", SIGNED), (", card must be signed", SIGNED),
    (" with a verified publisher signature", SIGNED), (" whose card is signed", SIGNED),
    (" from a verified publisher", SIGNED), (", signature required", SIGNED),
    (", unsigned card", UNSIGNED), (", no signature", UNSIGNED), (", not signed", UNSIGNED),
    (" over gRPC", GRPC), (" with a gRPC interface", GRPC), (" that speaks gRPC", GRPC),
    (", must support gRPC", GRPC), (", reachable over gRPC", GRPC), (", gRPC transport", GRPC),
    (" over JSON-RPC", RPC), (" using JSONRPC", RPC), (" over REST", REST),
    (" with a REST API", REST), (" over HTTP+JSON", REST), (", HTTP+JSON only", REST),
    (" via a RESTful interface", REST),
    (" with streaming responses", STREAMING), (", must support streaming", STREAMING),
    (" that streams its answers", STREAMING), (", streaming", STREAMING),
    (" with valid TLS", TLS), (", working HTTPS required", TLS), (", HTTPS only", TLS),
    (" over HTTPS", TLS), (" with a valid certificate", TLS),
    (", card checked in the last 24 hours", fresh(24)), (", card seen in the last 36h", fresh(36)),
    (", card updated in the last two weeks", fresh(336)), (", checked in the past hour", fresh(1)),
    (", card checked today", fresh(24)), (", recently checked", fresh(168)),
    (", checked recently", fresh(168)), (", fresh card", fresh(168)),
    (", card checked less than a week ago", fresh(168)), (", card checked this week", fresh(168)),
    (", card no older than 5 days", fresh(120)), (", card at most 24 hours old", fresh(24)),
    (", card checked in the last ten days", fresh(240)), (", last checked within a day", fresh(24)),
    (" with a card updated in the last 1.5 days", fresh(36)),
    (", whose card was checked in the last 6 hours", fresh(6)),
    (", listing updated in the last month", fresh(720)),
    (", card checked in the last couple of days", fresh(48)),
    (", card checked in the last twenty-four hours", fresh(24)),
    (", card checked in the last 90 minutes", fresh(1.5)),
    (", checked by the directory in the last 2 days", fresh(48)),
    (", answered in the last 6 hours", answered(6)), (", reachable today", answered(24)),
    (", responding in the last 24 hours", answered(24)), (", recently reachable", answered(168)),
    (" that responded in the last week", answered(168)), (", responding recently", answered(168)),
    (", endpoint answered within 12 hours", answered(12)),
    (", online within the last hour", answered(1)), (", replied in the past day", answered(24)),
    (" by an agent that answered in the last 3 days", answered(72)),
    (", last responded less than 2 hours ago", answered(2)),
    (" with OAuth, signed card only", {**OAUTH, **SIGNED}),
    (" without login over gRPC", {**NO_LOGIN, **GRPC}),
    (" over gRPC with mutual TLS", {**GRPC, **MTLS}),
    (" without an API key and with streaming", {**NO_KEY, **STREAMING}),
    (" with OAuth and a signed card", {**OAUTH, **SIGNED}),
    (" without an account or an API key", {**NO_LOGIN, **NO_KEY}),
    (", gRPC and streaming required", {**GRPC, **STREAMING}),
    (", checked in the last 24 hours and reachable in the last hour", {**fresh(24), **answered(1)}),
    (", no login and no API key, over REST", {**NO_LOGIN, **NO_KEY, **REST}),
    (", no login, card checked in the last 24 hours and answered in the last 6 hours",
     {**NO_LOGIN, **fresh(24), **answered(6)}),
    # Said, but nothing that a listing could fail.
    (", login is fine", {}), (", signature optional", {}), (", OAuth is optional", {}),
    (", doesn't need to be signed", {}), (", streaming not needed", {}), (" without gRPC", {}),
    (", API key is ok", {}),
]

# These only look like constraints: nothing is taken out, nothing is filtered.
ONLY_TASKS = """
sign a contract
generate API keys
generate API keys for my developers
rotate API keys
revoke an API key
verify a TLS certificate's expiry
check TLS certificates
renew an SSL certificate
monitor HTTPS certificates of my domains
stream a video
stream music to a speaker
live streaming of a football match
log users in with OAuth
sign users in with OpenID Connect
add OAuth to my app
implement OAuth login in Django
set up mutual TLS between services
check when a web page was last updated
tell me when a page was updated in the last week
list files changed in the last 3 days
find emails received in the last week
news from the last 24 hours
weather for the last 7 days
remind me to call within 3 days
explain API authentication
explain how OAuth works
explain the difference between gRPC and REST
convert a REST API to gRPC
generate gRPC stubs from proto files
test a REST API
reset a forgotten password
remove a password from a PDF
create user accounts
open a bank account
verify a digital signature
create an email signature
find a rest area on the motorway
find the key of a song
extract key points from a text
register a domain name
company registration records
show available hotels
check who is online
is my website up
list recently updated repositories
credit card validation
verified reviews of a product
decode a JWT bearer token
issue client certificates
manage credentials
count the answers to a survey
write unit tests for authentication code
design a login page
no-code app builder
""".strip().splitlines()


class ConstraintsInWords(unittest.TestCase):
    """What is taken out of a query and applied as a requirement, and what is not."""

    def setUp(self):
        self.tasks = itertools.cycle(TASKS.items())

    def check(self, form, requirement, **parts):
        """Assert that a form beside the next task means the requirement and leaves the task."""
        task, terms = next(self.tasks)
        query = form.format(task=task, **parts)
        interpretation = EMPTY.recommend(query)["interpretation"]
        self.assertEqual((interpretation["constraints"], interpretation["task_terms"],
                          interpretation["ruled_out"]), (requirement, terms, []), query)

    def test_the_table_of_things(self):
        checked = 0
        for row in THINGS:
            lists = {key: [name.strip() for name in row.get(key, "").split(",") if name.strip()]
                     for key in ("names", "alone", "alone_refused")}
            asked, refused = row.get("asked"), row.get("refused")
            # A signature that isn't needed rules nothing out.
            refusing = REFUSING + (NOT_NEEDING if refused != UNSIGNED else [])
            for names, forms, requirement in [
                    (lists["names"], ASKING, asked), (lists["names"], refusing, refused),
                    (lists["alone"], STANDING, asked), (lists["alone_refused"], STANDING, refused)]:
                for name in names if requirement else ():
                    for form in forms if name not in BEYOND else ():
                        self.check(form, requirement, name=name)
                        checked += 1
        self.assertGreater(checked, 800)

    def test_the_table_of_ages(self):
        checked = 0
        for what, names, requirement in phrasings():
            (key,) = requirement
            if not key.endswith("_hours"):
                continue
            forms = CARD_AGES if key.startswith("card") else PROTOCOL_AGES
            for name in (one.strip() for one in names.split(",")):
                if name in BEYOND:
                    continue
                if requirement[key] == "N in hours":
                    for span, hours in SPANS.items():
                        for form in forms:
                            self.check(form, {key: hours}, name=name, span=span)
                else:
                    for form in RECENT:
                        self.check(form, requirement, name=name)
                checked += 1
        self.assertGreater(checked, 50)

    def test_every_requirement_is_in_the_table(self):
        stated = {key for _, _, requirement in phrasings() for key in requirement}
        self.assertEqual(stated, set(REQUIREMENTS))

    def test_said_in_many_ways(self):
        for words, requirement in SAID:
            with self.subTest(words):
                self.assertEqual(read("paint a fence" + words), (requirement, ["paint", "fence"]))

    def test_said_in_front(self):
        for query, requirement in [
                ("signed card, valid TLS, no API key: paint a fence", {**SIGNED, **TLS, **NO_KEY}),
                ("no login, paint a fence", NO_LOGIN), ("without OAuth: paint a fence", NO_OAUTH),
                ("recently checked, paint a fence", fresh(168))]:
            with self.subTest(query):
                self.assertEqual(read(query), (requirement, ["paint", "fence"]))

    def test_the_narrower_age_holds(self):
        for query in ("paint a fence, card checked in the last 6 hours, card seen this week",
                      "paint a fence, card seen this week, card checked in the last 6 hours"):
            self.assertEqual(read(query)[0], fresh(6))

    def test_tasks_stay_tasks(self):
        for query in ONLY_TASKS:
            with self.subTest(query):
                interpretation = EMPTY.recommend(query)["interpretation"]
                self.assertEqual(interpretation["constraints"], {})
                self.assertEqual(interpretation["constraint_phrases"], [])
                self.assertEqual(interpretation["ruled_out"], [])
                words = [word for word in re.findall(r"[\w']+", query.lower()) if terms_of(word)]
                self.assertEqual([word for word in words
                                  if word not in interpretation["task_terms"]], [])

    def test_words_filter_as_the_requirement_does(self):
        index = CapabilityIndex(FIXTURES["listings"], NOW)
        excluded = 0
        plain = len(index.recommend("generate a PDF")["items"])
        for words, requirement in SAID:
            with self.subTest(words):
                stated = index.recommend("generate a PDF" + words)["items"]
                explicit = index.recommend("generate a PDF", requirement)["items"]
                self.assertEqual([item["id"] for item in stated],
                                 [item["id"] for item in explicit])
                excluded += len(stated) < plain
        self.assertGreater(excluded, 100)


# ---- small directories ----

# What has nothing to do with any query below.
OTHERS = [
    agent(900, "Fence Works", "Paints fences in any colour.",
          skill("Paint a fence", "Paint a wooden fence."), tags=["garden"]),
    agent(901, "Loaf", "Recipes for bread.",
          skill("Suggest a recipe", "Suggest bread recipes from what is in the kitchen.", "bread")),
    agent(902, "Star Chart", "Shows the night sky.",
          skill("Show constellations", "Draw the stars above a place.", "astronomy")),
    agent(903, "Bike Desk", "Books bicycle repairs.",
          skill("Book a bicycle repair", "Reserve a repair slot.", "bicycle")),
]
PDF = [
    agent(1, "Press", "", skill("Generate a PDF", "Generate a PDF from HTML.", "pdf")),
    agent(2, "Forms", "", skill("Fill in a PDF form", "Fill the fields of a PDF form.", "pdf")),
    agent(3, "Lifter", "", skill("Extract text", "Extract the text of a PDF.", "pdf")),
    agent(4, "Glue", "", skill("Merge PDFs", "Merge several PDF files into one.", "pdf")),
    agent(5, "Lens", "", skill("View a PDF", "Show the pages of a PDF.", "pdf")),
    agent(6, "Tongue", "", skill("Translate a PDF", "Translate a PDF into Welsh.", "pdf")),
    agent(7, "Guard", "", skill("Encrypt a PDF", "Encrypt a PDF with a passphrase.", "pdf")),
]
MAIL = [
    agent(1, "Check", "", skill("Verify an email address", "Check that an email address exists.")),
    agent(2, "Outbox", "", skill("Send an email", "Send an email to one recipient.", "email")),
    agent(3, "Sorter", "", skill("Classify email", "Sort incoming email into folders.", "email")),
    agent(4, "Digest", "", skill("Summarise email", "Summarise a long email thread.", "email")),
]
MONEY = [
    agent(1, "Teller", "", skill("Payment check", "Verify that a payment arrived.", "payments")),
    agent(2, "Handbook", "", skill("Explain payments", "Explain how the payments work.", "guide")),
    agent(3, "Till", "", skill("Refund a payment", "Refund a payment to a customer.", "payments")),
    agent(4, "Watch", "", skill("Monitor payments", "Watch payments, alert on failures.")),
    agent(5, "Shops", "", skill("Compare prices", "Compare prices between shops.", "prices")),
    agent(6, "Oracle", "", skill("Predict prices", "Forecast house prices.", "prices")),
    agent(7, "Bureau", "", skill("Convert currencies", "Convert an amount into another currency.")),
    agent(8, "Coins", "", skill("Explain currencies", "Explain the history of a currency.")),
]
MEETINGS = [
    agent(1, "Diary", "", skill("Schedule a meeting", "Find a slot and schedule a meeting.")),
    agent(2, "Scribe", "", skill("Transcribe a meeting", "Transcribe the speech of a meeting.")),
    agent(3, "Gist", "", skill("Summarise a meeting", "Summarise what was said in a meeting.")),
]
DENYING = [
    agent(1, "Lens", "A PDF viewer. It does not create PDFs.",
          skill("View a PDF", "Show pages. View only.", "viewer")),
    agent(2, "Reader", "Reads PDF files aloud without generating PDFs.",
          skill("Read aloud", "Speak the text of a file.")),
    agent(3, "Sheets", "Creates spreadsheets instead of PDFs.",
          skill("Create a spreadsheet", "Create a spreadsheet, never a PDF.")),
    agent(5, "Handbook", "Explains invoices. Not for payments; it never sends mail.",
          skill("Explain an invoice", "Explain the lines of an invoice without sending mail.")),
]
DECLARING = [
    agent(4, "Press", "", skill("Create a PDF", "Create a PDF from HTML.")),
    agent(6, "Post", "", skill("Send mail", "Send mail to a list.")),
    agent(7, "Till", "", skill("Take payments", "Charge a card for payments.")),
]
TEXTS = [
    agent(1, "Tongue", "", skill("Translate text", "Translate a text into Welsh.", "text")),
    agent(2, "Digest", "", skill("Summarise text", "Summarise a text.", "text")),
    agent(3, "Both", "", skill("Translate text", "Translate a text."),
          skill("Summarise text", "Summarise a text.")),
]
COMPANIES = [
    agent(1, "Records", "", skill("Company records", "Look up the registration of a company.")),
    agent(2, "Board", "", skill("Company share prices", "Quote the share price of a company.")),
    agent(3, "Papers", "", skill("Company news", "Find news about a company.", "companies")),
]
DIRECTIONS = [
    agent(1, "Press", "", skill("Markdown to PDF", "Convert Markdown to PDF.", "pdf", "markdown")),
    agent(2, "Lift", "", skill("PDF to Markdown", "Convert PDF to Markdown.", "pdf", "markdown")),
    agent(3, "Voice", "", skill("Text to speech", "Speak a text aloud.", "audio")),
    agent(4, "Ear", "", skill("Speech to text", "Write down what is said.", "audio")),
]
PROSE = [
    agent(1, "Grand", "The complete office experience for modern teams: imagine reports, letters, "
          "memos, minutes, slides, calendars, weather forecasts, invoices, and everything else "
          "that your day brings, beautifully arranged by people who care about every detail of "
          "your work and who would love to hear from you.",
          skill("Compose a letter", "Compose a letter.")),
    agent(2, "Sky", "", skill("Weather forecast", "Forecast the weather for a city.", "weather")),
    agent(3, "Bill", "", skill("Create an invoice", "Create an invoice.", "invoices")),
]
HOMONYMS = [
    agent(1, "Tape", "", skill("Stock quotes", "Quote the price of a stock.", "stocks")),
    agent(2, "Shutter", "", skill("Stock photos", "Find stock photos.", "photos")),
    agent(3, "Muse", "", skill("Inspirational quotes", "Send a quote a day.", "quotes")),
    agent(4, "Cover", "", skill("Insurance quotes", "Quote the price of insurance.", "insurance")),
]
RELATED_WORDS = [
    agent(1, "Sky", "", skill("Weather forecast", "Predict the weather.")),
    agent(2, "Wing", "", skill("Flight search", "Find flights.")),
    agent(3, "Darkroom", "", skill("Photo editor", "Edit photos.")),
    agent(4, "Bench", "", skill("Find a lawyer", "Find a lawyer.")),
]
CONTRACTS = [
    agent(1, "Deed", "", skill("Sign a contract", "Sign a contract electronically.")),
    agent(2, "Clause", "", skill("Draft a contract", "Draft a contract."), signatures=[{}]),
    agent(3, "Keys", "", skill("Issue API keys", "Generate an API key for a developer."),
          **needs("oauth2")),
    agent(4, "Passwords", "", skill("Generate passwords", "Generate a password."),
          **needs("api_key")),
    agent(5, "Reel", "", skill("Stream a video", "Stream a video.")),
    agent(6, "Cut", "", skill("Edit a video", "Edit a video."), capabilities={"streaming": True}),
]
SCRIPTS = [
    agent(1, "X", "", skill("天気予報", "東京の天気予報")),
    agent(2, "Y", "", skill("翻訳", "文章の翻訳")),
    agent(3, "Z", "", skill("Прогноз погоды", "Погода в городе")),
    agent(4, "W", "", skill("Traduction", "Traduire une lettre")),
]

# The rule, a directory, and for each query the listings that come first, in any order, and those
# that must not be returned; ALL_OTHERS: nothing but the first.
ALL_OTHERS = None
RULES = [
    ("the operation decides, by any of its words", PDF, [
        *((query, {1}, ALL_OTHERS) for query in (
            "generate a PDF", "create a PDF", "make PDFs", "produce a PDF", "PDF generation",
            "PDF creator", "compose a PDF", "render a PDF", "creating pdfs",
            "I need someone to create a pdf for me")),
        *((query, {2}, ALL_OTHERS) for query in (
            "fill in a PDF form", "complete a PDF form", "PDF form filling", "populate PDF forms")),
        *((query, {3}, ALL_OTHERS) for query in (
            "extract text from a PDF", "read the text out of a PDF", "parse text in PDFs")),
        *((query, {4}, ALL_OTHERS) for query in (
            "merge PDFs", "combine PDF files", "join PDFs", "concatenate PDF files")),
        *((query, {6}, ALL_OTHERS) for query in (
            "translate a PDF", "localise a PDF", "PDF translation")),
        ("encrypt a PDF", {7}, ALL_OTHERS), ("PDF encryption", {7}, ALL_OTHERS),
        ("view a PDF", {5}, {2, 4, 6, 7}), ("preview a PDF", {5}, {2, 4, 6, 7}),
        *((query, set(), ALL_OTHERS) for query in (
            "delete a PDF", "compress a PDF", "sign a PDF", "split a PDF", "compare two PDFs")),
        ("PDF", {1, 2, 3, 4, 5, 6, 7}, ALL_OTHERS)]),
    ("the same object, another operation", MAIL, [
        *((query, {1}, ALL_OTHERS) for query in (
            "verify an email address", "validate email addresses", "check an e-mail address",
            "confirm an email address", "email verification", "email address validation")),
        *((query, {2}, ALL_OTHERS) for query in (
            "send an email", "deliver an email", "dispatch e-mails", "sending emails")),
        *((query, {3}, ALL_OTHERS) for query in ("categorise email", "sort email")),
        *((query, {4}, ALL_OTHERS) for query in ("summarize an email", "condense an email thread")),
        *((query, set(), ALL_OTHERS) for query in ("delete an email", "encrypt an email"))]),
    ("the same object, another operation: money", MONEY, [
        ("check a payment", {1}, {2, 3}), ("verify a payment", {1}, {2, 3}),
        ("explain payments", {2}, {1, 3, 4}), ("describe the payments", {2}, {3}),
        ("monitor payments", {4}, {2, 3}), ("track payments", {4}, {2, 3}),
        ("refund a payment", {3}, {1, 2, 4}), ("compare prices", {5}, {1, 2, 3, 4, 7, 8}),
        ("price comparison", {5}, {7, 8}), ("forecast prices", {6}, {7, 8}),
        ("price prediction", {6}, {7, 8}), ("convert currencies", {7}, ALL_OTHERS),
        ("currency conversion", {7}, ALL_OTHERS), ("explain currencies", {8}, ALL_OTHERS)]),
    ("the same object, another operation: meetings", MEETINGS, [
        *((query, {1}, ALL_OTHERS) for query in (
            "schedule a meeting", "book a meeting", "arrange a meeting", "meeting scheduling")),
        ("transcribe a meeting", {2}, {1}), ("meeting transcription", {2}, {1}),
        ("summarize a meeting", {3}, {1})]),
    ("what a card denies is not declared", DENYING + DECLARING, [
        ("create a PDF", {4}, ALL_OTHERS), ("generate PDFs", {4}, ALL_OTHERS),
        ("send mail", {6}, ALL_OTHERS), ("payments", {7}, {5}), ("take payments", {7}, {5}),
        ("view a PDF", {1}, {3}), ("explain an invoice", {5}, ALL_OTHERS),
        ("create a spreadsheet", {3}, {4})]),
    ("what is only denied is not found", DENYING, [
        (query, set(), ALL_OTHERS) for query in
        ("create a PDF", "generate PDFs", "send mail", "payments", "take payments")]),
    ("a query excludes too", TEXTS, [
        (query, {1}, {2}) for query in (
            "translate a text, not summarise", "translate text, don't summarise it",
            "translate texts rather than summarise them", "translate a text without summarising",
            "translate a text instead of summarising it", "translate a text but not summarise it")]
     + [("summarise a text, not translate", {2}, {1})]),
    ("a query excludes an object", COMPANIES, [
        ("company records, not share prices", {1}, {2}),
        ("share prices of a company, not news", {2}, {3}),
        ("company news, no share prices", {3}, {2}),
        ("company news without share prices", {3}, {2})]),
    ("direction", DIRECTIONS, [
        *((query, {1}, {2}) for query in (
            "turn Markdown into PDF", "convert Markdown to PDF", "markdown to pdf")),
        *((query, {2}, {1}) for query in (
            "turn a PDF into Markdown", "convert pdf files to markdown", "PDF to Markdown")),
        *((query, {3}, {4}) for query in (
            "text to speech", "turn text into speech", "text to speech, not speech to text")),
        *((query, {4}, {3}) for query in ("speech to text", "convert speech into text"))]),
    ("a declared skill stands above a mention in passing", PROSE, [
        ("weather forecast", {2}, set()), ("create an invoice", {3}, set()),
        ("compose a letter", {1}, ALL_OTHERS)]),
    ("the same words, another thing", HOMONYMS, [
        ("stock quotes", {1}, ALL_OTHERS), ("stock photos", {2}, ALL_OTHERS),
        ("inspirational quotes", {3}, ALL_OTHERS), ("insurance quotes", {4}, ALL_OTHERS)]),
    ("related words", RELATED_WORDS, [
        ("meteorology", {1}, ALL_OTHERS), ("find a plane", {2}, ALL_OTHERS),
        ("edit a picture", {3}, ALL_OTHERS), ("find an attorney", {4}, ALL_OTHERS)]),
    ("tasks that look like constraints, and both at once", CONTRACTS, [
        ("sign a contract", {1}, ALL_OTHERS), ("draft a contract", {2}, ALL_OTHERS),
        ("draft a contract, signed card", {2}, ALL_OTHERS),
        ("sign a contract, signed card", set(), ALL_OTHERS),
        ("generate API keys", {3}, ALL_OTHERS), ("generate API keys with OAuth", {3}, ALL_OTHERS),
        ("generate API keys, no login", set(), ALL_OTHERS),
        ("generate a password without an API key", set(), ALL_OTHERS),
        ("generate a password with an API key", {4}, ALL_OTHERS),
        ("stream a video", {5}, ALL_OTHERS), ("edit a video with streaming", {6}, ALL_OTHERS),
        ("stream a video with streaming", set(), ALL_OTHERS)]),
    ("other scripts", SCRIPTS, [
        ("東京の天気", {1}, ALL_OTHERS), ("翻訳", {2}, ALL_OTHERS),
        ("прогноз погоды", {3}, ALL_OTHERS), ("traduire une lettre", {4}, ALL_OTHERS)]),
    ("nothing when nobody declares it", PDF + [
        agent(8, "Firm", "", skill("Company search", "Find a company."))], [
        (query, set(), ALL_OTHERS) for query in (
            "order a pizza", "translate speech", "rent a car", "write a poem", "generate an image",
            "create a spreadsheet", "fix a leaking tap", "remove the background from a photo",
            "a quantum chromodynamics solver", "generate music", "find a dentist",
            "company logo design", "company car leasing", "the best agent for me", "agent", "")]),
]

DENIALS = """
It does not create PDFs.
Doesn't create PDFs.
It doesn’t create PDFs.
It can't create PDFs.
It cannot create, edit or merge PDFs.
View only: no PDF creation.
Not for creating PDFs.
It never creates PDFs.
Shows files instead of creating PDFs.
Works without creating PDFs.
Shows files rather than creating PDFs.
Neither creates nor edits PDFs.
Won't create PDFs.
This is no PDF creator.
Everything except creating PDFs.
PDFs are not created.
New PDFs are not created here, only shown.
You can't use it to create PDFs.
It does not let you create PDFs.
Not intended for creating PDFs.
""".strip().splitlines()
NO_DENIALS = """
It not only creates PDFs but sends them.
No matter the size, creates PDFs.
Creates PDFs without delay.
Not just words: creates PDFs.
No limits. Creates PDFs.
Creates PDFs, not images.
Never wait again; it creates PDFs.
It does not need a template: it creates PDFs from scratch.
Without a template, create PDFs.
No more waiting, create PDFs.
""".strip().splitlines()

RESIZE = skill("Resize an image", "Resize an image to any width.", "images")
SOUND = {"card": seen(1), "tls": seen(1), "protocol": seen(1)}


def resizer(number, description="Resizes images for shops.", *skills, **more):
    """Return a listing that resizes images; all are equal but for what is given."""
    return agent(number, "Photo desk", description, *(skills or [RESIZE]), **more)


class SmallDirectories(unittest.TestCase):
    """A rule each."""

    def order(self, listings, query="resize an image"):
        """Return the ids found among these and unrelated listings, the same in reverse order."""
        ids = found(listings + OTHERS, query)
        self.assertEqual(found(OTHERS + listings[::-1], query), ids)
        return ids

    def test_rules(self):
        for rule, listings, queries in RULES:
            for query, first, absent in queries:
                with self.subTest(rule, query=query):
                    ids = found(listings + OTHERS, query)
                    self.assertEqual(set(ids[:len(first)]), first)
                    if absent is ALL_OTHERS:
                        self.assertEqual(ids[len(first):], [])
                    else:
                        self.assertEqual(set(ids) & absent, set())

    def test_denials(self):
        plain = agent(2, "Leaf", "", skill("Show pages", "Show a page of a book."))
        for text, expected in [*((text, []) for text in DENIALS),
                               *((text, [1]) for text in NO_DENIALS)]:
            for where, listing in [
                    ("description", agent(1, "Lens", text, skill("Show a page", "On a screen."))),
                    ("skill", agent(1, "Lens", "", skill("Page", text)))]:
                with self.subTest(text, where=where):
                    self.assertEqual(self.order([listing, plain], "create a PDF"), expected)

    def test_evidence_among_comparable_matches(self):
        signed = {"signatures": [{}]}
        self.assertEqual(self.order([
            resizer(1), resizer(2, observations=SOUND),
            resizer(3, observations=SOUND, **signed), resizer(4, observations={"card": seen(1)}),
            resizer(5, observations={"card": seen(1), "tls": seen(1)})]), [3, 2, 5, 4, 1])
        # A slightly weaker match with more evidence goes in front; a far weaker one doesn't.
        slightly = resizer(2, "Resizes images for shops and farms.", observations=SOUND)
        scores = [item["score"] for item in CapabilityIndex(
            [resizer(1), slightly, *OTHERS], NOW).recommend("resize an image")["items"]]
        self.assertLess(scores[0], scores[1])
        self.assertEqual(self.order([resizer(1), slightly]), [2, 1])
        for what, observations in [
                ("failed", {kind: seen(1, ok=False) for kind in SOUND}),
                ("after the clock", {kind: seen(-1) for kind in SOUND}),
                ("stale", {"card": seen(9999), "protocol": seen(9999)})]:
            with self.subTest(what):
                self.assertEqual(self.order([resizer(1, observations=observations),
                                             resizer(2, observations={"card": seen(1)})]), [2, 1])

    def test_capability_before_evidence(self):
        passing = agent(1, "All in one", "Resize an image, rotate a photo, frame a poster: our "
                        "friends have done it all, and so much more, for many happy years now.",
                        skill("Rotate a poster", "Rotate a poster by degrees."),
                        observations=SOUND, signatures=[{}])
        self.assertEqual(self.order([passing, resizer(2)])[0], 2)

    def test_publishers_rotate_among_equals(self):
        words = zip(["shops", "schools", "farms", "museums", "banks", "ships"], "AAABBC")
        listings = [resizer(number, f"Resizes images for {word}.", publisher=publisher,
                            listed=f"2026-0{10 - number}-01")
                    for number, (word, publisher) in enumerate(words, 1)]
        # Newest first: A's 1, 2, 3; B's 4, 5; C's 6.
        self.assertEqual(self.order(listings), [1, 4, 6, 2, 5, 3])
        for listing in listings:
            del listing["publisher"]
        self.assertEqual(self.order(listings), [1, 2, 3, 4, 5, 6])

    def test_ties(self):
        # Equal in all else: newest first, then lowest id.
        listings = [resizer(number, f"Resizes images for {word}.", listed=listed)
                    for number, word, listed in [
                        (4, "shops", "2026-01-01"), (3, "farms", "2026-03-01"),
                        (2, "banks", "2026-01-01"), (1, "ships", "2026-02-01")]]
        self.assertEqual(self.order(listings), [3, 1, 2, 4])

    def test_copies_are_kept_apart(self):
        text = ("Resizes images for shops, schools and clubs, keeps their colours, and hands "
                "them back in the same order as before.")
        copies = [resizer(number, text, publisher=publisher, listed=f"2026-0{9 - number}-01")
                  for number, publisher in enumerate("ABC", 1)]
        other = resizer(4, text.replace("shops", "banks").replace("clubs", "farms"),
                        publisher="D", listed="2020-01-01")
        self.assertEqual(self.order([*copies, other]), [1, 4, 2, 3])

    def test_long_lists_and_many_words_earn_nothing(self):
        plain = resizer(2, listed="2020-01-01")
        many = [skill(f"{verb} {thing}", f"{verb} {thing} for you.")
                for verb in ("Rotate", "Sort", "Print", "Frame", "Hang")
                for thing in ("posters", "stamps", "coins", "books", "shells", "maps")]
        sea = "A warm welcome from a small firm near the sea, with ink on its hands. " * 4
        for what, long in [
                ("other skills", resizer(1, "Does it all.", *many, RESIZE)),
                ("one skill thirty times", resizer(1, "Resizes images for shops.", *[RESIZE] * 30)),
                ("a long description", resizer(1, sea + "Resizes images for shops."))]:
            with self.subTest(what):
                ids = self.order([plain, long])
                self.assertEqual(set(ids), {1, 2})
                scores = {item["id"]: item["score"] for item in CapabilityIndex(
                    [plain, long, *OTHERS], NOW).recommend("resize an image")["items"]}
                self.assertLessEqual(scores[1], scores[2])

    def test_two_tasks_in_one_query(self):
        listings = [agent(1, "Compass", "", skill("Plan a trip", "Plan a trip.")),
                    agent(2, "Bureau", "", skill("Convert currency", "Convert currency amounts."))]
        for query in ("plan a trip. Then convert currency.",
                      "plan a trip, and also convert currency"):
            self.assertEqual(set(self.order(listings, query)), {1, 2})

    def test_worded_constraints_exclude(self):
        listings = [resizer(1), resizer(2, **needs("api_key")), resizer(3, **needs("oauth2")),
                    resizer(4, signatures=[{}]), resizer(5, observations={"card": seen(30)})]
        for words, expected in [
                ("", {1, 2, 3, 4, 5}), (" without an API key", {1, 3, 4, 5}), (" with OAuth", {3}),
                (", no login", {1, 4, 5}), (", signed card only", {4}),
                (", card checked in the last 2 days", {5}),
                (", card checked in the last day", set()),
                (" over gRPC", set())]:
            with self.subTest(words):
                self.assertEqual(set(self.order(listings, "resize an image" + words)), expected)
        index = CapabilityIndex(listings, NOW)
        both = index.recommend("resize an image, no login", {"signed": True})
        self.assertEqual([item["id"] for item in both["items"]], [4])
        self.assertEqual((both["interpretation"]["constraints"],
                          both["interpretation"]["requirements"]), ({"auth": "none"}, SIGNED))

    def test_results_explain_themselves(self):
        answer = CapabilityIndex(PDF + OTHERS, NOW).recommend("create a PDF without an API key")
        self.assertEqual(answer["interpretation"]["task_terms"], ["create", "pdf"])
        self.assertEqual(answer["interpretation"]["operations"], ["generate"])
        self.assertEqual(answer["interpretation"]["constraints"], NO_KEY)
        (item,) = answer["items"]
        self.assertEqual((item["id"], item["matched_skills"], item["matched_terms"]),
                         (1, ["Generate a PDF"], ["create", "pdf"]))
        reasons = "\n".join(item["reasons"])
        for fragment in ("create", "pdf", "generate", "exclude_auth", "api_key", "evidence"):
            self.assertIn(fragment, reasons)
        excluding = CapabilityIndex(TEXTS, NOW).recommend("translate a text, not summarise")
        self.assertEqual(excluding["interpretation"]["ruled_out"], ["summarise"])


# ---- properties ----

VERBS = ("create make generate extract read merge split verify check send translate summarise "
         "book schedule monitor compare explain convert find edit resize rotate").split()
OBJECTS = ("pdf invoice email letter contract image video meeting payment company address "
           "route recipe photo song report form table stock price").split()
JOINS = ("without", "not", "and", "into", "for", "instead of", ",", ".", "never", "with", "your")
SAID_WORDS = [words for words, requirement in SAID if requirement]


def phrase(rng):
    """Return a few words that say something or nothing."""
    words = [rng.choice(VERBS), rng.choice(OBJECTS)]
    for _ in range(rng.randrange(3)):
        words += [rng.choice(JOINS), rng.choice(VERBS + OBJECTS)]
    return " ".join(words)


def worded_directory(rng):
    """Return listings made of words, with facts and observations of all kinds."""
    listings = []
    for number in rng.sample(range(1, 100), rng.randrange(1, 25)):
        names = [rng.choice([phrase, lambda rng: "_".join(phrase(rng).split()),
                             lambda rng: phrase(rng).title().replace(" ", "")])(rng)
                 for _ in range(rng.randrange(4))]
        listing = agent(
            number, phrase(rng), ". ".join(phrase(rng) for _ in range(rng.randrange(4))),
            *(skill(name, phrase(rng), rng.choice(OBJECTS)) for name in names),
            publisher=rng.choice("ABCDE"), listed=f"2026-0{rng.randrange(1, 4)}-01",
            observations={kind: seen(rng.choice([1, 30, 500, -1]), rng.random() < 0.8)
                          for kind in SOUND if rng.random() < 0.8},
            signatures=[{}] * rng.randrange(2), capabilities={"streaming": rng.random() < 0.5},
            **speaks(*rng.sample(["JSONRPC", "GRPC", "HTTP+JSON"], rng.randrange(3))),
            **rng.choice([DECLARED[name] for name in DECLARED if "unknown" not in name
                          and "flat" not in name]))
        listings.append(listing)
        if rng.random() < 0.2:
            listings.append({**listing, "id": number + 100, "publisher": rng.choice("ABCDE")})
    return listings


def searches(seed, rounds):
    """Yield (rng, listings, their index, four queries) for seeded random directories."""
    rng = random.Random(seed)
    for _ in range(rounds):
        listings = worded_directory(rng)
        yield rng, listings, CapabilityIndex(listings, NOW), [
            phrase(rng) + (rng.choice(SAID_WORDS) if rng.random() < 0.3 else "")
            for _ in range(4)]


HOSTILE_VALUES = [None, True, 0, -1, 1e308, "", " ", [], {}, [[]], [None], [[[["x"]]]], {"a": {}},
                  "\ud800", "a\ud800b", "\x00\x01\x1b[31m", "\u202eabc", "pdf " * 2000,
                  "x" * 100_000, ["pdf", 5, None, {"name": "pdf"}], {"name": "pdf"}, "🦄", "\n\n"]
HOSTILE_QUERIES = ["", " \n\t", "?!.,;:", "the of and with", "please", "pdf " * 10_000, "🦄 pdf 🦄",
                   "אימות כתובת", "\u202epdf\u202c", "\x00", "pdf\x00pdf", "\ud800", "x" * 5000,
                   "not", "without", "with", "no no no no", "to to to", "card in the last",
                   "in the last 99999999999999999999 days",
                   "card checked in the last 1e5 days", "checked in the last", "no login " * 500,
                   "(((((", "a2a", "2to2", "'", "’", "don't", "%s {0} \\", "-1", "1.", "٣ أيام",
                   "card checked in the last ٣ days", "card checked in the last ² days"]


# A query, a directory, and the ids that are returned, in order where it matters.
KINDS = [
    ("another verb on the same object", "resize an image", [
        agent(1, "A", "", skill("Resize an image")), agent(2, "B", "", skill("Delete an image"))],
     [1]),
    ("a verb that no table knows", "water my plants", [
        agent(1, "A", "", skill("Water plants")), agent(2, "B", "", skill("Sell plants"))], [1]),
    ("the opposite verb", "lock a door", [
        agent(1, "A", "", skill("Unlock a door")), agent(2, "B", "", skill("Lock a door"))], [2]),
    ("who explains how does not do", "create an invoice", [
        agent(1, "Handbook", "Explains how to create invoices."),
        agent(2, "Maker", "", skill("Create an invoice", "Creates an invoice."))], [2]),
    ("denied behind", "create a PDF", [
        agent(1, "A", "Creating PDFs is not supported."), agent(2, "B", "Creates PDFs."),
        agent(3, "C", "It is unable to create PDFs.")], [2]),
    ("from, not to", "make a PDF from Markdown", [
        agent(1, "A", "", skill("PDF to Markdown", "Turns a PDF into Markdown.")),
        agent(2, "B", "", skill("Markdown to PDF", "Turns Markdown into a PDF."))], [2]),
    ("a name that says the direction", "markdown2pdf", [
        agent(1, "A", "", skill("PDF to Markdown")),
        agent(2, "B", "", skill("Markdown to PDF"))], [2]),
    ("an operation that is a noun", "code review for pull requests", [
        agent(1, "A", "", skill("Review pull requests", "Reviews the code of a pull request.")),
        agent(2, "B", "", skill("Format code", "Formats code before a pull request."))], [1]),
    ("a phrasal verb", "back up a database", [
        agent(1, "A", "", skill("Back up a database")),
        agent(2, "B", "", skill("Query a database"))], [1]),
    ("accents do not matter", "find a cafe", [agent(1, "Café finder")], [1]),
    ("nor here", "résumé builder", [agent(1, "Resume builder")], [1]),
    ("words that do not stand together are no compound", "dim the lights in my house", [
        agent(1, "Lighthouse", "", skill("Audit a page")),
        agent(2, "Lamps", "", skill("Dim the lights"))], [2]),
    ("words that stand together are one", "light house history", [
        agent(1, "Lighthouse history")], [1]),
    ("a place is a detail", "find a flight to Tokyo", [
        agent(1, "Flights", "Finds flights."), agent(2, "Tokyo", "Finds restaurants in Tokyo.")],
     [1]),
    ("so are a time and a quality", "cheap flights next weekend", [
        agent(1, "Flights", "Finds flights."), agent(2, "Cheap weekend socks")], [1]),
    ("a detail that is declared comes first", "ferries in Norway tomorrow", [
        agent(1, "Ferries"), agent(2, "Ferries of Norway")], [2, 1]),
    ("where it is to happen is a detail", "find a hotel near the beach", [
        agent(1, "Hotels", "Finds hotels."), agent(2, "Beach", "Sells beach towels.")], [1]),
    ("some operations say enough", "translate a letter into French", [
        agent(1, "Translator", "Translates texts."), agent(2, "Letter", "Counts letters.")], [1]),
    ("but not for another medium", "translate a video", [
        agent(1, "Translator", "Translates texts.")], []),
    ("from written text, with a word between", "turn speech into text", [
        agent(1, "A", "Makes speech audio from written text."),
        agent(2, "B", "Turns recorded speech into text.")], [2]),
    ("who converts only to it does not convert it", "convert PDF to Word", [
        agent(1, "A", "Converts Excel to PDF."), agent(2, "B", "Converts PDF to Word.")], [2]),
    ("who converts only it does not make it", "convert Word to PDF", [
        agent(1, "A", "Converts PDF to Excel."), agent(2, "B", "Converts Word to PDF.")], [2]),
]


class Kinds(unittest.TestCase):
    """One small directory for each kind of fault that was once there."""

    def test_kinds(self):
        others = [agent(8, "Weather", "Forecasts rain."), agent(9, "Chess", "Plays chess.")]
        for what, query, listings, expected in KINDS:
            with self.subTest(what):
                items = CapabilityIndex(listings + others, NOW).recommend(query)["items"]
                self.assertEqual([item["id"] for item in items], expected)

    def test_publishers_take_turns_with_long_copies(self):
        text = "Resize any image to the width, height and file size that you name, in seconds."
        listings = [agent(number, "Resizer", "", skill("Resize an image", text), publisher=name)
                    for number, name in enumerate("AAABC", 1)]
        items = CapabilityIndex(listings, NOW).recommend("resize an image")["items"]
        self.assertEqual([item["id"] for item in items], [1, 4, 5, 2, 3])

    def test_a_page_of_near_copies(self):
        text = ("Sends parcels to every town and follows them on their way, with an estimate of "
                "the hour of delivery, a message for the neighbour, and a picture of the door. "
                "Prints labels, weighs boxes, insures glass and stores what nobody accepts")
        copies = [agent(number, f"{name} parcels", f"{text}, {name}.", publisher=name)
                  for number, name in enumerate(("Ant", "Bee", "Cat", "Dog", "Elk"), 1)]
        other = agent(6, "Courier", "Sends letters, flowers, keys and, where the road allows it, "
                      "parcels. Opens at eight, closes at noon, speaks four languages, accepts "
                      "coins, repairs umbrellas, knows the timetable of the ferry and the tide, "
                      "and lends bicycles to visitors who bring them back before sunset.")
        items = CapabilityIndex([*copies, other], NOW).recommend("send parcels")["items"]
        self.assertEqual(items[0]["id"], 1)
        self.assertLess([item["id"] for item in items].index(6), 4)
        self.assertEqual(sum("lowered: has the text of one before it" in item["reasons"]
                             for item in items), 4)
        scores = [item["score"] for item in items]
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_odd_security_requirements_declare_nothing_odd(self):
        for schemes in (5, [[]], [{}], "key", None):
            card = {"name": "A PDF maker", "securityRequirements": [{"schemes": schemes}]}
            index = CapabilityIndex([{"id": 1, "card": card}], NOW)
            self.assertEqual(index.baseline("pdf", {"auth": "none"}), [1])

    def test_times_are_read_alike_on_every_version(self):
        for value in ([], {}, 5, None, True):
            with self.assertRaises(SearchError):
                parse_time(value)
        for text, holds in (
                ("2026-10-20T09:00:00.5+00:00", True), ("2026-10-20T09:00Z", True),
                ("20260101T000000Z", False), ("2026-10-20T09:00:00+0000", False),
                ("2026-10-20T09:00:00,5+00:00", False), ("2026-10-20", False),
                ("2026-10-20T09:00:00", False), ("2026-13-20T09:00:00Z", False)):
            with self.subTest(text):
                if holds:
                    self.assertIsNotNone(parse_time(text).utcoffset())
                else:
                    with self.assertRaises(SearchError):
                        parse_time(text)

    def test_long_queries_take_no_square_of_their_length(self):
        index = CapabilityIndex([agent(1, "A PDF maker")], NOW)
        for query in (" ".join(f"w{number}x" for number in range(5000)), "x" * 100_000):
            start = time.perf_counter()
            index.recommend(query)
            self.assertLess(time.perf_counter() - start, 3)


# Behind a task, with the requirements that are read; the task keeps its words.
LISTS_AND_OPPOSITES = [
    (", signed card not needed", {}), (", card checked more than 3 days ago", None),
    (", not checked recently", None), (", not necessarily signed", {}),
    (" with mTLS and gRPC", {"auth": "mtls", "transport": "GRPC"}),
    (", signed and streaming", {"signed": True, "streaming": True}),
    (" with OAuth or an API key", {}), (" over gRPC or REST", {}),
    (", OAuth-protected", {"auth": "oauth2"}), (" without me having to log in", {"auth": "none"}),
    (", nothing that needs an account", {"auth": "none"}), (", HTTPS must work", {"tls": True}),
    (", card checked yesterday", {"card_max_age_hours": 48}),
    (", card age under 24 hours", {"card_max_age_hours": 24}),
    (", seen in the last fifteen minutes", {"card_max_age_hours": 0.25}),
    (", currently reachable", {"protocol_max_age_hours": 24}),
    (", with a recently checked card", {"card_max_age_hours": 168}),
    (", must authenticate with mutual TLS", {"auth": "mtls"}),
    (" over REST without authentication", {"transport": "HTTP+JSON", "auth": "none"}),
    (", anonymous", {"auth": "none"}),
    (", card checked in the last 0 days", None),
    (f", card checked in the last {'9' * 400} days", None),
]


class ConstraintKinds(unittest.TestCase):
    """Several constraints at once, and phrasings that must not turn into their opposite."""

    def test_lists_and_opposites(self):
        for words, expected in LISTS_AND_OPPOSITES:
            with self.subTest(words[:40]):
                constraints, terms = read("paint a fence" + words)
                self.assertEqual(constraints, expected or {})
                if expected is not None:
                    self.assertEqual(terms, ["paint", "fence"])

    def test_still_tasks(self):
        for query in ("sign a PDF with my signature", "collect anonymous feedback",
                      "anonymous survey creation", "unlock a PDF without the password"):
            with self.subTest(query):
                self.assertEqual(read(query)[0], {})

    def test_anonymous_use_and_anonymous_things(self):
        self.assertEqual(read("anonymous weather forecast"),
                         ({"auth": "none"}, ["weather", "forecast"]))
        self.assertEqual(read("log users in with OAuth")[0], {})
        self.assertEqual(read("authenticate with OAuth")[0], {})

    def test_an_agent_that_is_asked_for(self):
        self.assertEqual(read("a gRPC agent to paint a fence")[0], {"transport": "GRPC"})
        self.assertEqual(read("a signed agent that paints a fence")[0], {"signed": True})


class Properties(unittest.TestCase):
    """What holds in every directory."""

    def test_order_of_the_listings_changes_nothing(self):
        returned = 0
        for rng, listings, index, queries in searches(2, 30):
            shuffled = CapabilityIndex(rng.sample(listings, len(listings)), NOW)
            for query in queries:
                answer = index.recommend(query)
                self.assertEqual(shuffled.recommend(query), answer, query)
                returned += len(answer["items"])
        self.assertGreater(returned, 150)

    def test_names_of_ids_change_only_ids(self):
        for _, listings, index, queries in searches(3, 20):
            renamed = CapabilityIndex(
                [{**listing, "id": f"id-{listing['id']:05}"} for listing in listings], NOW)
            for query in queries:
                answer = index.recommend(query)
                for item in answer["items"]:
                    item["id"] = f"id-{item['id']:05}"
                self.assertEqual(renamed.recommend(query), answer, query)

    def test_answers_repeat_and_arguments_stay(self):
        for rng, listings, _, queries in searches(4, 20):
            requirements = rng.choice([None, {}, {"signed": True}, {"exclude_auth": ["oauth2"]}])
            before = copy.deepcopy((listings, requirements))
            index = CapabilityIndex(listings, NOW)
            for query in queries[:2]:
                first = index.recommend(query, requirements)
                text, ids = json.dumps(first, allow_nan=False), index.baseline(query, requirements)
                index.recommend(phrase(rng) + " without login")
                # A caller that spoils its copy of an answer spoils no other answer.
                first["interpretation"]["constraints"].clear()
                first["items"].clear()
                self.assertEqual(json.dumps(index.recommend(query, requirements)), text)
                self.assertEqual(index.baseline(query, requirements), ids)
            self.assertEqual((listings, requirements), before)

    def test_a_limit_is_a_prefix(self):
        longest = 0
        for _, _, index, queries in searches(5, 20):
            everything = index.recommend(queries[0])["items"]
            self.assertEqual(index.recommend(queries[0], None, None)["items"], everything)
            for limit in (0, 1, 2, 5, 1000):
                self.assertEqual(index.recommend(queries[0], limit=limit)["items"],
                                 everything[:limit])
            longest = max(longest, len(everything))
        self.assertGreater(longest, 5)

    def test_what_is_returned(self):
        filtered = 0
        for rng, listings, index, queries in searches(6, 60):
            by_id = {listing["id"]: listing for listing in listings}
            explicit = rng.choice([{}, {"tls": True}, {"card_max_age_hours": 48},
                                   {"transport": "grpc"}, {"auth": "none"}])
            for query in queries:
                answer = index.recommend(query, explicit)
                ids = [item["id"] for item in answer["items"]]
                self.assertEqual(len(set(ids)), len(ids))
                filtered += bool(answer["interpretation"]["constraints"] and ids)
                for item in answer["items"]:
                    self.check(item, by_id[item["id"]], answer["interpretation"])
        self.assertGreater(filtered, 10)

    def check(self, item, listing, interpretation):
        """Assert that a result is sound."""
        for requirements in (interpretation["constraints"], interpretation["requirements"]):
            self.assertTrue(meets(listing, requirements), (requirements, listing))
        self.assertGreater(item["score"], 0)
        self.assertLess(item["score"], math.inf)
        self.assertLessEqual(set(item["matched_skills"]),
                             {one["name"] for one in listing["card"]["skills"]})
        self.assertLessEqual(set(item["matched_terms"]), set(interpretation["task_terms"]))
        self.assertNotEqual(item["matched_terms"], [])
        self.assertTrue(all(isinstance(reason, str) for reason in item["reasons"]))

    def test_hostile_listings(self):
        rng = random.Random(7)
        keys = ["name", "description", "skills", "signatures", "capabilities", "securitySchemes",
                "supportedInterfaces", "provider"]
        for value in HOSTILE_VALUES:
            listings = [agent(1, "Press", "Makes PDFs.", skill("Make a PDF", "Make PDFs.", "pdf"))]
            for number, key in enumerate(keys, 2):
                listings.append(agent(number, "Press", "", skill("Make a PDF")))
                listings[-1]["card"][key] = value
            for number, key in enumerate(["card", "publisher", "tags", "url", "observations"], 20):
                listings.append({**agent(number, "Press", "", skill("Make a PDF")), key: value})
            for number, key in enumerate(["name", "description", "tags", "examples", "id"], 30):
                listings.append(agent(number, "Press", "", {**skill("Make a PDF"), key: value}))
            listings += [
                agent(40, "Press", "", skill("Make a PDF"), skills=[value, skill("Make a PDF")]),
                agent(41, "Press", "", skill("Make a PDF"), supportedInterfaces=[value]),
                agent(42, "Press", "", skill("Make a PDF"), securitySchemes={"k": value}),
                agent(43, "Press", "", skill("Make a PDF"), securityRequirements=[value],
                      securitySchemes=SCHEMES),
                agent(44, "Press", "", skill("Make a PDF"), capabilities={"streaming": value}),
                agent(45, "Press", "", skill("Make a PDF"),
                      supportedInterfaces=[{"protocolBinding": value}])]
            index = CapabilityIndex(rng.sample(listings, len(listings)), NOW)
            with self.subTest(repr(value)[:40]):
                self.assertIn(1, index.baseline("make a pdf"))
                self.assertIn(1, [item["id"] for item in index.recommend("make a pdf")["items"]])
                for requirements in ({"auth": "none"}, {"exclude_auth": ["http"]}, {"tls": True},
                                     {"transport": "x"}, {"signed": False}, {"streaming": True}):
                    answer = index.recommend("make a pdf", requirements)
                    json.dumps(answer, allow_nan=False)
                    self.assertLessEqual({item["id"] for item in answer["items"]},
                                         set(index.ids))

    def test_hostile_queries(self):
        listings = [agent(1, "Press", "", skill("Make a PDF", "Make a PDF.", "pdf"))] + OTHERS
        index = CapabilityIndex(listings, NOW)
        for query in HOSTILE_QUERIES:
            with self.subTest(query[:40]):
                answer = index.recommend(query)
                json.dumps(answer, allow_nan=False)
                self.assertLessEqual(len(answer["items"]), len(listings))
                if "pdf" not in query:
                    self.assertEqual(answer["items"], [])
                    self.assertEqual(index.baseline(query)[:1], index.baseline(query, limit=1))
                # Whatever was read can be given back as explicit requirements.
                index.recommend("make a pdf", answer["interpretation"]["constraints"])

    def test_an_empty_directory(self):
        self.assertEqual(EMPTY.baseline("pdf"), [])
        self.assertEqual(EMPTY.recommend("make a pdf without login")["items"], [])

    def test_many_equal_listings(self):
        listings = [resizer(number, f"Number {number}.") for number in range(300)]
        index = CapabilityIndex(listings, NOW)
        items = index.recommend("resize an image")["items"]
        self.assertGreaterEqual(len(items), 5)
        self.assertEqual([item["id"] for item in items], sorted(item["id"] for item in items))
        self.assertEqual(len(index.baseline("resize an image")), 300)


# ---- the command ----

DIRECTORY = [
    agent(1, "Press", "", skill("Create a PDF", "Create a PDF from HTML.", "pdf"),
          observations=SOUND, **needs("oauth2"), **speaks("GRPC")),
    agent(2, "Ink\x1b[31m\u202e", "", skill("PDF maker", "Makes PDFs."), signatures=[{}],
          capabilities={"streaming": True}),
    agent(3, "Lens", "", skill("View a PDF", "Show the pages of a PDF.")),
    agent(4, "Paste", "", skill("Create a PDF", "Create a PDF."), **needs("api_key")),
]
TEXT_OUTPUT = """\
task: create pdf
operation: generate
constraint: exclude_auth = ["api_key"]
constraint: card_max_age_hours = 48.0

1. Press  [1]
   skills: Create a PDF
   matches create, pdf
   operation: generate
   constraint exclude_auth = ['api_key']: needs oauth2
   constraint card_max_age_hours = 48.0: seen 1.0 hours before the clock
   evidence: fresh card, working TLS, answered lately
"""
JSON_OUTPUT = {
    "interpretation": {
        "task_terms": ["create", "pdf"], "operations": ["generate"], "ruled_out": [],
        "constraints": {"exclude_auth": ["api_key"]},
        "constraint_phrases": ["without an api key"], "requirements": {"signed": True},
        "clauses": [["create", "pdf"]]},
    "items": [{
        "id": 2, "matched_skills": ["PDF maker"], "matched_terms": ["create", "pdf"],
        "reasons": ["matches create, pdf", "operation: generate",
                    "constraint exclude_auth = ['api_key']: needs nothing",
                    "constraint signed = True: the card is signed", "evidence: signed card"]}]}

# Arguments behind a query, and what standard error has to name.
BAD_ARGUMENTS = [
    (["--require", "signed=perhaps"], ["--require", "signed", "'perhaps'"]),
    (["--require", "signed"], ["--require", "'signed'"]),
    (["--require", "colour=red"], ["--require", "colour"]),
    (["--require", "Signed=true"], ["--require", "Signed"]),
    (["--require", "auth=magic"], ["--require", "auth", "'magic'"]),
    (["--require", "exclude_auth="], ["--require", "exclude_auth"]),
    (["--require", "exclude_auth=http,magic"], ["--require", "exclude_auth", "'magic'"]),
    (["--require", "transport="], ["--require", "transport", "''"]),
    (["--require", "streaming=false"], ["--require", "streaming"]),
    (["--require", "tls=1"], ["--require", "tls", "'1'"]),
    (["--require", "card_max_age_hours=0"], ["--require", "card_max_age_hours"]),
    (["--require", "card_max_age_hours=1e999"], ["--require", "card_max_age_hours", "inf"]),
    (["--require", "protocol_max_age_hours=soon"], ["protocol_max_age_hours", "'soon'"]),
    (["--require", "auth=none", "--require", "tls=no"], ["--require", "tls", "'no'"]),
    (["--limit", "-1"], ["--limit"]), (["--limit", "many"], ["--limit", "'many'"]),
    (["--limit", "1.5"], ["--limit", "'1.5'"]), (["--limit", "٣"], ["--limit"]),
    (["--now", "yesterday"], ["--now", "'yesterday'"]),
    (["--now", "2026-10-20T12:00:00"], ["--now", "2026-10-20T12:00:00"]),
    (["--ranker", "best"], ["--ranker", "best"]), (["--colour"], ["--colour"]),
    (["--lim", "3"], ["--lim"]), (["--limit"], ["--limit"]), (["another query"], ["another query"]),
    (["--listings", "no such\x1b file.json"], ["no such\\x1b file.json"]),
]
# The content of a listing file, and what standard error has to name beside the file.
BAD_FILES = [
    (b"", []), (b"[1", []), (b"[] []", []), (b"5", ["list"]), (b'{"cases": []}', ["listings"]),
    (b'{"listings": 5}', ["listings"]), (b"\xef\xbb\xbf[]", ["byte order mark"]),
    (b'["\xff"]', ["UTF-8", "2"]), ('["é"]'.encode("utf-16"), ["UTF-8"]),
    (b'[{"id": 1, "id": 2}]', ["'id'"]),
    (b'[{"id": 1, "card": {"a": 1, "b": 2, "a": 1}}]', ["'a'"]),
    (b'[{"id": 1, "x": NaN}]', ["NaN"]), (b'[{"id": 1, "x": -Infinity}]', ["-Infinity"]),
    (b'[{"id": 1, "x": 1e999}]', ["1e999"]), (b'[{"id": 1, "x": ' + b"9" * 5000 + b"}]", ["5000"]),
    (b"[" * 150 + b"]" * 150, ["deep"]), (b"[" * 200_000 + b"]" * 200_000, ["deep"]),
    (b'[{"id": "\\ud800"}]', ["surrogate"]), (b'[{"id": 1, "\\udfff": 1}]', ["surrogate"]),
    (b"[5]", ["listings[0]", "5"]), (b"[{}]", ["listings[0].id"]),
    (b'[{"id": true}]', ["listings[0].id", "True"]), (b'[{"id": ""}]', ["listings[0].id"]),
    (b'[{"id": 1.5}]', ["listings[0].id", "1.5"]),
    (b'[{"id": 1}, {"id": "1"}]', ["listings[1].id", "'1'"]),
    (b'[{"id": 1}, {"id": 1}]', ["listings[1].id", "1"]),
    (b'[{"id": 1, "listed_at": "2026"}]', ["listings[0]", "listed_at", "'2026'"]),
    (b'[{"id": 1, "observations": {"tls": {"ok": true, "at": "now"}}}]',
     ["listings[0]", "observations.tls.at", "'now'"]),
    (b'{"listings": [], "clock": "noon"}', ["'noon'"]),
    (b'{"listings": [], "clock": "2026-10-20T12:00:00"}', ["2026-10-20T12:00:00"]),
    (b'{"listings": [], "clock": 5}', ["5"]),
]


class Command(unittest.TestCase):
    """The script as a command, run in this process where that shows the same."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.listings = self.write("listings.json", {"clock": NOW.isoformat(),
                                                     "listings": DIRECTORY})

    def write(self, name, content):
        """Write bytes or JSON data to a file in the folder; return its path."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def run_main(self, *argv):
        """Return (status, standard output, standard error)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = capability_search.main(list(argv))
            except SystemExit as leaving:  # --help and --version
                status = leaving.code
        return status, out.getvalue(), err.getvalue()

    def search(self, *argv):
        """Return the standard output of a search of the folder's listings that works."""
        status, out, err = self.run_main(*argv, "--listings", self.listings)
        self.assertEqual((status, err), (0, ""))
        return out

    def ids(self, *argv):
        """Return the ids that a search of the folder's listings finds."""
        return [item["id"] for item in json.loads(self.search(*argv, "--json"))["items"]]

    def refused(self, fragments, *argv):
        """Assert that the command fails with one line on standard error."""
        status, out, err = self.run_main(*argv)
        self.assertEqual((status, out), (2, ""), err)
        self.assertTrue(err.startswith("error: ") and err.endswith("\n"), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertTrue(err[:-1].isprintable(), err)
        for fragment in fragments:
            self.assertIn(fragment, err)

    def test_whole_text(self):
        self.assertEqual(self.search("create a PDF without an API key", "--require",
                                     "card_max_age_hours=48"), TEXT_OUTPUT)
        self.assertEqual(self.search("create a PDF", "--ranker", "baseline", "--limit", "1"),
                         "1. Press  [1]\n")
        self.assertEqual(self.search("translate, not summarise").splitlines()[:3],
                         ["task: translate", "operation: translate", "ruled out: summarise"])

    def test_whole_json(self):
        out = self.search("create a PDF without an API key", "--require", "signed=true", "--json")
        answer = json.loads(out)
        self.assertEqual(out, json.dumps(answer, ensure_ascii=False, indent=2) + "\n")
        # Numbers that the ranking's constants decide.
        self.assertTrue(0 < answer["interpretation"].pop("needed_coverage") <= 1)
        self.assertGreater(answer["items"][0].pop("score"), 0)
        self.assertEqual(answer, JSON_OUTPUT)
        self.assertEqual(self.search("view a PDF", "--ranker", "baseline", "--json"),
                         '{\n  "items": [\n    {\n      "id": 3\n    }\n  ]\n}\n')

    def test_require(self):
        for requirement, expected in [
                ("auth=none", {2}), ("auth=oauth2", {1}), ("exclude_auth=api_key", {1, 2}),
                ("exclude_auth=api_key,oauth2", {2}), ("signed=true", {2}),
                ("signed=false", {1, 4}), ("transport=grpc", {1}),
                ("streaming=true", {2}), ("tls=true", {1}),
                ("card_max_age_hours=1", {1}), ("card_max_age_hours=0.5", set()),
                ("protocol_max_age_hours=2", {1})]:
            with self.subTest(requirement):
                self.assertEqual(set(self.ids("create a PDF", "--require", requirement)), expected)
        self.assertEqual(self.ids("create a PDF", "--require", "signed=true", "--require",
                                  "tls=true"), [])
        self.assertEqual(self.ids("pdf", "--require", "signed=true", "--ranker", "baseline"), [2])

    def test_limit_and_clock(self):
        everything = self.ids("pdf")
        self.assertEqual(sorted(everything), [1, 2, 3, 4])
        for limit in (0, 1, 3, 100):
            self.assertEqual(self.ids("pdf", "--limit", str(limit)), everything[:limit])
        many = [resizer(number, f"Number {number}.") for number in range(20)]
        self.listings = self.write("listings.json", many)
        self.assertEqual(len(self.ids("resize an image")), 10)
        self.assertEqual(len(self.ids("resize an image", "--ranker", "baseline")), 10)

    def test_now(self):
        query = ("create a PDF", "--require", "card_max_age_hours=24")
        self.assertEqual(self.ids(*query), [1])
        for now, expected in [("2026-10-21T11:00:00Z", [1]), ("2026-10-21T13:00:00+02:00", [1]),
                              ("2026-10-21T11:00:01+00:00", []),
                              ("2026-10-20T10:59:59+00:00", []), ("2030-01-01T00:00:00Z", [])]:
            with self.subTest(now):
                self.assertEqual(self.ids(*query, "--now", now), expected)
        # Without the file's own clock it is the current time: one was seen now.
        self.listings = self.write("listings.json", [
            resizer(1, observations={"card": {"ok": True, "at": "2001-01-01T00:00:00Z"}}),
            resizer(2, observations={"card": {"ok": True, "at": "9001-01-01T00:00:00Z"}}),
            resizer(3, observations={"card": {
                "ok": True, "at": datetime.now(timezone.utc).isoformat(timespec="seconds")}})])
        self.assertEqual(self.ids("resize an image", "--require", "card_max_age_hours=24"), [3])

    def test_forms_of_a_listing_file(self):
        for content in (DIRECTORY, {"listings": DIRECTORY, "more": 1},
                        {"listings": DIRECTORY, "captured_at": NOW.isoformat()}):
            self.listings = self.write("listings.json", content)
            self.assertEqual(set(self.ids("create a PDF")), {1, 2, 4})
        self.listings = self.write("listings.json", [])
        self.assertEqual(self.ids("create a PDF"), [])
        self.listings = self.write("listings.json", [{"id": "a"}, {"id": "b", "card": None}])
        self.assertEqual(self.ids("create a PDF"), [])

    def test_the_fixtures_are_the_default(self):
        status, out, err = self.run_main("sign a contract", "--json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([item["id"] for item in json.loads(out)["items"]], [113])

    def test_bad_arguments(self):
        for argv, fragments in BAD_ARGUMENTS:
            with self.subTest(argv):
                self.refused(fragments, "pdf", "--listings", self.listings, *argv)
        self.refused(["query"])

    def test_bad_files(self):
        for content, fragments in BAD_FILES:
            with self.subTest(content[:60]):
                path = self.write("bad.json", content)
                self.refused(["bad.json", *fragments], "pdf", "--listings", path)

    def test_names_that_are_no_readable_file(self):
        self.refused(["missing.json"], "pdf", "--listings",
                     os.path.join(self.folder, "missing.json"))
        self.refused([os.path.basename(self.folder)], "pdf", "--listings", self.folder)

    def test_text_from_listings_cannot_move_the_cursor(self):
        hostile = "\x1b[2J\x07\r\x9b\u202e\u2028\x00 \ufeff é 文"
        self.listings = self.write("listings.json", [
            agent("a\x1b\n", hostile, "", skill("Create a PDF " + hostile, "Create a PDF."))])
        out = self.search("create a PDF \x1b[2J", "--require", "auth=none")
        self.assertTrue(all(line.isprintable() for line in out.split("\n")), ascii(out))
        for fragment in ("\\x1b[2J\\x07\\r\\x9b\\u202e\\u2028\\x00 \\ufeff é 文", "[a\\x1b\\n]"):
            self.assertIn(fragment, out)

    def test_phrasings(self):
        status, out, err = self.run_main("--phrasings")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(len(lines), 2 + len(phrasings()))
        self.assertEqual({line.count(" | ") for line in lines[2:]}, {2})
        for key in REQUIREMENTS:
            self.assertIn(f"| {key}: ", out)

    def test_help_and_version(self):
        status, out, err = self.run_main("--help")
        self.assertEqual((status, err), (0, ""))
        for fragment in ("$ python capability_search.py", "--require", "--now", "Exit status"):
            self.assertIn(fragment, out)
        status, out, err = self.run_main("--version")
        self.assertEqual((status, out.split()[-1], err), (0, capability_search.RANKER_VERSION, ""))

    def test_processes(self):
        # The script alone beside other listings, from another folder, in a plain C locale.
        shutil.copy(os.path.join(HERE, "capability_search.py"), self.folder)
        self.write("fixtures.json", {"clock": NOW.isoformat(), "listings": DIRECTORY})
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C",
                       "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-O", os.path.join(self.folder, "capability_search.py"),
             "create a PDF without an API key", "--require", "card_max_age_hours=48"],
            env=environment, cwd=os.sep, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode().replace("\r\n", "\n"), TEXT_OUTPUT)

    def test_closed_pipe(self):
        process = subprocess.Popen(
            [sys.executable, "-B", os.path.join(HERE, "capability_search.py"), "generate a PDF"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual((process.wait(60), err), (0, b""))


# ---- the fixtures ----

class Fixtures(unittest.TestCase):
    """Facts about the data; a change of the records has to be seen here."""

    def test_counts(self):
        listings, cases = FIXTURES["listings"], FIXTURES["cases"]
        self.assertEqual((len(listings), len(cases)), (34, 24))
        self.assertEqual(len({listing["id"] for listing in listings}), 34)
        self.assertEqual(len({case["id"] for case in cases}), 24)
        self.assertEqual(len({case["q"] for case in cases}), 24)
        self.assertEqual({type(listing["id"]) for listing in listings}, {int})
        self.assertEqual(FIXTURES["clock"], NOW.isoformat())
        self.assertGreaterEqual(sum(bool(case["requirements"]) for case in cases), 6)
        self.assertGreaterEqual(sum(bool(read(case["q"])[0]) for case in cases), 8)
        judged = [case["judgments"] for case in cases]
        self.assertGreaterEqual(sum(one["no_match_expected"] for one in judged), 3)
        self.assertIn(7, [len(one["relevant_ids"]) for one in judged])

    def test_judgments(self):
        ids = {listing["id"] for listing in FIXTURES["listings"]}
        for case in FIXTURES["cases"]:
            with self.subTest(case["id"]):
                judgments = case["judgments"]
                lists = [judgments[key] for key in (
                    "relevant_ids", "unacceptable_ids", "constraint_ineligible_ids")]
                for one in lists:
                    self.assertEqual(len(set(one)), len(one))
                    self.assertLessEqual(set(one), ids)
                self.assertEqual(set(lists[0]) & (set(lists[1]) | set(lists[2])), set())
                self.assertEqual(judgments["no_match_expected"], not lists[0])
                self.assertGreater(len(judgments["rationale"]), 20)

    def test_requirements_of_the_judgments(self):
        # Right answers meet what is required, in the case or in its words; the right capability
        # that a constraint shuts out doesn't.
        by_id = {listing["id"]: listing for listing in FIXTURES["listings"]}
        for case in FIXTURES["cases"]:
            required = {**read(case["q"])[0], **case["requirements"]}
            for number in case["judgments"]["relevant_ids"]:
                self.assertTrue(meets(by_id[number], required), (case["id"], number))
            for number in case["judgments"]["constraint_ineligible_ids"]:
                self.assertFalse(meets(by_id[number], required), (case["id"], number))

    def test_all_hosts_are_fictional(self):
        hosts = re.findall(r"[a-z][a-z0-9+.-]*://([^/:?#\"\s]+)", json.dumps(FIXTURES))
        self.assertGreater(len(hosts), 100)
        self.assertEqual([host for host in hosts if not host.endswith(".example")], [])

    def test_every_kind_of_evidence_occurs(self):
        listings = FIXTURES["listings"]
        for requirements in [*({"auth": kind} for kind in AUTH_KINDS), SIGNED, UNSIGNED,
                             GRPC, RPC, REST, STREAMING, TLS, fresh(48), answered(24)]:
            met = sum(meets(listing, requirements) for listing in listings)
            self.assertTrue(0 < met < len(listings), requirements)

    def test_the_file_is_what_the_records_give(self):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = build_fixtures.main(["--check"])
        self.assertEqual((status, err.getvalue()), (0, ""))


if __name__ == "__main__":
    unittest.main()
