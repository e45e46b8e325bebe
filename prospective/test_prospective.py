#!/usr/bin/env python3
"""Facts about the kit: formats, freezing, the pool, the example. Run: python -m unittest

Captures are held to facts in test_capture.py, evaluations in test_evaluate.py.
"""

import contextlib
import copy
import hashlib
import importlib
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

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import capture  # noqa: E402
import evaluate  # noqa: E402
import freeze  # noqa: E402
import from_trec  # noqa: E402
import kit  # noqa: E402
import pool  # noqa: E402

EXAMPLE = os.path.join(HERE, "example")
TIME = "2026-11-01T00:00:00+00:00"


def load(*names):
    """Return the value of a file of the example or of this folder."""
    return kit.read_json(os.path.join(HERE, *names))[0]


class Folder(unittest.TestCase):
    """A folder of its own with a copy of the example."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.set = os.path.join(self.folder, "set")
        shutil.copytree(EXAMPLE, self.set)

    def path(self, *names):
        """Return a path in the folder."""
        return os.path.join(self.folder, *names)

    def write(self, name, value):
        """Write bytes or a value as JSON; return the path."""
        with open(self.path(name), "wb") as file:
            file.write(value if isinstance(value, bytes) else kit.encoded(value))
        return self.path(name)

    def read(self, *names):
        """Return the bytes of a file in the folder."""
        with open(self.path(*names), "rb") as file:
            return file.read()

    def run_main(self, script, *argv):
        """Return (status, standard output, standard error) of a script in-process."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = script.main(list(argv))
        return status, out.getvalue(), err.getvalue()

    def refused(self, fragments, script, *argv):
        """Assert status 2, lines that begin with error: and hold the fragments, nothing written."""
        before = {name: os.path.getsize(os.path.join(root, name))
                  for root, _, names in os.walk(self.folder) for name in names}
        status, out, err = self.run_main(script, *argv)
        self.assertEqual((status, out), (2, ""), err)
        self.assertTrue(all(line.startswith("error: ") for line in err.splitlines()) and err, err)
        for fragment in fragments:
            self.assertIn(fragment, err)
        after = {name: os.path.getsize(os.path.join(root, name))
                 for root, _, names in os.walk(self.folder) for name in names}
        self.assertEqual(after, before)


################ Formats

# A change to a file of the example by which it breaks its format, and what is said of it. A path
# that ends in None takes the key out.
SAMPLES = {"queries": "queries", "protocol": "protocol", "manifest": "manifest",
           "ranking": "candidate-a", "pool": "pool", "judgments": "judge-one",
           "evaluation": "evaluation"}
BAD = [
    ("queries", ["status"], "final", "must be one of draft, frozen, development, superseded"),
    ("queries", ["queries"], [], "must hold at least 1"),
    ("queries", ["queries", 0, "text"], "", "at least 1 characters"),
    ("queries", ["queries", 0, "query_id"], "a b", "must match"),
    ("queries", ["queries", 0, "rank"], 1, "is no key of this format"),
    ("queries", ["evidence_policies", 0, "cutoff"], None, "must be text"),
    ("queries", ["schema"], "queries/2", "must be 'queries/1'"),
    ("protocol", ["depth"], 0, "must be from 1 to 1000"),
    ("protocol", ["depth"], 10.0, "must be a whole number"),
    ("protocol", ["depth"], True, "must be a whole number"),
    ("protocol", ["gain"], "exponential", "must be 'linear'"),
    ("protocol", ["minimum_query_coverage"], 1.2, "must be from 0 to 1"),
    ("protocol", ["primary", "systems"], ["a", "a"], "must not repeat"),
    ("protocol", ["relevant_grade"], 3, "must be one of 1, 2"),
    ("manifest", ["frozen_at"], "yesterday", "must match"),
    ("manifest", ["frozen_at"], "2026-11-01T00:00:00", "must match"),
    ("manifest", ["files", 0, "sha256"], "0" * 63, "must match"),
    ("manifest", ["files", 0, "path"], "../x", "must match"),
    ("manifest", ["ranker", "version"], 1, "must be text"),
    ("ranking", ["system", "developed_with_this_set"], "no", "must be true or false"),
    ("ranking", ["queries", 0, "status"], "failed", "must be one of ok, error, not_attempted"),
    ("ranking", ["queries", 0, "results", 0, "score"], 1.5, "is no key of this format"),
    ("ranking", ["queries", 0, "results", 0, "candidate_key"], "", "at least 1"),
    ("ranking", ["scores"], {}, "is no key of this format"),
    ("ranking", ["capture", "depth"], "10", "must be a whole number"),
    ("pool", ["queries", 0, "candidates", 0, "system"], "a", "is no key of this format"),
    ("pool", ["queries", 0, "candidates", 0, "candidate_id"], "0" * 15, "must match"),
    ("pool", ["queries", 0, "candidates", 0, "candidate_id"], "0" * 16 + "\n", "must match"),
    ("pool", ["created"], TIME, "is no key of this format"),
    ("judgments", ["judgments", 0, "grade"], 3, "must be one of 0, 1, 2, null, not 3"),
    ("judgments", ["judgments", 0, "grade"], 1.5, "not 1.5"),
    ("judgments", ["judgments", 0, "grade"], 1.0, "not 1.0"),
    ("judgments", ["judgments", 0, "grade"], True, "not True"),
    ("judgments", ["judgments", 0, "grade"], "2", "not '2'"),
    ("judgments", ["judge", "kind"], "robot", "must be one of human, model, mixed"),
    ("judgments", ["disclosure", "rankings_hidden"], 1, "must be true or false"),
    ("judgments", ["disclosure", "conflicts"], "", "at least 1 characters"),
    ("evaluation", ["measures_of_mine"], 1, "is no key of this format"),
    ("evaluation", ["schema"], 1, "must be"),
]


