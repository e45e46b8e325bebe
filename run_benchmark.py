#!/usr/bin/env python3
"""Score two rankers of one directory on judged searches, and write a report that repeats.

    $ python run_benchmark.py                             fixtures.json and capability_search.py
                                                          beside this script; prints a summary
    $ python run_benchmark.py --output my-report.json     writes the report as well
    $ python run_benchmark.py --engine my_ranker.py       scores another ranker
    $ python run_benchmark.py --captures live-capture.json --output live-report.json
                                                          replays rankings; runs no ranker
    $ python run_benchmark.py --compare old-report.json   what moved; status 1 if it got worse
    $ python run_benchmark.py --trec DIR                  qrels.txt, baseline.run,
                                                          recommendation.run for trec_eval

A run that works ends with a line that `sha256sum -c` reads, and one that fails names the place:

    $ python run_benchmark.py --output my-report.json | tail -n 1
    3f0c...e2  my-report.json
    $ python run_benchmark.py --engine broken.py
    error: broken.py: baseline, case 'pdf-merge': raised KeyError: 'name' (line 41)

An engine is a Python file with RANKER_VERSION (text) and a class CapabilityIndex(listings, now)
whose methods baseline and recommend take (query, requirements=None, limit=None) and return an
ordered list of listing ids, or {"items": [{"id": ...}, ...]}. It never sees a judgment. It may
import from its own folder. It must not print, exit, or change what it is given.

The report depends on the bytes of its inputs and on nothing else: not on the time, the machine,
the folder, the Python version or the hash seed. It holds the SHA-256 of every input. From Python:

    from run_benchmark import evaluate_rankings
    report = evaluate_rankings(cases, baseline_results, recommendation_results)
    pandas.DataFrame(report["cases"])

Exit status: 0 done; 1 --compare found a lower score, or another result from the same inputs;
2 bad input, engine or usage, and then nothing is written; 130 interrupted.
"""

import argparse
import collections
import gc
import hashlib
import io
import json
import math
import operator
import os
import re
import sys
from datetime import datetime

# Report schema 1: the first. Fixtures schema 1: the first. Another number is refused by its value.
SCHEMA_VERSION = 1
FIXTURES_SCHEMA_VERSION = 1
VERSION = "1.0.0"
CUTOFF = 5
HERE = os.path.dirname(os.path.abspath(__file__))
FEW = 3                 # how many offenders one message names
MAX_DEPTH = 64          # JSON nesting; a card needs about ten
MAX_BYTES = 1 << 28     # per input file, so that a device cannot fill the memory


class BenchmarkError(ValueError):
    """Bad input. The message has one line per fault; `faults` holds the same lines."""

    def __init__(self, faults):
        self.faults = faults.splitlines() if isinstance(faults, str) else list(faults)
        super().__init__("\n".join(self.faults))


################ Data: metrics, requirement keys, what the figures do not show

RANKERS = ("baseline", "recommendation")
METHODS = {"baseline": "baseline", "recommendation": "recommend"}

# What one case gives one ranker. hits: distinct relevant ids in the window; shown: filled slots;
# relevant: judged relevant; rank: of the first relevant id in the window, 0 for none.
Window = collections.namedtuple(
    "Window", "hits shown relevant rank violations distractors unjudged")

# over: the cases a figure covers. A mean is over them; over all cases it is a total instead.
# better: 1 more is better, -1 less is better, 0 neither, so never a regression.
# judgments: whether it needs complete ones, is meant for known positives only, or takes both.
Metric = collections.namedtuple("Metric", "name over better judgments formula value")
POSITIVE, NO_MATCH, ALL = "positive cases", "no-match cases", "all cases"
COMPLETE, KNOWN = "complete", "known positives"
BOTH = (COMPLETE, KNOWN)
METRICS = (
    Metric("precision_at_5", POSITIVE, 1, (COMPLETE,),
           "distinct relevant in the window / 5",
           lambda w: w.hits / CUTOFF),
    Metric("precision_of_returned", POSITIVE, 1, (COMPLETE,),
           "distinct relevant in the window / min(5, returned); 0 if nothing returned",
           lambda w: w.hits / w.shown if w.shown else 0.0),
    Metric("slots_filled", POSITIVE, 0, (COMPLETE,),
           "min(5, returned) / 5",
           lambda w: w.shown / CUTOFF),
    Metric("recall_at_5", POSITIVE, 1, (COMPLETE,),
           "distinct relevant in the window / relevant",
           lambda w: w.hits / w.relevant),
    Metric("hit_at_5", POSITIVE, 1, (KNOWN,),
           "1 if a known positive is in the window, else 0",
           lambda w: 1.0 if w.rank else 0.0),
    Metric("mrr_at_5", POSITIVE, 1, BOTH,
           "1 / rank of the first relevant in the window, else 0",
           lambda w: 1 / w.rank if w.rank else 0.0),
    Metric("no_match_correct", NO_MATCH, 1, (COMPLETE,),
           "1 if nothing was returned, else 0",
           lambda w: 0.0 if w.shown else 1.0),
    Metric("constraint_violations", ALL, -1, BOTH,
           "distinct ids in the window that are judged constraint-ineligible",
           lambda w: w.violations),
    Metric("distractors_returned", ALL, -1, BOTH,
           "distinct ids in the window that are judged unacceptable",
           lambda w: w.distractors),
    Metric("unjudged_returned", ALL, 0, BOTH,
           "distinct ids in the window that no list of the case names; never counted as relevant",
           lambda w: w.unjudged),
)

# A case goes to the ranker that is ahead on the first of these on which the two differ.
DECIDING = ("recall_at_5", "hit_at_5", "mrr_at_5", "no_match_correct", "precision_of_returned",
            "constraint_violations", "distractors_returned")

JUDGED_LISTS = ("relevant_ids", "unacceptable_ids", "constraint_ineligible_ids")
JUDGMENT_KEYS = {*JUDGED_LISTS, "no_match_expected", "rationale"}
ID_KINDS = {int, str}

AUTH_KINDS = ("none", "api_key", "http", "oauth2", "oidc", "mtls")


def is_hours(value):
    """Return whether value is a finite number above zero."""
    return type(value) in (int, float) and 0 < value < math.inf


# requirement key: (what its value must be, the check)
REQUIREMENTS = {
    "auth": ("one of " + ", ".join(AUTH_KINDS),
             lambda value: type(value) is str and value in AUTH_KINDS),
    "exclude_auth": ("a list of one or more of " + ", ".join(AUTH_KINDS),
                     lambda value: type(value) is list and value != []
                     and all(type(kind) is str and kind in AUTH_KINDS for kind in value)),
    "signed": ("true or false", lambda value: type(value) is bool),
    "transport": ("the name of a protocol binding",
                  lambda value: type(value) is str and value.strip() != ""),
    "streaming": ("true", lambda value: value is True),
    "tls": ("true", lambda value: value is True),
    "card_max_age_hours": ("a number above 0", is_hours),
    "protocol_max_age_hours": ("a number above 0", is_hours),
}

LIMITS = {
    "development": (
        "The project's own rankers were developed on these cases: this is a development set, not "
        "a held-out test, and high scores should be read with that in mind.",
        "The cases, the judgments and the project's rankers have the same authors; nobody "
        "independent has checked them.",
        "Scores measure search over what publishers declare and what the directory observed. No "
        "task was run, so nothing here shows that an agent can do what it declares.",
    ),
    "live": (
        "One observation of stored listings at one time, judged by hand and not a random sample; "
        "it does not say how either ranker does now or on other searches.",
        "Scores measure search over what publishers declare. No task was run, so nothing here "
        "shows that an agent can do what it declares.",
    ),
    KNOWN: (
        "The judgments are known positives and are not complete: a returned listing that nobody "
        "judged may be relevant too. Hence no precision and no recall.",
    ),
}


