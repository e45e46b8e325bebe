"""Tests of evaluate.py and scoring.py: known answers, brute force, refusals, the waiting state."""

import contextlib
import copy
import io
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import evaluate  # noqa: E402
import kit  # noqa: E402
import pool as pool_script  # noqa: E402
import scoring  # noqa: E402


################ A frozen set, rankings and judgments

POLICY = {"evidence_policy_id": "p", "what_counts_as_2": "It says so.",
          "what_counts_as_1": "It nearly says so.", "what_counts_as_0": "It does not.",
          "acceptable_evidence": "Declarations.", "cutoff": "None."}
PROTOCOL = {"schema": "protocol/1", "depth": 10, "cutoff": 5, "gain": "linear",
            "relevant_grade": 2, "minimum_judges": 2, "minimum_query_coverage": 0.8,
            "primary": {"systems": None, "measure": "ndcg_at_5"},
            "test": "paired sign-flip randomisation", "resamples": 500, "seed": 7}
SELECTION = "The first ten, in order."


def write_frozen(folder, names, status="frozen", **protocol):
    """Write queries, protocol and manifest of an invented set; return the Set."""
    queries = {"schema": "queries/1", "set_id": "trial", "version": "1.0.0", "status": status,
               "queries": [{"query_id": name, "text": f"task {name}", "need": "A need.",
                            "requirements_text": "", "evidence_policy_id": "p", "facets": []}
                           for name in names], "evidence_policies": [POLICY]}
    data = {"queries.json": kit.encoded(queries),
            "protocol.json": kit.encoded({**PROTOCOL, **protocol})}
    data["manifest.json"] = kit.encoded({
        "schema": "manifest/1", "set_id": "trial", "version": "1.0.0", "status": status,
        "frozen_at": "2026-11-01T00:00:00+00:00",
        "files": [{"path": name, "bytes": len(text), "sha256": kit.sha256(text)}
                  for name, text in sorted(data.items())],
        "ranker": None, "supersedes": None, "time_anchor": None})
    for name, text in data.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text)
    return kit.load_set(folder)


def key_of(name):
    """Return the candidate key of a short name."""
    return f"https://{name}.example/"


def ranking_of(a_set, system, answers, **changes):
    """Return a ranking; answers: {query_id: names in order, or None for a failed capture}."""
    entries = []
    for query in a_set.queries:
        names = answers[query["query_id"]]
        entries.append({
            "query_id": query["query_id"], "status": "error" if names is None else "ok",
            "error": "HTTP status 500" if names is None else None,
            "captured_at": "2026-11-02T00:00:00+00:00", "response_sha256": None,
            "results": [{"candidate_key": key_of(name), "name": f"Agent {name}",
                         "declaration": "Does one thing.", "skills": [], "url": "",
                         "evidence": []} for name in names or ()]})
    return {**kit.head("ranking", a_set),
            "system": {"name": system, "version": "1", "operator": "O",
                       "developed_with_this_set": False},
            "selection_policy": SELECTION,
            "corpus": {"description": "A directory.", "observed_from": "2026-11-02T00:00:00+00:00",
                       "observed_until": "2026-11-02T01:00:00+00:00", "snapshot_sha256": None},
            "capture": None, "queries": entries, **changes}


def judgments_of(a_set, pool, judge, grade, kind="human", reason="It says so.", **disclosure):
    """Return judgments; grade: of (query_id, short name), None for no grade."""
    entries = [{"query_id": query["query_id"], "candidate_id": candidate["candidate_id"],
                "grade": grade(query["query_id"], candidate["name"].split()[1]),
                "reason": f"{reason} {judge}", "evidence_url": ""}
               for query in pool["queries"] for candidate in query["candidates"]]
    return {**kit.head("judgments", a_set), "pool_sha256": pool["pool_sha256"],
            "judge": {"name": judge, "kind": kind},
            "disclosure": {"conflicts": "none", "helped_develop_ranker": False,
                           "rankings_hidden": True, "assistance": "", **disclosure},
            "complete": True, "judgments": entries}


