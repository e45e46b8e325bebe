#!/usr/bin/env python3
"""Facts about the live capture. Run: python -m unittest test_capture_live

A small snapshot is captured, verified and scored; the published capture is held to the project's
own files; what must not be published is planted and looked for.
"""

import contextlib
import copy
import hashlib
import io
import os
import random
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import capture_live  # noqa: E402
from capture_live import public_link, public_text  # noqa: E402
from run_benchmark import encoded, evaluate_rankings, live_report, parse_json, sha256  # noqa: E402

CLOCK = "2026-10-20T12:00:00+00:00"


def listing(number, name, description="", *skills, **fields):
    """Return a listing of a snapshot; a skill is its name."""
    return {"id": f"s:{number}", "publisher": f"P{number}", "listed_at": CLOCK,
            "url": f"https://s.example/{number}", "tags": [],
            "card": {"name": name, "description": description,
                     "skills": [{"name": skill, "description": ""} for skill in skills]}, **fields}


def case(name, q, relevant, *unacceptable, requirements=None):
    """Return a judged case."""
    return {"id": name, "q": q, "requirements": requirements or {}, "judgments": {
        "relevant_ids": relevant, "unacceptable_ids": list(unacceptable),
        "constraint_ineligible_ids": [], "no_match_expected": not relevant, "rationale": "Read."}}


SNAPSHOT = {
    "kind": "listing-snapshot", "captured_at": "2026-08-18T00:00:00+00:00",
    "sources": [{"registry": "acme/registry", "commit": "4bfe82", "licence": "MIT",
                 "contact": "someone@acme.example"}],
    "listings": [
        listing(1, "Paper Press", "Creates PDF files.", "create_pdf", "merge_pdf"),
        listing(2, "Page Viewer", "Shows PDF files.", "view_pdf"),
        listing(3, "Sky", "Weather forecasts.", "forecast"),
        listing(4, "Unseen", "Keeps bees.", "hive"),
    ]}
CASES = {"cases": [case("pdf", "create a PDF", ["s:1"], "s:2"),
                   case("weather", "weather forecast", ["s:3"]),
                   case("none", "book a flight", [])]}

# Texts as they stand in a listing, and as they are published.
PUBLISHED_TEXTS = [
    ("Paper Press", "Paper Press"), ("  a \n b\t", "a b"), ("", ""), (None, ""), (5, ""),
    ("Ask ann.b+c@mail.example.org now", "Ask [removed] now"),
    ("Größe@maß.example", "[removed]"),
    ("Box 203.0.113.7:80", "Box [removed]:80"), ("2001:db8::7", "[removed]"), ("::1", "[removed]"),
    ("[2001:db8::7]", "[[removed]]"), ("fe80::", "[removed]"), ("at 10.0.0.1.", "at [removed]."),
    ("@scope/name@1.0.0", "@scope/name@1.0.0"), ("v1.2.3", "v1.2.3"), ("12:30:45", "12:30:45"),
    ("std::vector", "std::vector"), ("a :: b", "a :: b"), ("1.2.3.4.5", "1.2.3.4.5"),
    ("300.1.1.1", "300.1.1.1"), ("x" * 120, "x" * 120), ("x" * 121, "x" * 119 + "…"),
]
PUBLISHED_LINKS = [
    ("https://github.com/acme/press", "https://github.com/acme/press"),
    ("http://acme.example", "http://acme.example"),
    ("https://user:word@acme.example/a?key=1#x", "https://acme.example/a"),
    ("https://acme.example/ann@mail.example", ""), ("http://203.0.113.7/a", ""),
    ("http://[2001:db8::7]/", ""), ("javascript:alert(1)", ""), ("file:///etc/passwd", ""),
    ("acme.example", ""), ("https://", ""), ("https://[bad", ""), ("", ""), (None, ""),
    ("https://acme.example/\u202egnp", ""),
]
PLANTED = ["ann@mail.example", "203.0.113.7", "2001:db8::7", "internal note", "L" * 200,
           "observed-by-us"]