################ Identifiers and cases

def shown_id(value):
    """Return a short, printable form of any value for a message."""
    try:
        return visible(repr(value), 60)
    except Exception:       # an enormous integer, or an engine's object
        return f"a value of type {type(value).__name__}"


def few(values):
    """Return the first few values as text, with the number of the others."""
    values = list(values)
    more = f" and {len(values) - FEW} more" if len(values) > FEW else ""
    return ", ".join(shown_id(value) for value in values[:FEW]) + more


def repeated(values):
    """Return the values that occur more than once, each once, in order of their second sight."""
    seen, again = set(), {}
    for value in values:
        if value in seen:
            again[value] = None
        seen.add(value)
    return list(again)


def is_id(value):
    """Return whether value may name a listing: an integer (not a boolean) or non-empty text."""
    return type(value) is int or type(value) is str and value != ""


def kind_name(kind):
    """Return what a message calls the two kinds of id."""
    return {int: "integers", str: "strings"}[kind]


def kind_faults(ids):
    """Return the fault of ids that are not all of one kind, in a list, or an empty list."""
    examples = {}
    for value in ids:
        examples.setdefault(type(value), value)
    if len(examples) < 2:
        return []
    return [f"listing ids: {few(examples.values())}: must be all integers or all strings"]


def requirement_faults(requirements):
    """Yield what is wrong with the requirements of a case."""
    if type(requirements) is not dict:
        yield "requirements: must be an object"
        return
    for key, value in requirements.items():
        if key not in REQUIREMENTS:
            yield f"requirements: unknown key {shown_id(key)}; known: {', '.join(REQUIREMENTS)}"
        elif not REQUIREMENTS[key][1](value):
            yield f"requirements.{key}: {shown_id(value)} must be {REQUIREMENTS[key][0]}"


def judgment_faults(judgments, kinds):
    """Yield what is wrong with the judgments of a case; add the kinds of its ids to kinds."""
    if type(judgments) is not dict:
        yield "judgments: must be an object"
        return
    sound = "relevant_ids" in judgments
    if not sound:
        yield "judgments.relevant_ids: is missing"
    for key in judgments if not judgments.keys() <= JUDGMENT_KEYS else ():
        # A misspelt list would otherwise be left out without a word.
        if key not in JUDGMENT_KEYS and str(key).endswith("ids"):
            yield f"judgments: unknown list {shown_id(key)}; known: {', '.join(JUDGED_LISTS)}"
    for key in JUDGED_LISTS:
        ids = judgments.get(key, [])
        what = id_list_fault(ids, kinds) if ids != [] else None
        if what:
            sound = False
            yield f"judgments.{key}: {what}"
    if sound:
        yield from agreement_faults(judgments)


def id_list_fault(ids, kinds):
    """Return what is wrong with one list of judged ids, or None; add their kinds to kinds."""
    if type(ids) is not list:
        return "must be a list"
    kinds.update(map(type, ids))
    if not kinds <= ID_KINDS or "" in ids:
        kinds &= ID_KINDS
        wrong = [value for value in ids if not is_id(value)]
        return f"{few(wrong)}: an id is an integer or a non-empty string"
    if len(set(ids)) != len(ids):
        return f"{few(repeated(ids))}: occurs more than once"
    return None


def agreement_faults(judgments):
    """Yield where the lists of one case contradict each other, or its flag or rationale."""
    relevant = set(judgments.get("relevant_ids", []))
    for key in JUDGED_LISTS[1:]:
        if not relevant.isdisjoint(judgments.get(key, ())):
            overlap = [value for value in judgments[key] if value in relevant]
            yield f"judgments.{key}: {few(overlap)}: is in relevant_ids too"
    flag = judgments.get("no_match_expected", False)
    if type(flag) is not bool or flag is bool(relevant):
        yield "judgments.no_match_expected: must be true exactly when relevant_ids is empty"
    if type(judgments.get("rationale", "")) is not str:
        yield "judgments.rationale: must be text"


def one_case_faults(case, kinds):
    """Yield what is wrong with a case that is an object with an id; add its ids' kinds to kinds."""
    if type(case.get("q")) is not str:
        yield "q: must be text"
    yield from requirement_faults(case.get("requirements", {}))
    yield from judgment_faults(case.get("judgments"), kinds)


def is_sound(case, kinds):
    """Return whether a case has no fault, without a word about which; add its ids' kinds to kinds.

    Nearly every case is sound, and saying why one is not costs ten times as much.
    """
    judgments = case.get("judgments")
    if case.get("requirements", {}) != {} or type(case.get("q")) is not str or (
            type(judgments) is not dict):
        return False
    relevant = judgments.get("relevant_ids")
    if type(relevant) is not list or not judgments.keys() <= JUDGMENT_KEYS:
        return False
    ids = relevant
    for key in JUDGED_LISTS[1:]:
        more = judgments.get(key)
        if more:
            if type(more) is not list:
                return False
            ids = ids + more
        elif more is not None and type(more) is not list:
            return False
    found = {*map(type, ids)}
    if not found <= ID_KINDS or len(found) > 1 or "" in ids or len({*ids}) != len(ids):
        return False        # an id in two lists that may share it is looked at again
    kinds |= found
    return (judgments.get("no_match_expected", False) is (not relevant)
            and type(judgments.get("rationale", "")) is str)


def judged_ids(case):
    """Return all ids that a sound case lists."""
    return [value for key in JUDGED_LISTS for value in case["judgments"].get(key, [])]


def check_cases(cases, faults):
    """Append to faults what is wrong with the cases; return the kind of their ids, or None."""
    if type(cases) not in (list, tuple):
        faults.append("cases: must be a list")
        return None
    before, ids, kinds = len(faults), [], set()
    for position, case in enumerate(cases, 1):
        name = case.get("id") if type(case) is dict else None
        if type(name) is not str or not name:
            faults.append(f"case number {position}: must be an object with a text id")
            continue
        ids.append(name)
        if not is_sound(case, kinds):
            faults += [f"case {shown_id(name)}: {what}" for what in one_case_faults(case, kinds)]
    if len(set(ids)) != len(ids):
        faults.append(f"cases: repeated case id: {few(repeated(ids))}")
    if len(faults) > before:
        return None
    if len(kinds) > 1:
        faults += kind_faults(value for case in cases for value in judged_ids(case))
    return kinds.pop() if len(kinds) == 1 else None


################ Rankings and scores

def id_list(answer):
    """Return the ids of a ranking, given as a list of ids or as {"items": [{"id": ...}, ...]}."""
    if isinstance(answer, dict):
        items = answer.get("items")
        if not isinstance(items, (list, tuple)):
            raise BenchmarkError('an object without a list "items"')
        if not all(isinstance(item, dict) and "id" in item for item in items):
            raise BenchmarkError('"items" must hold objects with an "id"')
        return [item["id"] for item in items]
    if isinstance(answer, (list, tuple)):
        return answer if type(answer) is list else list(answer)
    raise BenchmarkError(f"must be a list of ids or an object with \"items\", "
                         f"not {shown_id(answer)}")


def ranking_fault(ids, kind):
    """Return what is wrong with the ids of one ranking where all are of one kind, or None."""
    try:
        # Joining texts is the fastest look at every one of them; for integers it is counting.
        sound = kind is str and "".join(ids) is not None
    except TypeError:
        sound = False
    if not sound and operator.countOf(map(type, ids), kind) != len(ids):
        wrong = next(value for value in ids if type(value) is not kind)
        return f"returned id {shown_id(wrong)} where listing ids are {kind_name(kind)}"
    return "returned an empty id" if kind is str and not all(ids) else None


