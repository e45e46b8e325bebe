#!/usr/bin/env python3
"""Facts about the benchmark's scripts. Run: python -m unittest discover -p "test_*.py"

Every expected figure is worked out by hand beside its table, or names the program that gave it.
"""

import contextlib
import copy
import hashlib
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from fractions import Fraction
from urllib.parse import unquote

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import run_benchmark  # noqa: E402
from run_benchmark import BenchmarkError, evaluate_rankings  # noqa: E402


# ---- helpers ----

def case(name="a", relevant=(1,), unacceptable=(), ineligible=(), q="make a thing", **extra):
    """Return a case with these judgments."""
    return {"id": name, "q": q, "requirements": {},
            "judgments": {"relevant_ids": list(relevant), "unacceptable_ids": list(unacceptable),
                          "constraint_ineligible_ids": list(ineligible),
                          "no_match_expected": not relevant, "rationale": "because"}, **extra}


def listing(number, name=None):
    """Return a small sound listing."""
    return {"id": number, "publisher": "P", "listed_at": "2026-09-01T08:00:00+00:00",
            "card": {"name": name or f"Listing {number}", "description": "does a thing"},
            "observations": {"tls": {"ok": True, "at": "2026-10-20T09:00:00Z"}}}


def fixtures(cases=None, numbers=range(1, 8)):
    """Return a small sound fixture file's value."""
    return {"schema_version": 1, "benchmark": "tiny", "version": "1.0.0",
            "clock": "2026-10-20T12:00:00+00:00", "notice": "made up",
            "listings": [listing(number) for number in numbers],
            "cases": [case()] if cases is None else cases}


ENGINE = '''\
RANKER_VERSION = "toy-1"

class CapabilityIndex:
    def __init__(self, listings, now):
        self.listings = listings

    def baseline(self, query, requirements=None, limit=None):
        return [listing["id"] for listing in self.listings][::-1]

    def recommend(self, query, requirements=None, limit=None):
        return {"items": [{"id": listing["id"]} for listing in self.listings]}
'''


def run_main(*argv):
    """Return (status, standard output, standard error) of the command, run in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_benchmark.main(list(argv))
    return status, out.getvalue(), err.getvalue()


def run_process(*argv, python=(), **options):
    """Return the finished process of the command."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, *python, os.path.join(HERE, "run_benchmark.py"), *argv],
        env=environment, capture_output=True, timeout=60, **options)


def figures(report):
    """Return {metric: (baseline, recommendation, difference, cases)} of a report."""
    return {name: tuple(entry.values()) for name, entry in report["summary"].items()}


def score(ids, one_case, **options):
    """Return the report row of one case for which both rankers return ids."""
    name = one_case["id"]
    return evaluate_rankings([one_case], {name: ids}, {name: ids}, **options)["cases"][0]


class Folder(unittest.TestCase):
    """A test case with a temporary folder that holds sound fixtures and a sound engine."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.fixtures = self.write("fixtures.json", fixtures())
        self.engine = self.write("engine.py", ENGINE)

    def path(self, *names):
        """Return a path in the folder."""
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        """Write bytes, text or JSON data to a file in the folder; return its path."""
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        path = self.path(*name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, path):
        """Return the bytes of a file."""
        with open(path, "rb") as file:
            return file.read()

    def run_tiny(self, *argv):
        """Return (status, stdout, stderr) of the command on the folder's fixtures and engine."""
        return run_main("--engine", self.engine, "--fixtures", self.fixtures, *argv)

    def refused(self, fragments, *argv):
        """Assert that the command fails with one error line per fault and writes nothing."""
        output, before = self.path("report.json"), sorted(os.listdir(self.folder))
        if "--output" not in argv:
            argv = (*argv, "--output", output)
        status, out, err = run_main(*argv)
        self.assertEqual((status, out), (2, ""), err)
        for line in err.splitlines():
            self.assertTrue(line.startswith("error: "), err)
        self.assertNotIn("Traceback", err)
        for fragment in fragments:
            self.assertIn(fragment, err)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        return err


# ---- scorer: metrics ----

# (what, ranking, relevant, unacceptable, ineligible,
#  (precision, of returned, slots filled, recall, reciprocal rank, no match),
#  (violations, distractors, unjudged, duplicates)), all worked out by hand.
WINDOWS = [
    ("two results, both relevant", [1, 2], [1, 2], [], [],
     (2 / 5, 2 / 2, 2 / 5, 2 / 2, 1, None), ([], [], [], [])),
    ("nothing returned", [], [1], [], [],
     (0, 0, 0, 0, 0, None), ([], [], [], [])),
    ("first relevant third", [9, 8, 1], [1, 2], [], [],
     (1 / 5, 1 / 3, 3 / 5, 1 / 2, 1 / 3, None), ([], [], [9, 8], [])),
    ("seven relevant, five slots", [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7], [], [],
     (1, 1, 1, 5 / 7, 1, None), ([], [], [], [])),
    ("relevant only in the sixth slot", [9, 8, 7, 6, 5, 1], [1], [], [],
     (0, 0, 1, 0, 0, None), ([], [], [9, 8, 7, 6, 5], [])),
    ("a repeated relevant id keeps its slot", [1, 1, 1, 2], [1, 2], [], [],
     (2 / 5, 2 / 4, 4 / 5, 2 / 2, 1, None), ([], [], [], [1])),
    ("repeats push the relevant id out", [9, 9, 9, 9, 9, 1], [1], [], [],
     (0, 0, 1, 0, 0, None), ([], [], [9], [9])),
    ("a repeat does not move the first rank", [9, 9, 1], [1], [9], [],
     (1 / 5, 1 / 3, 3 / 5, 1, 1 / 3, None), ([], [9], [], [9])),
    ("two repeated ids, in order of their repeat", [1, 2, 2, 1], [1], [2], [],
     (1 / 5, 1 / 4, 4 / 5, 1, 1, None), ([], [2], [], [2, 1])),
    ("a repeat after the window is not in it", [1, 2, 3, 4, 5, 5], [1], [], [],
     (1 / 5, 1 / 5, 1, 1, 1, None), ([], [], [2, 3, 4, 5], [])),
    ("violations and distractors", [3, 2, 1, 4], [1], [2], [3],
     (1 / 5, 1 / 4, 4 / 5, 1, 1 / 3, None), ([3], [2], [4], [])),
    ("a violation after the window", [1, 4, 5, 6, 7, 3], [1], [], [3],
     (1 / 5, 1 / 5, 1, 1, 1, None), ([], [], [4, 5, 6, 7], [])),
    ("a repeated violation counts once", [3, 3], [1], [], [3],
     (0, 0, 2 / 5, 0, 0, None), ([3], [], [], [3])),
    ("one id both distractor and ineligible", [2], [1], [2], [2],
     (0, 0, 1 / 5, 0, 0, None), ([2], [2], [], [])),
    ("no match, rightly", [], [], [2], [3],
     (None, None, None, None, None, 1), ([], [], [], [])),
    ("no match, wrongly", [3, 2, 9], [], [2], [3],
     (None, None, None, None, None, 0), ([3], [2], [9], [])),
    ("string ids", ["b", "a"], ["a"], ["b"], [],
     (1 / 5, 1 / 2, 2 / 5, 1, 1 / 2, None), ([], ["b"], [], [])),
]
VALUES = ("precision_at_5", "precision_of_returned", "slots_filled", "recall_at_5", "mrr_at_5",
          "no_match_correct")
LISTS = ("violation_ids", "distractor_ids", "unjudged_ids", "duplicate_ids")