class Folder(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.snapshot = self.write("snapshot.json", SNAPSHOT)
        self.cases = self.write("cases.json", CASES)
        self.output = self.path("capture.json")

    def path(self, name):
        """Return the path of a file in the folder."""
        return os.path.join(self.folder, name)

    def write(self, name, value):
        """Write a value as JSON to a file in the folder; return its path."""
        with open(self.path(name), "wb") as file:
            file.write(value if isinstance(value, bytes) else encoded(value))
        return self.path(name)

    def read(self, path):
        """Return the bytes of a file."""
        with open(path, "rb") as file:
            return file.read()

    def run_main(self, *argv):
        """Return (status, standard output, standard error)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = capture_live.main(list(argv))
        return status, out.getvalue(), err.getvalue()

    def capture(self, *argv, snapshot=None, cases=None):
        """Return (status, standard output, standard error) of a capture."""
        return self.run_main("--snapshot", snapshot or self.snapshot, "--cases",
                             cases or self.cases, "--captured-at", CLOCK,
                             *(argv or ("--output", self.output)))

    def captured(self, **sources):
        """Return the capture of a run that works."""
        self.assertEqual(self.capture(**sources)[::2], (0, ""))
        return parse_json(self.read(self.output))

    def refused(self, fragments, *argv):
        """Assert that a run ends with status 2 and one line, and writes nothing."""
        before = sorted(os.listdir(self.folder))
        status, out, err = self.run_main(*argv)
        self.assertEqual((status, out), (2, ""), err)
        self.assertTrue(err.startswith("error: ") and err.count("\n") == 1, err)
        for fragment in fragments:
            self.assertIn(fragment, err)
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class Captures(Folder):

    def test_a_whole_capture(self):
        with open(os.path.join(HERE, "capability_search.py"), "rb") as file:
            ranker = file.read()
        capture = self.captured()
        self.assertEqual(capture["metadata"], {
            "captured_at": CLOCK,
            "candidate_snapshot_sha256": hashlib.sha256(self.read(self.snapshot)).hexdigest(),
            "number_of_listings": 4,
            "sources": [{"registry": "acme/registry", "commit": "4bfe82", "licence": "MIT"}],
            "ranking_module_sha256": hashlib.sha256(ranker).hexdigest(),
            "ranking_imports_sha256": {},
            "ranker_version": "1.0.0",
            "selection_method": capture_live.SELECTION,
            "judgments_sha256": hashlib.sha256(self.read(self.cases)).hexdigest(),
            "judgments_complete": False,
            "depth": 10,
            "tool_version": "capture_live.py 1.0.0"})
        del capture["metadata"]
        self.assertEqual(capture, {
            "cases": CASES["cases"],
            "baseline_results": {"pdf": [], "weather": ["s:3"], "none": []},
            "recommendation_results": {"pdf": ["s:1"], "weather": ["s:3"], "none": []},
            "listings": [
                {"id": "s:1", "name": "Paper Press", "link": "https://s.example/1",
                 "skills": ["create_pdf", "merge_pdf"]},
                {"id": "s:2", "name": "Page Viewer", "link": "https://s.example/2",
                 "skills": ["view_pdf"]},
                {"id": "s:3", "name": "Sky", "link": "https://s.example/3",
                 "skills": ["forecast"]}]})

    def test_what_a_run_says(self):
        self.assertEqual(self.capture(), (
            0, f"wrote {self.output}: 3 cases, 4 listings, depth 10\n", ""))

    def test_the_same_bytes_again(self):
        self.captured()
        first = self.read(self.output)
        for seed in "0", "1":
            done = subprocess.run(
                [sys.executable, os.path.join(HERE, "capture_live.py"),
                 "--snapshot", "snapshot.json",
                 "--cases", "cases.json", "--captured-at", CLOCK, "--output", "-"],
                cwd=self.folder, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed})
            self.assertEqual((done.returncode, done.stderr, done.stdout), (0, b"", first))

    def test_a_capture_is_scored(self):
        self.captured()
        report = live_report(self.output, "0" * 64)
        self.assertEqual({name: entry["recommendation"] for name, entry in
                          report["summary"].items()},
                         {"hit_at_5": 1.0, "mrr_at_5": 1.0, "constraint_violations": 0,
                          "distractors_returned": 0, "unjudged_returned": 0})

    def test_depth(self):
        many = [listing(number, "Paper Press", "Creates PDF files.") for number in range(1, 30)]
        snapshot = self.write("many.json", many)
        for depth, expected in ((None, 10), ("1", 1), ("20", 20)):
            argv = ["--output", self.output] + (["--depth", depth] if depth else [])
            cases = self.write("one.json", [case("pdf", "create a PDF", ["s:1"])])
            self.assertEqual(self.capture(*argv, snapshot=snapshot, cases=cases)[0], 0)
            capture = parse_json(self.read(self.output))
            self.assertEqual(len(capture["recommendation_results"]["pdf"]), expected)
            self.assertEqual(capture["metadata"]["depth"], expected)

    def test_the_cases_of_a_capture(self):
        capture = self.captured()
        capture["metadata"]["selection_method"] = "Drawn by lot."
        again = self.captured(cases=self.write("old.json", capture))
        self.assertEqual(again["cases"], capture["cases"])
        self.assertEqual(again["metadata"], capture["metadata"])

    def test_cards_and_folders(self):
        card = {"name": "Paper Press", "description": "Creates PDF files.",
                "url": "https://press.example/a2a"}
        cases = self.write("cards-cases.json", [case("pdf", "create a PDF",
                                                     ["press.example/a2a"])])
        snapshot = self.write("card.json", card)
        capture = self.captured(snapshot=snapshot, cases=cases)
        self.assertEqual(capture["recommendation_results"], {"pdf": ["press.example/a2a"]})
        self.assertEqual(capture["metadata"]["sources"], [])
        os.mkdir(self.path("folder"))
        for name in ("b.json", "a.json"):
            self.write(os.path.join("folder", name), card)
        capture = self.captured(snapshot=self.path("folder"), cases=cases)
        digest = hashlib.sha256(self.read(snapshot)).hexdigest()
        self.assertEqual(capture["metadata"]["candidate_snapshot_sha256"], hashlib.sha256(
            f"{digest}  a.json\n{digest}  b.json\n".encode()).hexdigest())
        self.assertEqual(capture["metadata"]["number_of_listings"], 2)

    def test_records_that_cannot_be_read(self):
        snapshot = self.write("cards.json", {"cards": [
            {"name": "Paper Press", "url": "https://s.example"}, {"card": 5}]})
        cases = self.write("one.json", [case("pdf", "create a PDF", ["s.example"])])
        status, out, err = self.capture(snapshot=snapshot, cases=cases)
        self.assertEqual((status, err.count("\n")), (0, 2))
        self.assertTrue(err.startswith(f"skipped: {snapshot}: cards[1]"), err)
        self.refused(["cards[1]"], "--snapshot", snapshot, "--cases", cases, "--strict",
                     "--captured-at", CLOCK, "--output", self.path("new.json"))


class Publishing(Folder):

    def test_texts(self):
        for value, expected in PUBLISHED_TEXTS:
            with self.subTest(value=value):
                self.assertEqual(public_text(value), expected)

    def test_links(self):
        for value, expected in PUBLISHED_LINKS:
            with self.subTest(value=value):
                self.assertEqual(public_link(value), expected)

    def test_nothing_planted_is_published(self):
        chance = random.Random(20261201)
        for _ in range(30):
            snapshot = copy.deepcopy(SNAPSHOT)
            snapshot["maintainer"] = chance.choice(PLANTED)
            for one in snapshot["listings"]:
                one["url"] += "/" + chance.choice(PLANTED[:3])
                one["note"] = one["publisher"] = chance.choice(PLANTED)
                one["observations"] = {"card": {"ok": True, "at": CLOCK, "by": "observed-by-us"}}
                one["card"]["description"] += " " + chance.choice(PLANTED)
                one["card"]["name"] += " " + chance.choice(PLANTED[:3])
                one["card"]["provider"] = {"organization": chance.choice(PLANTED)}
                for skill in one["card"]["skills"]:
                    skill["description"] = skill["note"] = chance.choice(PLANTED)
                    skill["name"] += " " + chance.choice(PLANTED[:3] + PLANTED[4:5])
            cases = copy.deepcopy(CASES)
            cases["cases"][0]["note"] = cases["cases"][1]["judgments"]["by"] = "internal note"
            self.captured(snapshot=self.write("planted.json", snapshot),
                          cases=self.write("planted-cases.json", cases))
            published = self.read(self.output).decode()
            for secret in PLANTED:
                self.assertNotIn(secret, published)
            self.assertIn("Paper Press", published)

    def test_an_id_that_cannot_be_published(self):
        for value in ("ann@mail.example", "203.0.113.7:80/a"):
            snapshot = self.write("ids.json", [{**SNAPSHOT["listings"][0], "id": value}])
            cases = self.write("ids-cases.json", [case("pdf", "create a PDF", [value])])
            self.refused(["ids.json", "holds an e-mail or IP address"], "--snapshot", snapshot,
                         "--cases", cases, "--captured-at", CLOCK, "--output", self.output)


class Verification(Folder):

    def verify(self, *argv, snapshot=None):
        """Return (status, standard output, standard error) of verifying the capture."""
        return self.run_main("--verify", self.output, "--snapshot", snapshot or self.snapshot,
                             *argv)

    def test_the_same(self):
        self.captured()
        self.assertEqual(self.verify(), (0, "the same: 11 facts, 6 rankings\n", ""))

    def test_differences(self):
        capture = self.captured()
        changes = [
            (("metadata", "candidate_snapshot_sha256"), "0", "candidate_snapshot_sha256"),
            (("metadata", "ranking_module_sha256"), "0", "ranking_module_sha256"),
            (("metadata", "ranker_version"), "0.9", "ranker_version: captured '0.9', now '1.0.0'"),
            (("metadata", "judgments_sha256"), "0", "judgments_sha256"),
            (("metadata", "sources"), [], "sources"),
            (("cases", 0, "judgments", "rationale"), "Otherwise.", "judgments_sha256"),
            (("recommendation_results", "pdf"), ["s:2", "s:1"],
             "recommendation_results, case 'pdf': rank 1: captured 's:2', now 's:1'"),
            (("recommendation_results", "pdf"), [],
             "recommendation_results, case 'pdf': rank 1: captured nothing, now 's:1'"),
            (("baseline_results", "weather"), ["s:3", "s:4"],
             "baseline_results, case 'weather': rank 2: captured 's:4', now nothing"),
            (("baseline_results", "weather"), None, "baseline_results, case 'weather'"),
            (("listings", 0, "name"), "Paper", "listings: what is published"),
        ]
        for (*path, last), value, line in changes:
            with self.subTest(line=line):
                changed = copy.deepcopy(capture)
                place = changed
                for key in path:
                    place = place[key]
                place[last] = value
                self.write("capture.json", changed)
                status, out, err = self.verify()
                self.assertEqual((status, err), (1, ""))
                self.assertEqual(out.count("\n"), 1, out)
                self.assertIn(f"differs: {line}", out)

    def test_another_snapshot(self):
        self.captured()
        other = self.write("other.json", {**SNAPSHOT, "listings": SNAPSHOT["listings"][1:]})
        status, out, err = self.verify(snapshot=other)
        self.assertEqual((status, err), (1, ""))
        for what in ("candidate_snapshot_sha256", "number_of_listings: captured 4, now 3",
                     "case 'pdf': rank 1: captured 's:1', now nothing", "listings"):
            self.assertIn(f"differs: {what}" if "case" not in what else what, out)

    def test_another_engine(self):
        self.captured()
        engine = self.write("engine.py", b'''RANKER_VERSION = "other"
class CapabilityIndex:
    def __init__(self, listings, now): pass
    def baseline(self, query, requirements=None, limit=None): return []
    recommend = baseline
''')
        status, out, err = self.verify("--engine", engine)
        self.assertEqual((status, err), (1, ""))
        self.assertIn("differs: ranker_version: captured '1.0.0', now 'other'\n", out)
        self.assertIn("differs: recommendation_results, case 'weather'", out)

    def test_no_capture(self):
        for value, fragment in (([], "must be an object"), ({}, "metadata: is missing"),
                                ({**self.captured(), "baseline_results": []},
                                 "baseline_results: must be an object"),
                                ({**self.captured(), "metadata": {}}, "metadata.captured_at"),
                                ({**self.captured(), "metadata": {"captured_at": CLOCK,
                                                                  "depth": True}},
                                 "metadata.depth")):
            path = self.write("bad.json", value)
            status, out, err = self.run_main("--verify", path, "--snapshot", self.snapshot)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(fragment, err)


class Refusals(Folder):

    def test_usage(self):
        rest = ["--snapshot", self.snapshot, "--cases", self.cases]
        whole = [*rest, "--captured-at", CLOCK, "--output", self.output]
        for argv, fragment in (
                ([], "--snapshot is needed"), (rest, "--output is needed"),
                ([*rest, "--output", self.output], "--captured-at is needed"),
                ([*rest, "--output", self.output, "--captured-at", "today"], "'today' must be"),
                ([*rest, "--output", self.output, "--captured-at", CLOCK[:19]], "with an offset"),
                ([*whole, "--depth", "0"], "'0' must be"), ([*whole, "--depth", "٣"], "must be"),
                ([*whole, "--depth", "ten"], "'ten' must be"), ([*whole, "--what"], "--what"),
                (["--verify", self.cases, *rest], "--verify takes --cases from the capture"),
                ([*whole[:-1], "a\0b"], "NUL"), ([*whole, "--snap", "x"], "--snap"),
        ):
            with self.subTest(argv=argv):
                self.refused(["usage: ", fragment], *argv)

    def test_files(self):
        lost = self.write("lost.json", [case("pdf", "create a PDF", ["s:1", "s:9"])])
        for option, path, fragments in (
                ("--cases", lost, ["lost.json", "case 'pdf'", "no listing 's:9'"]),
                ("--cases", self.write("empty.json", []), ["empty.json", "there is none"]),
                ("--cases", self.snapshot, ["snapshot.json", "cases"]),
                ("--cases", self.path("nowhere"), ["nowhere", "cannot be read"]),
                ("--snapshot", self.path("nowhere"), ["nowhere", "cannot be read"]),
                ("--snapshot", self.write("bad.json", b'{"listings": [1, }'), ["bad.json"]),
                ("--snapshot", self.write("twice.json", [SNAPSHOT["listings"][0]] * 2),
                 ["twice.json", "repeats 's:1'"]),
                ("--snapshot", self.write("what.json", {"a": 1}), ["what.json", "must be a list"]),
                ("--engine", self.write("engine.py", b"boom"), ["engine.py", "NameError"]),
                ("--output", self.snapshot, ["snapshot.json", "is an input"]),
                ("--output", self.folder, ["is a folder"]),
        ):
            with self.subTest(option=option, path=path):
                argv = {"--snapshot": self.snapshot, "--cases": self.cases, "--captured-at": CLOCK,
                        "--output": self.path("new.json"), option: path}
                self.refused(fragments, *(part for pair in argv.items() for part in pair))

    def test_an_input_of_a_folder(self):
        os.mkdir(self.path("folder"))
        inside = self.write(os.path.join("folder", "a.json"),
                            {"name": "Paper Press", "url": "https://s.example"})
        cases = self.write("one.json", [case("pdf", "create a PDF", ["s.example"])])
        self.refused(["a.json", "is an input"], "--snapshot", self.path("folder"), "--cases", cases,
                     "--captured-at", CLOCK, "--output", inside)

    def test_manual_and_version(self):
        self.assertEqual(self.run_main("--version"), (0, "capture_live.py 1.0.0\n", ""))
        status, out, err = self.run_main("--help")
        self.assertEqual((status, err), (0, ""))
        self.assertIn(capture_live.__doc__.strip().splitlines()[0], out)


PUBLISHED = os.path.join(HERE, "live-capture.json")


@unittest.skipUnless(os.path.exists(PUBLISHED), "there is no live-capture.json beside this file")
class Published(unittest.TestCase):

    def setUp(self):
        with open(PUBLISHED, "rb") as file:
            self.data = file.read()
        self.capture = parse_json(self.data)

    def test_facts(self):
        metadata = self.capture["metadata"]
        self.assertEqual((metadata["number_of_listings"], metadata["depth"]), (5294, 10))
        self.assertEqual(len(metadata["sources"]), 7)
        self.assertEqual(len(self.capture["cases"]), 8)
        with open(os.path.join(HERE, "live-cases.json"), "rb") as file:
            self.assertEqual(metadata["judgments_sha256"], sha256(file.read()))
        self.assertEqual(self.data, encoded(self.capture))

    def test_only_what_is_allowed(self):
        shown = set()
        for answers in (self.capture["baseline_results"], self.capture["recommendation_results"]):
            shown.update(value for ids in answers.values() for value in ids)
        for one in self.capture["cases"]:
            for key in ("relevant_ids", "unacceptable_ids", "constraint_ineligible_ids"):
                shown.update(one["judgments"][key])
        self.assertEqual({one["id"] for one in self.capture["listings"]}, shown)
        for one in self.capture["listings"]:
            self.assertEqual(list(one), ["id", "name", "link", "skills"])
            for text in (one["name"], *one["skills"]):
                self.assertEqual(text, public_text(text))
            self.assertEqual(one["link"], public_link(one["link"]))

    def test_the_report_is_of_this_capture(self):
        with open(os.path.join(HERE, "live-report.json"), "rb") as file:
            report = parse_json(file.read())
        self.assertEqual(report["inputs"]["capture_sha256"], sha256(self.data))
        scores = evaluate_rankings(
            self.capture["cases"], self.capture["baseline_results"],
            self.capture["recommendation_results"], listings=self.capture["listings"],
            known_positives_only=True)
        self.assertEqual(report["summary"], scores["summary"])


if __name__ == "__main__":
    unittest.main()