def read_rankings(name, results, case_ids, kind, faults):
    """Return {case id: list of ids} of a result map; append to faults what is wrong with it."""
    if not isinstance(results, dict):
        faults.append(f"{name}: must be an object of case ids and rankings")
        return {}
    known = set(case_ids)
    if not known <= results.keys():
        missing = [case for case in case_ids if case not in results]
        faults.append(f"{name}: no result for case {few(missing)}")
    if not results.keys() <= known:
        unknown = [case for case in results if case not in known]
        faults.append(f"{name}: a result for an unknown case {few(unknown)}")
    rankings = {}
    for case, answer in results.items():
        try:
            ids = rankings[case] = answer if type(answer) is list else id_list(answer)
            what = ranking_fault(ids, kind)
        except BenchmarkError as error:
            what = error
        if what:
            faults.append(f"{name}: case {shown_id(case)}: {what}")
    return rankings


def kind_of_results(maps):
    """Return the kind of the first sound id in the result maps; no judgment settles it."""
    for results in maps:
        for answer in results.values() if isinstance(results, dict) else ():
            try:
                for value in id_list(answer):
                    if is_id(value):
                        return type(value)
            except BenchmarkError:
                continue
    return int


def listing_names(listings, faults):
    """Return {id: name} of listings, named by themselves or by their card; append the faults."""
    names = {}
    if not isinstance(listings, (list, tuple)):
        faults.append("listings: must be a list")
        return names
    for position, listing in enumerate(listings, 1):
        if not isinstance(listing, dict) or not is_id(listing.get("id")):
            faults.append(f"listing number {position}: must be an object with an id, "
                          "an integer or a non-empty string")
            continue
        card = listing.get("card")
        name = listing.get("name", card.get("name") if isinstance(card, dict) else None)
        if type(name) is not str:
            faults.append(f"listing {shown_id(listing['id'])}: name: must be text")
        elif listing["id"] in names:
            faults.append(f"listing {shown_id(listing['id'])}: id: occurs more than once")
        names[listing["id"]] = name
    return names


def case_keys(ranker, metrics):
    """Return the report's keys for what one ranker did in one case, in order."""
    ends = ("top_5", "returned", *(metric.name for metric in metrics),
            "violation_ids", "distractor_ids", "unjudged_ids", "duplicate_ids")
    return [f"{ranker}_{end}" for end in ends]


class MetricValues(dict):
    """Returns for the seven facts of a Window (unrounded values, report values) in metric order.

    A metric whose cases do not include this one is None. Few windows differ, so each kind is
    worked out once.
    """

    def __init__(self, metrics):
        super().__init__()
        self.metrics = metrics

    def __missing__(self, facts):
        window = Window(*facts)
        outside = NO_MATCH if window.relevant else POSITIVE
        exact = [None if metric.over == outside else metric.value(window)
                 for metric in self.metrics]
        rounded = [round(value, 6) if type(value) is float else value for value in exact]
        self[facts] = exact, rounded
        return self[facts]


def case_values(ranking, judged, names, measured):
    """Return (values in the order of case_keys, unrounded metric values) for one ranking."""
    window = ranking[:CUTOFF]
    relevant, unacceptable, ineligible, known = judged
    distinct = window if len({*window}) == len(window) else list(dict.fromkeys(window))
    hits, violations, distractors, unjudged = [], [], [], distinct[:]
    if not known.isdisjoint(distinct):
        hits = [value for value in distinct if value in relevant]
        violations = [value for value in distinct if value in ineligible]
        distractors = [value for value in distinct if value in unacceptable]
        unjudged = [value for value in distinct if value not in known]
    exact, rounded = measured[
        len(hits), len(window), len(relevant), window.index(hits[0]) + 1 if hits else 0,
        len(violations), len(distractors), len(unjudged)]
    duplicates = repeated(window) if distinct is not window else []
    top = ([{"id": value, "name": names.get(value)} for value in window] if names
           else [{"id": value, "name": None} for value in window])
    return [top, len(ranking), *rounded, violations, distractors, unjudged, duplicates], exact


def verdict(baseline, recommendation, deciding):
    """Return (outcome, the metric that decided, the recommendation's gain in it) for one case.

    A gain above zero means that the recommendation is better, whichever way the metric points.
    """
    if baseline == recommendation:
        return "tie", None, 0
    for metric, position in deciding:
        old, new = baseline[position], recommendation[position]
        if old != new:
            gain = round((new - old) * metric.better, 6)
            return ("win" if gain > 0 else "loss"), metric.name, gain
    return "tie", None, 0


def copied(value):
    """Return a copy of JSON data that shares no list and no object with it."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, (list, tuple)) else value


HEAD = ("id", "query", "requirements", "judgments")


def case_head(case):
    """Return what a report row repeats of a case, in HEAD order, with defaults filled in."""
    judgments = case["judgments"]
    return case["id"], case["q"], copied(case.get("requirements", {})), {
        "relevant_ids": judgments["relevant_ids"][:],
        "unacceptable_ids": judgments.get("unacceptable_ids", [])[:],
        "constraint_ineligible_ids": judgments.get("constraint_ineligible_ids", [])[:],
        "no_match_expected": not judgments["relevant_ids"],
        "rationale": judgments.get("rationale", ""),
    }


def summarise(metrics, columns):
    """Return {metric: {baseline, recommendation, difference, cases}}; no cases give null means.

    columns holds for each ranker one row of unrounded metric values per case.
    """
    summary = {}
    turned = [list(zip(*columns[ranker])) or [()] * len(metrics) for ranker in RANKERS]
    for metric, *both in zip(metrics, *turned):
        entry = {}
        for ranker, column in zip(RANKERS, both):
            values = [value for value in column if value is not None]
            entry[ranker] = average(metric, values)
        # Of the rounded figures, so that the printed table adds up.
        entry["difference"] = (round(entry["recommendation"] - entry["baseline"], 6)
                               if values or metric.over == ALL else None)
        entry["cases"] = len(values)
        summary[metric.name] = entry
    return summary


def average(metric, values):
    """Return the total of values for a metric over all cases, otherwise their rounded mean."""
    if metric.over == ALL:
        return sum(values)
    return round(math.fsum(values) / len(values), 6) if values else None


def formula_text(metric):
    """Return the metric's formula and what the summary makes of it."""
    return f"{metric.formula}; {'total' if metric.over == ALL else 'mean'} over {metric.over}"


def evaluate_rankings(cases, baseline_results, recommendation_results, *,
                      listings=None, known_positives_only=False):
    """Return the scores of two rankings of the same judged cases, as plain dicts and lists.

    cases: list of {"id", "q", "requirements", "judgments"}, as in fixtures.json.
    baseline_results, recommendation_results: {case id: ranking} with a ranking for every case,
        an ordered list of listing ids or {"items": [{"id": ...}, ...]}. The order is final.
    listings: optional, [{"id", "name"}] or full listings; gives the names in the report.
    known_positives_only: the judgments are incomplete; leaves precision and recall out.

    The window is the first five ids. Case values and means are rounded to six places; a mean is
    math.fsum over the unrounded values of the cases it covers, divided by their number ("cases").
    The result has "summary", "changed_hands", "formulas" and "cases"; the last is a list of rows
    with equal keys. Precision, recall and reciprocal rank are as in trec_eval (P_5, recall_5,
    recip_rank of a run cut at five). Raises BenchmarkError with every fault of the arguments;
    changes none of them.
    """
    with Uncollected():     # many small lists and no cycles: collecting would take half of the time
        return checked_and_scored(cases, baseline_results, recommendation_results, listings,
                                  KNOWN if known_positives_only else COMPLETE)