class Folder(unittest.TestCase):
    """A temporary folder with a set of five queries, two rankings and two judges."""

    NAMES = ("q1", "q2", "q3", "q4", "q5")
    PROTOCOL = {}
    ANSWERS = {"a": {name: ["c", "a", "b", "f", "d", "e", "g"] for name in NAMES},
               "b": {name: ["a", "c", "e", "b", "g"] for name in NAMES}}
    GRADES = {"a": 2, "b": 0, "c": 1, "d": 0, "e": 2, "f": 1, "g": 2}

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.freeze(**self.PROTOCOL)
        self.rank(self.ANSWERS)
        self.judge("one", lambda query, name: self.GRADES[name])
        self.judge("two", lambda query, name: min(2, self.GRADES[name] + (name == "b")))

    def path(self, name):
        return os.path.join(self.folder, name)

    def freeze(self, status="frozen", **protocol):
        self.set = write_frozen(self.folder, self.NAMES, status, **protocol)

    def write(self, name, value):
        with open(self.path(name), "wb") as file:
            file.write(value if isinstance(value, bytes) else kit.encoded(value))

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return kit.parse_json(file.read())

    def edit(self, name, change):
        value = self.read(name)
        change(value)
        self.write(name, value)

    def rank(self, answers):
        self.rankings = [ranking_of(self.set, system, queries)
                         for system, queries in answers.items()]
        self.systems = list(answers)
        for ranking in self.rankings:
            self.write(f"{ranking['system']['name']}.json", ranking)
        self.pool = pool_script.pool_of(self.set, copy.deepcopy(self.rankings), 10)

    def judge(self, name, grade, **more):
        self.write(f"{name}.json", judgments_of(self.set, self.pool, name, grade, **more))

    def run_main(self, *argv):
        """Return (status, standard output, standard error) of a command in this process."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = evaluate.main(list(argv))
        return status, out.getvalue(), err.getvalue()

    def command(self, judges=("one", "two"), *more):
        argv = ["--set", self.folder]
        for name in self.systems:
            argv += ["--rankings", self.path(f"{name}.json")]
        for name in judges:
            argv += ["--judgments", self.path(f"{name}.json")]
        return self.run_main(*argv, *more)

    def evaluate(self, judges=("one", "two"), status=0):
        """Return the report of a run that must end with a status; it must fit its schema."""
        found, out, err = self.command(judges, "--output", self.path("out.json"))
        self.assertEqual((found, err), (status, ""))
        report = self.read("out.json")
        self.assertEqual(kit.faults_of(report, "evaluation"), [])
        self.assertEqual(out.splitlines()[-1].split()[0],
                         kit.sha256(kit.read_bytes(self.path("out.json"))))
        self.assertLessEqual(max(map(len, out.splitlines()[:-1])), 80)
        return report

    def refused(self, *lines, judges=("one", "two")):
        """Assert that a run ends with these lines, after the folder, and writes nothing."""
        status, out, err = self.command(judges, "--output", self.path("none.json"))
        self.assertEqual((status, out), (2, ""))
        self.assertEqual(err.replace(self.folder + os.sep, ""),
                         "".join(f"error: {line}\n" for line in lines))
        self.assertFalse(os.path.exists(self.path("none.json")))


def rows(report, key, **fields):
    """Return the only row of a part of a report with these fields."""
    found = [row for row in report[key] if all(row[name] == value
                                               for name, value in fields.items())]
    assert len(found) == 1, found
    return found[0]


################ Arithmetic

class Measures(unittest.TestCase):
    GRADES = [2, 0, 1, 0, 2, 1, 2]
    WINDOW = list(map("abcdefg".index, "cabfd"))

    def test_known_answers(self):
        for expected, found in (
                (0.5300905547554848, scoring.ndcg(self.WINDOW, self.GRADES)),
                (0.6, scoring.precision(self.WINDOW, self.GRADES, 1)),
                (0.2, scoring.precision(self.WINDOW, self.GRADES, 2)),
                (1.0, scoring.reciprocal_rank(self.WINDOW, self.GRADES, 1)),
                (0.5, scoring.reciprocal_rank(self.WINDOW, self.GRADES, 2))):
            self.assertEqual(found, expected)

    def test_edges(self):
        for window, grades, expected in (
                ([], [], (None, 0.0, 0.0)), ([0], [0], (None, 0.0, 0.0)),
                ([], [2], (0.0, 0.0, 0.0)), ([0], [2], (1.0, 0.2, 1.0)),
                ([1, 0], [2, 0], (1 / scoring.math.log2(3), 0.2, 0.5))):
            found = (scoring.ndcg(window, grades), scoring.precision(window, grades, 2),
                     scoring.reciprocal_rank(window, grades, 2))
            for one, two in zip(found, expected):
                self.assertAlmostEqual(one, two, 15) if one else self.assertEqual(one, two)

    def test_five_places_whatever_is_returned(self):
        self.assertEqual(scoring.precision([0, 1], [2, 2], 2), 0.4)
        self.assertAlmostEqual(scoring.ndcg([0, 1, 2, 3, 4], [2] * 9), 1.0, 15)


class Ranges(unittest.TestCase):
    FUNCTIONS = (
        (scoring.ndcg, scoring.ndcg_range),
        *(((lambda window, grades, least=least: scoring.precision(window, grades, least)),
           (lambda windows, grades, least=least: scoring.precision_range(windows, grades, least)))
          for least in (1, 2)),
        *(((lambda window, grades, least=least: scoring.reciprocal_rank(window, grades, least)),
           (lambda windows, grades, least=least:
            scoring.reciprocal_rank_range(windows, grades, least))) for least in (1, 2)))

    def brute(self, value, windows, grades):
        """Return what a measure or a difference is under every way to grade."""
        found = []
        for tried in itertools.product(*(scoring.GRADES if grade is None else (grade,)
                                         for grade in grades)):
            both = [value(window, list(tried)) for window in windows]
            found.append(None if None in both else both[0] - both[1] if len(both) > 1 else both[0])
        return found

    def test_known_answer(self):
        names = ["a", "b", "c", "z", "u1", "u2"]
        window = [names.index(name) for name in ("a", "b", "u1", "c", "u2")]
        found = scoring.ndcg_range([window], [1, 0, 2, 2, None, None])
        self.assertAlmostEqual(found.low, 0.49479602112000737, 15)
        self.assertAlmostEqual(found.high, 0.659712443790349, 15)
        self.assertFalse(found.open)

    def test_all_zeros_and_all_twos_do_not_bound_ndcg(self):
        # The ideal grows with the unknown candidate that the system did not return.
        low, high, undefined = scoring.ndcg_range([[0, 1]], [None, 1, None])
        ends = [scoring.ndcg([0, 1], [grade, 1, grade]) for grade in (0, 2)]
        self.assertLess(low, min(ends))
        self.assertGreater(high, max(ends))

    def test_brute_force(self):
        draw = random.Random(11)
        for _ in range(300):
            size = draw.randint(0, 7)
            grades = [draw.choice([0, 1, 2, None, None]) for _ in range(size)]
            windows = [draw.sample(range(size), draw.randint(0, min(size, 5)))
                       for _ in range(draw.randint(1, 2))]
            for value, found in self.FUNCTIONS:
                self.check(found(windows, grades), self.brute(value, windows, grades))

    def test_many_unknown_candidates(self):
        # Eleven, of which six are in no window: more than the five that can matter.
        windows, grades = [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]], [None] * 9 + [0, 1]
        for value, found in self.FUNCTIONS:
            for asked in (windows, windows[:1]):
                self.check(found(asked, grades), self.brute(value, asked, grades))

    def check(self, found, tried):
        there = [value for value in tried if value is not None]
        if not there:
            self.assertIsNone(found)
            return
        self.assertAlmostEqual(found.low, min(there), 13)
        self.assertAlmostEqual(found.high, max(there), 13)
        self.assertEqual(found.open, None in tried)

    def test_mean_over_judges(self):
        draw = random.Random(12)
        for _ in range(60):
            size = draw.randint(1, 4)
            windows = [draw.sample(range(size), draw.randint(0, size)) for _ in range(2)]
            judges = [[draw.choice([0, 0, 1, 2, None]) for _ in range(size)] for _ in range(2)]
            for value, found in self.FUNCTIONS:
                ranges = [found(windows, grades) for grades in judges]
                tried = [scoring.mean(pair) for pair in itertools.product(
                    *(self.brute(value, windows, grades) for grades in judges))]
                self.check(scoring.mean_range(ranges), tried)


class Agreement(unittest.TestCase):
    ONE, TWO = [0, 0, 1, 2, 2, 1, 0, 2, 1, 0], [0, 1, 1, 2, 1, 1, 0, 2, 2, 0]

    def units(self, *judges):
        return [tuple(map(grades.count, scoring.GRADES)) for grades in zip(*judges)]

    def test_known_answers(self):
        table = scoring.table_of(self.ONE, self.TWO)
        self.assertEqual(table, [[3, 1, 0], [0, 2, 1], [0, 1, 2]])
        self.assertEqual(scoring.raw_agreement(table), 0.7)
        self.assertAlmostEqual(scoring.quadratic_kappa(table), 0.7692307692307692, 15)
        self.assertAlmostEqual(scoring.ordinal_alpha(self.units(self.ONE, self.TWO)),
                               0.7855874894336433, 15)

    def test_undefined(self):
        for judges in (([], []), ([1, 1], [1, 1]), ([None, 0], [2, None])):
            self.assertIsNone(scoring.quadratic_kappa(scoring.table_of(*judges)), judges)
            self.assertIsNone(scoring.ordinal_alpha(self.units(*judges)), judges)
        self.assertIsNone(scoring.raw_agreement(scoring.table_of([None], [1])))

    def test_alpha_beside_raw_agreement(self):
        judges = [0] * 20, [0] * 19 + [2]
        self.assertEqual(scoring.ordinal_alpha(self.units(*judges)), 0.0)
        self.assertEqual(scoring.raw_agreement(scoring.table_of(*judges)), 0.95)

    def test_candidates_with_one_grade_do_not_matter(self):
        self.assertEqual(scoring.ordinal_alpha(self.units(self.ONE + [2, None],
                                                          self.TWO + [None, 0])),
                         scoring.ordinal_alpha(self.units(self.ONE, self.TWO)))


class Tests(unittest.TestCase):
    def brute(self, differences):
        observed = abs(sum(differences))
        sums = [sum(sign * value for sign, value in zip(signs, differences))
                for signs in itertools.product((1, -1), repeat=len(differences))]
        return sum(abs(total) >= observed for total in sums) / len(sums)

    def test_every_pattern(self):
        draw = random.Random(13)
        for size in range(10):
            for most in (2, 10 ** 12):
                differences = [draw.randint(-most, most) for _ in range(size)]
                self.assertEqual(scoring.exact_sign_flip(differences), self.brute(differences))

    def test_five_differences_cannot_fall_under_a_sixteenth(self):
        draw = random.Random(14)
        self.assertEqual(scoring.exact_sign_flip([1, 2, 3, 4, 5]), 0.0625)
        for _ in range(100):
            self.assertGreaterEqual(scoring.exact_sign_flip(
                [draw.randint(-9, 9) for _ in range(5)]), 0.0625)

    def test_sampled_as_written_down(self):
        draw = random.Random(15)
        columns = [[draw.randint(-(10 ** 12), 10 ** 12) for _ in range(27)] for _ in range(3)]
        bits, counts = random.Random(7), [0, 0, 0]
        for _ in range(200):
            pattern = bits.getrandbits(27)
            for place, column in enumerate(columns):
                total = sum(-value if pattern >> query & 1 else value
                            for query, value in enumerate(column))
                counts[place] += abs(total) >= abs(sum(column))
        self.assertEqual(scoring.sampled_sign_flips(columns, 200, 7),
                         [(count + 1) / 201 for count in counts])

    def test_a_comparison_does_not_depend_on_the_others(self):
        draw = random.Random(16)
        columns = [[draw.choice([None, *range(-9, 9)]) for _ in range(30)] for _ in range(4)]
        together = scoring.bootstrap_intervals(columns, 100, 3)
        self.assertEqual(together, [scoring.bootstrap_intervals([column], 100, 3)[0]
                                    for column in columns])

    def test_interval_as_written_down(self):
        column = [5, None, -3, 10 ** 12, 0, -(10 ** 12), 8]
        draw, means = random.Random(3), []
        for _ in range(99):
            drawn = [column[int(7 * draw.random())] for _ in range(7)]
            there = [value for value in drawn if value is not None]
            if there:
                means.append(sum(there) / len(there))
        means.sort()
        place = (len(means) + 1) // 40
        self.assertEqual(scoring.bootstrap_intervals([column], 99, 3),
                         [[means[place - 1] / 10 ** 12, means[-place] / 10 ** 12]])
        self.assertEqual(scoring.bootstrap_intervals([[None, None]], 99, 3), [None])

    def test_interval_of_equal_differences(self):
        self.assertEqual(scoring.bootstrap_intervals([[10 ** 11] * 6], 100, 1), [[0.1, 0.1]])

    def test_holm(self):
        for p_values, expected in (
                ([], []), ([0.03], [0.03]), ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
                ([0.5, 0.6], [1.0, 1.0]), ([0.02, 0.02], [0.04, 0.04])):
            self.assertEqual(scoring.holm(p_values), expected)


################ The report

class Evaluated(Folder):
    def test_measures(self):
        report = self.evaluate()
        self.assertEqual(list(report)[:6], ["schema", "set_id", "version", "manifest_sha256",
                                            "status", "summary"])
        self.assertEqual(report["status"], "evaluated")
        row = rows(report, "systems", system="a")
        one = row["by_judge"][0]
        self.assertEqual(one["judge"], "one")
        self.assertEqual({name: entry["mean"] for name, entry in one["measures"].items()}, {
            "ndcg_at_5": 0.530091, "precision_at_5": 0.2, "reciprocal_rank": 0.5,
            "precision_at_5_grade_1": 0.6, "reciprocal_rank_grade_1": 1.0})
        two = row["by_judge"][1]["measures"]["ndcg_at_5"]["mean"]
        self.assertNotEqual(two, 0.530091)
        self.assertAlmostEqual(row["measures"]["ndcg_at_5"]["mean"], (0.530091 + two) / 2, 6)
        self.assertEqual(row["measures"]["ndcg_at_5"]["queries"], 5)
        self.assertEqual(len(report["queries"]), 5)
        self.assertEqual(report["to_do"], [])
        self.assertEqual(report["partly_covered"], [])

    def test_comparisons(self):
        report = self.evaluate()
        self.assertEqual([(row["systems"], row["measure"], row["primary"])
                          for row in report["comparisons"]],
                         [(["a", "b"], "ndcg_at_5", True), (["a", "b"], "precision_at_5", False),
                          (["a", "b"], "reciprocal_rank", False)])
        row = report["comparisons"][1]
        self.assertEqual((row["mean_difference"], row["interval_95"]), (-0.4, [-0.4, -0.4]))
        self.assertEqual((row["wins"], row["ties"], row["losses"]), (0, 0, 5))
        self.assertEqual((row["p_value"], row["p_value_holm"]), (0.0625, 0.125))
        self.assertEqual(report["comparisons"][0]["p_value_holm"], None)
        self.assertEqual(report["summary"]["primary_comparison"], report["comparisons"][0])

    def test_never_says_no_difference(self):
        self.rank({"a": self.ANSWERS["a"], "b": self.ANSWERS["a"]})
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate: self.GRADES[candidate])
        status, out, err = self.command(("one", "two"), "--output", self.path("out.json"))
        text = out + json.dumps(self.read("out.json"))
        self.assertEqual(status, 0)
        self.assertNotRegex(text.casefold(), "no difference|no significant|not different|equal to")
        self.assertEqual(self.read("out.json")["comparisons"][0]["p_value"], 1.0)

    def test_agreement(self):
        found = self.evaluate()["agreement"]
        self.assertEqual(found["candidates"], 35)
        self.assertEqual(found["raw_agreement"], rounded := round(30 / 35, 6))
        pair = found["pairs"][0]
        self.assertEqual((pair["judges"], pair["raw_agreement"]), (["one", "two"], rounded))
        self.assertEqual(pair["table"], [[5, 5, 0], [0, 10, 0], [0, 0, 15]])
        self.assertEqual(found["differ_by_2"], [])

    def test_agreement_is_null_with_its_reason(self):
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate: 2)
        found = self.evaluate()["agreement"]
        self.assertEqual((found["raw_agreement"], found["krippendorff_alpha"]), (1.0, None))
        self.assertEqual(found["why_null"], evaluate.ONE_GRADE)
        self.assertEqual(found["pairs"][0]["why_null"], evaluate.ONE_GRADE)

    def test_judges_that_differ_by_2_are_listed(self):
        self.judge("two", lambda query, name: 0 if (query, name) == ("q3", "e")
                   else self.GRADES[name])
        found = self.evaluate()["agreement"]["differ_by_2"]
        self.assertEqual([(row["query_id"], row["name"], row["grades"]) for row in found],
                         [("q3", "Agent e", [2, 0])])

    def test_order_of_systems(self):
        found = self.evaluate()["order_of_systems"]
        self.assertEqual(found["same_under_every_judge"], True)
        self.assertEqual([row["order"] for row in found["by_judge"]], [[["b"], ["a"]]] * 2)
        self.judge("two", lambda query, name: {"f": 2, "d": 2}.get(name, 0))
        found = self.evaluate()["order_of_systems"]
        self.assertEqual(found["same_under_every_judge"], False)
        self.judge("two", lambda query, name: 0)        # no nDCG at all
        self.assertIsNone(self.evaluate()["order_of_systems"]["same_under_every_judge"])

    def test_pool_without_gain_is_null_and_counted_apart(self):
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate:
                       0 if query == "q1" else self.GRADES[candidate])
        report = self.evaluate()
        entry = rows(report, "systems", system="a")["measures"]
        self.assertEqual(entry["ndcg_at_5"], {"mean": 0.530091, "queries": 4, "undefined": 1})
        self.assertEqual(entry["precision_at_5"], {"mean": 0.16, "queries": 5, "undefined": 0})
        self.assertIsNone(report["queries"][0]["systems"][0]["ndcg_at_5"])
        self.assertEqual(report["comparisons"][0]["queries"], 4)

    def test_failed_capture_is_left_out_for_that_system_and_its_pairs(self):
        self.rank({"a": {**self.ANSWERS["a"], "q2": None}, "b": self.ANSWERS["b"]})
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate: self.GRADES[candidate])
        report = self.evaluate()
        first, second = report["systems"]
        self.assertEqual(first["failed_queries"], ["q2"])
        self.assertEqual([row["measures"]["precision_at_5"]["queries"]
                          for row in (first, second)], [4, 5])
        self.assertEqual([row["queries"] for row in report["comparisons"]], [4, 4, 4])
        self.assertEqual([row["system"] for row in report["queries"][1]["systems"]], ["b"])
        self.assertEqual({row["queries"] for row in report["order_of_systems"]["by_judge"]}, {4})

    def test_an_empty_answer_is_an_answer(self):
        self.rank({"a": {**self.ANSWERS["a"], "q2": []}, "b": self.ANSWERS["b"]})
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate: self.GRADES[candidate])
        report = self.evaluate()
        self.assertEqual(report["systems"][0]["empty_queries"], ["q2"])
        self.assertEqual(report["queries"][1]["systems"][0], {
            "system": "a", "ndcg_at_5": 0.0, "precision_at_5": 0.0, "reciprocal_rank": 0.0,
            "precision_at_5_grade_1": 0.0, "reciprocal_rank_grade_1": 0.0})

    def test_query_without_candidates_is_left_out(self):
        self.rank({system: {**queries, "q2": []} for system, queries in self.ANSWERS.items()})
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate: self.GRADES[candidate])
        report = self.evaluate()
        self.assertEqual((report["summary"]["queries_without_candidates"],
                          report["summary"]["covered_queries"],
                          report["summary"]["coverage"]), (1, 4, 1.0))
        self.assertEqual(report["systems"][0]["measures"]["precision_at_5"]["queries"], 4)

    def test_partly_covered_query_has_its_exact_range(self):
        self.judge("two", lambda query, name: None if query == "q5" and name in "ad"
                   else self.GRADES[name])
        report = self.evaluate()
        self.assertEqual(report["summary"]["covered_queries"], 4)
        row, = report["partly_covered"]
        self.assertEqual((row["query_id"], row["missing_grades"]), ("q5", 2))
        order = [candidate["name"].split()[1]
                 for candidate in self.pool["queries"][4]["candidates"]]
        windows = [[order.index(name) for name in self.ANSWERS[system]["q5"][:5]]
                   for system in ("a", "b")]
        values = []
        for tried in itertools.product(scoring.GRADES, repeat=2):
            two = {**self.GRADES, "a": tried[0], "d": tried[1]}
            values.append([scoring.mean(scoring.ndcg(window, [grades[name] for name in order])
                                        for grades in (self.GRADES, two)) for window in windows])
        for place, system in enumerate(("a", "b")):
            entry = row["systems"][place]["ndcg_at_5"]
            column = [pair[place] for pair in values]
            self.assertEqual((entry["low"], entry["high"]),
                             (round(min(column), 6), round(max(column), 6)), system)
        entry, column = row["differences"][0]["ndcg_at_5"], [one - two for one, two in values]
        self.assertEqual((entry["low"], entry["high"]),
                         (round(min(column), 6), round(max(column), 6)))
        self.assertEqual(rows(report, "to_do", query_id="q5")["judges"][0]["missing"], 2)

    def test_judge_whom_a_query_needs_may_grade_in_any_way(self):
        def part(name):
            self.edit(f"{name}.json", lambda value: value.update(judgments=[
                entry for entry in value["judgments"] if entry["query_id"] != "q5"]))
        part("two")
        row, = self.evaluate()["partly_covered"]
        self.assertEqual(row["missing_grades"], 7)
        low, high = (row["systems"][0]["ndcg_at_5"][end] for end in ("low", "high"))
        self.assertEqual(low, round(0.5300905547554848 / 2, 6))
        self.assertEqual(high, round((0.5300905547554848 + 1) / 2, 6))
        part("one")
        self.assertEqual(self.evaluate()["partly_covered"], [])

    def test_third_judge_with_gaps(self):
        self.judge("three", lambda query, name: None if name == "a" else self.GRADES[name])
        report = self.evaluate(("one", "two", "three"))
        self.assertEqual(report["queries"][0]["judges"], ["one", "two"])
        self.assertEqual(report["systems"][0]["by_judge"][2]["measures"]["ndcg_at_5"],
                         {"mean": None, "queries": 0, "undefined": 0})
        self.assertEqual([pair["candidates"] for pair in report["agreement"]["pairs"]],
                         [35, 30, 30])

    def test_inputs_are_named_by_digest_and_not_by_path(self):
        report = self.evaluate()
        text = kit.encoded(report).decode()
        self.assertNotIn(self.folder, text)
        self.assertNotIn(sys.version.split()[0], text)
        inputs = report["inputs"]
        for entry in (*inputs["rankings"], *inputs["judgments"]):
            self.assertEqual(entry["sha256"],
                             kit.sha256(kit.read_bytes(self.path(entry["file"]))))
        self.assertEqual(sorted(inputs["scripts"]), sorted(evaluate.SCRIPTS))
        self.assertEqual(inputs["files"]["queries.json"],
                         kit.sha256(kit.read_bytes(self.path("queries.json"))))

    def test_notices(self):
        self.assertEqual(self.evaluate()["notices"], [])
        self.edit("a.json", lambda value: (
            value["system"].update(developed_with_this_set=True),
            value["corpus"].update(observed_from="2026-11-05T00:00:00+00:00",
                                   observed_until="2026-11-06T00:00:00+00:00"),
            value.update(capture={"origin": "o", "request": "r", "depth": 7,
                                  "tool_version": "1"})))
        notices = " ".join(self.evaluate()["notices"])
        for part in ("a was developed with this set", "a was asked for 7 results",
                     "not observed over one and the same time"):
            self.assertIn(part, notices)

    def test_invented_inputs_are_said_to_be(self):
        self.assertNotIn("invented", self.evaluate())
        text = "Invented; evidence of nothing."
        self.edit("two.json", lambda value: value.update(invented=text))
        self.assertEqual(self.evaluate()["invented"], text)
        self.assertIn(f"INVENTED: {text}", self.command()[1])

    def test_hostile_names_are_shown_escaped(self):
        self.edit("a.json", lambda value: value["system"].update(name="a\x1b[31m\u202e"))
        status, out, err = self.command()
        self.assertEqual(status, 0)
        self.assertTrue(out.replace("\n", "").isprintable())
        self.assertIn("a\\x1b[31m\\u202e", out)

    def test_summary(self):
        status, out, err = self.command()
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.split("\n\nNote")[0], """\
trial 1.0.0: evaluated
5 of 5 queries with candidates covered (100.0%; at least 80.0% needed)
2 of 2 judges count; a query needs 2 that graded all of its candidates

                             nDCG@5        P@5       RR@5   P@5 (1+)  RR@5 (1+)