class Metrics(unittest.TestCase):
    """The figures of single cases and of the summary."""

    def test_windows(self):
        for what, ids, relevant, unacceptable, ineligible, values, lists in WINDOWS:
            with self.subTest(what):
                row = score(ids, case("a", relevant, unacceptable, ineligible))
                for ranker in ("baseline", "recommendation"):
                    for name, value in zip(VALUES, values):
                        expected = None if value is None else round(value, 6)
                        self.assertEqual(row[f"{ranker}_{name}"], expected, name)
                    for name, value in zip(LISTS, lists):
                        self.assertEqual(row[f"{ranker}_{name}"], value, name)
                    self.assertEqual(row[f"{ranker}_constraint_violations"], len(lists[0]))
                    self.assertEqual(row[f"{ranker}_distractors_returned"], len(lists[1]))
                    self.assertEqual(row[f"{ranker}_unjudged_returned"], len(lists[2]))
                    self.assertEqual([item["id"] for item in row[f"{ranker}_top_5"]], ids[:5])
                    self.assertEqual(row[f"{ranker}_returned"], len(ids))
                self.assertEqual((row["outcome"], row["decided_by"], row["gain"]),
                                 ("tie", None, 0))

    def test_values_are_rounded_to_six_places_and_means_are_not_of_rounded_values(self):
        # Recall 1/3, 1/3 and 1/7: the mean is 17/63 = 0.269841...
        cases = [case("a", [1, 8, 9]), case("b", [1, 8, 9]), case("c", [1, *range(20, 26)])]
        ids = dict.fromkeys("abc", [1])
        report = evaluate_rankings(cases, ids, ids)
        self.assertEqual([row["baseline_recall_at_5"] for row in report["cases"]],
                         [0.333333, 0.333333, 0.142857])
        self.assertEqual(report["summary"]["recall_at_5"]["baseline"], 0.269841)

    def test_summary_and_denominators(self):
        # Two positive cases and one no-match case, by hand:
        #   baseline        a: [9, 1]   p 1/5, of 1/2, slots 2/5, r 1/2, mrr 1/2; unjudged 9
        #                   b: []       all 0
        #                   n: []       correct
        #   recommendation  a: [1, 2]   p 2/5, of 1, slots 2/5, r 1, mrr 1
        #                   b: [4, 3]   p 1/5, of 1/2, slots 2/5, r 1, mrr 1/2; violation 4
        #                   n: [5]      wrong; distractor 5
        cases = [case("a", [1, 2]), case("b", [3], [], [4]), case("n", [], [5])]
        report = evaluate_rankings(cases, {"a": [9, 1], "b": [], "n": []},
                                   {"a": [1, 2], "b": [4, 3], "n": [5]})
        expected = {
            "precision_at_5": (0.1, 0.3, 0.2, 2),
            "precision_of_returned": (0.25, 0.75, 0.5, 2),
            "slots_filled": (0.2, 0.4, 0.2, 2),
            "recall_at_5": (0.25, 1.0, 0.75, 2),
            "mrr_at_5": (0.25, 0.75, 0.5, 2),
            "no_match_correct": (1.0, 0.0, -1.0, 1),
            "constraint_violations": (0, 1, 1, 3),
            "distractors_returned": (0, 1, 1, 3),
            "unjudged_returned": (1, 0, -1, 3),
        }
        self.assertEqual(list(report["summary"]), list(expected))
        for name, figures in expected.items():
            self.assertEqual(tuple(report["summary"][name].values()), figures, name)
        hands = report["changed_hands"]
        self.assertEqual((hands["wins"], hands["losses"], hands["ties"]), (["a", "b"], ["n"], []))
        self.assertEqual(list(report["formulas"]), list(expected))
        self.assertEqual(list(report["summary"]["mrr_at_5"]),
                         ["baseline", "recommendation", "difference", "cases"])

    def test_what_decides_a_case(self):
        for relevant, unacceptable, ineligible, old, new, expected in [
            ([1, 2], [], [], [1], [1, 2], ("win", "recall_at_5", 0.5)),
            ([1, 2], [], [], [9, 1], [1], ("win", "mrr_at_5", 0.5)),
            ([1], [], [], [1, 9], [1], ("win", "precision_of_returned", 0.5)),
            ([1], [], [3], [1, 9], [1, 3], ("loss", "constraint_violations", -1)),
            ([1], [2], [], [1, 2], [1, 9], ("win", "distractors_returned", 1)),
            ([1], [], [], [1, 8], [1, 9], ("tie", None, 0)),
            ([], [], [], [], [1], ("loss", "no_match_correct", -1.0)),
        ]:
            with self.subTest(old=old, new=new):
                row = evaluate_rankings([case("a", relevant, unacceptable, ineligible)],
                                        {"a": old}, {"a": new})["cases"][0]
                self.assertEqual((row["outcome"], row["decided_by"], row["gain"]), expected)

    def test_no_cases_give_null_means_and_no_nan(self):
        report = evaluate_rankings([], {}, {})
        self.assertEqual(report["summary"]["mrr_at_5"],
                         {"baseline": None, "recommendation": None, "difference": None, "cases": 0})
        self.assertEqual(report["summary"]["constraint_violations"]["difference"], 0)
        only = evaluate_rankings([case("n", [])], {"n": []}, {"n": [1]})["summary"]
        self.assertEqual(only["recall_at_5"]["cases"], 0)
        self.assertEqual(only["no_match_correct"]["recommendation"], 0.0)

    def test_known_positives_leave_precision_and_recall_out(self):
        report = evaluate_rankings(
            [case("a", [1], [4]), case("b", [2], [], [3])], {"a": [4, 1], "b": [9]},
            {"a": [1], "b": [3]}, known_positives_only=True)
        self.assertEqual(figures(report), {
            "hit_at_5": (0.5, 0.5, 0.0, 2),
            "mrr_at_5": (0.25, 0.5, 0.25, 2),
            "constraint_violations": (0, 1, 1, 2),
            "distractors_returned": (1, 0, -1, 2),
            "unjudged_returned": (1, 0, -1, 2),
        })
        self.assertFalse([key for key in report["cases"][0] if "precision" in key
                          or "recall" in key])

    def test_api_answers_tuples_names_and_defaults(self):
        short = {"id": "a", "q": "x", "judgments": {"relevant_ids": [1]}}
        plain = evaluate_rankings([short], {"a": [2, 1]}, {"a": (1, 2)})
        answers = evaluate_rankings(
            ({**short, "requirements": {}},), {"a": {"items": [{"id": 2, "score": 9}, {"id": 1}]}},
            {"a": {"items": ({"id": 1}, {"id": 2}), "interpretation": {}}})
        self.assertEqual(plain, answers)
        row = score([2, 1], case(), listings=[{"id": 1, "name": "One"}, listing(3)])
        self.assertEqual(row["baseline_top_5"], [{"id": 2, "name": None}, {"id": 1, "name": "One"}])

    def test_rows_have_equal_keys_and_plain_values(self):
        report = evaluate_rankings([case("a"), case("n", [])], {"a": [1], "n": []},
                                   {"a": [], "n": [1]})
        first, second = report["cases"]
        self.assertEqual(list(first), list(second))
        self.assertEqual(json.loads(json.dumps(report)), report)

    def test_arguments_are_unchanged_and_not_shared(self):
        arguments = ([{**case("a", [1], [2]), "requirements": {"exclude_auth": ["none"]}}],
                     {"a": [1, 2]}, {"a": {"items": [{"id": 1}]}})
        before = copy.deepcopy(arguments)
        report = evaluate_rankings(*arguments)
        row = report["cases"][0]
        row["judgments"]["relevant_ids"].append(5)
        row["requirements"]["exclude_auth"].append("http")
        row["baseline_top_5"].clear()
        self.assertEqual(arguments, before)


# ---- scorer: metrics, against other programs and as identities ----

# Seven rankings, judged; scored once with pytrec-eval-terrier 0.5.11 (P_5, recall_5, recip_rank of
# the run cut at five) and with ir_measures 0.4.3 (P@5, R@5, RR@5); both gave the figures below.
PEERS = [
    # relevant, ranking, P@5, recall@5, reciprocal rank
    ([1, 2], [1, 2], 0.4, 1.0, 1.0),
    ([1, 2], [9, 8, 1], 0.2, 0.5, 0.333333),
    ([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 9, 4, 5], 0.8, 0.571429, 1.0),
    ([3], [9, 8, 7, 6, 3], 0.2, 1.0, 0.2),
    ([3], [9, 8, 7, 6, 5, 3], 0.0, 0.0, 0.0),
    ([2, 4, 6], [1, 4, 3, 6, 5, 2], 0.4, 0.666667, 0.5),
    ([5, 6], [9, 5, 8, 6], 0.4, 1.0, 0.5),
]


def random_round(seed):
    """Return (cases, baseline results, recommendation results) with integer ids."""
    rng = random.Random(seed)
    cases, maps = [], ({}, {})
    for number in range(rng.randrange(1, 12)):
        pool = rng.sample(range(1, 40), 12)
        relevant = pool[:rng.choice([0, 1, 2, 3, 7])]
        cases.append(case(f"case {number}", relevant, pool[7:9], pool[8:11]))
        for results in maps:
            results[f"case {number}"] = rng.choices(pool, k=rng.randrange(0, 9))
    return cases, *maps


class Peers(unittest.TestCase):
    """The metrics beside the same metrics of other programs."""

    def test_figures_of_other_programs(self):
        for relevant, ids, precision, recall, reciprocal in PEERS:
            with self.subTest(ids=ids):
                row = score(ids, case("a", relevant))
                self.assertEqual((row["baseline_precision_at_5"], row["baseline_recall_at_5"],
                                  row["baseline_mrr_at_5"]), (precision, recall, reciprocal))


class Identities(unittest.TestCase):
    """What holds for any input, on seeded random ones."""

    def test_ranges_and_agreement_between_metrics(self):
        for seed in range(200):
            cases, old, new = random_round(seed)
            for row in evaluate_rankings(cases, old, new)["cases"]:
                relevant = row["judgments"]["relevant_ids"]
                for ranker in ("baseline", "recommendation"):
                    get = {name: row[f"{ranker}_{name}"] for name in VALUES}
                    window = [item["id"] for item in row[f"{ranker}_top_5"]]
                    hits = len(set(window) & set(relevant))
                    if not relevant:
                        self.assertEqual(get["no_match_correct"], float(not window))
                        self.assertIsNone(get["recall_at_5"])
                        continue
                    for name in VALUES[:5]:
                        self.assertTrue(0 <= get[name] <= 1, name)
                    self.assertEqual(get["recall_at_5"], round(hits / len(relevant), 6))
                    self.assertEqual(get["mrr_at_5"] > 0, hits > 0)
                    self.assertLessEqual(get["precision_at_5"], get["precision_of_returned"])
                    judged = [value for key in ("relevant_ids", "unacceptable_ids",
                                                "constraint_ineligible_ids")
                              for value in row["judgments"][key]]
                    self.assertFalse(set(row[f"{ranker}_unjudged_ids"]) & set(judged))

    def test_means_are_the_exact_means(self):
        for seed in range(50):
            cases, old, new = random_round(seed)
            report = evaluate_rankings(cases, old, new)
            exact = [Fraction(len(set(old[one["id"]][:5]) & set(one["judgments"]["relevant_ids"])),
                              len(one["judgments"]["relevant_ids"]))
                     for one in cases if one["judgments"]["relevant_ids"]]
            entry = report["summary"]["recall_at_5"]
            self.assertEqual(entry["cases"], len(exact))
            if exact:
                self.assertEqual(entry["baseline"], round(float(sum(exact) / len(exact)), 6))

    def test_running_twice_changes_nothing_and_swapping_mirrors(self):
        for seed in range(50):
            cases, old, new = random_round(seed)
            report, mirror = evaluate_rankings(cases, old, new), evaluate_rankings(cases, new, old)
            self.assertEqual(json.dumps(report),
                             json.dumps(evaluate_rankings(copy.deepcopy(cases), old, new)))
            for name, entry in report["summary"].items():
                self.assertEqual(entry["baseline"], mirror["summary"][name]["recommendation"])
            self.assertEqual(report["changed_hands"]["wins"], mirror["changed_hands"]["losses"])

    def test_renaming_ids_changes_no_figure(self):
        for seed in range(50):
            cases, old, new = random_round(seed)
            renamed = copy.deepcopy(cases)
            for one in renamed:
                for key in ("relevant_ids", "unacceptable_ids", "constraint_ineligible_ids"):
                    one["judgments"][key] = [f"id {value}" for value in one["judgments"][key]]
            maps = [{key: [f"id {value}" for value in ids] for key, ids in results.items()}
                    for results in (old, new)]
            self.assertEqual(evaluate_rankings(cases, old, new)["summary"],
                             evaluate_rankings(renamed, *maps)["summary"])

    def test_order_of_the_cases_changes_no_figure(self):
        for seed in range(50):
            cases, old, new = random_round(seed)
            self.assertEqual(evaluate_rankings(cases, old, new)["summary"],
                             evaluate_rankings(cases[::-1], old, new)["summary"])

    def test_known_rankers(self):
        cases, _, _ = random_round(7)
        first = {one["id"]: one["judgments"]["relevant_ids"] for one in cases}
        nothing = {one["id"]: [] for one in cases}
        summary = evaluate_rankings(cases, nothing, first)["summary"]
        self.assertEqual(summary["precision_of_returned"]["recommendation"], 1.0)
        self.assertEqual(summary["mrr_at_5"]["recommendation"], 1.0)
        self.assertEqual(summary["recall_at_5"]["baseline"], 0.0)
        self.assertEqual(summary["no_match_correct"]["baseline"], 1.0)