class Uncollected:
    """A context without garbage collection; after it collection is as it was."""

    def __enter__(self):
        self.collecting = gc.isenabled()
        gc.disable()

    def __exit__(self, *error):
        if self.collecting:
            gc.enable()


def checked_and_scored(cases, baseline_results, recommendation_results, listings, judgments):
    """Return the result of evaluate_rankings."""
    faults = []
    kind = check_cases(cases, faults)
    if faults:
        raise BenchmarkError(faults)
    names = {} if listings is None else listing_names(listings, faults)
    if kind is None:
        kind = kind_of_results((baseline_results, recommendation_results))
    case_ids = [case["id"] for case in cases]
    results = {"baseline": baseline_results, "recommendation": recommendation_results}
    rankings = {ranker: read_rankings(f"{ranker}_results", results[ranker], case_ids, kind, faults)
                for ranker in RANKERS}
    if faults:
        raise BenchmarkError(faults)
    return score(cases, rankings, names, judgments)


def score(cases, rankings, names, judgments):
    """Return the result of evaluate_rankings for arguments that are known to be sound."""
    metrics = [metric for metric in METRICS if judgments in metric.judgments]
    places = {metric.name: (metric, place) for place, metric in enumerate(metrics)}
    deciding = [places[name] for name in DECIDING if name in places]
    measured = MetricValues(metrics)
    columns = {ranker: [] for ranker in RANKERS}
    keys = [*HEAD, "outcome", "decided_by", "gain",
            *(key for ranker in RANKERS for key in case_keys(ranker, metrics))]
    rows = []
    for case in cases:
        head = case_head(case)
        judged = [head[-1][key] for key in JUDGED_LISTS]
        judged.append({*judged[0], *judged[1], *judged[2]})
        if len(judged[-1]) > 30:        # for short lists a set costs more than it saves
            judged = [set(ids) for ids in judged]
        old, old_exact = case_values(rankings["baseline"][case["id"]], judged, names, measured)
        new, new_exact = case_values(rankings["recommendation"][case["id"]], judged, names,
                                     measured)
        columns["baseline"].append(old_exact)
        columns["recommendation"].append(new_exact)
        rows.append(dict(zip(keys, [*head, *verdict(old_exact, new_exact, deciding),
                                    *old, *new])))
    return {
        "summary": summarise(metrics, columns),
        "changed_hands": changed_hands(rows, deciding),
        "formulas": {metric.name: formula_text(metric) for metric in metrics},
        "cases": rows,
    }


def changed_hands(rows, deciding):
    """Return the ids of the cases that the recommendation wins, loses and ties, and the rule."""
    ids = {outcome: [row["id"] for row in rows if row["outcome"] == outcome]
           for outcome in ("win", "loss", "tie")}
    return {"wins": ids["win"], "losses": ids["loss"], "ties": ids["tie"],
            "decided_by": "the first of these that differs: "
                          + ", ".join(metric.name for metric, place in deciding)}


################ Text that is safe to show

def visible(text, width=None):
    """Return text with control and direction characters escaped, cut to a width in columns."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(visible_character(character) for character in text)
    if width is None or columns_of(text) <= width:
        return text
    while columns_of(text) > width - 3:
        text = text[:-1]
    return text + "..."


def visible_character(character):
    """Return a character, or its escape where it would not be seen or would move others."""
    if character.isprintable() or character in "\u200c\u200d":      # joiners spell some words
        return character
    return character.encode("unicode_escape").decode("ascii") if character != " " else " "


def columns_of(text):
    """Return how many terminal columns text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width
    return sum(2 if east_asian_width(character) in "WF" else 0 if combining(character) else 1
               for character in text)


def padded(text, width):
    """Return text made visible, cut and filled with blanks to exactly width columns."""
    text = visible(text, width)
    return text + " " * (width - columns_of(text))


################ Strict JSON, fixtures and captures

def in_file(path, faults):
    """Return faults with the file's name before each."""
    return [f"{visible(os.fspath(path)) or repr('')}: {what}" for what in faults]


def reason(error):
    """Return what an OSError says, in the system's words."""
    return error.strerror or type(error).__name__


def read_bytes(path):
    """Return the bytes of a file, read once; raise BenchmarkError."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BenchmarkError(in_file(path, [f"cannot be read: {reason(error)}"])) from None
    if len(data) > MAX_BYTES:
        raise BenchmarkError(in_file(path, [f"has more than {MAX_BYTES} bytes"]))
    return data


def sha256(data):
    """Return the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def unique_keys(pairs):
    """Return the object of key and value pairs; a repeated key raises."""
    value = dict(pairs)
    if len(value) != len(pairs):
        again = repeated(key for key, item in pairs)
        raise BenchmarkError(f"key {few(again)}: occurs twice in one object")
    return value


def no_constant(name):
    """Raise for NaN and Infinity, which JSON does not have."""
    raise BenchmarkError(f"{name}: is not a JSON number")


def finite(text):
    """Return a JSON number with a fraction or an exponent; one too large for a float raises."""
    value = float(text)
    if math.isinf(value):
        raise BenchmarkError(f"{visible(text, 40)}: is too large a number")
    return value


def bounded(text):
    """Return a JSON integer; one that does not fit 64 bits raises."""
    if len(text) > 20 or abs(int(text)) >= 1 << 63:
        raise BenchmarkError(f"{visible(text, 40)}: is too large an integer")
    return int(text)


def too_deep(value):
    """Return whether value nests objects and lists deeper than MAX_DEPTH."""
    level = [value]
    for depth in range(MAX_DEPTH + 1):
        level = [child for parent in level if type(parent) in (dict, list)
                 for child in (parent.values() if type(parent) is dict else parent)]
        if not level:
            return False
    return True


def parse_json(data):
    """Return the value of strict JSON bytes; raise BenchmarkError without the file's name."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise BenchmarkError("line 1: starts with a byte order mark; save it as plain UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BenchmarkError(f"line {line}: byte {error.start + 1} is not UTF-8") from None
    if not text.strip(" \t\r\n"):
        raise BenchmarkError("is empty; JSON was expected")
    try:
        value = json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_constant,
                           parse_float=finite, parse_int=bounded)
    except json.JSONDecodeError as error:
        raise BenchmarkError(f"line {error.lineno} column {error.colno}: not JSON: {error.msg}"
                             ) from None
    except RecursionError:
        value = None
    if value is None and text.strip() != "null" or too_deep(value):
        raise BenchmarkError(f"nested deeper than {MAX_DEPTH} levels")
    try:
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BenchmarkError("holds half of a surrogate pair, which is no character") from None
    return value


def read_json(path):
    """Return (value, bytes) of a strict JSON file; raise BenchmarkError with its name."""
    data = read_bytes(path)
    try:
        return parse_json(data), data
    except BenchmarkError as error:
        raise BenchmarkError(in_file(path, error.faults)) from None


def instant(text):
    """Return the aware datetime of ISO 8601 text with an offset, or None."""
    pattern = (r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?\d*"
               r"(Z|[+-]\d\d:\d\d)")
    match = re.fullmatch(pattern, text, re.ASCII) if type(text) is str else None
    if not match:
        return None
    moment, fraction, offset = match.groups()
    if len(moment) == 16:
        moment += ":00"
    try:
        # Python 3.10 takes three or six digits of a second and no Z.
        return datetime.fromisoformat(moment + (fraction or ".0").ljust(7, "0")
                                      + offset.replace("Z", "+00:00"))
    except ValueError:
        return None


TIME_RULE = "must be an ISO 8601 time with an offset, such as 2026-10-20T12:00:00+00:00"


def listing_faults(listing):
    """Yield what is wrong with the times and observations of a listing."""
    if "card" not in listing or type(listing["card"]) is not dict:
        yield "card: must be an object"
    if instant(listing.get("listed_at")) is None:
        yield f"listed_at: {TIME_RULE}"
    observations = listing.get("observations", {})
    if type(observations) is not dict:
        yield "observations: must be an object"
        return
    for name, seen in observations.items():
        where = f"observations.{visible(name, 40)}"
        if type(seen) is not dict or type(seen.get("ok")) is not bool:
            yield f"{where}: must be an object with ok, true or false, and at"
        elif instant(seen.get("at")) is None:
            yield f"{where}.at: {TIME_RULE}"


def head_faults(fixtures):
    """Yield what is wrong with the head of a fixture file of the right schema."""
    for key in ("benchmark", "version"):
        if type(fixtures.get(key)) is not str or not fixtures[key]:
            yield f"{key}: must be text that is not empty"
    if instant(fixtures.get("clock")) is None:
        yield f"clock: {TIME_RULE}"
    if fixtures.get("cases") == []:
        yield "cases: there is none"


def fixture_faults(fixtures):
    """Return every fault of a fixture file's value."""
    if type(fixtures) is not dict:
        return ["must be an object with listings and cases"]
    number = fixtures.get("schema_version")
    if type(number) is not int or number != FIXTURES_SCHEMA_VERSION:
        return [f"schema_version: {shown_id(number)} is not known; "
                f"this script reads {FIXTURES_SCHEMA_VERSION}"]
    faults = list(head_faults(fixtures))
    names = listing_names(fixtures.get("listings"), faults)
    faults += kind_faults(names)
    if type(fixtures.get("listings")) is list:
        faults += [f"listing {shown_id(listing.get('id'))}: {what}"
                   for listing in fixtures["listings"] if type(listing) is dict
                   for what in listing_faults(listing)]
    before = len(faults)
    check_cases(fixtures.get("cases"), faults)
    if len(faults) == before:
        for case in fixtures["cases"]:
            lost = [value for value in judged_ids(case) if value not in names]
            if lost:
                faults.append(f"case {shown_id(case['id'])}: judgments: no listing {few(lost)}")
    return faults