class Formats(unittest.TestCase):

    def test_the_examples_are_sound(self):
        for kind, name in SAMPLES.items():
            self.assertEqual(kit.faults_of(load("example", f"{name}.json"), kind), [], kind)
        self.assertEqual(kit.faults_of(load("example", "judge-two.json"), "judgments"), [])
        self.assertEqual(kit.faults_of(load("example", "waiting.json"), "evaluation"), [])
        self.assertEqual(kit.faults_of(load("judgment-template.json"), "judgments"), [])
        self.assertEqual(kit.faults_of(load("queries.json"), "queries"), [])
        self.assertEqual(kit.faults_of(load("protocol.json"), "protocol"), [])

    def test_bad_files(self):
        for kind, path, value, said in BAD:
            with self.subTest(kind=kind, path=path, value=value):
                data = load("example", f"{SAMPLES[kind]}.json")
                place = data
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = value
                faults = kit.faults_of(data, kind)
                self.assertEqual(len(faults), 1, faults)
                self.assertIn(said, faults[0])

    def test_every_key_is_needed(self):
        for kind, name in SAMPLES.items():
            for key in kit.schema(kind).get("required", ()):
                data = load("example", f"{name}.json")
                if key in data:
                    del data[key]
                    with self.subTest(kind=kind, key=key):
                        self.assertTrue(any(f"{key}: is missing" in fault
                                            for fault in kit.faults_of(data, kind)))

    def test_no_file_is_of_another_kind(self):
        for kind, name in SAMPLES.items():
            for other in SAMPLES:
                faults = kit.faults_of(load("example", f"{name}.json"), other)
                self.assertEqual(len(faults), kind != other, (kind, other))
                if faults and "schema" in load("example", f"{name}.json"):
                    self.assertRegex(faults[0], rf"^schema: must be '{other}/1', not '{kind}/1'$")

    def test_the_fast_check_and_the_slow_one_agree(self):
        chance = random.Random(20261201)
        values = [None, True, 0, 1, 2.5, "", "x", [], {}, ["x"], {"a": 1}, "0" * 64, TIME]
        for kind, name in SAMPLES.items():
            root = kit.schema(kind)
            check = kit.sound_check(root, root)
            for _ in range(25):
                data = load("example", f"{name}.json")
                place = data
                while isinstance(place, (dict, list)) and place and chance.random() < 0.8:
                    key = chance.choice(list(place) if isinstance(place, dict)
                                        else range(len(place)))
                    parent, place = place, place[key]
                if place is not data:
                    parent[key] = chance.choice(values)
                slow = list(kit.schema_faults(data, root, root))
                self.assertEqual(check(data), not slow, slow)

    def test_many_faults_are_cut_and_counted(self):
        data = load("example", "queries.json")
        data["queries"] = [{**data["queries"][0], "text": ""} for _ in range(75)]
        faults = kit.faults_of(data, "queries")
        self.assertEqual(len(faults), 51)
        self.assertIn("queries[49].text: ", faults[49])
        self.assertEqual(faults[50], "and 25 more faults")

    def test_a_keyword_that_nobody_checks_is_refused(self):
        with self.assertRaises(kit.KitError):
            kit.sound_check({"type": "object", "minProperties": 1}, {})

    def test_json_is_that_of_the_standard_library(self):
        chance = random.Random(5)

        def value(depth):
            if depth == 0 or chance.random() < 0.4:
                return chance.choice([None, True, 0, -5, 1.5, 1e300, "", "a\"\\\n\x1f\u2028é🦄"])
            if chance.random() < 0.5:
                return [value(depth - 1) for _ in range(chance.randrange(4))]
            return {f"é\n{number}": value(depth - 1) for number in range(chance.randrange(4))}

        for _ in range(500):
            one = value(4)
            self.assertEqual(kit.encoded(one), (json.dumps(
                one, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode())
        with self.assertRaises(ValueError):
            kit.encoded([float("nan")])


KEYS = [
    ("HTTPS://Agent.Example:443/a/#x", "https://agent.example/a"),
    ("http://agent.example:80", "http://agent.example"),
    ("https://agent.example:8443/a", "https://agent.example:8443/a"),
    ("https://agent.example/.well-known/agent.json",
     "https://agent.example/.well-known/agent-card.json"),
    ("https://agent.example/b/.well-known/agent-card.json/",
     "https://agent.example/b/.well-known/agent-card.json"),
    ("https://agent.example/A?b=C", "https://agent.example/A?b=C"),
    (" https://agent.example ", "https://agent.example"), ("http://[::1]:80/", "http://[::1]"),
    ("https://user:word@agent.example", ""), ("javascript:alert(1)", ""), ("agent.example", ""),
    ("https://", ""), ("https://[bad", ""), ("https://agent.example:x", ""), ("", ""),
]
PRIVATE = [
    ("write to ann@mail.example.org", ["an e-mail address"]), ("10.0.0.1", ["an IP address"]),
    ("at 2001:db8::7 now", ["an IP address"]), ("http://localhost:80/", ["a private address"]),
    ("printer.local", ["a private address"]), ("api_key=abcd1234efgh", ["a credential"]),
    ("sk-proj-abcdefghij0123456789", ["a credential"]),
    ("ghp_0123456789abcdefghij0123", ["a credential"]), ("AKIAABCDEFGHIJKLMNOP", ["a credential"]),
    ("https://user:word1@agent.example/", None), ("", []), ("1.0.0", []), ("v1.2.3", []),
    ("The key: value pair", []), ("12:30:45", []), ("needs a password: yes", []),
    ("https://agent.example/docs", []), ("token limits", []), ("mutual key exchange", []),
]
CLEANED = [("  a \n b\t", "a b"), ("a\x00b", "ab"), ("\u202eevil", "evil"), ("x" * 5, "x" * 5),
           ("x" * 11, "x" * 9 + "…"), ("👩\u200d🚀", "👩\u200d🚀"), ("a\u2028b", "a b")]


# (bytes that are no strict JSON, what is said of them)
UNSOUND = (
    (b"", "is empty"), (b" \n", "is empty"), (b"{", "line 1 column"), (b"{}\n{}", "line 2 column"),
    (b"\xef\xbb\xbf{}", "byte order mark"), (b"{\n\xff}", "line 2: byte 3 is not UTF-8"),
    (b'{"a": 1, "b": 2, "a": 3}', "key 'a': occurs twice"), (b'[{"": {"x": 0, "x": 0}}]', "twice"),
    (b"[NaN]", "NaN: is not a JSON number"), (b"-Infinity", "-Infinity: is not"),
    (b"1e400", "1e400: is too large a number"), (b"9223372036854775808", "too large an integer"),
    (b"-" + b"9" * 5000, "too large an integer"),
    (b'"\\ud800"', "half of a surrogate pair"), (b'{"\\udfff": 0}', "half of a surrogate pair"),
    (b"[" * 66 + b"]" * 66, "nested deeper than 64 levels"),
    (b'{"a":' * 66 + b"0" + b"}" * 66, "nested deeper than 64 levels"),
    (b"[" * 200_000 + b"]" * 200_000, "nested deeper than 64 levels"),
    (b'"\\u0000"' .join([b"[" * 900, b"]" * 900]), "nested deeper than 64 levels"),
)


class StrictJson(Folder):
    """Every way to read a file refuses what is no strict JSON, with one line that names it."""

    def test_unsound(self):
        for number, (data, said) in enumerate(UNSOUND):
            path = self.write("a.json", data)
            for read in (kit.read_json, *(lambda path, kind=kind: kit.read_file(path, kind)
                                          for kind in SAMPLES)):
                with self.subTest(number=number, data=data[:40]):
                    with self.assertRaises(kit.KitError) as caught:
                        read(path)
                    self.assertEqual(len(caught.exception.faults), 1)
                    self.assertTrue(str(caught.exception).startswith(f"{path}: "))
                    self.assertIn(said, str(caught.exception))

    def test_sound(self):
        for data, value in ((b"null", None), (b" [1]\r\n", [1]), (b'"\\ud83e\\udd84"', "🦄"),
                            (b"9223372036854775807", (1 << 63) - 1), (b'{"a": "\\\\u"}', {"a": "\\u"}),
                            (b"[" * 64 + b"]" * 64, json.loads("[" * 64 + "]" * 64))):
            self.assertEqual(kit.read_json(self.write("a.json", data)), (value, data))

    def test_a_file_that_cannot_be_finished_leaves_nothing(self):
        path = self.write("kept.json", {"kept": True})
        with self.assertRaises(ValueError), kit.new_file(path) as file:
            kit.write_json(["x"] * 100_000 + [float("nan")], file)
        self.assertEqual(self.read("kept.json"), b'{\n  "kept": true\n}\n')
        self.assertEqual(sorted(os.listdir(self.folder)), ["kept.json", "set"])


class Texts(unittest.TestCase):

    def test_candidate_keys(self):
        for address, key in KEYS:
            with self.subTest(address=address):
                self.assertEqual(kit.candidate_key(address), key)
                self.assertEqual(kit.candidate_key(key), key)

    def test_private_findings(self):
        for text, found in PRIVATE:
            with self.subTest(text=text):
                self.assertEqual(bool(kit.private_findings(text)), found != [])
                if found is not None:
                    self.assertEqual(kit.private_findings(text), found)

    def test_clean(self):
        for text, expected in CLEANED:
            with self.subTest(text=text):
                self.assertEqual(kit.clean(text, 10), expected)

    def test_ids(self):
        text = '["s","1","q","https://é.example"]'
        self.assertEqual(kit.candidate_ids("s", "1", "q")("https://é.example"),
                         hashlib.sha256(text.encode()).hexdigest()[:16])


################ Freezing

class Freezing(Folder):

    def freeze(self, *argv):
        """Return what freezing the set anew gives."""
        for name in ("manifest.json", "SHA256SUMS"):
            if os.path.exists(self.path("set", name)):
                os.remove(self.path("set", name))
        return self.run_main(freeze, "--set", self.set, "--frozen-at", TIME, *argv)

    def verify(self):
        """Return what verifying the set gives."""
        return self.run_main(freeze, "--set", self.set, "--verify")

    def test_the_example_is_as_frozen(self):
        self.assertEqual(self.verify(), (0, "as frozen: invented-example 1.0.0, 2 files\n", ""))

    def test_what_differs(self):
        queries = self.read("set", "queries.json")
        for change, line in (
                (queries.replace(b"monthly", b"yearly").replace(b"pdf", b"PDF"),
                 "differs: queries.json\n"),
                (queries.replace(b"\n", b"\r\n"),
                 "differs: queries.json: with LF line endings it would be as frozen\n"),
                (queries[:-1], "differs: queries.json\n")):
            self.write("set/queries.json", change)
            self.assertEqual(self.verify(), (1, line, "error: 1 file is not as frozen\n"))
        os.remove(self.path("set", "queries.json"))
        self.assertEqual(self.verify()[:2], (1, "missing: queries.json\n"))
        self.write("set/queries.json", queries)
        os.mkdir(self.path("set", "schemas"))
        self.write("set/schemas/new.schema.json", {})
        self.write("set/protocol.md", b"# More\n")
        self.assertEqual(self.verify()[:2], (
            1, "added: protocol.md\nadded: schemas/new.schema.json\n"))

    def test_one_byte_of_the_sums(self):
        sums = self.read("set", "SHA256SUMS")
        self.write("set/SHA256SUMS", sums.replace(b"a", b"b", 1))
        self.assertEqual(self.verify()[1], "differs: SHA256SUMS: is not that of the manifest\n")
        os.remove(self.path("set", "SHA256SUMS"))
        self.assertEqual(self.verify()[1], "missing: SHA256SUMS\n")

    @unittest.skipUnless(shutil.which("sha256sum"), "there is no sha256sum")
    def test_sha256sum_agrees(self):
        self.assertEqual(self.freeze()[0], 0)
        done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=self.set, capture_output=True)
        self.assertEqual((done.returncode, done.stdout.count(b": OK\n")), (0, 3))

    def test_freeze(self):
        ranker = self.write("ranker.py", b'raise SystemExit\nRANKER_VERSION = "2.1"\n')
        old = self.write("old.json", load("example", "manifest.json"))
        status, out, err = self.freeze("--ranker", ranker, "--supersedes", old, "--time-anchor",
                                       "Printed in a newspaper.")
        self.assertEqual((status, err), (0, ""))
        manifest = kit.read_file(self.path("set", "manifest.json"), "manifest")[0]
        self.assertEqual(manifest["ranker"], {"path": "ranker.py", "version": "2.1",
                                              "sha256": kit.sha256(self.read("ranker.py"))})
        self.assertEqual(manifest["supersedes"]["manifest_sha256"],
                         kit.sha256(self.read("old.json")))
        self.assertEqual([entry["path"] for entry in manifest["files"]],
                         ["protocol.json", "queries.json"])
        self.assertTrue(out.endswith(f"{kit.sha256(self.read('set', 'manifest.json'))}\n"))
        self.assertEqual(kit.load_set(self.set).status, "frozen")

    def test_a_draft_becomes_frozen(self):
        frozen = self.read("set", "queries.json")
        self.write("set/queries.json", frozen.replace(b'"frozen"', b'"draft"'))
        self.assertEqual(self.freeze()[0], 0)
        self.assertEqual(self.read("set", "queries.json"), frozen)

    def test_a_frozen_version_is_never_edited(self):
        self.refused(["manifest.json: is there already"], freeze, "--set", self.set,
                     "--frozen-at", TIME)

    def test_retire(self):
        status, out, err = self.run_main(freeze, "--set", self.set, "--retire", "development",
                                         "--reason", "A weight was chosen on it.")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(kit.load_set(self.set).status, "development")
        self.assertEqual(self.verify()[0], 0)
        for script, argv in (
                (pool, ["--rankings", self.path("set", "candidate-a.json"), "--output", "x.json"]),
                (evaluate, ["--rankings", self.path("set", "candidate-a.json"), "--judgments",
                            self.path("set", "judge-one.json")]),
                (capture, ["--system", "a", "--output", self.path("x.json")])):
            self.refused(["'development'"], script, "--set", self.set, *argv)

    def test_refusals(self):
        bad = self.write("bad.py", b"RANKER_VERSION = version()\n")
        for argv, fragment in (
                (["--set", self.folder, "--frozen-at", TIME], "cannot be read"),
                (["--set", self.set], "--frozen-at is needed"),
                (["--set", self.set, "--frozen-at", "soon"], "'soon'"),
                (["--set", self.set, "--verify", "--frozen-at", TIME], "does not go with"),
                (["--set", self.set, "--retire", "development"], "--reason"),
                (["--set", self.folder, "--verify"], "cannot be read")):
            with self.subTest(argv=argv):
                self.refused([fragment], freeze, *argv)
        os.remove(self.path("set", "manifest.json"))
        self.refused(["RANKER_VERSION"], freeze, "--set", self.set, "--frozen-at", TIME,
                     "--ranker", bad)
        self.refused(["manifest.json: is missing"], pool, "--set", self.set, "--rankings", bad,
                     "--output", "x.json")

    def test_a_set_that_is_not_as_frozen_is_refused(self):
        self.write("set/queries.json", self.read("set", "queries.json") + b"\n")
        self.refused(["queries.json: is not what manifest.json froze"], pool, "--set", self.set,
                     "--rankings", self.path("set", "candidate-a.json"), "--output", "x.json")

    def test_query_faults(self):
        queries = load("example", "queries.json")
        queries["queries"][1]["query_id"] = "pdf-report"
        queries["queries"][2]["evidence_policy_id"] = "other"
        self.assertEqual(kit.query_faults(queries), [
            "query_id: 'pdf-report': occurs more than once",
            "queries: 'scan-letters': evidence_policy_id: 'other' is no policy of this file"])


################ The pool

SENTINEL = "sentinel-7f3a"
WORDS = "paper press sky weather report builder mail scan address lamp".split()


def random_rankings(chance, a_set, systems=3, population=12, depth=8):
    """Return rankings of seeded random candidates, each with its own words for them."""
    rankings = []
    for system in range(systems):
        entries = []
        for query in a_set.queries:
            numbers = chance.sample(range(population), chance.randrange(depth + 1))
            entries.append({
                "query_id": query["query_id"], "status": "ok", "error": None, "captured_at": TIME,
                "response_sha256": None, "results": [{
                    "candidate_key": f"https://agent-{number}.example",
                    "name": " ".join(chance.choices(WORDS, k=3)),
                    "declaration": " ".join(chance.choices(WORDS, k=chance.randrange(9))),
                    "skills": [{"name": chance.choice(WORDS), "description": ""}
                               for _ in range(chance.randrange(3))],
                    "url": chance.choice(["", f"https://agent-{number}.example/"]),
                    "evidence": chance.sample(["https://a.example", "https://b.example"],
                                              chance.randrange(3))} for number in numbers]})
        rankings.append({**kit.head("ranking", a_set), "system": {
            "name": f"system-{system}", "version": "1", "operator": "", "developed_with_this_set":
            False}, "selection_policy": "All.", "corpus": {"description": "Some.", "observed_from":
            TIME, "observed_until": TIME, "snapshot_sha256": None}, "capture": None,
            "queries": entries})
    return rankings


class Pools(Folder):

    def setUp(self):
        super().setUp()
        self.a_set = kit.load_set(self.set)

    def test_the_example(self):
        rankings = [load("example", f"candidate-{name}.json") for name in "ab"]
        self.assertEqual(kit.encoded(pool.pool_of(self.a_set, rankings, 10)),
                         self.read("set", "pool.json"))

    def test_order_names_and_ranks_do_not_show(self):
        chance = random.Random(20261201)
        for _ in range(50):
            rankings = random_rankings(chance, self.a_set)
            made = kit.encoded(pool.pool_of(self.a_set, copy.deepcopy(rankings), 10))
            for _ in range(3):
                other = copy.deepcopy(rankings)
                chance.shuffle(other)
                for number, ranking in enumerate(other):
                    ranking["system"] = {"name": f"x{number}", "version": "9", "operator": "o",
                                         "developed_with_this_set": True}
                    ranking["capture"] = {"origin": "https://x.example", "request": "GET /",
                                          "depth": 10, "tool_version": "1"}
                    for entry in ranking["queries"]:
                        entry["results"].reverse()
                        entry["captured_at"] = f"2026-11-0{number + 2}T00:00:00Z"
                    chance.shuffle(ranking["queries"])
                self.assertEqual(kit.encoded(pool.pool_of(self.a_set, other, 10)), made)

    def test_nothing_else_of_a_ranking_shows(self):
        chance = random.Random(3)
        rankings = random_rankings(chance, self.a_set)
        for ranking in rankings:
            ranking["system"] = dict.fromkeys(ranking["system"], SENTINEL)
            ranking["selection_policy"] = ranking["invented"] = SENTINEL
            ranking["corpus"] = dict.fromkeys(ranking["corpus"], SENTINEL)
            ranking["capture"] = {"origin": SENTINEL, "request": SENTINEL, "depth": 10,
                                  "tool_version": SENTINEL}
            ranking[SENTINEL] = SENTINEL
            for entry in ranking["queries"]:
                entry.update({"error": SENTINEL, "captured_at": SENTINEL, SENTINEL: 1,
                              "response_sha256": SENTINEL})
                for result in entry["results"]:
                    result.update({SENTINEL: SENTINEL, "score": SENTINEL, "rank": SENTINEL})
                    result["url"] = f"javascript:{SENTINEL}"
                    result["evidence"] = [f"file:///{SENTINEL}", f"data:,{SENTINEL}"]
                    for skill in result["skills"]:
                        skill[SENTINEL] = SENTINEL
        made = pool.pool_of(self.a_set, rankings, 10)
        self.assertGreater(sum(len(query["candidates"]) for query in made["queries"]), 10)
        self.assertNotIn(SENTINEL, kit.encoded(made).decode())
        self.assertEqual(kit.faults_of(made, "pool"), [])

    def test_candidates_are_alike(self):
        made = pool.pool_of(self.a_set, random_rankings(random.Random(4), self.a_set), 10)
        for query in made["queries"]:
            ids = [candidate["candidate_id"] for candidate in query["candidates"]]
            self.assertEqual(ids, sorted(set(ids)))
            for candidate in query["candidates"]:
                self.assertEqual(list(candidate), ["candidate_id", "name", "declaration", "skills",
                                                   "url", "evidence"])

    def test_the_place_does_not_tell_the_rank(self):
        # A thousand pools of one list of ten: Spearman's correlation of place and rank, summed
        # over pools, has mean 0 and standard deviation sqrt(1000 / 9) = 10.5.
        chance, total = random.Random(20261201), 0.0
        for number in range(1000):
            keys = [f"https://{chance.getrandbits(64):x}.example" for _ in range(10)]
            identity = kit.candidate_ids("set", "1", f"q{number}")
            places = sorted(range(10), key=lambda rank: identity(keys[rank]))
            squares = sum((place - rank) ** 2 for place, rank in enumerate(places))
            total += 1 - 6 * squares / (10 * 99)
        self.assertLess(abs(total), 4 * 10.5)

    def test_the_longest_text_of_any_system(self):
        one, two = random_rankings(random.Random(6), self.a_set, 2, 1, 1)
        entries = [ranking["queries"][0] for ranking in (one, two)]
        base = {"candidate_key": "https://a.example", "name": "A", "declaration": "", "skills": [],
                "url": "", "evidence": []}
        entries[0]["results"] = [{
            **base, "declaration": "long text here", "url": "https://b.example",
            "evidence": ["https://z.example"]}]
        entries[1]["results"] = [{
            **base, "name": "B  much \n longer", "declaration": "other text zz",
            "skills": [{"name": "s", "description": "d"}],
            "evidence": ["https://y.example", "ftp://no.example"]}]
        [candidate] = pool.pool_of(self.a_set, [one, two], 10)["queries"][0]["candidates"]
        del candidate["candidate_id"]
        self.assertEqual(candidate, {
            "name": "B much longer", "declaration": "long text here",
            "skills": [{"name": "s", "description": "d"}], "url": "https://b.example",
            "evidence": ["https://y.example", "https://z.example"]})

    def test_depth_and_digest(self):
        rankings = random_rankings(random.Random(7), self.a_set, 2, 30, 10)
        made = pool.pool_of(self.a_set, rankings, 1)
        self.assertTrue(all(len(query["candidates"]) <= 2 for query in made["queries"]))
        lines = "".join(f"{query['query_id']} {candidate['candidate_id']}\n"
                        for query in made["queries"] for candidate in query["candidates"])
        self.assertEqual(made["pool_sha256"], hashlib.sha256(lines.encode()).hexdigest())

    def test_command(self):
        argv = [part for name in "ba" for part in (
            "--rankings", self.path("set", f"candidate-{name}.json"))]
        status, out, err = self.run_main(pool, "--set", self.set, *argv, "--output",
                                         self.path("mine.json"))
        self.assertEqual((status, err), (0, ""))
        self.assertIn("5 queries, 11 candidates, pool ", out)
        self.assertEqual(self.read("mine.json"), self.read("set", "pool.json"))

    def test_rankings_that_are_refused(self):
        good = load("example", "candidate-a.json")
        first = ["queries", 0]
        for path, change, fragment in (
                (["version"], "0.9", "version: '0.9' is not that of the frozen set"),
                (["manifest_sha256"], "0" * 64, "manifest_sha256"),
                (["queries"], good["queries"][1:], "of the set are missing: 'pdf-report'"),
                (["queries"], good["queries"] + good["queries"][:1], "occur more than once"),
                ([*first, "query_id"], "other", "are not in the set: 'other'"),
                ([*first, "results"], good["queries"][0]["results"] * 2, "occurs more than once"),
                ([*first, "status"], "error", "must be empty where the status is 'error'"),
                ([*first, "error"], "Why?", "be null"),
                ([*first, "results", 0, "name"], 5, "must be text"),
        ):
            with self.subTest(fragment=fragment):
                bad = copy.deepcopy(good)
                place = bad
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = change
                self.refused(["bad.json", fragment], pool, "--set", self.set, "--rankings",
                             self.write("bad.json", bad), "--output", self.path("x.json"))
        same = self.path("set", "candidate-a.json")
        self.refused(["system: 'candidate-a' is that of"], pool, "--set", self.set, "--rankings",
                     same, "--rankings", same, "--output", self.path("x.json"))
        self.refused(["is an input"], pool, "--set", self.set, "--rankings", same, "--output", same)
        self.refused(["are needed"], pool, "--set", self.set, "--output", same)
        self.refused(["--depth"], pool, "--set", self.set, "--rankings", same, "--output", "x",
                     "--depth", "0")


################ TREC runs

CANDIDATES = {
    "d1": {"candidate_key": "https://one.example", "name": "One"},
    "d2": {"candidate_key": "https://two.example", "declaration": "Second.",
           "skills": [{"name": "s", "description": ""}]}}
RUN = b"pdf-report Q0 d2 1 0.5 tag\npdf-report Q0 d1 2 3e0 tag\n\nscan-letters Q0 d2 1 1 tag\n"


class TrecRuns(Folder):

    def convert(self, run=RUN, candidates=CANDIDATES, *more):
        """Return what a conversion gives."""
        return ["--set", self.set, "--run", self.write("my.run", run), "--candidates",
                self.write("candidates.json", candidates), "--system", "c", "--captured-at", TIME,
                "--output", self.path("c.json"), *more]

    def test_a_ranking(self):
        self.assertEqual(self.run_main(from_trec, *self.convert()), (
            0, f"wrote {self.path('c.json')}: 5 queries, 2 with results\n", ""))
        ranking = pool.read_ranking(self.path("c.json"), kit.load_set(self.set))[0]
        keys = {entry["query_id"]: [result["candidate_key"] for result in entry["results"]]
                for entry in ranking["queries"]}
        self.assertEqual(keys, {
            "pdf-report": ["https://one.example", "https://two.example"], "check-address": [],
            "scan-letters": ["https://two.example"], "site-certificate": [], "stock-quotes": []})

    def test_refusals(self):
        for run, candidates, fragment in (
                (b"pdf-report Q0 d1 1\n", CANDIDATES, "line 1: must be QUERY Q0 DOCUMENT RANK"),
                (b"pdf-report Q0 d1 1 high tag\n", CANDIDATES, "finite number, not 'high'"),
                (b"pdf-report Q0 d1 1 nan tag\n", CANDIDATES, "finite number, not 'nan'"),
                (RUN + b"pdf-report Q0 d1 3 0.1 t\n", CANDIDATES, "'d1' occurs more than once"),
                (b"pdf-report Q0 d1 1 2 t\npdf-report Q0 d2 2 2 t\n", CANDIDATES,
                 "the score 2.0 occurs more than once"),
                (b"other Q0 d1 1 2 t\n", CANDIDATES, "not in the set: 'other'"),
                (b"pdf-report Q0 d9 1 2 t\n", CANDIDATES, "has no candidate 'd9'"),
                (b"\xff", CANDIDATES, "is not UTF-8"),
                (RUN, {**CANDIDATES, "d1": {"key": "x"}}, "with the keys"),
                (RUN, {**CANDIDATES, "d1": {}}, "candidate_key"),
                (RUN, {**CANDIDATES, "d1": {"candidate_key": "x", "name": "a@mail.example"}},
                 "an e-mail address"),
                (RUN, {**CANDIDATES, "d1": CANDIDATES["d2"]}, "occurs more than once"),
        ):
            with self.subTest(fragment=fragment):
                self.refused([fragment], from_trec, *self.convert(run, candidates))


################ The example, the README, the commands

class Example(Folder):

    def test_from_rankings_to_the_evaluation(self):
        base = ["--set", self.set] + [part for name in "ab" for part in (
            "--rankings", self.path("set", f"candidate-{name}.json"))]
        one, two = (["--judgments", self.path("set", f"judge-{name}.json")] for name in
                    ("one", "two"))
        for judges, status, name in ((one + two, 0, "evaluation.json"), (one, 3, "waiting.json")):
            result = self.run_main(evaluate, *base, *judges, "--output", self.path("mine.json"))
            self.assertEqual((result[0], result[2]), (status, ""))
            self.assertEqual(self.read("mine.json"), self.read("set", name))
            self.assertIn("INVENTED: Invented to show how the kit works.", result[1])

    def test_every_file_says_that_it_is_invented(self):
        for name in sorted(os.listdir(EXAMPLE)):
            if name.endswith(".json") and name != "protocol.json":
                said = json.dumps(load("example", name)).lower()
                self.assertIn("evidence of nothing", said, name)

    def test_captures_by_an_engine(self):
        engine = os.path.join(HERE, os.pardir, "capability_search.py")
        listings = os.path.join(HERE, os.pardir, "fixtures.json")
        if not (os.path.exists(engine) and os.path.exists(listings)):
            self.skipTest("the rankers of the folder above are not here")
        for name, ranker in (("a", "recommend"), ("b", "baseline")):
            status, out, err = self.run_main(
                capture, "--set", self.set, "--system", f"candidate-{name}", "--engine", engine,
                "--ranker", ranker, "--listings", listings, "--output", self.path(f"{name}.json"))
            self.assertEqual((status, err), (0, ""))
            made, kept = (kit.parse_json(data)["queries"] for data in (
                self.read(f"{name}.json"), self.read("set", f"candidate-{name}.json")))
            self.assertEqual([[result["candidate_key"] for result in entry["results"]]
                              for entry in made],
                             [[result["candidate_key"] for result in entry["results"]]
                              for entry in kept])

    def test_the_folder_works_alone(self):
        alone = self.path("alone")
        shutil.copytree(HERE, alone, ignore=shutil.ignore_patterns("__pycache__"))
        for script in ("capture", "evaluate", "freeze", "from_trec", "pool"):
            done = subprocess.run([sys.executable, f"{script}.py", "--version"], cwd=alone,
                                  capture_output=True, encoding="utf-8")
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, f"{script}.py {kit.VERSION}\n", ""))
        done = subprocess.run([sys.executable, "pool.py", "--set", "example", "--rankings",
                               "example/candidate-a.json", "--rankings", "example/candidate-b.json",
                               "--output", "-"], cwd=alone, capture_output=True)
        self.assertEqual(done.stdout, self.read("set", "pool.json"))

    def test_manuals(self):
        for name in ("capture", "evaluate", "freeze", "from_trec", "pool"):
            script = importlib.import_module(name)
            status, out, err = self.run_main(script, "--help")
            self.assertEqual((status, err), (0, ""), name)
            self.assertIn(script.__doc__.strip().splitlines()[0], out)

    def test_the_ranking_in_the_readme_is_sound(self):
        with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
            text = file.read()
        block = re.search(r"<!-- ranking -->\n```json\n(.*?)```", text, re.DOTALL)[1]
        self.assertEqual(kit.faults_of(kit.parse_json(block.encode()), "ranking"), [])

    def test_the_readme_shows_what_is_printed(self):
        with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
            text = file.read()
        shown = re.search(r"<!-- waiting -->\n```console\n\$ [^\n]*\n(.*?)\n\.\.\.", text,
                          re.DOTALL)[1]
        result = self.run_main(
            evaluate, "--set", self.set, "--rankings", self.path("set", "candidate-a.json"),
            "--rankings", self.path("set", "candidate-b.json"), "--judgments",
            self.path("set", "judge-one.json"))
        self.assertEqual(result[0], 3)
        self.assertTrue(result[1].startswith(shown))


if __name__ == "__main__":
    unittest.main()