# ---- scorer: faults of the arguments ----

def judged(**judgments):
    """Return one case with these judgments beside sound ones."""
    one = case()
    one["judgments"].update(judgments)
    return [one]


# (what, cases, fragments of the message; each fragment is one fault, named in full)
CASE_FAULTS = [
    ("cases is no list", {}, ["cases: must be a list"]),
    ("a case is no object", [case(), 5], ["case number 2: must be an object with a text id"]),
    ("a case without an id", [{"q": "x"}], ["case number 1: must be an object with a text id"]),
    ("a case with a number as id", [case(7)], ["case number 1: must be"]),
    ("repeated case ids", [case("a"), case("b"), case("a"), case("b"), case("c")],
     ["cases: repeated case id: 'a', 'b'"]),
    ("no query", [{"id": "a", "judgments": {"relevant_ids": [1]}}], ["case 'a': q: must be text"]),
    ("no judgments", [{"id": "a", "q": "x"}], ["case 'a': judgments: must be an object"]),
    ("no relevant_ids", [{"id": "a", "q": "x", "judgments": {}}],
     ["case 'a': judgments.relevant_ids: is missing"]),
    ("a misspelt list", judged(unaceptable_ids=[2]), ["unknown list 'unaceptable_ids'"]),
    ("a list that is text", judged(unacceptable_ids="2"),
     ["judgments.unacceptable_ids: must be a list"]),
    ("a boolean as id", judged(unacceptable_ids=[True]),
     ["unacceptable_ids: True: an id is an integer or a non-empty string"]),
    ("a fraction as id", judged(unacceptable_ids=[2.0]), ["unacceptable_ids: 2.0: an id is"]),
    ("an empty id", judged(unacceptable_ids=[""]), ["unacceptable_ids: '': an id is"]),
    ("a list as id", judged(unacceptable_ids=[[2]]), ["unacceptable_ids: [2]: an id is"]),
    ("a repeated id", judged(unacceptable_ids=[2, 3, 2]),
     ["unacceptable_ids: 2: occurs more than once"]),
    ("a distractor that is relevant", judged(unacceptable_ids=[1]),
     ["judgments.unacceptable_ids: 1: is in relevant_ids too"]),
    ("an ineligible id that is relevant", judged(constraint_ineligible_ids=[1]),
     ["judgments.constraint_ineligible_ids: 1: is in relevant_ids too"]),
    ("no match expected with relevant ids", judged(no_match_expected=True),
     ["no_match_expected: must be true exactly when relevant_ids is empty"]),
    ("a match expected without relevant ids", judged(relevant_ids=[], no_match_expected=False),
     ["no_match_expected: must be true exactly when"]),
    ("a flag that is a number", judged(no_match_expected=0), ["no_match_expected: must be"]),
    ("a rationale that is a list", judged(rationale=[]), ["judgments.rationale: must be text"]),
    ("two kinds of id in one case", judged(unacceptable_ids=["2"]),
     ["listing ids: 1, '2': must be all integers or all strings"]),
    ("two kinds of id in two cases", [case("a", [1]), case("b", ["x"])],
     ["listing ids: 1, 'x': must be"]),
    ("requirements that are a list", [case(requirements=[])],
     ["case 'a': requirements: must be an object"]),
    ("every fault at once", [case("a", [1, 1]), {"id": "b"}, 5],
     ["case 'a': judgments.relevant_ids: 1: occurs", "case 'b': q: must",
      "case 'b': judgments: must", "case number 3: must"]),
]

# requirement key: (values that are right, values that are wrong)
REQUIREMENT_VALUES = {
    "auth": (["none", "api_key", "http", "oauth2", "oidc", "mtls"],
             ["", "None", "basic", None, True, ["none"], 1]),
    "exclude_auth": ([["api_key"], ["none", "mtls"]], ["api_key", [], ["key"], [["http"]], None]),
    "signed": ([True, False], [1, 0, "true", None]),
    "transport": (["JSONRPC", "GRPC", "HTTP+JSON", "custom"], ["", " ", None, 5, ["GRPC"]]),
    "streaming": ([True], [False, 1, "true", None]),
    "tls": ([True], [False, 1, "yes"]),
    "card_max_age_hours": ([1, 0.5, 48], [0, -1, True, "24", None, float("inf"), float("nan")]),
    "protocol_max_age_hours": ([24], [0, False, [24]]),
}

# (what, baseline results for cases a, b, c, d, e with relevant ids of integers, fragments)
RESULT_FAULTS = [
    ("no map", [[1]], ["baseline_results: must be an object of case ids and rankings"]),
    ("missing cases", {"a": []}, ["baseline_results: no result for case 'b', 'c', 'd' and 1 more"]),
    ("an unknown case", {**dict.fromkeys("abcde", []), "z": []},
     ["baseline_results: a result for an unknown case 'z'"]),
    ("a string id", {**dict.fromkeys("abcde", []), "b": [2, "1"]},
     ["baseline_results: case 'b': returned id '1' where listing ids are integers"]),
    ("a boolean id", {**dict.fromkeys("abcde", []), "b": [True]},
     ["baseline_results: case 'b': returned id True where listing ids are integers"]),
    ("a missing id", {**dict.fromkeys("abcde", []), "b": {"items": [{"name": "x"}]}},
     ["case 'b': \"items\" must hold objects with an \"id\""]),
    ("an answer without items", {**dict.fromkeys("abcde", []), "b": {"results": []}},
     ["case 'b': an object without a list \"items\""]),
    ("no answer", {**dict.fromkeys("abcde", []), "b": None},
     ["case 'b': must be a list of ids or an object with \"items\", not None"]),
    ("text as an answer", {**dict.fromkeys("abcde", []), "b": "12"}, ["case 'b': must be a list"]),
    ("a list as an id, far down", {**dict.fromkeys("abcde", []), "b": [*range(50), [1]]},
     ["case 'b': returned id [1] where"]),
]


class ArgumentFaults(unittest.TestCase):
    """Every rule about the arguments of evaluate_rankings."""

    def faults(self, *arguments, **options):
        """Return the faults that the arguments raise."""
        with self.assertRaises(BenchmarkError) as caught:
            evaluate_rankings(*arguments, **options)
        self.assertIsInstance(caught.exception, ValueError)
        self.assertEqual(str(caught.exception), "\n".join(caught.exception.faults))
        return caught.exception.faults

    def test_cases(self):
        for what, cases, fragments in CASE_FAULTS:
            with self.subTest(what):
                faults = self.faults(cases, {}, {})
                self.assertEqual(len(faults), len(fragments), faults)
                for fault, fragment in zip(faults, fragments):
                    self.assertIn(fragment, fault)

    def test_requirements(self):
        self.assertEqual(list(REQUIREMENT_VALUES), list(run_benchmark.REQUIREMENTS))
        for key, (right, wrong) in REQUIREMENT_VALUES.items():
            for value in right:
                with self.subTest(key=key, right=value):
                    score([], case(requirements={key: value}))
            for value in wrong:
                with self.subTest(key=key, wrong=value):
                    faults = self.faults([case(requirements={key: value})], {"a": []}, {"a": []})
                    self.assertEqual(len(faults), 1, faults)
                    self.assertIn(f"case 'a': requirements.{key}: {value!r} must be ", faults[0])
        faults = self.faults([case(requirements={"authh": "none"})], {}, {})
        self.assertIn("requirements: unknown key 'authh'; known: auth, exclude_auth", faults[0])

    def test_results(self):
        cases = [case(name) for name in "abcde"]
        sound = dict.fromkeys("abcde", [1])
        for what, results, fragments in RESULT_FAULTS:
            with self.subTest(what):
                faults = self.faults(cases, results, sound)
                self.assertEqual(len(faults), len(fragments), faults)
                for fault, fragment in zip(faults, fragments):
                    self.assertIn(fragment, fault)
        both = self.faults(cases, {}, {})
        self.assertIn("recommendation_results: no result for case 'a'", both[1])

    def test_ids_of_cases_that_judge_nothing(self):
        empty = [case("n", []), case("m", [])]
        self.assertEqual(
            evaluate_rankings(empty, {"n": ["x"], "m": []}, {"n": [], "m": ["y"]})
            ["summary"]["unjudged_returned"]["difference"], 0)
        self.assertIn("case 'm': returned id 1 where listing ids are strings",
                      self.faults(empty, {"n": ["x"], "m": [1]}, {"n": [], "m": []})[0])
        self.assertIn("returned an empty id",
                      self.faults([case("n", ["x"])], {"n": ["x", ""]}, {"n": []})[0])

    def test_listings(self):
        for listings, fragment in [
            ({}, "listings: must be a list"),
            ([5], "listing number 1: must be an object with an id"),
            ([{"id": True, "name": "x"}], "listing number 1: must be an object with an id"),
            ([{"id": 1}], "listing 1: name: must be text"),
            ([{"id": 1, "name": "x"}] * 2, "listing 1: id: occurs more than once"),
        ]:
            with self.subTest(fragment):
                self.assertIn(fragment, self.faults([case()], {"a": []}, {"a": []},
                                                    listings=listings)[0])


# ---- scorer: files ----

def changed(**parts):
    """Return sound fixtures with these parts put in their place."""
    return {**fixtures(), **parts}