def capture_faults(capture):
    """Return the faults of a capture's own parts; evaluate_rankings checks the others."""
    if type(capture) is not dict:
        return ["must be an object with metadata, cases and two result maps"]
    faults = [f"{key}: is missing" for key in (
        "metadata", "cases", "baseline_results", "recommendation_results") if key not in capture]
    metadata = capture.get("metadata", {})
    if type(metadata) is not dict:
        return [*faults, "metadata: must be an object"]
    if type(metadata.get("judgments_complete", False)) is not bool:
        faults.append("metadata.judgments_complete: must be true or false")
    if "captured_at" in metadata and instant(metadata["captured_at"]) is None:
        faults.append(f"metadata.captured_at: {TIME_RULE}")
    if capture.get("cases") == []:
        faults.append("cases: there is none")
    return faults


################ Engine

class Heard(io.StringIO):
    """Takes what an engine prints; an engine cannot close it."""

    def close(self):
        """Do nothing."""


class Engine:
    """A ranker from a file, and an importer of the modules in the file's own folder.

    The bytes of each source are read once, hashed and compiled, so the stamp is of what ran. No
    .pyc is read or written. Use it as a context: `with Engine(path) as engine`. In it the modules
    are in sys.modules; after it sys.modules and sys.meta_path are as they were.
    """

    def __init__(self, path):
        self.path = path
        self.shown = visible(os.fspath(path))
        self.source = read_bytes(path)
        self.file = os.path.abspath(path)
        self.folder = os.path.dirname(self.file)
        self.sources = {}           # imported: path from the folder -> bytes
        self.packages = set()
        self.heard = Heard()
        stem = os.path.splitext(os.path.basename(self.file))[0]
        # An engine called json.py must not become everybody's json.
        self.name = "engine_" + stem if stem in sys.stdlib_module_names else stem

    def __enter__(self):
        """Return self, with the engine's module executed."""
        self.modules, self.place = dict(sys.modules), os.curdir
        if os.path.isdir(os.curdir):
            self.place = os.getcwd()
        for name in self.modules:
            # A module of that name that somebody imported before would miss its stamp, and may be
            # another one.
            if self.is_own(name.partition(".")[0]):
                del sys.modules[name]
        sys.meta_path.insert(0, self)
        try:
            self.load()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        """Put sys.modules, sys.meta_path and the working folder back as they were."""
        os.chdir(self.place)
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for name, module in list(sys.modules.items()):
            spec = getattr(module, "__spec__", None)
            if getattr(spec, "loader", None) is self or name == self.name:
                del sys.modules[name]
        for name, module in self.modules.items():
            sys.modules.setdefault(name, module)

    def is_own(self, name):
        """Return whether find_spec would find a module of that name in the engine's folder."""
        base = os.path.join(self.folder, name)
        return name not in sys.stdlib_module_names and (
            os.path.isfile(base + ".py") or os.path.isfile(os.path.join(base, "__init__.py")))

    def load(self):
        """Compile and execute the engine's source; check the names that it must define."""
        self.module = type(sys)(self.name)
        self.module.__file__ = self.file
        sys.modules[self.name] = self.module
        with Uncollected():     # a syntax tree is large and has no cycles
            code = self.guarded("import", compiled, self.source, self.file)
        self.guarded("import", exec, code, self.module.__dict__)
        version = getattr(self.module, "RANKER_VERSION", None)
        if type(version) is not str or not version:
            self.fail("RANKER_VERSION: must be text that is not empty")
        if not callable(getattr(self.module, "CapabilityIndex", None)):
            self.fail("CapabilityIndex: the class is missing")
        self.version = version

    def fail(self, what):
        """Raise BenchmarkError with the engine's name."""
        raise BenchmarkError(f"{self.shown}: {what}")

    def guarded(self, where, call, *arguments, blame=None):
        """Return call(*arguments); what it raises or prints is a BenchmarkError that says where.

        blame is the engine's function, if call is not that.
        """
        streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self.heard
        try:
            answer = call(*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.fail(f"{where}: raised {self.described(error, blame or call)}")
        finally:
            sys.stdout, sys.stderr = streams
        if self.heard.getvalue():
            self.fail(f"{where}: printed {shown_id(self.heard.getvalue())}; "
                      "an engine must not print")
        return answer

    def described(self, error, call):
        """Return an exception's type, message and line in the engine or in what it imported."""
        try:
            message = visible(str(error), 300)
        except Exception:
            message = "(its message cannot be shown)"
        where = f"line {error.lineno}" if isinstance(error, SyntaxError) else ""
        trace = error.__traceback__
        files = {self.file: ""} | {os.path.join(self.folder, *name.split("/")): f"{name} "
                                   for name in self.sources}
        while trace:
            file = trace.tb_frame.f_code.co_filename
            if file in files:
                where = f"{files[file]}line {trace.tb_lineno}"
            trace = trace.tb_next
        if not where:       # called with a wrong signature, so that no line of it ran
            code = getattr(call, "__code__", getattr(call.__init__, "__code__", None))
            where = f"line {code.co_firstlineno}" if code else ""
        return ": ".join(filter(None, [type(error).__name__, message])) + (
            f" ({where})" if where else "")

    # The importer of the engine's folder: one object is finder and loader.

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module in the engine's folder or in a package there, or None."""
        package, _, last = name.rpartition(".")
        if package not in self.packages and (package or last in sys.stdlib_module_names):
            return None
        base = os.path.join(self.folder, *name.split("."))
        for file in (os.path.join(base, "__init__.py"), base + ".py"):
            if os.path.isfile(file):
                from importlib.machinery import ModuleSpec
                spec = ModuleSpec(name, self, origin=file, is_package=file != base + ".py")
                spec.has_location = True
                if spec.submodule_search_locations is not None:
                    spec.submodule_search_locations.append(base)
                    self.packages.add(name)
                return spec
        return None

    def create_module(self, spec):
        """Return None: the usual module object."""

    def exec_module(self, module):
        """Execute a module of the folder from bytes that are read once and kept for the stamp."""
        file = module.__spec__.origin
        name = os.path.relpath(file, self.folder).replace(os.sep, "/")
        if name not in self.sources:
            with open(file, "rb") as source:
                self.sources[name] = source.read()
        exec(compiled(self.sources[name], file), module.__dict__)

    def stamps(self):
        """Return {path from the engine's folder: SHA-256} of what it imported from there."""
        return {name: sha256(self.sources[name]) for name in sorted(self.sources)}


def compiled(source, file):
    """Return the code of a module's source; its warnings are not what the engine prints."""
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source, file, "exec", dont_inherit=True)