a                             0.579      0.200      0.500      0.700      1.000
b                             0.910      0.600      1.000      0.900      1.000

                                difference    95 % interval       w/t/l      p
a - b                  nDCG@5       -0.330 [-0.330, -0.330]       0/0/5  0.062 *
a - b                  P@5          -0.400 [-0.400, -0.400]       0/0/5  0.125
a - b                  RR@5         -0.500 [-0.500, -0.500]       0/0/5  0.125
* primary; the other p values are corrected (Holm)

Agreement over 35 candidates: raw 0.857, ordinal alpha 0.920; 0 differ by 2
  one and two                              raw 0.857, kappa 0.881
Order of the systems: the same under every judge""")


class SameBytes(Folder):
    NAMES = tuple(f"q{number}" for number in range(40))
    GRADES = dict.fromkeys("abcdefghijkl", 1)

    def setUp(self):
        draw = random.Random(18)
        self.ANSWERS = {system: {name: draw.sample("abcdefghijkl", draw.randint(0, 9))
                                 for name in self.NAMES} for system in ("x", "y", "z")}
        self.ANSWERS["y"]["q7"] = None
        super().setUp()
        for judge in ("one", "two"):
            grades = {(name, candidate): draw.choice([0, 0, 1, 2])
                      for name in self.NAMES for candidate in "abcdefghijkl"}
            self.judge(judge, lambda query, candidate:
                       None if query in ("q3", "q9") and judge == "two" and candidate in "aeg"
                       else grades[query, candidate])

    def test_figures_are_the_same_on_every_python(self):
        report = self.evaluate()
        self.assertIn("500 patterns, sampled", {row["test"] for row in report["comparisons"]})
        figures = [report[key] for key in ("comparisons", "order_of_systems", "agreement",
                                           "partly_covered", "queries", "systems")]
        self.assertEqual(kit.sha256(re.sub(rb'"candidate_id": ".*"', b"", kit.encoded(figures))),
                         "e2825bb54edc098b7e29339e1c02fbe1532e3e11c184306d5b375ca7c6268fd3")


class PrimaryComparison(Folder):
    PROTOCOL = {"primary": {"systems": ["c", "a"], "measure": "ndcg_at_5"}}

    def test_pair_of_the_protocol(self):
        self.rank({**self.ANSWERS, "c": self.ANSWERS["b"]})
        report = self.evaluate()
        self.assertEqual([row["systems"] for row in report["comparisons"]][::3],
                         [["c", "a"], ["a", "b"], ["b", "c"]])
        self.assertEqual([row["systems"] for row in report["comparisons"] if row["primary"]],
                         [["c", "a"]])
        tested = [row["p_value_holm"] for row in report["comparisons"] if not row["primary"]]
        self.assertNotIn(None, tested)
        self.assertEqual(report["comparisons"][3]["p_value_holm"], 0.5)     # eight times a 16th

    def test_pair_that_is_not_here(self):
        report = self.evaluate()
        self.assertIsNone(report["summary"]["primary_comparison"])
        self.assertIn("no comparison is primary", report["notices"][0])

    def test_one_system(self):
        self.rank({"a": self.ANSWERS["a"]})
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate: self.GRADES[candidate])
        report = self.evaluate()
        self.assertEqual(report["comparisons"], [])
        self.assertEqual(report["systems"][0]["measures"]["ndcg_at_5"]["mean"], 0.530091)


class LessRelevant(Folder):
    PROTOCOL = {"relevant_grade": 1}

    def test_threshold_of_the_protocol(self):
        entry = self.evaluate()["systems"][0]["by_judge"][0]["measures"]
        self.assertEqual((entry["precision_at_5"]["mean"], entry["reciprocal_rank"]["mean"]),
                         (0.6, 1.0))


################ Who counts, and the waiting state

class WhoCounts(Folder):
    def not_counted(self, name, judges=("one", "two", "three")):
        report = self.evaluate(judges)
        row = rows(report, "judges", judge=name)
        self.assertEqual(row["counted"], not row["why_not"])
        return row["why_not"]

    def test_disclosures(self):
        for more, expected in (
                ({}, []), ({"conflicts": " None "}, []),
                ({"kind": "model"}, ["is not a human alone"]),
                ({"kind": "mixed"}, ["is not a human alone"]),
                ({"helped_develop_ranker": True}, ["helped to develop the ranker"]),
                ({"rankings_hidden": False}, ["the rankings were not hidden"]),
                ({"conflicts": "works there"},
                 ["declares a conflict, or does not say that there is none"])):
            self.judge("three", lambda query, name: self.GRADES[name], **more)
            self.assertEqual(self.not_counted("three"), expected, more)

    def test_judge_who_does_not_count_changes_no_figure(self):
        before = self.evaluate()
        self.judge("three", lambda query, name: 2 - self.GRADES[name], kind="model")
        after = self.evaluate(("one", "two", "three"))
        for key in ("systems", "comparisons", "agreement", "order_of_systems", "queries"):
            self.assertEqual(before[key], after[key])

    def test_copies_do_not_count(self):
        self.edit("one.json", lambda value: value.update(
            judge={"name": "copy", "kind": "human"}, judgments=value["judgments"][::-1]))
        os.rename(self.path("one.json"), self.path("copy.json"))
        self.judge("one", lambda query, name: self.GRADES[name])
        self.judge("three", lambda query, name: self.GRADES[name])
        report = self.evaluate(("one", "two", "three", "copy"))
        self.assertEqual({row["judge"]: row["why_not"] for row in report["judges"]}, {
            "one": ["has the same grades and reasons throughout as copy"], "two": [], "three": [],
            "copy": ["has the same grades and reasons throughout as one"]})

    def test_nothing_graded_is_no_copy(self):
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate: None)
        report = self.evaluate(status=3)
        self.assertEqual([row["why_not"] for row in report["judges"]], [[], []])


class Awaiting(Folder):
    def test_one_judge(self):
        report = self.evaluate(("one",), status=3)
        self.assertEqual(report["status"], "awaiting_external_judgments")
        self.assertEqual([row["query_id"] for row in report["to_do"]], list(self.NAMES))
        row = report["to_do"][0]
        self.assertEqual((row["complete_judges"], row["complete_judges_needed"],
                          row["new_judges_needed"], row["judges"]), (["one"], 1, 1, []))

    def test_what_is_missing_is_listed_by_query_and_judge(self):
        self.judge("two", lambda query, name: None if query in ("q1", "q4") and name in "be"
                   else self.GRADES[name])
        report = self.evaluate(status=3)
        self.assertEqual([(row["query_id"], row["complete_judges_needed"],
                           row["new_judges_needed"]) for row in report["to_do"]],
                         [("q1", 1, 0), ("q4", 1, 0)])
        entry, = report["to_do"][1]["judges"]
        self.assertEqual((entry["judge"], entry["missing"]), ("two", 2))
        self.assertEqual(sorted(candidate["name"] for candidate in entry["candidates"]),
                         ["Agent b", "Agent e"])
        out = self.command()[1]
        self.assertIn("\nMissing grades, by query and judge:\n  q1: two 2 of 7\n  q4: two 2 of 7\n",
                      out)

    def test_no_judge(self):
        self.assertEqual(self.evaluate((), status=3)["summary"]["coverage"], 0.0)
        self.assertIn("  q1: a judge to be found, all 7; a judge to be found, all 7\n",
                      self.command(())[1])

    def test_judge_who_does_not_count_is_asked_nothing(self):
        self.judge("two", lambda query, name: None, kind="model")
        row = self.evaluate(status=3)["to_do"][0]
        self.assertEqual((row["judges"], row["new_judges_needed"]), ([], 1))

    def test_exactly_enough_is_enough(self):
        self.judge("two", lambda query, name: None if query == "q1" else self.GRADES[name])
        self.assertEqual(self.evaluate()["summary"]["coverage"], 0.8)

    def test_nothing_depends_on_a_grade(self):
        draw = random.Random(17)

        def outputs(grade):
            """Return all that a waiting run writes, given the grade of what is graded."""
            for name in ("one", "two", "three"):
                self.judge(name, lambda query, candidate: None if query in ("q1", "q2")
                           and candidate == "a" else grade())
            found = []
            for more in ((), ("--output", self.path("out.json")), ("--output", "-")):
                status, out, err = self.command(("one", "two", "three"), *more)
                self.assertEqual((status, err), (3, ""))
                found.append(out)
            return found, kit.read_bytes(self.path("out.json"))

        first = outputs(lambda: 0)
        for grade in (lambda: 1, lambda: 2, lambda: draw.randint(0, 2), lambda: draw.randint(0, 2)):
            self.assertEqual(outputs(grade), first)
        report = kit.parse_json(first[1])
        del report["protocol"]      # it names the primary measure
        for word in ("ndcg", "precision", "reciprocal", "mean", "p_value", "agreement", "grade\"",
                     "comparisons", "alpha", "kappa"):
            self.assertNotIn(word, json.dumps(report))

    def test_digest_without_grades_can_be_checked(self):
        entry, = self.evaluate(("one",), status=3)["inputs"]["judgments"]
        data = re.sub(rb'"grade"\s*:\s*[012]', b'"grade":-', kit.read_bytes(self.path("one.json")))
        self.assertEqual(entry, {"judge": "one", "file": "one.json",
                                 "sha256_without_grades": kit.sha256(data)})

    def test_no_trec_files(self):
        status, out, err = self.command(("one",), "--trec", self.path("trec"))
        self.assertEqual((status, err), (3, ""))
        self.assertFalse(os.path.exists(self.path("trec")))
        self.assertIn("wrote no TREC files", out)


################ Refusals, TREC, the command

class Refusals(Folder):
    def change(self, **fields):
        """Change the first judgment of judge one."""
        self.edit("one.json", lambda value: value["judgments"][0].update(fields))
        entry = self.read("one.json")["judgments"][0]
        return f"one.json: query {entry['query_id']}, candidate {entry['candidate_id']}: "

    def test_grades(self):
        for grade in (3, 1.5, True, "2", -1, 1.0):
            self.change(grade=grade)
            self.refused("one.json: judgments[0].grade: must be one of 0, 1, 2, null, not "
                         f"{grade!r}")

    def test_grade_without_a_reason(self):
        self.refused(self.change(grade=2, reason=" \t") + "grade 2 has no reason")
        self.change(grade=None, reason="")
        self.assertEqual(self.command()[0], 0)

    def test_unknown_and_repeated(self):
        self.refused(self.change(candidate_id="0" * 16) + "is not in the pool")
        self.refused(self.change(query_id="q9") + "is not in the set")
        entry = self.read("two.json")["judgments"][0]
        self.judge("one", lambda query, name: 1)
        self.edit("one.json", lambda value: value["judgments"].append(value["judgments"][0]))
        self.refused(f"one.json: query q1, candidate {entry['candidate_id']}: is judged twice")

    def test_another_pool_or_manifest(self):
        mine = self.pool["pool_sha256"]
        self.edit("one.json", lambda value: value.update(pool_sha256="0" * 64))
        self.refused(f"one.json: pool_sha256: {kit.shown('0' * 64)} is not that of these "
                     f"rankings, {kit.shown(mine)}")
        self.judge("one", lambda query, name: 1)
        for key, wrong in (("manifest_sha256", "0" * 64), ("set_id", "other"), ("version", "2")):
            for name in ("one", "a"):
                before = self.read(f"{name}.json")
                self.edit(f"{name}.json", lambda value: value.update({key: wrong}))
                self.refused(f"{name}.json: {key}: {kit.shown(wrong)} is not that of the frozen "
                             f"set, {kit.shown(before[key])}")
                self.write(f"{name}.json", before)

    def test_judge_or_system_twice(self):
        self.edit("two.json", lambda value: value["judge"].update(name=" ONE "))
        self.refused("two.json: judge ' ONE ' has another file too, one.json")
        self.edit("b.json", lambda value: value["system"].update(name="a"))
        self.refused("b.json: system 'a' has another file too, a.json")

    def test_private_texts(self):
        for text, what in (("write to ann@mail.example.org", "an e-mail address"),
                           ("key sk-abcdefghij0123456789", "a credential"),
                           ("see http://localhost:80/", "a private address"),
                           ("see http://10.20.30.40/", "an IP address")):
            for key in ("reason", "evidence_url"):
                self.judge("one", lambda query, name: 1)
                start = self.change(**{key: text})
                self.refused(f"{start}{key}: holds {what}")
        self.judge("one", lambda query, name: 1)
        self.edit("one.json", lambda value: value["disclosure"].update(
            assistance="ann@mail.example.org"))
        self.refused("one.json: disclosure.assistance: holds an e-mail address")

    def test_faults_of_all_files_are_named(self):
        one = self.change(grade=2, reason="")
        self.edit("two.json", lambda value: value.update(more=1))
        self.refused(one + "grade 2 has no reason", "two.json: more: is no key of this format")

    def test_very_many_faults_are_cut(self):
        for name in ("one", "two"):
            self.edit(f"{name}.json", lambda value: [entry.update(candidate_id="0" * 16)
                                                     for entry in value["judgments"]])
        self.edit("one.json", lambda value: value.update(judgments=value["judgments"] * 3))
        status, out, err = self.command()
        self.assertEqual(status, 2)
        self.assertEqual(len(err.splitlines()), 51 + 35)
        self.assertIn("one.json: and 55 more faults", err)

    def test_ranking_that_repeats_a_candidate(self):
        self.edit("a.json", lambda value: value["queries"][0]["results"].append(
            value["queries"][0]["results"][0]))
        status, out, err = self.command()
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, r"^error: \S*a\.json: .*q1.*\n$")

    def test_ranking_without_a_query(self):
        self.edit("a.json", lambda value: value["queries"].pop())
        status, out, err = self.command()
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, r"^error: \S*a\.json: .*\n$")

    def test_set_that_is_not_what_was_frozen(self):
        with open(self.path("queries.json"), "ab") as file:
            file.write(b"\n")
        status, out, err = self.command()
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, r"^error: \S*queries\.json: is not what manifest\.json froze.*\n$")

    def test_set_that_is_not_frozen(self):
        for status in ("development", "draft", "superseded"):
            self.freeze(status)
            found, out, err = self.command()
            self.assertEqual((found, out), (2, ""))
            self.assertRegex(err, rf"^error: .*'{status}'.*\n$")

    def test_usage(self):
        for argv, expected in (
                ([], "usage: --rankings is missing; see --help"),
                (["--rank", "a"], "usage: unrecognized arguments: --rank a; see --help"),
                (["--rankings", "a\0b"], "usage: a file name holds a NUL character; see --help")):
            self.assertEqual(self.run_main(*argv), (2, "", f"error: {expected}\n"))

    def test_depth(self):
        status, out, err = self.command(("one",), "--depth", "4")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("depth: 4 is less than 5", err)

    def test_output_may_not_be_an_input(self):
        for name in ("a.json", "one.json", "queries.json"):
            before = kit.read_bytes(self.path(name))
            status, out, err = self.command(("one",), "--output", self.path(name))
            self.assertEqual((status, out), (2, ""))
            self.assertIn("is an input", err)
            self.assertEqual(kit.read_bytes(self.path(name)), before)

    def test_nothing_to_judge(self):
        for name in self.systems:
            self.edit(f"{name}.json", lambda value: [entry.update(results=[])
                                                     for entry in value["queries"]])
        self.refused("no ranking holds a candidate, so that there is nothing to judge")

    def test_interrupted(self):
        with mock.patch.object(evaluate, "load_set", side_effect=KeyboardInterrupt):
            self.assertEqual(self.command(), (130, "", "interrupted\n"))


class Trec(Folder):
    def test_files(self):
        self.rank({"a": {**self.ANSWERS["a"], "q1": [], "q2": None}, "b": self.ANSWERS["b"]})
        self.edit("a.json", lambda value: value["system"].update(name="A b/../c"))
        for name in ("one", "two"):
            self.judge(name, lambda query, candidate: None if query == "q5" and name == "two"
                       else self.GRADES[candidate])
        status, out, err = self.command(("one", "two"), "--trec", self.path("trec"))
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(sorted(os.listdir(self.path("trec"))), [
            "judge-1-one.qrels", "judge-2-two.qrels", "system-1-a-b-c.run", "system-2-b.run"])
        lines = kit.read_bytes(self.path("trec/system-1-a-b-c.run")).decode().splitlines()
        self.assertEqual(lines[0], "q1 Q0 nothing 1 5 system-1-a-b-c")
        self.assertEqual({line.split()[0] for line in lines}, {"q1", "q3", "q4"})
        self.assertEqual([line.split()[3:5] for line in lines[1:6]],
                         [[str(rank), str(6 - rank)] for rank in range(1, 6)])
        qrels = kit.read_bytes(self.path("trec/judge-2-two.qrels")).decode().splitlines()
        self.assertEqual({line.split()[0] for line in qrels}, {"q1", "q2", "q3", "q4"})
        self.assertRegex(qrels[0], r"^q1 0 [0-9a-f]{16} [012]$")

    def test_no_file_is_written_twice(self):
        name = self.path("judge-1-one.qrels")
        status, out, err = self.command(("one", "two"), "--trec", self.folder, "--output", name)
        self.assertEqual((status, out, err), (
            2, "", f"error: {name}: is an output of --output and of --trec\n"))
        self.assertFalse(os.path.exists(name))


class Command(Folder):
    def script(self, *argv, **more):
        return subprocess.run([sys.executable, "-W", "error", os.path.join(HERE, "evaluate.py"),
                               *argv], capture_output=True, cwd=self.folder, **more)

    def test_seed_command(self):
        argv = ["--set", ".", "--rankings", "a.json", "--rankings", "b.json", "--judgments",
                "one.json", "--judgments", "two.json", "--output", "evaluation.json"]
        for seed in ("0", "1"):
            found = self.script(*argv, env={**os.environ, "PYTHONHASHSEED": seed})
            self.assertEqual((found.returncode, found.stderr), (0, b""))
            self.evaluate()
            self.assertEqual(kit.read_bytes(self.path("evaluation.json")),
                             kit.read_bytes(self.path("out.json")))

    def test_help_and_version(self):
        found = self.script("--help")
        self.assertEqual((found.returncode, found.stderr), (0, b""))
        self.assertIn(b"Exit status: 0 done", found.stdout)
        self.assertLessEqual(max(map(len, found.stdout.decode().splitlines())), 100)
        self.assertEqual(self.script("--version").stdout,
                         f"evaluate.py {kit.VERSION}\n".encode())

    def test_standard_output(self):
        status, out, err = self.command(("one", "two"), "--output", "-")
        self.evaluate()
        self.assertEqual(out.encode(), kit.read_bytes(self.path("out.json")))


if __name__ == "__main__":
    unittest.main()