def with_listing(**parts):
    """Return sound fixtures whose second listing has these parts."""
    value = fixtures()
    value["listings"][1].update(parts)
    return value


TIME = "must be an ISO 8601 time with an offset"
DEEP = 100_000

# (what, content of the fixture file, fragments of its error lines)
FILES = [
    ("empty", b"", ["is empty"]),
    ("white space", b" \n", ["is empty"]),
    ("a byte order mark", b"\xef\xbb\xbf{}", ["line 1: starts with a byte order mark"]),
    ("not UTF-8", b'{\n"a": "\xff"}', ["line 2: byte 9 is not UTF-8"]),
    ("UTF-16", "{}".encode("utf-16-le"), ["line 1"]),
    ("no JSON", b"{\n  'a': 1}", ["line 2 column 3: not JSON"]),
    ("trailing garbage", b"{} {}", ["line 1 column 4: not JSON"]),
    ("a trailing comma", b'{"a": 1,}', ["line 1 column", "not JSON"]),
    ("cut off", b'{"a": [1, 2', ["not JSON"]),
    ("a raw control character", b'{"a": "\x01"}', ["not JSON"]),
    ("NaN", b'{"a": NaN}', ["NaN: is not a JSON number"]),
    ("Infinity", b'{"a": Infinity}', ["Infinity: is not a JSON number"]),
    ("-Infinity", b'[-Infinity]', ["-Infinity: is not a JSON number"]),
    ("a float that overflows", b'{"a": 1e999}', ["1e999: is too large a number"]),
    ("a giant integer", b'{"a": 1' + b"0" * 5000 + b"}", ["is too large an integer"]),
    ("an integer beyond 64 bits", b'{"a": 9223372036854775808}', ["is too large an integer"]),
    ("a repeated key", b'{"a": 1, "b": {"x": 1, "x": 1}}', ["key 'x': occurs twice in one object"]),
    ("half a surrogate pair", b'{"a": "\\ud83d"}', ["half of a surrogate pair"]),
    ("the other half, in a key", b'{"\\ude00": 1}', ["half of a surrogate pair"]),
    ("halves apart", b'{"a": "\\ud83d\\n\\ude00"}', ["half of a surrogate pair"]),
    ("deep lists", b"[" * DEEP + b"]" * DEEP, ["nested deeper than 64 levels"]),
    ("deep objects", b'{"a":' * 70 + b"1" + b"}" * 70, ["nested deeper than 64 levels"]),
    ("a list", b"[]", ["must be an object with listings and cases"]),
    ("null", b"null", ["must be an object with listings and cases"]),
    ("no schema number", {"listings": []},
     ["schema_version: None is not known; this script reads 1"]),
    ("another schema number", changed(schema_version=2), ["schema_version: 2 is not known"]),
    ("true as schema number", changed(schema_version=True), ["schema_version: True is not known"]),
    ("the head", changed(benchmark="", version=1, clock="2026-10-20"),
     ["benchmark: must be text", "version: must be text", f"clock: {TIME}"]),
    ("no cases", changed(cases=[]), ["cases: there is none"]),
    ("cases missing", {key: value for key, value in fixtures().items() if key != "cases"},
     ["cases: must be a list"]),
    ("listings missing", {key: value for key, value in fixtures().items() if key != "listings"},
     ["listings: must be a list"]),
    ("a listing that is text", changed(listings=["x"]), ["listing number 1: must be an object"]),
    ("a repeated listing", changed(listings=[listing(1), listing(1)]),
     ["listing 1: id: occurs more than once"]),
    ("two kinds of listing id", changed(listings=[listing(1), listing("a")]),
     ["listing ids: 1, 'a': must be all integers or all strings"]),
    ("a true id", changed(listings=[listing(True)]),
     ["listing number 1: must be an object with an id"]),
    ("a card that is text", with_listing(card="x"), ["listing 2: card: must be an object"]),
    ("a card without a name", with_listing(card={}), ["listing 2: name: must be text"]),
    ("a time without an offset", with_listing(listed_at="2026-09-01T08:00:00"),
     [f"listing 2: listed_at: {TIME}"]),
    ("a day that is none", with_listing(listed_at="2026-02-30T08:00:00Z"),
     [f"listing 2: listed_at: {TIME}"]),
    ("observations that are a list", with_listing(observations=[]),
     ["listing 2: observations: must be an object"]),
    ("an observation without a result", with_listing(observations={"tls": {"at": "x"}}),
     ["listing 2: observations.tls: must be an object with ok"]),
    ("an observation without a time", with_listing(observations={"tls": {"ok": True}}),
     [f"listing 2: observations.tls.at: {TIME}"]),
    ("a judged id that is no listing", fixtures([case("a", [1], [77])]),
     ["case 'a': judgments: no listing 77"]),
    ("judgments of another kind", fixtures([case("a", ["1"])]),
     ["case 'a': judgments: no listing '1'"]),
    ("a requirement", fixtures([case(requirements={"auth": "key"})]),
     ["case 'a': requirements.auth: 'key' must be one of none"]),
    ("control characters in a message", fixtures([case("a\x1b[31m", [77])]),
     ["case 'a\\x1b[31m': judgments: no listing 77"]),
]

# (text, the same instant in UTC, or None)
INSTANTS = [
    ("2026-10-20T12:00:00+00:00", "2026-10-20T12:00:00+00:00"),
    ("2026-10-20T12:00:00Z", "2026-10-20T12:00:00+00:00"),
    ("2026-10-20T14:00+02:00", "2026-10-20T12:00:00+00:00"),
    ("2026-10-20T12:00:00.5Z", "2026-10-20T12:00:00.500000+00:00"),
    ("2026-10-20T12:00:00.1234567Z", "2026-10-20T12:00:00.123456+00:00"),
    ("2026-10-20T12:00:00", None), ("2026-10-20", None), ("2026-13-01T12:00:00Z", None),
    ("2026-10-20T12:00:00+99:00", None), ("", None), (5, None), (None, None),
    ("\u0662\u0660\u0662\u0666-10-20T12:00:00Z", None),
]


class Files(Folder):
    """What is refused in a file, and how."""

    def test_fixture_files(self):
        for what, content, fragments in FILES:
            with self.subTest(what):
                path = self.write("fixtures.json", content)
                err = self.refused(fragments, "--engine", self.engine, "--fixtures", path)
                for line in err.splitlines():
                    self.assertTrue(line.startswith(f"error: {path}: "), line)

    def test_all_faults_at_once(self):
        value = changed(clock=5, cases=[case("a", [1, 1]), case("b", requirements={"x": 1})])
        path = self.write("fixtures.json", value)
        err = self.refused(["clock", "'a'", "'b'"], "--engine", self.engine, "--fixtures", path)
        self.assertEqual(len(err.splitlines()), 3)

    def test_names_that_are_no_readable_file(self):
        for path in (self.path("missing.json"), self.folder, ""):
            with self.subTest(path):
                self.refused(["cannot be read"], "--engine", self.engine, "--fixtures", path)
                self.refused(["cannot be read"], "--engine", path, "--fixtures", self.fixtures)
                self.refused(["cannot be read"], "--captures", path)
                self.refused(["cannot be read"], "--engine", self.engine,
                             "--fixtures", self.fixtures, "--compare", path)
        self.refused(["is empty"], "--captures", os.devnull)

    def test_escapes_that_are_sound(self):
        value = json.dumps(fixtures([case(q="\U0001f600 \\ud83d", rationale="x")]))
        self.write("fixtures.json", value)
        self.assertEqual(self.run_tiny()[0], 0)

    def test_instants(self):
        for text, expected in INSTANTS:
            with self.subTest(text):
                moment = run_benchmark.instant(text)
                if expected is None:
                    self.assertIsNone(moment)
                else:
                    self.assertEqual(moment, run_benchmark.datetime.fromisoformat(expected))


# ---- scorer: engines ----

def engine(baseline="return []", recommend="return []", top="", init="pass"):
    """Return the source of an engine with these bodies; `top` stands before the class."""
    return (f'RANKER_VERSION = "t"\n{top}\nclass CapabilityIndex:\n'
            f"    def __init__(self, listings, now):\n        {init}\n"
            f"    def baseline(self, query, requirements=None, limit=None):\n        {baseline}\n"
            f"    def recommend(self, query, requirements=None, limit=None):\n"
            f"        {recommend}\n")