def answer_ids(method, query, requirements):
    """Return a new list of the ids that a ranker's method returns."""
    return list(id_list(method(query, requirements)))


def rank_cases(engine, listings, cases, known, now, pristine=None):
    """Return the result map of each ranker: {ranker: {case id: list of ids}}.

    listings: the engine's own. known: their ids. pristine: a function that reads the listings
    anew. An engine that changed them is run again on those, watched, to name the case.
    """
    before = repr(listings)
    index = engine.guarded("CapabilityIndex", engine.module.CapabilityIndex, listings, now)
    results = {ranker: {} for ranker in RANKERS}
    methods = {}
    for ranker, name in METHODS.items():
        methods[ranker] = engine.guarded("CapabilityIndex", getattr, index, name, None)
        if not callable(methods[ranker]):
            engine.fail(f"CapabilityIndex.{name}: the method is missing")
    where = "CapabilityIndex"
    for case in cases:
        for ranker, method in methods.items():
            if not pristine and repr(listings) != before:
                engine.fail(f"{where}: changed the listings that it was given")
            where = f"{ranker}, case {shown_id(case['id'])}"
            results[ranker][case["id"]] = rank_case(engine, where, method, case, known)
    if repr(listings) != before:
        if pristine:
            rank_cases(engine, pristine(), cases, known, now)
        engine.fail(f"{where}: changed the listings that it was given")
    return results


def rank_case(engine, where, method, case, known):
    """Return one ranker's ids for one case, checked; the ranker sees query and requirements."""
    requirements = copied(case.get("requirements", {}))
    before = repr(requirements)
    ids = engine.guarded(where, answer_ids, method, case["q"], requirements, blame=method)
    if repr(requirements) != before:
        engine.fail(f"{where}: changed the requirements that it was given")
    wrong = [value for value in ids if not is_id(value) or value not in known]
    if wrong:
        engine.fail(f"{where}: returned {few(wrong)}, which is no listing's id")
    return ids


################ Report

def development_report(engine_path, fixtures_path, own_digest):
    """Return the report of an engine on fixtures; raise BenchmarkError."""
    fixtures, data = read_json(fixtures_path)
    faults = fixture_faults(fixtures)
    if faults:
        raise BenchmarkError(in_file(fixtures_path, faults))
    cases, listings = fixtures["cases"], fixtures["listings"]
    named = [{"id": listing["id"], "name": listing["card"]["name"]} for listing in listings]
    known = {listing["id"] for listing in listings}
    now = instant(fixtures["clock"])
    with Engine(engine_path) as engine:
        results = rank_cases(engine, listings, cases, known, now,
                             lambda: parse_json(data)["listings"])
        stamps = engine.stamps()
    scores = evaluate_rankings(cases, results["baseline"], results["recommendation"],
                               listings=named)
    inputs = {"fixtures_sha256": sha256(data), "engine_sha256": sha256(engine.source),
              "engine_imports_sha256": stamps, "run_benchmark_sha256": own_digest}
    about = {"benchmark": fixtures["benchmark"], "version": fixtures["version"],
             "kind": "development", "judgments": COMPLETE, "clock": fixtures["clock"],
             "ranker_version": engine.version}
    return report_of(about, scores, inputs)


def live_report(path, own_digest):
    """Return the report of a capture; raise BenchmarkError."""
    capture, data = read_json(path)
    faults = capture_faults(capture)
    if faults:
        raise BenchmarkError(in_file(path, faults))
    metadata = capture["metadata"]
    judgments = COMPLETE if metadata.get("judgments_complete") else KNOWN
    try:
        scores = evaluate_rankings(
            capture["cases"], capture["baseline_results"], capture["recommendation_results"],
            listings=capture.get("listings"), known_positives_only=judgments == KNOWN)
    except BenchmarkError as error:
        raise BenchmarkError(in_file(path, error.faults)) from None
    inputs = {"capture_sha256": sha256(data), "run_benchmark_sha256": own_digest}
    about = {"benchmark": metadata.get("benchmark", "live-capture"),
             "version": metadata.get("version"), "kind": "live", "judgments": judgments,
             "clock": metadata.get("captured_at"),
             "ranker_version": metadata.get("ranker_version"), "metadata": metadata}
    return report_of(about, scores, inputs)


def report_of(about, scores, inputs):
    """Return the report: what it is, the figures, what they do not show, inputs, cases."""
    limits = [*LIMITS[about["kind"]], *LIMITS.get(about["judgments"], ())]
    return {
        "schema_version": SCHEMA_VERSION,
        "benchmark": about.pop("benchmark"),
        "version": about.pop("version"),
        "kind": about.pop("kind"),
        "judgments": about.pop("judgments"),
        "summary": scores["summary"],
        "changed_hands": scores["changed_hands"],
        "what_the_figures_do_not_show": limits,
        "formulas": scores["formulas"],
        "inputs": inputs,
        **about,
        "cases": scores["cases"],
    }