# (what, source, fragments of the one error line); cases are 'first' and 'second', and in the
# sources above `baseline` has its body in line 7 and `recommend` in line 9.
ENGINES = [
    ("raises", engine(recommend="raise KeyError('x')"),
     ["recommendation, case 'first': raised KeyError: 'x' (line 9)"]),
    ("raises at the second case", engine("return [] if query == 'one' else 1 / 0"),
     ["baseline, case 'second': raised ZeroDivisionError: ", " (line 7)"]),
    ("raises deeper", engine("f()", top="def f(): raise OSError('a\\nb')"),
     ["baseline, case 'first': raised OSError: a\\nb (line 2)"]),
    ("exits", engine("raise SystemExit(0)"),
     ["baseline, case 'first': raised SystemExit: 0 (line 7)"]),
    ("exits at import", engine(top="import sys; sys.exit('bye')"),
     ["import: raised SystemExit: bye (line 2)"]),
    ("raises at import", engine(top="None.x"), ["import: raised AttributeError", "(line 2)"]),
    ("raises in the constructor", engine(init="raise ValueError"),
     ["CapabilityIndex: raised ValueError (line 5)"]),
    ("an exception that cannot be shown",
     engine("raise E()", top="class E(Exception):\n    def __str__(self): return 1"),
     ["baseline, case 'first': raised E", "(line 8)"]),
    # A function: a method that calls itself without end takes CPython 3.13.0 itself down.
    ("recurses", engine("return f()", top="def f(): return f()"),
     ["baseline, case 'first': raised RecursionError", "(line 2)"]),
    ("imports what is not there", engine(top="import no_such_module_here"),
     ["import: raised ModuleNotFoundError", "(line 2)"]),
    ("syntax error", "RANKER_VERSION = 't'\nclass CapabilityIndex(:\n",
     ["import: raised SyntaxError", "(line 2)"]),
    ("NUL in the source", b"a = 1\0", ["import: raised "]),
    ("not UTF-8", b"a = '\xff'", ["import: raised SyntaxError"]),
    ("empty", b"", ["RANKER_VERSION: must be text that is not empty"]),
    ("a number as version", engine(top="RANKER_VERSION = 1"), ["RANKER_VERSION: must be text"]),
    ("no class", "RANKER_VERSION = 't'", ["CapabilityIndex: the class is missing"]),
    ("no method", engine().replace("def baseline", "def base"),
     ["CapabilityIndex.baseline: the method is missing"]),
    ("wrong signature", engine().replace(
        "def recommend(self, query, requirements=None, limit=None)", "def recommend(self)"),
     ["recommendation, case 'first': raised TypeError: ", "(line 8)"]),
    ("wrong constructor", engine().replace("self, listings, now", "self"),
     ["CapabilityIndex: raised TypeError: ", "(line 4)"]),
    ("returns nothing", engine("pass"),
     ["baseline, case 'first': ", "must be a list of ids", "None"]),
    ("returns text", engine("return 'abc'"), ["baseline, case 'first'", "must be a list of ids"]),
    ("returns a generator", engine("yield 1"), ["baseline, case 'first'", "must be a list of ids"]),
    ("returns other objects", engine("return {'items': [1]}"),
     ["baseline, case 'first'", '"items" must hold objects with an "id"']),
    ("returns an object without items", engine("return {}"),
     ["baseline, case 'first'", 'an object without a list "items"']),
    ("returns an unknown id", engine("return [1, 99]"),
     ["baseline, case 'first': returned 99, which is no listing's id"]),
    ("returns the other kind", engine("return ['1']"), ["baseline, case 'first': returned '1'"]),
    ("returns true", engine("return [True]"), ["baseline, case 'first': returned True"]),
    ("returns a list as id", engine("return [[1]]"), ["baseline, case 'first': returned [1]"]),
    ("prints", engine("print('hello'); return []"),
     ["baseline, case 'first': printed 'hello\\n'; an engine must not print"]),
    ("prints to stderr", engine("import sys; sys.stderr.write('x'); return []"),
     ["baseline, case 'first': printed 'x'"]),
    ("prints at import", engine(top="print(1)"), ["import: printed '1\\n'"]),
    ("prints in the constructor", engine(init="print(2)"), ["CapabilityIndex: printed '2\\n'"]),
    ("prints to a stream kept from the import",
     engine("print(3, file=out); return []", top="import sys; out = sys.stdout"),
     ["baseline, case 'first': printed '3\\n'"]),
    ("changes the listings at the second case",
     engine("self.all[0]['tags'] = query\n        return []", init="self.all = listings"),
     ["baseline, case 'first': changed the listings that it was given"]),
    ("changes true to one", engine(
        "self.all[0]['observations']['tls']['ok'] = 1 if query == 'two' else True\n"
        "        return []", init="self.all = listings"),
     ["baseline, case 'second': changed the listings that it was given"]),
    ("changes the listings in the constructor", engine(init="listings.pop()"),
     ["CapabilityIndex: changed the listings that it was given"]),
    ("changes the listings last", engine(recommend="self.all.pop() if query == 'two' else 0\n"
                                         "        return []", init="self.all = listings"),
     ["recommendation, case 'second': changed the listings that it was given"]),
    ("changes the requirements", engine("requirements.clear(); return []"),
     ["baseline, case 'second': changed the requirements that it was given"]),
]


class Engines(Folder):
    """What an engine may do, and the one line for what it may not."""

    def setUp(self):
        super().setUp()
        self.write("fixtures.json", fixtures([
            case("first", [1], q="one"), case("second", [2], q="two",
                                              requirements={"exclude_auth": ["none"]})]))

    def test_engines_that_misbehave(self):
        finders = list(sys.meta_path)
        for what, source, fragments in ENGINES:
            with self.subTest(what):
                path = self.write("engine.py", source)
                streams, folder = (sys.stdout, sys.stderr), os.getcwd()
                err = self.refused(fragments, "--engine", path, "--fixtures", self.fixtures)
                self.assertTrue(err.startswith(f"error: {path}: "), err)
                self.assertEqual(err.count("\n"), 1, err)
                self.assertEqual((sys.stdout, sys.stderr), streams)
                self.assertEqual(sys.meta_path, finders)
                self.assertEqual(os.getcwd(), folder)

    def test_control_c_in_an_engine(self):
        self.write("engine.py", engine("raise KeyboardInterrupt"))
        self.assertEqual(self.run_tiny(), (130, "", "interrupted\n"))

    def test_what_an_engine_sees(self):
        self.write("engine.py", engine(
            top="import sys, datetime",
            init="assert now.utcoffset() == datetime.timedelta(0), now\n"
            "        assert __name__ == 'engine' and __file__.endswith('engine.py')\n"
            "        assert sys.modules['engine'].CapabilityIndex is CapabilityIndex",
            baseline="assert (query, requirements) in [('one', {}), ('two', {'exclude_auth': "
            "['none']})] and limit is None\n        return []"))
        before = sys.modules.get("engine")
        status, out, err = self.run_tiny()
        self.assertEqual((status, err), (0, ""))
        self.assertIs(sys.modules.get("engine"), before)

    def test_an_engine_that_leaves_the_folder(self):
        self.write("engine.py", engine(top="import os; os.chdir(os.sep)"))
        os.makedirs(self.path("here"))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.path("here"))
        self.assertEqual(self.run_tiny("--output", "out.json")[0], 0)
        self.assertEqual(os.listdir(self.path("here")), ["out.json"])

    def test_imports_from_the_folder_are_stamped(self):
        sources = {
            "words.py": "from kit.parts import LIST\n",
            "kit/__init__.py": "",
            "kit/parts.py": "LIST = [1]\n",
            "lazy.py": "VALUE = 2\n",
            "unused.py": "raise SystemExit\n",
        }
        for name, source in sources.items():
            self.write(name, source)
        self.write("engine.py", engine(
            "import lazy; return [lazy.VALUE]", "return words.LIST",
            top="import words, json; from kit import parts; __import__('engine')"))
        # A module of the same name that somebody loaded before is another one, and stays.
        stranger = type(sys)("lazy")
        with unittest.mock.patch.dict(sys.modules, {"lazy": stranger, "kit": stranger}):
            self.check_stamps(sources)
            self.assertIs(sys.modules["lazy"], stranger)
            self.assertIs(sys.modules["kit"], stranger)
            self.assertFalse({"words", "kit.parts"} & set(sys.modules))
        self.assertFalse([name for _, folders, _ in os.walk(self.folder) for name in folders
                          if name == "__pycache__"])

    def check_stamps(self, sources):
        """Assert that two runs stamp the sources that the engine imports."""
        for attempt in range(2):
            status, out, err = self.run_tiny("--output", self.path("r.json"))
            self.assertEqual((status, err), (0, ""))
            stamps = json.loads(self.read(self.path("r.json")))["inputs"]["engine_imports_sha256"]
            self.assertEqual(stamps, {
                name: run_benchmark.sha256(sources[name].encode())
                for name in ("kit/__init__.py", "kit/parts.py", "lazy.py", "words.py")})
        self.write("lazy.py", "VALUE = 3\n")       # the change is seen, and named by line
        self.assertIn("2", self.run_tiny("--compare", self.path("r.json"))[1])
        self.write("words.py", "\n\nNone.x\n")
        self.refused(["engine.py: import: raised AttributeError", "(words.py line 3)"],
                     "--engine", self.engine, "--fixtures", self.fixtures)

    def test_an_import_cannot_be_an_output(self):
        path = self.write("words.py", "")
        self.write("engine.py", engine(top="import words"))
        self.refused(["words.py", "is an input"], "--engine", self.engine,
                     "--fixtures", self.fixtures, "--output", path)
        self.assertEqual(self.read(path), b"")

    def test_names_of_engine_files(self):
        for name in ("json.py", "my engine.v2", "run_benchmark.py", "__main__.py"):
            with self.subTest(name):
                self.engine = self.write(name, ENGINE)
                modules = dict(sys.modules)
                self.assertEqual(self.run_tiny()[0], 0)
                self.assertIs(sys.modules["json"], json)
                self.assertIs(sys.modules["__main__"], modules["__main__"])
                self.assertIs(sys.modules["run_benchmark"], run_benchmark)


# ---- scorer: report, summary, output ----

CAPTURE = {
    "metadata": {"captured_at": "2026-10-20T12:00:00+00:00", "selection_method": "by hand"},
    "cases": [case("pdf-example", [123], [456]), case("other", [7])],
    "baseline_results": {"pdf-example": [456], "other": {"items": [{"id": 7}]}},
    "recommendation_results": {"pdf-example": [456, 123], "other": [8, 7]},
    "listings": [{"id": 123, "name": "Maker"}, {"id": 456, "name": "Filler"}],
}

# Seven listings: the baseline returns 7 6 5 4 3, the recommendation 1 2 3 4 5. For "one" 1 is
# relevant (ranks none and 1), for "four" 4 and 2 are (rank 4 alone; ranks 4 and 2), for "absent"
# nothing is.
TINY_SUMMARY = """\
tiny 1.0.0: development set, 3 cases, judgments: complete
ranker toy-1, clock 2026-10-20T12:00:00+00:00

                            baseline   recommendation   difference    cases
precision_at_5                 0.100            0.300       +0.200        2
precision_of_returned          0.100            0.300       +0.200        2
slots_filled                   1.000            1.000       +0.000        2
recall_at_5                    0.250            1.000       +0.750        2
mrr_at_5                       0.125            0.750       +0.625        2
no_match_correct               0.000            0.000       +0.000        1
constraint_violations              1                0           -1        3
distractors_returned               1                1           +0        3
unjudged_returned                 12               11           -1        3

Cases that changed hands: recommendation better in 2, worse in 0, equal in 1
                           worse     |    better
  one                                |++++++++++ +1      recall_at_5
  four                               |+++++      +0.5    recall_at_5
  equal: absent

Constraint violations: 1
  one, baseline: 7 Listing 7

Distractors returned: 2
  four, baseline: 5 Listing 5
  four, recommendation: 5 Listing 5

Unjudged ids returned: 23
  one, baseline: 6 Listing 6, 5 Listing 5, 4 Listing 4, 3 Listing 3
  one, recommendation: 2 Listing 2, 3 Listing 3, 4 Listing 4, 5 Listing 5
  four, baseline: 7 Listing 7, 6 Listing 6, 3 Listing 3
  four, recommendation: 1 Listing 1, 3 Listing 3
  absent, baseline: 7 Listing 7, 6 Listing 6, 5 Listing 5, 4 Listing 4,
      3 Listing 3
  absent, recommendation: 1 Listing 1, 2 Listing 2, 3 Listing 3, 4 Listing 4,
      5 Listing 5

Repeated ids: none

Note: The project's own rankers were developed on these cases: this is a
      development set, not a held-out test, and high scores should be read with
      that in mind.
Note: The cases, the judgments and the project's rankers have the same authors;
      nobody independent has checked them.
Note: Scores measure search over what publishers declare and what the directory
      observed. No task was run, so nothing here shows that an agent can do what
      it declares.
"""