def encoded(report):
    """Return the report's bytes: UTF-8, LF, two-space indent, one newline at the end."""
    return (json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


################ Summary

WIDTH = 80
HALF = 10               # columns of a bar on each side of the middle
MOST = 40               # rows that one part of the summary prints


def figure(value, sign=""):
    """Return a figure as text: three places for a mean, none for a count, - for none."""
    if value is None:
        return "-"
    return format(value, f"{sign}.3f" if isinstance(value, float) else f"{sign}d")


def table_lines(summary):
    """Yield the table of both rankers, one line per metric."""
    yield f"{'':24}{'baseline':>12}{'recommendation':>17}{'difference':>13}{'cases':>9}"
    for name, entry in summary.items():
        yield (f"{name:24}{figure(entry['baseline']):>12}{figure(entry['recommendation']):>17}"
               f"{figure(entry['difference'], '+'):>13}{entry['cases']:>9}")


def bar(gain):
    """Return a bar from the middle: + to the right for a gain, - to the left for a loss."""
    size = max(1, round(min(abs(gain), 1) * HALF))
    return f"{'-' * size if gain < 0 else '':>{HALF}}|{'+' * size if gain > 0 else '':<{HALF}}"


def changed_lines(report):
    """Yield a bar for each case that changed hands, largest gain first, and name the others."""
    hands = report["changed_hands"]
    yield (f"Cases that changed hands: recommendation better in {len(hands['wins'])}, worse in "
           f"{len(hands['losses'])}, equal in {len(hands['ties'])}")
    moved = [row for row in report["cases"] if row["outcome"] != "tie"]
    moved.sort(key=lambda row: -row["gain"])
    if moved:
        yield f"  {'':24} {'worse':<{HALF}}|{'better':>{HALF}}"
    for row in moved:
        yield (f"  {padded(row['id'], 24)} {bar(row['gain'])} {row['gain']:<+8.3g}"
               f"{row['decided_by']}")
    if hands["ties"]:
        yield from wrapped("  equal: ", [visible(case, 60) for case in hands["ties"]])


def wrapped(start, words, comma=","):
    """Yield start and the words in lines that fit; later lines are indented."""
    line = start
    for word in [word + comma for word in words[:-1]] + words[-1:]:
        if columns_of(line) + columns_of(word) > WIDTH and line.strip():
            yield line.rstrip()
            line = "      "
        line += word + " "
    yield line.rstrip()


def returned_lines(report, title, ending):
    """Yield for each case and ranker the window ids that one list of the report names."""
    count, lines = 0, []
    for row in report["cases"]:
        for ranker in RANKERS:
            ids = row[f"{ranker}_{ending}"]
            count += len(ids)
            names = {item["id"]: item["name"] for item in row[f"{ranker}_top_5"]}
            shown = [visible(" ".join(filter(None, (str(value), names[value]))), 60)
                     for value in ids]
            if ids:
                lines += wrapped(f"  {visible(row['id'], 40)}, {ranker}: ", shown)
    yield f"{title}: {count or 'none'}"
    yield from lines


def limited(lines):
    """Yield lines, but not more than MOST after the first; say how many are left out."""
    lines = list(lines)
    yield from lines[:MOST + 1]
    if len(lines) > MOST + 1:
        yield f"  ... and {len(lines) - MOST - 1} more; the report has them all"


def summary_lines(report):
    """Yield the summary, a line at a time, none wider than 80 columns."""
    version = f" {report['version']}" if report["version"] is not None else ""
    yield visible(f"{report['benchmark']}{version}: {report['kind']} set, "
                  f"{len(report['cases'])} cases, judgments: {report['judgments']}", WIDTH)
    yield visible(f"ranker {report['ranker_version'] or 'not named'}, clock "
                  f"{report['clock'] or 'not named'}", WIDTH)
    yield ""
    yield from table_lines(report["summary"])
    yield ""
    yield from limited(changed_lines(report))
    for title, ending in (("Constraint violations", "violation_ids"),
                          ("Distractors returned", "distractor_ids"),
                          ("Unjudged ids returned", "unjudged_ids"),
                          ("Repeated ids", "duplicate_ids")):
        yield ""
        yield from limited(returned_lines(report, title, ending))
    yield ""
    for sentence in report["what_the_figures_do_not_show"]:
        yield from wrapped("Note: ", sentence.split(), "")


################ Comparison with an old report

DIRECTION = {metric.name: metric.better for metric in METRICS}


def check_report(path, old, kind):
    """Raise BenchmarkError unless an old report's value can be compared with one of a kind."""
    what = None
    if type(old) is not dict or "summary" not in old or "schema_version" not in old:
        what = "is not a report of this script"
    elif type(old["schema_version"]) is not int or old["schema_version"] != SCHEMA_VERSION:
        what = (f"schema_version: {shown_id(old['schema_version'])} is not known; "
                f"this script compares {SCHEMA_VERSION}")
    elif old.get("kind") != kind:
        what = f"kind: {shown_id(old.get('kind'))}; the new report's is {kind!r}"
    if what:
        raise BenchmarkError(in_file(path, [what]))


def metric_moves(old, new):
    """Yield (text, whether the recommendation is worse) for each summary figure that moved."""
    for name in {**old, **new}:
        if name not in old or name not in new:
            yield f"{name}: only in the {'new' if name in new else 'old'} report", False
            continue
        for ranker in RANKERS:
            was, now = old[name][ranker], new[name][ranker]
            if was == now:
                continue
            change, mark = "", ""
            if was is not None and now is not None:
                change = f" ({figure(round(now - was, 6), '+')})"
                good = (now - was) * DIRECTION.get(name, 0)
                mark = ": better" if good > 0 else ": worse" if good < 0 else ""
            yield (f"{name}, {ranker}: {exact(was)} -> {exact(now)}{change}{mark}",
                   mark == ": worse" and ranker == "recommendation")


def exact(value):
    """Return a figure with all the digits that the report has."""
    return "-" if value is None else repr(value)


def window_ids(row, ranker):
    """Return the ids of a row's window."""
    return [item["id"] for item in row[f"{ranker}_top_5"]]


def case_moves(old, new, metrics):
    """Yield what moved in each case that both reports have: figures and windows."""
    for row in new:
        before = old.get(row["id"])
        for ranker in RANKERS if before else ():
            moves = [f"{name} {exact(before[key])} -> {exact(row[key])}" for name in metrics
                     for key in [f"{ranker}_{name}"] if key in before and before[key] != row[key]]
            ids = window_ids(before, ranker), window_ids(row, ranker)
            if ids[0] != ids[1]:
                texts = [" ".join(visible(str(value), 20) for value in part) for part in ids]
                moves.append(f"first five {texts[0] or 'none'} -> {texts[1] or 'none'}")
            if moves:
                yield from wrapped(f"  {visible(row['id'], 40)}, {ranker}: ", moves)


def case_changes(old, new):
    """Yield which cases were added, removed, asked otherwise or judged otherwise."""
    yield from (f"only in the new report: {shown_id(key)}" for key in new if key not in old)
    yield from (f"only in the old report: {shown_id(key)}" for key in old if key not in new)
    for key, row in new.items():
        for part in HEAD[1:]:
            if key in old and old[key].get(part) != row[part]:
                yield f"{part} of {shown_id(key)}"


def comparison(old, new):
    """Return (lines, exit status): what moved between two reports, 1 for worse or unrepeatable."""
    old_rows, new_rows = ({row["id"]: row for row in report["cases"]} for report in (old, new))
    differing = [key for key in {**old["inputs"], **new["inputs"]}
                 if old["inputs"].get(key) != new["inputs"].get(key)]
    lines = ["Inputs: " + ("the same" if not differing else "differ in " + ", ".join(
        visible(key, 40) for key in differing))]
    changes = list(case_changes(old_rows, new_rows))
    if changes:
        lines += ["Cases or judgments differ, so the figures are not like for like:",
                  *(f"  {change}" for change in changes)]
    moves = list(metric_moves(old["summary"], new["summary"]))
    cases = list(case_moves(old_rows, new["cases"], new["summary"]))
    same = not cases and old_rows.keys() == new_rows.keys()
    lines += [f"Rankings, first five: {'the same' if same else 'differ'}",
              f"Metrics that moved: {len(moves) or 'none'}", *(f"  {text}" for text, bad in moves),
              f"Cases that moved: {'none' if not cases else ''}".rstrip(), *cases]
    broken = not differing and old != new
    if broken:
        lines.append("The same inputs gave another result.")
    worse = any(bad for text, bad in moves)
    lines.append("Verdict: " + ("the recommendation is worse" if worse else
                                "not repeatable" if broken else "no regression"))
    return lines, int(worse or broken)


################ TREC files

def trec_name(value):
    """Return a case or listing id as one TREC word; urllib.parse.unquote gives it back."""
    from urllib.parse import quote
    return quote(str(value), safe="!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~")


def trec_rows(row, ranker):
    """Yield the run lines of one case, five at most, with falling scores.

    A repeated id's slot and an empty result get a document that nobody can judge: trec_eval drops
    repeats and leaves empty cases out of its means. "%" and no hexadecimal digit after it cannot
    come from trec_name.
    """
    words = []
    for position, value in enumerate(window_ids(row, ranker), 1):
        word = trec_name(value)
        words.append(f"%repeat-{position}" if word in words else word)
    for position, word in enumerate(words or ["%nothing"], 1):
        yield f"{trec_name(row['id'])} Q0 {word} {position} {CUTOFF + 1 - position} {ranker}\n"


def trec_files(report):
    """Return {file name: text}: judgments and both runs, without the no-match cases."""
    rows = [row for row in report["cases"] if row["judgments"]["relevant_ids"]]
    qrels = []
    for row in rows:
        judged = {value: int(key == "relevant_ids") for key in JUDGED_LISTS
                  for value in row["judgments"][key]}
        qrels += [f"{trec_name(row['id'])} 0 {trec_name(value)} {grade}\n"
                  for value, grade in judged.items()]
    runs = {f"{ranker}.run": "".join(line for row in rows for line in trec_rows(row, ranker))
            for ranker in RANKERS}
    return {"qrels.txt": "".join(qrels), **runs}


################ Files and the command

def check_output(path, inputs):
    """Raise BenchmarkError if a file cannot be written at path, or is one of the inputs."""
    target = os.path.realpath(path)
    what = None
    if os.path.isdir(target):
        what = "is a folder; name a file"
    elif os.path.exists(target) and not os.path.isfile(target):
        what = "is not a regular file; - is standard output"
    elif not os.path.isdir(os.path.dirname(target)):
        what = "its folder does not exist"
    for name in inputs:
        if os.path.exists(target) and os.path.exists(name) and os.path.samefile(target, name):
            what = f"is an input ({visible(os.fspath(name))}); write to another file"
    if what:
        raise BenchmarkError(in_file(path, [what]))


def write_file(path, data):
    """Write bytes to path, whole or not at all; a link stays a link. Raise BenchmarkError."""
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".{os.getpid()}-{os.urandom(6).hex()}.tmp")
    try:
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target):
                os.chmod(temporary, os.stat(target).st_mode & 0o777)
            os.replace(temporary, target)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise
    except OSError as error:
        raise BenchmarkError(in_file(path, [f"cannot be written: {reason(error)}"])) from None


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are BenchmarkErrors, one line each."""

    def error(self, message):
        """Raise BenchmarkError; --help shows the usage."""
        raise BenchmarkError(f"usage: {visible(message)}; see --help")


def help_formatter(prog):
    """Return a help formatter that need not look for the width of the terminal, which is slow."""
    return argparse.RawDescriptionHelpFormatter(prog, width=WIDTH)


def parse(argv):
    """Return (options, help text) of a command line; raise BenchmarkError."""
    parser = Parser(prog="run_benchmark.py", description=__doc__, allow_abbrev=False,
                    add_help=False, formatter_class=help_formatter)
    add = parser.add_argument
    add("--engine", metavar="FILE", help="the ranker (default: capability_search.py beside this)")
    add("--fixtures", metavar="FILE", help="cases and listings (default: fixtures.json likewise)")
    add("--captures", metavar="FILE", help="replay these rankings instead of running an engine")
    add("--output", metavar="FILE", help="write the report; - prints it in place of the summary")
    add("--compare", metavar="OLD_REPORT", help="say what moved since an earlier report")
    add("--trec", metavar="DIR", help="write TREC judgments and runs into this folder")
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if any("\0" in value for value in vars(options).values() if isinstance(value, str)):
        parser.error("a file name holds a NUL character")
    given = [f"--{name}" for name in ("engine", "fixtures") if getattr(options, name) is not None]
    if options.captures is not None and given:
        parser.error(f"--captures runs no engine and excludes {' and '.join(given)}")
    if options.compare is not None and options.output == "-":
        parser.error("--compare prints to standard output, so --output must name a file")
    return options, parser.format_help() if options.help else ""


TREC_NAMES = ("qrels.txt", *(f"{ranker}.run" for ranker in RANKERS))


def check_outputs(options, inputs):
    """Raise BenchmarkError if an output cannot be written, or is an input or another output."""
    outputs = [] if options.output in (None, "-") else [options.output]
    if options.trec is not None:
        if os.path.exists(options.trec) and not os.path.isdir(options.trec):
            raise BenchmarkError(in_file(options.trec, ["is not a folder"]))
        if os.path.isdir(options.trec):
            outputs += [os.path.join(options.trec, name) for name in TREC_NAMES]
    for path in outputs:
        check_output(path, inputs)
    again = repeated(map(os.path.realpath, outputs))
    if again:
        raise BenchmarkError(in_file(again[0], ["is an output of --output and of --trec"]))


def write_trec(folder, report):
    """Write the TREC files into a folder, which is made if it is missing; return a line."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise BenchmarkError(in_file(folder, [f"cannot be made: {reason(error)}"])) from None
    for name, text in trec_files(report).items():
        write_file(os.path.join(folder, name), text.encode())
    return f"wrote {', '.join(TREC_NAMES)} in {visible(folder)}"