class Reports(Folder):
    """The report, the summary and where they go."""

    def setUp(self):
        super().setUp()
        self.write("fixtures.json", fixtures([
            case("one", [1], [], [7]), case("four", [4, 2], [5]), case("absent", [])]))
        self.report = self.path("report.json")

    def test_layout_of_the_report(self):
        self.assertEqual(self.run_tiny("--output", self.report)[0], 0)
        data = self.read(self.report)
        report = json.loads(data)
        self.assertEqual(list(report), [
            "schema_version", "benchmark", "version", "kind", "judgments", "summary",
            "changed_hands", "what_the_figures_do_not_show", "formulas", "inputs", "clock",
            "ranker_version", "cases"])
        self.assertEqual(data, (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode())
        self.assertEqual(report["inputs"], {
            "fixtures_sha256": run_benchmark.sha256(self.read(self.fixtures)),
            "engine_sha256": run_benchmark.sha256(ENGINE.encode()),
            "engine_imports_sha256": {},
            "run_benchmark_sha256": run_benchmark.sha256(self.read(run_benchmark.__file__))})
        self.assertEqual(list(report["cases"][0])[:12], [
            "id", "query", "requirements", "judgments", "outcome", "decided_by", "gain",
            "baseline_top_5", "baseline_returned", "baseline_precision_at_5",
            "baseline_precision_of_returned", "baseline_slots_filled"])
        self.assertEqual(report["cases"][0]["recommendation_top_5"][0],
                         {"id": 1, "name": "Listing 1"})
        self.assertEqual(report["cases"][0]["judgments"]["rationale"], "because")
        self.assertNotIn(self.folder.encode(), data)

    def test_summary(self):
        self.assertEqual(self.run_tiny(), (0, TINY_SUMMARY, ""))

    def test_the_last_line_is_of_sha256sum(self):
        for name in ("report.json", "a b.json", "back\\slash.json" if os.sep == "/" else "c.json"):
            with self.subTest(name):
                path = self.path(name)
                out = self.run_tiny("--output", path)[1]
                digest = run_benchmark.sha256(self.read(path))
                line = f"{digest}  {path}"
                if "\\" in name:
                    line = "\\" + line.replace("\\", "\\\\")
                self.assertEqual(out.splitlines()[-1], line)

    def test_output_to_standard_output(self):
        self.run_tiny("--output", self.report)
        self.assertEqual(self.run_tiny("--output", "-"), (0, self.read(self.report).decode(), ""))

    def test_outputs_that_are_refused(self):
        common = ("--engine", self.engine, "--fixtures", self.fixtures)
        os.mkdir(self.path("folder"))
        for path, fragment in [
            (self.path("folder"), "is a folder"),
            ("", "is a folder"),
            (self.path("missing", "r.json"), "its folder does not exist"),
            (self.fixtures, "is an input"),
            (self.engine, "is an input"),
            (os.path.abspath(run_benchmark.__file__), "is an input"),
        ]:
            with self.subTest(path):
                self.refused([fragment], *common, "--output", path)
        if os.path.exists("/dev/null"):
            self.refused(["is not a regular file"], *common, "--output", "/dev/null")
            self.assertFalse(os.path.isfile("/dev/null"))
        self.assertEqual(self.read(self.engine), ENGINE.encode())

    def test_an_output_may_not_be_an_input_by_another_name(self):
        try:
            os.symlink(self.fixtures, self.path("soft.json"))
            os.link(self.engine, self.path("hard.py"))
        except OSError:
            self.skipTest("no links here")
        for name in ("soft.json", "hard.py"):
            self.refused(["is an input"], "--engine", self.engine, "--fixtures", self.fixtures,
                         "--output", self.path(name))

    def test_a_link_stays_a_link_and_a_mode_stays(self):
        if os.name != "posix":
            self.skipTest("POSIX only")
        self.write("target.json", "old")
        os.chmod(self.path("target.json"), 0o600)
        os.symlink(self.path("target.json"), self.path("link.json"))
        self.assertEqual(self.run_tiny("--output", self.path("link.json"))[0], 0)
        self.assertTrue(os.path.islink(self.path("link.json")))
        self.assertEqual(os.stat(self.path("target.json")).st_mode & 0o777, 0o600)
        self.assertTrue(self.read(self.path("target.json")).startswith(b"{"))

    def test_a_failed_write_leaves_the_old_file(self):
        self.write("report.json", "old")
        for name in ("replace", "fsync"):
            for error, status in ((OSError(28, "No space left"), 2), (KeyboardInterrupt(), 130)):
                with self.subTest(name=name, status=status):
                    def fail(*arguments):
                        raise error
                    original = getattr(os, name)
                    setattr(os, name, fail)
                    try:
                        result, out, err = self.run_tiny("--output", self.report)
                    finally:
                        setattr(os, name, original)
                    self.assertEqual((result, out, err.count("\n")), (status, "", 1))
                    self.assertEqual(self.read(self.report), b"old")
                    self.assertEqual(sorted(os.listdir(self.folder)),
                                     ["engine.py", "fixtures.json", "report.json"])

    def test_no_permission(self):
        if os.name != "posix" or os.geteuid() == 0:
            self.skipTest("needs a user without all rights")
        os.mkdir(self.path("closed"), 0o500)
        self.refused(["cannot be written"], "--engine", self.engine, "--fixtures", self.fixtures,
                     "--output", self.path("closed", "r.json"))

    def test_text_from_files_cannot_move_the_cursor(self):
        names = ["\x1b[2J", "a\nb", "\x9b31m", "\x7f", "\u202eevil", "\u2028", "\U0001f600 ok",
                 "漢字" * 40, "e\u0301" * 9]
        value = fixtures([case("c\x1b[1m" + "漢" * 60, [8]), case("漢字", [1])])
        value["listings"] = [listing(number, name) for number, name in enumerate(names, 1)]
        value["benchmark"] = "b\r" * 60
        self.write("fixtures.json", value)
        out = self.run_tiny()[1]
        for line in out.splitlines():
            self.assertTrue(line.isprintable() or set(line) <= set("\u0301"), repr(line))
            self.assertLessEqual(run_benchmark.columns_of(line), 80, line)
        for shown in ("\\x1b[2J", "a\\nb", "\\x9b31m", "\\x7f", "\\u202eevil", "\\u2028",
                      "\U0001f600 ok"):
            self.assertIn(shown, out)

    def test_widths(self):
        for text, width, expected in [
            ("abc", 3, "abc"), ("abcdef", 5, "ab..."), ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字..."), ("漢字漢字", 6, "漢..."),
            ("e\u0301e\u0301", 2, "e\u0301e\u0301"),
        ]:
            with self.subTest(text):
                self.assertEqual(run_benchmark.visible(text, width), expected)

    def test_long_lists_are_cut_in_the_summary_only(self):
        many = [case(f"case-{number}", [1], q="q") for number in range(200)]
        self.write("fixtures.json", fixtures(many))
        out = self.run_tiny("--output", self.report)[1]
        self.assertIn("  ... and ", out)
        self.assertLess(len(out.splitlines()), 150)
        self.assertEqual(len(json.loads(self.read(self.report))["cases"]), 200)


class Captures(Folder):
    """The replay of a capture."""

    def test_replay_of_known_positives(self):
        path = self.write("capture.json", CAPTURE)
        status, out, err = run_main("--captures", path, "--output", self.path("live.json"))
        self.assertEqual((status, err), (0, ""))
        report = json.loads(self.read(self.path("live.json")))
        self.assertEqual((report["kind"], report["judgments"]), ("live", "known positives"))
        self.assertEqual(figures(report), {
            "hit_at_5": (0.5, 1.0, 0.5, 2),
            "mrr_at_5": (0.5, 0.5, 0.0, 2),
            "constraint_violations": (0, 0, 0, 2),
            "distractors_returned": (1, 1, 0, 2),
            "unjudged_returned": (0, 1, 1, 2)})
        self.assertEqual(report["inputs"]["capture_sha256"], run_benchmark.sha256(self.read(path)))
        self.assertEqual(report["metadata"], CAPTURE["metadata"])
        self.assertEqual(report["cases"][0]["recommendation_top_5"],
                         [{"id": 456, "name": "Filler"}, {"id": 123, "name": "Maker"}])
        self.assertTrue(any("known positives" in line
                            for line in report["what_the_figures_do_not_show"]))

    def test_replay_of_complete_judgments(self):
        metadata = {**CAPTURE["metadata"], "judgments_complete": True}
        path = self.write("capture.json", {**CAPTURE, "metadata": metadata})
        status, out, err = run_main("--captures", path, "--output", "-")
        self.assertEqual(json.loads(out)["summary"]["recall_at_5"]["cases"], 2)
        self.assertEqual(json.loads(out)["judgments"], "complete")

    def test_captures_that_are_refused(self):
        for what, change, fragments in [
            ("a list", [], ["must be an object with metadata"]),
            ("nothing", {}, ["metadata: is missing", "cases: is missing",
                             "baseline_results: is missing", "recommendation_results: is missing"]),
            ("metadata", {**CAPTURE, "metadata": 5}, ["metadata: must be an object"]),
            ("flag", {**CAPTURE, "metadata": {"judgments_complete": 1}},
             ["metadata.judgments_complete: must be true or false"]),
            ("time", {**CAPTURE, "metadata": {"captured_at": "yesterday"}},
             ["metadata.captured_at: must be an ISO 8601 time"]),
            ("no cases", {**CAPTURE, "cases": []}, ["cases: there is none"]),
            ("a missing case", {**CAPTURE, "baseline_results": {"other": []}},
             ["baseline_results: no result for case 'pdf-example'"]),
            ("a listing", {**CAPTURE, "listings": [{"id": 1}]}, ["listing 1: name: must be text"]),
        ]:
            with self.subTest(what):
                path = self.write("capture.json", change)
                err = self.refused(fragments, "--captures", path)
                self.assertEqual(len(err.splitlines()), len(fragments), err)
                self.assertIn(f"error: {path}: ", err)

    def test_usage(self):
        path = self.write("capture.json", CAPTURE)
        for arguments, fragments in [
            (["--captures", path, "--engine", self.engine], ["usage: ", "excludes --engine"]),
            (["--captures", path, "--fixtures", "x", "--engine", "y"],
             ["excludes --engine and --fixtures"]),
            (["--compare", path, "--output", "-"], ["--output must name a file"]),
            (["--out", "x"], ["usage: ", "--out"]), (["x"], ["usage: ", "x"]),
            (["--output"], ["usage: "]), (["--output", "a\0b"], ["NUL"]),
        ]:
            with self.subTest(arguments):
                before = sorted(os.listdir(self.folder))
                status, out, err = run_main(*arguments)
                self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
                self.assertTrue(err.startswith("error: "), err)
                for fragment in fragments:
                    self.assertIn(fragment, err)
                self.assertEqual(sorted(os.listdir(self.folder)), before)
        status, out, err = run_main("--help")
        self.assertEqual((status, err), (0, ""))
        if run_benchmark.__doc__:
            self.assertIn(run_benchmark.__doc__.strip(), out)
        self.assertEqual(run_main("--version"),
                         (0, f"run_benchmark.py {run_benchmark.VERSION}\n", ""))


# ---- scorer: comparison ----

class Comparisons(Folder):
    """--compare: what it says and when it fails."""

    def setUp(self):
        super().setUp()
        self.value = fixtures([case("one", [1, 3], q="one"), case("two", [2], q="two"),
                               case("absent", [], q="three")])
        self.write("fixtures.json", self.value)
        self.old = self.path("old.json")
        self.make("return [1, 2]", "return [1, 3] if query != 'three' else []")
        self.assertEqual(self.run_tiny("--output", self.old)[0], 0)

    def make(self, baseline, recommend):
        """Write an engine with these bodies."""
        self.write("engine.py", engine(baseline, recommend))

    def compared(self, status):
        """Return the lines that --compare adds to the summary; assert the status."""
        result, out, err = self.run_tiny("--compare", self.old)
        self.assertEqual((result, err), (status, ""), out)
        return out[out.index(f"Compared with {self.old}\n"):].splitlines()[1:]

    def test_the_same(self):
        self.assertEqual(self.compared(0), [
            "Inputs: the same", "Rankings, first five: the same", "Metrics that moved: none",
            "Cases that moved: none", "Verdict: no regression"])

    def test_better(self):
        self.make("return [1, 2]", "return {'one': [1, 3], 'two': [2]}.get(query, [])")
        self.assertEqual(self.compared(0), [
            "Inputs: differ in engine_sha256", "Rankings, first five: differ",
            "Metrics that moved: 6",
            "  precision_at_5, recommendation: 0.2 -> 0.3 (+0.100): better",
            "  precision_of_returned, recommendation: 0.5 -> 1.0 (+0.500): better",
            "  slots_filled, recommendation: 0.4 -> 0.3 (-0.100)",
            "  recall_at_5, recommendation: 0.5 -> 1.0 (+0.500): better",
            "  mrr_at_5, recommendation: 0.5 -> 1.0 (+0.500): better",
            "  unjudged_returned, recommendation: 2 -> 0 (-2)",
            "Cases that moved:",
            "  two, recommendation: precision_at_5 0.0 -> 0.2,",
            "      precision_of_returned 0.0 -> 1.0, slots_filled 0.4 -> 0.2,",
            "      recall_at_5 0.0 -> 1.0, mrr_at_5 0.0 -> 1.0, unjudged_returned 2 -> 0,",
            "      first five 1 3 -> 2",
            "Verdict: no regression"])

    def test_each_metric_that_gets_worse_fails(self):
        same = "{'one': [1, 3], 'two': [1, 3], 'three': []}"
        for what, change, status in [
            ("recall", "'one': [1, 9 - 2]", 1), ("mrr", "'one': [7, 1, 3]", 1),
            ("no match", "'three': [1]", 1), ("order that nothing measures", "'one': [3, 1]", 0),
            ("fewer slots, for nothing", "'two': [7]", 0),
        ]:
            with self.subTest(what):
                self.make("return [1, 2]", f"return {{**{same}, {change}}}[query]")
                lines = self.compared(status)
                self.assertEqual(lines[-1], "Verdict: " + (
                    "the recommendation is worse" if status else "no regression"))

    def test_violations_count_as_worse_and_the_baseline_does_not_fail(self):
        self.value["cases"] = [case("one", [1], [4], [5], q="one")]
        self.write("fixtures.json", self.value)
        self.make("return [1, 4]", "return [1, 6]")
        self.run_tiny("--output", self.old)
        for baseline, recommendation, status in [
            ("[1, 4]", "[1, 5]", 1), ("[1, 4]", "[1, 4]", 1), ("[5, 4, 2]", "[1, 6]", 0),
        ]:
            with self.subTest(recommendation):
                self.make(f"return {baseline}", f"return {recommendation}")
                self.compared(status)

    def test_the_same_inputs_and_another_result(self):
        report = json.loads(self.read(self.old))
        report["cases"][1]["recommendation_top_5"].reverse()
        self.write("old.json", report)
        lines = self.compared(1)
        self.assertIn("The same inputs gave another result.", lines)
        self.assertIn("  two, recommendation: first five 3 1 -> 1 3", lines)
        self.assertEqual(lines[-1], "Verdict: not repeatable")

    def test_other_cases_and_judgments_are_said_plainly(self):
        self.value["cases"][0]["judgments"]["relevant_ids"] = [1]
        self.value["cases"][1]["q"] = "2"
        self.value["cases"][2]["id"] = "new"
        self.write("fixtures.json", self.value)
        lines = self.compared(1)
        for line in ("Inputs: differ in fixtures_sha256",
                     "Cases or judgments differ, so the figures are not like for like:",
                     "  only in the new report: 'new'", "  only in the old report: 'absent'",
                     "  judgments of 'one'", "  query of 'two'", "Rankings, first five: differ"):
            self.assertIn(line, lines)

    def test_files_that_are_no_report(self):
        report = json.loads(self.read(self.old))
        part = {key: report[key] for key in ("schema_version", "kind", "summary")}
        for what, value, fragment in [
            ("a list", [], "is not a report"), ("fixtures", self.value, "is not a report"),
            ("another schema", {**report, "schema_version": 2}, "schema_version: 2 is not known"),
            ("true as schema", {**report, "schema_version": True}, "schema_version: True is not"),
            ("another kind", {**report, "kind": "live"}, "kind: 'live'; the new report's is"),
            ("no cases", part, "is not a whole report"),
            ("cases of text", {**report, "cases": "x"}, "is not a whole report"),
            ("a case of text", {**report, "cases": [5]}, "is not a whole report"),
            ("a figure of text", {**report, "summary": {"recall_at_5": {
                "baseline": "0", "recommendation": "0"}}}, "is not a whole report"),
            ("inputs of text", {**report, "inputs": "x"}, "is not a whole report"),
            ("not JSON", b"{", "not JSON"),
        ]:
            with self.subTest(what):
                self.write("old.json", value)
                self.refused([f"{self.old}: ", fragment], "--engine", self.engine,
                             "--fixtures", self.fixtures, "--compare", self.old)
        self.write("old.json", report)
        self.refused(["is an input"], "--engine", self.engine, "--fixtures", self.fixtures,
                     "--compare", self.old, "--output", self.old)

    def test_captures_are_compared_too(self):
        path = self.write("capture.json", CAPTURE)
        run_main("--captures", path, "--output", self.path("live.json"))
        self.assertEqual(run_main("--captures", path, "--compare", self.path("live.json"))[0], 0)
        self.write("capture.json", {**CAPTURE, "recommendation_results": {
            "pdf-example": [], "other": []}})
        self.assertEqual(run_main("--captures", path, "--compare", self.path("live.json"))[0], 1)


# ---- scorer: TREC files ----

class Trec(Folder):
    """--trec: the three files, and that nothing in them loses a figure."""

    def test_files(self):
        value = fixtures([case("two words", [1, 2], [3]), case("nothing", [4]), case("none", [])])
        self.write("fixtures.json", value)
        self.write("engine.py", engine("return [3, 1, 1, 2, 3, 5] if query else 0",
                                       "return []"))
        folder = self.path("trec", "deep")
        status, out, err = self.run_tiny("--trec", folder)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.splitlines()[-1],
                         f"wrote qrels.txt, baseline.run, recommendation.run in {folder}")
        self.assertEqual(sorted(os.listdir(folder)),
                         ["baseline.run", "qrels.txt", "recommendation.run"])
        self.assertEqual(self.read(os.path.join(folder, "qrels.txt")),
                         b"two%20words 0 1 1\ntwo%20words 0 2 1\ntwo%20words 0 3 0\n"
                         b"nothing 0 4 1\n")
        self.assertEqual(
            self.read(os.path.join(folder, "baseline.run")).splitlines()[:5],
            [b"two%20words Q0 3 1 5 baseline", b"two%20words Q0 1 2 4 baseline",
             b"two%20words Q0 %repeat-3 3 3 baseline", b"two%20words Q0 2 4 2 baseline",
             b"two%20words Q0 %repeat-5 5 1 baseline"])
        self.assertEqual(
            self.read(os.path.join(folder, "recommendation.run")),
            b"two%20words Q0 %nothing 1 5 recommendation\n"
            b"nothing Q0 %nothing 1 5 recommendation\n")
        self.assertEqual(self.run_tiny("--trec", folder)[0], 0)     # over its own files

    def test_names_are_reversible_words(self):
        for name in ("a b", "a%20b", "\t", "é漢", "%repeat-1", "a\n", "\u2028", "plain-1/x:y", 7):
            word = run_benchmark.trec_name(name)
            self.assertEqual(unquote(word), str(name))
            self.assertEqual(len(word.split()), 1)
            self.assertTrue(word.isascii())
            self.assertNotIn("%repeat", word)

    def test_a_reader_of_the_files_finds_the_same_figures(self):
        for seed in range(20):
            cases, old, new = random_round(seed)
            report = evaluate_rankings(cases, old, new)
            files = run_benchmark.trec_files(report)
            relevant, run = {}, {}
            for line in files["qrels.txt"].splitlines():
                query, _, document, grade = line.split()
                relevant.setdefault(query, set()).update([document] * int(grade))
            for line in files["baseline.run"].splitlines():
                query, _, document, _, points, _ = line.split()
                run.setdefault(query, []).append((-float(points), document))
            self.assertEqual(list(run), list(relevant))
            for row in report["cases"]:
                query = run_benchmark.trec_name(row["id"])
                if query not in run:
                    self.assertIsNone(row["baseline_recall_at_5"])
                    continue
                documents = [document for _, document in sorted(run[query])]
                self.assertEqual(len(set(documents)), len(documents))
                hits = [document in relevant[query] for document in documents[:5]]
                self.assertEqual(row["baseline_precision_at_5"], sum(hits) / 5)
                self.assertEqual(row["baseline_recall_at_5"],
                                 round(sum(hits) / len(relevant[query]), 6))
                self.assertEqual(row["baseline_mrr_at_5"],
                                 round(1 / (hits.index(True) + 1), 6) if any(hits) else 0)

    def test_refused(self):
        common = ("--engine", self.engine, "--fixtures", self.fixtures)
        self.refused(["is not a folder"], *common, "--trec", self.engine)
        os.mkdir(self.path("t"))
        self.refused(["is an output of --output and of --trec"], *common, "--trec", self.path("t"),
                     "--output", self.path("t", "qrels.txt"))
        self.write("t/qrels.txt", fixtures())
        self.refused(["is an input"], "--engine", self.engine,
                     "--fixtures", self.path("t", "qrels.txt"), "--trec", self.path("t"))


# ---- scorer: whole processes ----

class Processes(Folder):
    """What only a process of its own can show."""

    def arguments(self, *more):
        """Return the arguments for the folder's fixtures and engine."""
        return ("--engine", self.engine, "--fixtures", self.fixtures, *more)

    def test_bytes_are_equal_everywhere(self):
        self.write("fixtures.json", fixtures([
            case("größe 漢字", [1, 2], [3, 4], q="größe"), case("b", []),
            case("c", [5], [], [6])]))
        expected = None
        os.mkdir(self.path("elsewhere"))
        for settings, python, folder in [
            ({"PYTHONHASHSEED": "0"}, (), HERE),
            ({"PYTHONHASHSEED": "77", "LC_ALL": "C", "PYTHONUTF8": "0"}, ("-O",),
             self.path("elsewhere")),
            ({"PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "5"}, ("-OO", "-W", "error"),
             self.folder),
        ]:
            with self.subTest(settings):
                done = run_process(*self.arguments("--output", "-"), env=settings, python=python,
                                   cwd=folder)
                summary = run_process(*self.arguments(), env=settings, python=python, cwd=folder)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertEqual((summary.returncode, summary.stderr), (0, b""))
                expected = expected or done.stdout
                self.assertEqual(done.stdout, expected)

    def test_closed_pipe(self):
        for more in ((), ("--output", "-"), ("--help",)):
            with self.subTest(more):
                process = subprocess.Popen(
                    [sys.executable, "-B", os.path.join(HERE, "run_benchmark.py"),
                     *self.arguments(*more)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                process.stdout.close()
                err = process.stderr.read()
                process.stderr.close()
                self.assertEqual((process.wait(60), err), (0, b""))

    def test_a_full_device(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-B", os.path.join(HERE, "run_benchmark.py"), *self.arguments()],
                stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith(b"error: standard output: "), done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_files_beside_the_script_are_the_default(self):
        script = self.write("run_benchmark.py", self.read(run_benchmark.__file__))
        self.write("capability_search.py", ENGINE)
        done = subprocess.run([sys.executable, "-B", script], cwd=os.path.dirname(self.folder),
                              capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(done.stdout.startswith(b"tiny 1.0.0: development set, 1 cases"))
        self.assertEqual(sorted(os.listdir(self.folder)), [
            "capability_search.py", "engine.py", "fixtures.json", "run_benchmark.py"])

    def test_errors_have_no_traceback(self):
        done = run_process(*self.arguments("--output", self.path("no", "r.json")))
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertTrue(done.stderr.startswith(b"error: "))


# ---- the project: README, fixtures and report belong together ----

class Project(unittest.TestCase):
    """What the README shows is what its commands print."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(HERE, "README.md"), "rb") as file:
            cls.readme = file.read().decode("utf-8")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.report_path = os.path.join(cls.folder.name, "my-report.json")
        cls.status, cls.summary, cls.errors = run_main("--output", cls.report_path)
        with open(cls.report_path, "rb") as file:
            cls.report = json.loads(file.read())

    def bytes_of(self, name):
        """Return the bytes of a file of the project."""
        with open(os.path.join(HERE, name), "rb") as file:
            return file.read()

    def block(self, name):
        """Return the README's lines between two marks."""
        _, _, rest = self.readme.partition(f"<!-- {name} -->\n")
        text, mark, _ = rest.partition(f"<!-- end {name} -->")
        self.assertTrue(mark, name)
        return text

    def test_the_summary_is_the_one_of_the_command(self):
        self.assertEqual((self.status, self.errors), (0, ""))
        shown = self.summary.replace(self.report_path, "my-report.json")
        command = "$ python run_benchmark.py --engine capability_search.py --output my-report.json"
        self.assertEqual(self.block("summary"), f"```console\n{command}\n{shown}```\n")

    def test_the_results_table_is_the_report(self):
        rows = [line.strip("| ").split(" | ") for line in self.block("results").splitlines()[2:]]
        expected = [[name, *(figure(entry[key]) for key in (
            "baseline", "recommendation", "cases"))]
            for name, entry in self.report["summary"].items()]
        self.assertEqual(rows, expected)

    def test_the_live_figures_are_those_of_the_live_files(self):
        report, capture = (json.loads(self.bytes_of(name)) for name in (
            "live-report.json", "live-capture.json"))
        rows = [line.strip("| ").split(" | ") for line in self.block("live").splitlines()[2:]]
        self.assertEqual(rows, [[name, *(figure(entry[key]) for key in (
            "baseline", "recommendation", "cases"))] for name, entry in report["summary"].items()])
        digests = re.findall(r"`([0-9a-f]{64})`", self.block("live digests"))
        metadata = capture["metadata"]
        self.assertEqual(digests, [
            metadata["candidate_snapshot_sha256"],
            hashlib.sha256(self.bytes_of("live-cases.json")).hexdigest(),
            metadata["ranking_module_sha256"],
            hashlib.sha256(self.bytes_of("live-capture.json")).hexdigest()])
        rows = [line.strip("| ").replace("`", "").split(" | ")
                for line in self.block("live sources").splitlines()[2:]]
        self.assertEqual(rows, [list(source.values()) for source in metadata["sources"]])

    def test_the_phrasing_table_is_the_one_of_the_search(self):
        import capability_search
        self.assertEqual(self.block("phrasings"), capability_search.phrasings_table())

    def test_the_search_example_is_real(self):
        import capability_search
        lines = self.block("search").splitlines()
        self.assertEqual(lines[1], '$ python capability_search.py '
                                   '"verify an email address without an API key" --limit 1')
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            capability_search.main(["verify an email address without an API key", "--limit", "1"])
        self.assertEqual("\n".join(lines[2:-1]) + "\n", out.getvalue())

    def test_the_example_engine_runs(self):
        path = os.path.join(self.folder.name, "my_ranker.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.block("engine").partition("```python\n")[2].partition("```")[0])
        status, out, err = run_main("--engine", path)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("ranker any-word-1", out)

    def test_the_notebook_example_runs(self):
        code = self.readme.partition("## In a notebook\n\n```python\n")[2].partition("```")[0]
        lines = [line for line in code.splitlines() if "pandas" not in line]
        names = {}
        fixtures_path = os.path.join(HERE, "fixtures.json")
        exec("\n".join(lines).replace('"fixtures.json"', repr(fixtures_path)), names)
        self.assertEqual(len(names["report"]["cases"]), 24)

    def test_facts(self):
        self.assertEqual(self.report["summary"]["recall_at_5"]["cases"], 21)
        self.assertEqual(self.report["summary"]["no_match_correct"]["cases"], 3)
        for name, better in (("precision_at_5", 1), ("recall_at_5", 1), ("mrr_at_5", 1),
                             ("distractors_returned", -1)):
            self.assertGreater(self.report["summary"][name]["difference"] * better, 0, name)
        self.assertEqual(self.report["summary"]["constraint_violations"]["recommendation"], 0)

    def test_the_same_bytes_in_other_processes(self):
        with open(self.report_path, "rb") as file:
            expected = file.read()
        for options in ({"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "77", "LC_ALL": "C"}):
            done = run_process("--output", "-", env=options, cwd=self.folder.name)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(done.stdout, expected)

    def test_three_files_are_enough(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("fixtures.json", "run_benchmark.py", "capability_search.py"):
                with open(os.path.join(HERE, name), "rb") as source, \
                        open(os.path.join(folder, name), "wb") as target:
                    target.write(source.read())
            done = subprocess.run(
                [sys.executable, "-B", "run_benchmark.py", "--engine", "capability_search.py",
                 "--output", "my-report.json"], cwd=folder, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            with open(os.path.join(folder, "my-report.json"), "rb") as file, \
                    open(self.report_path, "rb") as expected:
                self.assertEqual(file.read(), expected.read())


def figure(value):
    """Return a figure as the README's table shows it."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