def checksum_line(data, path):
    """Return the line of sha256sum for bytes that were written to path."""
    if not any(character in path for character in "\\\n\r"):
        return f"{sha256(data)}  {path}"
    name = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"\\{sha256(data)}  {name}"


def run(options):
    """Return (bytes or text for standard output, exit status), after all files are written."""
    beside = {"engine": "capability_search.py", "fixtures": "fixtures.json"}
    engine, fixtures = (os.path.join(HERE, name) if getattr(options, key) is None
                        else getattr(options, key) for key, name in beside.items())
    own = os.path.abspath(__file__)
    inputs = [engine, fixtures] if options.captures is None else [options.captures]
    inputs += [own] if options.compare is None else [own, options.compare]
    check_outputs(options, inputs)
    old = None if options.compare is None else read_json(options.compare)[0]
    if options.captures is None:
        report = development_report(engine, fixtures, sha256(read_bytes(own)))
        folder = os.path.dirname(os.path.abspath(engine))
        check_outputs(options, [os.path.join(folder, name)
                                for name in report["inputs"]["engine_imports_sha256"]])
    else:
        report = live_report(options.captures, sha256(read_bytes(own)))
    return finished(options, report, old)


def finished(options, report, old):
    """Compare and write as the options ask; return as run does."""
    lines, status = list(summary_lines(report)), 0
    if old is not None:
        check_report(options.compare, old, report["kind"])
        try:
            moved, status = comparison(old, report)
        except (KeyError, TypeError, AttributeError) as error:
            raise BenchmarkError(in_file(options.compare, [
                f"is not a whole report: {type(error).__name__} {visible(str(error), 60)}"
            ])) from None
        lines += ["", f"Compared with {visible(options.compare)}", *moved]
    if options.trec is not None:
        lines += ["", write_trec(options.trec, report)]
    if options.output is None:
        return "\n".join(lines) + "\n", status
    data = encoded(report)
    if options.output == "-":
        return data, status
    write_file(options.output, data)
    return "\n".join([*lines, "", checksum_line(data, options.output)]) + "\n", status


def emit(output):
    """Write text or bytes to standard output; a closed pipe is no error."""
    stream = sys.stdout
    if stream is None:      # closed by the caller, who wants no summary
        if isinstance(output, bytes):
            raise BenchmarkError("standard output: is closed")
        return
    try:
        if isinstance(output, bytes) and hasattr(stream, "buffer"):
            stream.flush()
            stream.buffer.write(output)
        else:
            text = output.decode() if isinstance(output, bytes) else output
            encoding = getattr(stream, "encoding", None) or "utf-8"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError as error:
        # What is still buffered would raise again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise BenchmarkError(f"standard output: {reason(error)}") from None


def complain(lines):
    """Write lines to standard error, if there is one."""
    for line in lines if sys.stderr is not None else ():
        print(line, file=sys.stderr)


def main(argv=None):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    try:
        options, manual = parse(argv)
        if options.version:
            manual = f"run_benchmark.py {VERSION}\n"
        output, status = (manual, 0) if manual else run(options)
        emit(output)
        return status
    except BenchmarkError as error:
        complain(f"error: {fault}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain(["interrupted"])
        return 130


if __name__ == "__main__":
    sys.exit(main())
