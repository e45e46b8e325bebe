#!/usr/bin/env python3
"""Say what the judgments of a frozen set support about the systems whose rankings were judged.

    $ python evaluate.py --rankings candidate-a.json --rankings candidate-b.json \\
        --judgments judge-one.json --judgments judge-two.json --output evaluation.json
    ... a summary, and at its end a line that sha256sum -c reads ...
    $ python evaluate.py --rankings candidate-a.json --rankings candidate-b.json \\
        --judgments judge-one.json
    ... awaiting external judgments, who has to grade what, and no measure; status 3 ...
    $ python evaluate.py --rankings candidate-a.json --judgments judge-one.json
    error: judge-one.json: pool_sha256: '6c1f...' is not that of these rankings, '90aa...'

The frozen set is beside this script, or in the folder that --set names. The pool is rebuilt from
the rankings (--depth as it was for pool.py), and judgments of another pool are refused.

Who counts. A judge counts who is human, did not help to develop the ranker, did not see rankings
and declares no conflict ("none"). Judges with the same grades and reasons throughout do not count.
The others are shown, with the reason. A null is no grade, and never a zero.

When. A query is covered when enough judges that count have graded every pooled candidate of it.
Until enough queries are covered, the report is a list of what is missing, and nothing in it
depends on a grade. (A judgments file is named by the digest of its bytes without the grades then:
sed -E 's/"grade": *[012]/"grade":-/g' FILE | sha256sum.) The protocol says how many are enough.
Queries without any candidate have nothing to judge and are left out.

What. For each covered query every measure is taken per judge, and the mean over the judges is the
value of the query. A query whose capture failed is left out for that system and out of its pairs.
For queries that are partly covered the report gives the exact range that missing grades leave open.

--trec DIR writes a qrels file per judge and a run per system, for trec_eval, ir_measures and ranx:
the covered queries and the first five ranks, an empty answer as one unknown document. Their values
per query are those of each judge here, but for an nDCG without gain, which is 0 there and null
here. A query whose capture failed is not in the run; ir_measures would count it as 0.

The report depends on the bytes of its inputs and on nothing else, and names each by its SHA-256.

Exit status: 0 done; 2 bad input or usage, and then nothing is written; 3 awaiting external
judgments, the report is written; 130 interrupted.
"""

import gc
import itertools
import os
import re
import sys
from collections import namedtuple
from functools import reduce

import scoring
from kit import (
    HERE, VERSION, KitError, Parser, check_output, clean, columns_of, complain, emit, encoded, head,
    head_faults, help_formatter, in_file, instant, limited, load_set, private_findings, read_bytes,
    read_file, reason, require_frozen, sha256, shown, visible, write_file)
from pool import MOST_NAME, id_of, longer, pool_sha256_of, ranking_faults


################ Data: measures, rules, what is not claimed

# value: of (window, one judge's grades). range: of (windows, grades with None). tested: whether
# pairs of systems are compared in it; the others show how far the threshold matters.
Measure = namedtuple("Measure", "name title tested formula value range")


def measures_of(relevant):
    """Return the measures, given the least grade that is relevant."""
    rows = [Measure(
        "ndcg_at_5", "nDCG@5", True,
        "sum of grade / log2(rank + 1) over the first 5, divided by the same sum for the judge's "
        "grades of the whole pool in falling order; null if they are all 0",
        scoring.ndcg, scoring.ndcg_range)]
    for least, ending, title, tested in ((relevant, "", "", True), (1, "_grade_1", " (1+)", False)):
        rows += [Measure(
            f"precision_at_5{ending}", f"P@5{title}", tested,
            f"candidates with grade {least} or more among the first 5, divided by 5",
            lambda window, grades, least=least: scoring.precision(window, grades, least),
            lambda windows, grades, least=least: scoring.precision_range(windows, grades, least),
        ), Measure(
            f"reciprocal_rank{ending}", f"RR@5{title}", tested,
            f"1 / rank of the first candidate with grade {least} or more among the first 5, else 0",
            lambda window, grades, least=least: scoring.reciprocal_rank(window, grades, least),
            lambda windows, grades, least=least: scoring.reciprocal_rank_range(
                windows, grades, least),
        )]
    return rows


# Why a judge does not count: (whether it is so of a judgments file, the reason).
EXCLUSIONS = (
    (lambda value: value["judge"]["kind"] != "human", "is not a human alone"),
    (lambda value: value["disclosure"]["helped_develop_ranker"], "helped to develop the ranker"),
    (lambda value: not value["disclosure"]["rankings_hidden"], "the rankings were not hidden"),
    (lambda value: value["disclosure"]["conflicts"].strip().casefold() != "none",
     "declares a conflict, or does not say that there is none"),
)

AWAITING, EVALUATED = "awaiting_external_judgments", "evaluated"

NOT_CLAIMED = (
    "Every score is relative to this pool: the candidates that these systems returned. Nothing is "
    "said of agents that none of them returned, so there is no recall.",
    "A candidate without a grade is not counted as irrelevant: it has no grade, and its query is "
    "not covered.",
    "Judges say of themselves that they are independent, had no conflict and saw no ranking. "
    "Nobody has verified who they are.",
    "Judges graded what publishers declare and the evidence they found. No agent ran a task, so "
    "nothing here shows that one can do what it declares.",
    "A large p value, or an interval that holds 0, leaves open which system is better. It does not "
    "show that they are equally good.",
)

METHODS = {
    "query": "the mean over the judges that count and graded the whole pool of the query",
    "mean": "the mean over the covered queries that the system answered and that have a value",
    "difference": "the first system's value less the second's, over the queries where both have "
                  "one; a win is a difference above 0",
    "p_value": "paired sign-flip randomisation of the differences, two-sided: over every pattern "
               "of signs if at most 20 differences are not 0, else over a seeded sample of B, as "
               "(b + 1) / (B + 1)",
    "p_value_holm": "corrected by Holm's method over all comparisons but the primary one",
    "interval_95": "percentile bootstrap over the covered queries, seeded",
    "range": "least and greatest value over all grades that may stand for the missing ones, those "
             "of judges that the query still needs included",
    "raw_agreement": "the share of the pairs of grades of one candidate that are equal",
    "quadratic_weighted_kappa": "Cohen's kappa with squared weights",
    "krippendorff_alpha": "Krippendorff's alpha for ordinal grades",
}

ONE_GRADE = "all the grades are the same, so that chance alone would agree as well"
NO_PAIRS = "no candidate has grades from two judges"
SCRIPTS = ("evaluate.py", "kit.py", "pool.py", "scoring.py")


################ Rankings and the pool

# results: {query_id: [(candidate id, name), ...] in order, or None for a failed capture}, as deep
# as the pool. windows: for each query of the set the places of the first five in its pool, or None.
Ranking = namedtuple("Ranking", "about results source")
System = namedtuple("System", "name about windows source")


def each(paths, read):
    """Return what read returns for each path; raise KitError with the faults of all."""
    values, faults = [], []
    for path in paths:
        try:
            values.append(read(path))
        except KitError as error:
            faults += error.faults
    if faults:
        raise KitError(faults)
    return values


def source_of(path, data):
    """Return how the report names an input: its file's name without the folder, and its SHA-256."""
    return {"file": os.path.basename(path), "sha256": sha256(data)}


def read_ranking(path, a_set, depth):
    """Return the Ranking of a checked file; most of a file is text that nothing here needs."""
    value, data = read_file(path, "ranking")
    faults = head_faults(value, a_set) or ranking_faults(value, a_set)
    if faults:
        raise KitError(in_file(path, faults))
    results = {entry["query_id"]: [
        (id_of(a_set, entry["query_id"], result), clean(result["name"], MOST_NAME))
        for result in entry["results"][:depth]] if entry["status"] == "ok" else None
        for entry in value.pop("queries")}
    return Ranking(value, results, source_of(path, data))


def pool_of(a_set, rankings, depth):
    """Return the pool of rankings as pool.py makes it, but without the texts of the candidates."""
    queries = []
    for query in a_set.queries:
        names = {}
        for ranking in rankings:
            for identity, name in ranking.results[query["query_id"]] or ():
                names.setdefault(identity, []).append(name)
        queries.append({
            "query_id": query["query_id"], "text": query["text"],
            "candidates": [{"candidate_id": identity, "name": reduce(longer, names[identity])}
                           for identity in sorted(names)]})
    return {"depth": depth, "pool_sha256": pool_sha256_of(queries), "queries": queries}


def same_name_faults(paths, names, what):
    """Return the faults of files that are about one and the same system or judge."""
    keys = [" ".join(name.casefold().split()) for name in names]
    return [fault for place, path in enumerate(paths) if keys[place] in keys[:place]
            for fault in in_file(path, [f"{what} {shown(names[place])} has another file too, "
                                        f"{visible(paths[keys.index(keys[place])])}"])]


def systems_of(a_set, rankings, places):
    """Return the System of each Ranking."""
    return [System(ranking.about["system"]["name"], ranking.about, [
        None if ranking.results[name] is None else
        [places[name][identity] for identity, title in ranking.results[name][:scoring.CUTOFF]]
        for name in (query["query_id"] for query in a_set.queries)], ranking.source)
        for ranking in rankings]


################ Judgments

# grades: for each query of the set a list, None for no grade, in the order of its pool.
# reasons: a number that is the same for the same reasons throughout, and for no other ones.
# why_not: the reasons not to count the judge.
Judge = namedtuple("Judge", "name about grades reasons why_not source")


def read_judge(path, a_set, pool, places):
    """Return the Judge of a checked file."""
    value, data = read_file(path, "judgments")
    faults = head_faults(value, a_set)
    if value["pool_sha256"] != pool["pool_sha256"]:
        faults.append(f"pool_sha256: {shown(value['pool_sha256'])} is not that of these rankings, "
                      f"{shown(pool['pool_sha256'])}")
    grades, reasons = {name: [None] * len(ids) for name, ids in places.items()}, 0
    if not faults:
        faults = list(private_faults(value))
        reasons = read_grades(value.pop("judgments"), places, grades, faults)
    if faults:
        raise KitError(in_file(path, limited(faults)))
    # Until there are measures nothing may depend on a grade, not even the digest of its file.
    source = {**source_of(path, data), "sha256_without_grades": sha256(
        re.sub(rb'"grade"\s*:\s*[012]', b'"grade":-', data))}
    return Judge(value["judge"]["name"], value, list(grades.values()), reasons,
                 [what for applies, what in EXCLUSIONS if applies(value)], source)


def texts_of(value):
    """Yield (place, text) for each text of a judgments file that a person has written."""
    yield "invented", value.get("invented", "")
    yield "judge.name", value["judge"]["name"]
    for key in ("conflicts", "assistance"):
        yield f"disclosure.{key}", value["disclosure"][key]
    for entry in value["judgments"]:
        for key in ("reason", "evidence_url"):
            if entry[key]:
                yield (entry, key), entry[key]


def private_faults(value):
    """Yield where a judgments file holds what must not be published."""
    # Nearly every file holds nothing of the kind, and one look at all of it is much faster.
    if private_findings("\n".join(text for place, text in texts_of(value))):
        for place, text in texts_of(value):
            for what in private_findings(text):
                where = place if isinstance(place, str) else f"{judgment(place[0])}: {place[1]}"
                yield f"{where}: holds {what}"


def judgment(entry):
    """Return what a message calls one judgment."""
    return f"query {entry['query_id']}, candidate {entry['candidate_id']}"


def read_grades(entries, places, grades, faults):
    """Put the grades of judgments into their places; return the number that stands for the reasons.

    Appends to faults what is wrong with single judgments beyond their shape.
    """
    seen = {name: bytearray(len(ids)) for name, ids in places.items()}
    reasons, nowhere = 0, {}
    for entry in entries:
        query_id, grade = entry["query_id"], entry["grade"]
        place = places.get(query_id, nowhere).get(entry["candidate_id"])
        if place is None:
            faults.append(f"{judgment(entry)}: is not in the "
                          f"{'pool' if query_id in places else 'set'}")
            continue
        if seen[query_id][place]:
            faults.append(f"{judgment(entry)}: is judged twice")
        seen[query_id][place] = 1
        grades[query_id][place] = grade
        if grade is not None:
            reason = " ".join(entry["reason"].split())
            reasons += hash((query_id, place, reason))
            if not reason:
                faults.append(f"{judgment(entry)}: grade {grade} has no reason")
    return reasons


def are_copies(one, two):
    """Return whether two judges have the same grades and reasons throughout, and any at all."""
    return one.reasons == two.reasons and one.grades == two.grades and any(
        grade is not None for grades in one.grades for grade in grades)


def without_copies(judges):
    """Return the judges; those who are copies of each other are not to count."""
    return [judge._replace(why_not=[*judge.why_not, *(
        f"has the same grades and reasons throughout as {other.name}" for other in judges
        if other is not judge and are_copies(judge, other))]) for judge in judges]


################ Coverage

class Study:
    """What is evaluated: the set, the pool, the systems, the judges, and how far they reach.

    counted: the judges that count. asked: the places of the queries that have a candidate.
    complete: for each query of the set the counted judges that graded all of it. covered: the
    places of the queries with enough of those.
    """

    def __init__(self, a_set, pool, systems, judges):
        self.set, self.pool, self.systems, self.judges = a_set, pool, systems, judges
        self.protocol = a_set.protocol
        self.queries = pool["queries"]
        self.measures = measures_of(self.protocol["relevant_grade"])
        self.minimum = self.protocol["minimum_judges"]
        self.counted = [judge for judge in judges if not judge.why_not]
        self.asked = [place for place, query in enumerate(self.queries) if query["candidates"]]
        self.complete = [[judge for judge in self.counted if None not in judge.grades[place]]
                         for place in range(len(self.queries))]
        self.covered = [place for place in self.asked if len(self.complete[place]) >= self.minimum]
        self.coverage = len(self.covered) / len(self.asked) if self.asked else 0.0
        self.waits = (not self.covered
                      or self.coverage < self.protocol["minimum_query_coverage"])

    def uncovered(self):
        """Return the places of the queries that have candidates and are not covered."""
        covered = set(self.covered)
        return [place for place in self.asked if place not in covered]


def coverage_of(study):
    """Return the figures of coverage, none of which depends on a grade."""
    return {
        "queries": len(study.queries),
        "queries_without_candidates": len(study.queries) - len(study.asked),
        "covered_queries": len(study.covered),
        "coverage": rounded(study.coverage),
        "minimum_query_coverage": study.protocol["minimum_query_coverage"],
        "candidates": sum(len(query["candidates"]) for query in study.queries),
        "judges": len(study.judges),
        "counted_judges": len(study.counted),
        "minimum_judges": study.minimum,
    }


def to_do(study):
    """Return for each query that is not covered who has to grade which candidates."""
    return [{
        "query_id": study.queries[place]["query_id"],
        "text": study.queries[place]["text"],
        "candidates": len(study.queries[place]["candidates"]),
        "complete_judges": [judge.name for judge in study.complete[place]],
        "complete_judges_needed": study.minimum - len(study.complete[place]),
        "new_judges_needed": max(0, study.minimum - len(study.counted)),
        "judges": [{
            "judge": judge.name,
            "missing": judge.grades[place].count(None),
            "candidates": [
                {"candidate_id": candidate["candidate_id"], "name": candidate["name"]}
                for candidate, grade in zip(study.queries[place]["candidates"],
                                            judge.grades[place]) if grade is None],
        } for judge in study.counted if judge not in study.complete[place]],
    } for place in study.uncovered()]


def judge_rows(study):
    """Return who judged, what they disclose, and whether they count."""
    total = sum(len(query["candidates"]) for query in study.queries)
    rows = []
    for judge in study.judges:
        missing = sum(grades.count(None) for grades in judge.grades)
        rows.append({
            "judge": judge.name, "counted": not judge.why_not, "why_not": judge.why_not,
            "kind": judge.about["judge"]["kind"], **judge.about["disclosure"],
            "complete": judge.about["complete"],
            "graded_candidates": total - missing, "missing_candidates": missing})
    return rows


def system_head(study, system):
    """Return what the report says of a system before any measure."""
    return {
        "system": system.name,
        **{key: system.about["system"][key]
           for key in ("version", "operator", "developed_with_this_set")},
        **{key: system.about[key] for key in ("selection_policy", "corpus", "capture")},
        "failed_queries": [query["query_id"] for query, window in zip(
            study.queries, system.windows) if window is None],
        "empty_queries": [query["query_id"] for query, window in zip(
            study.queries, system.windows) if window == []],
    }


################ Measures

def rounded(value):
    """Return a figure as the report holds it: six places, no minus before a zero."""
    return None if value is None else round(value, 6) + 0.0


def by_judge(study, system, measure, place):
    """Return {judge's name: value} of a system on a covered query, empty if its capture failed."""
    window = system.windows[place]
    return {} if window is None else {
        judge.name: measure.value(window, judge.grades[place]) for judge in study.complete[place]}


def all_values(study):
    """Return {(system, measure): values of each covered query by judge}, by their names."""
    return {(system.name, measure.name): [by_judge(study, system, measure, place)
                                          for place in study.covered]
            for system in study.systems for measure in study.measures}


def mean_row(values):
    """Return the mean over queries, their number, and the number of those without a value."""
    there = [value for value in values if value is not None]
    return {"mean": rounded(scoring.mean(there)), "queries": len(there),
            "undefined": len(values) - len(there)}


def system_rows(study, values):
    """Return what is known of each system: itself, its means, and its means by judge."""
    rows = []
    for system in study.systems:
        columns = {measure.name: [one for one in values[system.name, measure.name] if one]
                   for measure in study.measures}
        rows.append({
            **system_head(study, system),
            "measures": {name: mean_row([scoring.mean(one.values()) for one in column])
                         for name, column in columns.items()},
            "by_judge": [{"judge": judge.name, "measures": {
                name: mean_row([one[judge.name] for one in column if judge.name in one])
                for name, column in columns.items()}} for judge in study.counted],
        })
    return rows


def query_rows(study, values):
    """Return the value of each system and measure on each covered query."""
    rows = []
    for row, place in enumerate(study.covered):
        query = study.queries[place]
        rows.append({
            "query_id": query["query_id"], "candidates": len(query["candidates"]),
            "judges": [judge.name for judge in study.complete[place]],
            "systems": [{"system": system.name, **{
                measure.name: rounded(scoring.mean(values[system.name, measure.name][row].values()))
                for measure in study.measures}}
                for system in study.systems if system.windows[place] is not None]})
    return rows


def order_of_systems(study, values):
    """Return the systems' order by the primary measure under every judge, and if it is the same.

    Each judge's order is over the covered queries that the judge graded in full, that every system
    answered and that have a value. Systems with equal figures stand together.
    """
    name = study.protocol["primary"]["measure"]
    columns = {system.name: values[system.name, name] for system in study.systems}
    rows = []
    for judge in study.counted:
        kept = [row for row in zip(*columns.values())
                if all(one.get(judge.name) is not None for one in row)]
        means = {system: rounded(scoring.mean(one[place][judge.name] for one in kept))
                 for place, system in enumerate(columns)}
        order = [[system for system in columns if means[system] == value]
                 for value in sorted(set(means.values()), reverse=True)] if kept else None
        rows.append({"judge": judge.name, "queries": len(kept), "order": order})
    orders = [row["order"] for row in rows if row["order"] is not None]
    return {"measure": name, "same_under_every_judge":
            all(order == orders[0] for order in orders)
            if len(orders) > 1 and len(columns) > 1 else None,
            "by_judge": rows}


################ Comparisons

def pairs_of(study):
    """Return the pairs of systems' names; the primary one in the order of the protocol, first."""
    names = [system.name for system in study.systems]
    pairs, primary = list(itertools.combinations(names, 2)), primary_pair(study)
    if primary:
        pairs = [primary, *(pair for pair in pairs if set(pair) != set(primary))]
    return pairs


def primary_pair(study):
    """Return the names of the systems of the primary comparison, or None.

    Where the protocol names none and there are two systems, there is nothing to choose.
    """
    named = study.protocol["primary"]["systems"]
    names = [system.name for system in study.systems]
    if named is None:
        return tuple(names) if len(names) == 2 else None
    return tuple(named) if set(named) <= set(names) else None


def differences(first, second):
    """Return for each query the mean over judges of one system less the other's, None for none."""
    pairs = [(scoring.mean(one.values()), scoring.mean(two.values()))
             for one, two in zip(first, second)]
    return [None if None in pair else scoring.steps(pair[0] - pair[1]) for pair in pairs]


def comparisons(study, values):
    """Return a row for each pair of systems and each measure in which pairs are compared."""
    asked = [(pair, measure.name) for pair in pairs_of(study) for measure in study.measures
             if measure.tested]
    columns = [differences(values[one, name], values[two, name]) for (one, two), name in asked]
    if not columns:
        return []
    resampling = study.protocol["resamples"], study.protocol["seed"]
    intervals = scoring.bootstrap_intervals(columns, *resampling)
    tests = sign_flips(columns, *resampling)
    primary = primary_pair(study), study.protocol["primary"]["measure"]
    others = [place for place, key in enumerate(asked) if key != primary and tests[place][0]]
    holm = dict(zip(others, scoring.holm([tests[place][0] for place in others])))
    rows = []
    for place, ((pair, name), column) in enumerate(zip(asked, columns)):
        there = [value for value in column if value is not None]
        rows.append({
            "systems": list(pair), "measure": name, "primary": (pair, name) == primary,
            "queries": len(there),
            "mean_difference": rounded(scoring.mean(there) / scoring.UNIT) if there else None,
            "interval_95": intervals[place] and [rounded(end) for end in intervals[place]],
            "wins": sum(value > 0 for value in there),
            "ties": there.count(0),
            "losses": sum(value < 0 for value in there),
            "p_value": rounded(tests[place][0]),
            "p_value_holm": rounded(holm.get(place)),
            "test": tests[place][1],
        })
    return rows


def sign_flips(columns, resamples, seed):
    """Return for each comparison (p value, how it was found); None without any query."""
    results = []
    for column in columns:
        there = [value for value in column if value is not None]
        not_zero = sum(map(bool, there))
        if not there:
            results.append((None, "no query has a value for both systems"))
        elif not_zero <= scoring.MOST_EXACT:
            results.append((scoring.exact_sign_flip(there), f"{2 ** not_zero} patterns, all"))
        else:
            results.append(None)
    sampled = [place for place, result in enumerate(results) if result is None]
    if sampled:
        found = scoring.sampled_sign_flips(
            [[value or 0 for value in columns[place]] for place in sampled], resamples, seed)
        for place, p_value in zip(sampled, found):
            results[place] = p_value, f"{resamples} patterns, sampled"
    return results


################ Ranges for partly covered queries

def partly_covered(study):
    """Return for each query that some judge began and is not covered the ranges that are open."""
    rows = []
    for place in study.uncovered():
        begun = [judge for judge in study.counted
                 if any(grade is not None for grade in judge.grades[place])]
        if not begun:
            continue
        # A judge that the query still needs may grade everything in any way.
        size = len(study.queries[place]["candidates"])
        graded = [judge.grades[place] for judge in begun]
        graded += [[None] * size] * (study.minimum - len(begun))
        rows.append({
            "query_id": study.queries[place]["query_id"],
            "missing_grades": sum(grades.count(None) for grades in graded),
            "systems": [{"system": system.name, **ranges(study, [system], place, graded)}
                        for system in study.systems if system.windows[place] is not None],
            "differences": [{"systems": [one.name, two.name],
                             **ranges(study, [one, two], place, graded)}
                            for one, two in system_pairs(study)
                            if None not in (one.windows[place], two.windows[place])],
        })
    return rows


def system_pairs(study):
    """Return the pairs of Systems in the order of the comparisons."""
    named = {system.name: system for system in study.systems}
    return [(named[one], named[two]) for one, two in pairs_of(study)]


def ranges(study, systems, place, graded):
    """Return the range of each measure on a query, or of its difference between two systems."""
    windows, row = [system.windows[place] for system in systems], {}
    for measure in study.measures:
        found = scoring.mean_range([measure.range(windows, grades) for grades in graded])
        row[measure.name] = {
            "low": rounded(found and found.low), "high": rounded(found and found.high),
            "may_be_undefined": found is None or found.open}
    return row


################ Agreement

def agreement(study):
    """Return how far the judges that count agree, over all candidates that two of them graded."""
    flat = {judge.name: [grade for grades in judge.grades for grade in grades]
            for judge in study.counted}
    units = [tuple(map(grades.count, scoring.GRADES)) for grades in zip(*flat.values())]
    shared = [unit for unit in units if sum(unit) > 1]
    equal = sum(count * (count - 1) // 2 for unit in shared for count in unit)
    pairs = sum(sum(unit) * (sum(unit) - 1) // 2 for unit in shared)
    alpha = scoring.ordinal_alpha(shared)
    return {
        "judges": list(flat), "candidates": len(shared),
        "raw_agreement": rounded(equal / pairs) if pairs else None,
        "krippendorff_alpha": rounded(alpha),
        "why_null": None if alpha is not None else ONE_GRADE if pairs else NO_PAIRS,
        "pairs": [pair_agreement(one, two, flat) for one, two in itertools.combinations(flat, 2)],
        "differ_by_2": far_apart(study),
    }


def pair_agreement(one, two, flat):
    """Return how far two judges agree over the candidates that both graded."""
    table = scoring.table_of(flat[one], flat[two])
    kappa, many = scoring.quadratic_kappa(table), sum(map(sum, table))
    return {
        "judges": [one, two], "candidates": many,
        "raw_agreement": rounded(scoring.raw_agreement(table)),
        "quadratic_weighted_kappa": rounded(kappa),
        "why_null": None if kappa is not None else ONE_GRADE if many else NO_PAIRS,
        "table": table,
    }


def far_apart(study):
    """Return the candidates that one judge graded 0 and another 2, grades in the judges' order."""
    return [{"query_id": query["query_id"], "candidate_id": candidate["candidate_id"],
             "name": candidate["name"], "grades": grades}
            for place, query in enumerate(study.queries)
            for candidate, *grades in zip(query["candidates"],
                                          *(judge.grades[place] for judge in study.counted))
            if 0 in grades and 2 in grades]


################ Report

def notices(study):
    """Return what a reader has to know of these inputs before any figure."""
    lines = [f"{system.name} was developed with this set, so that for it this is development "
             "data and no test." for system in study.systems
             if system.about["system"]["developed_with_this_set"]]
    if study.pool["depth"] != study.protocol["depth"]:
        lines.append(f"The pool has depth {study.pool['depth']}; the protocol says "
                     f"{study.protocol['depth']}.")
    for system in study.systems:
        capture = system.about["capture"]
        if capture and capture["depth"] < study.pool["depth"]:
            lines.append(f"{system.name} was asked for {capture['depth']} results, fewer than the "
                         f"pool's depth, {study.pool['depth']}.")
    named = study.protocol["primary"]["systems"]
    if named is not None and primary_pair(study) is None:
        lines.append(f"The protocol's primary comparison is of {' and '.join(named)}, which are "
                     "not both here, so that no comparison is primary.")
    spans = [(instant(corpus["observed_from"]), instant(corpus["observed_until"]))
             for corpus in (system.about["corpus"] for system in study.systems)]
    spans = [span for span in spans if None not in span]
    if spans and max(start for start, end in spans) > min(end for start, end in spans):
        lines.append("The systems were not observed over one and the same time, so that a "
                     "difference may be one of the time.")
    return lines


def inputs_of(study, digests):
    """Return every input by SHA-256, scripts included; without grades while there is no measure."""
    left_out = "sha256" if study.waits else "sha256_without_grades"
    return {
        "manifest_sha256": study.set.manifest_sha256,
        "files": {entry["path"]: entry["sha256"] for entry in study.set.manifest["files"]},
        "rankings": [{"system": system.name, **system.source} for system in study.systems],
        "judgments": [{"judge": judge.name, **{
            key: value for key, value in judge.source.items() if key != left_out}}
            for judge in study.judges],
        "scripts": digests,
    }


def report_of(study, digests):
    """Return the report: the state, the figures if there may be any, what they rest on."""
    values = None if study.waits else all_values(study)
    compared = [] if study.waits else comparisons(study, values)
    systems = ([system_head(study, system) for system in study.systems] if study.waits
               else system_rows(study, values))
    invented = dict.fromkeys(filter(None, [study.set.invented, *(
        one.about.get("invented") for one in (*study.systems, *study.judges))]))
    report = head("evaluation", study.set)
    report.update({"invented": " ".join(invented)} if invented else {})
    report["status"] = AWAITING if study.waits else EVALUATED
    report["summary"] = {**coverage_of(study)}
    if not study.waits:
        primary = [row for row in compared if row["primary"]]
        report["summary"]["systems"] = [
            {"system": row["system"], **row["measures"]} for row in systems]
        report["summary"]["primary_comparison"] = primary[0] if primary else None
    report.update({"notices": notices(study), "not_claimed": list(NOT_CLAIMED),
                   "to_do": to_do(study), "systems": systems})
    if not study.waits:
        report.update({
            "comparisons": compared, "order_of_systems": order_of_systems(study, values),
            "agreement": agreement(study), "partly_covered": partly_covered(study),
            "queries": query_rows(study, values),
            "formulas": {measure.name: measure.formula for measure in study.measures} | METHODS})
    report.update({
        "judges": judge_rows(study),
        "protocol": study.protocol, "pool_sha256": study.pool["pool_sha256"],
        "inputs": inputs_of(study, digests)})
    return report


################ Summary

WIDTH = 80
MOST = 40               # rows that one part of the summary prints


def figure(value, sign=""):
    """Return a figure as text: three places, - for none."""
    return "-" if value is None else format(value, f"{sign}.3f")


def padded(text, width):
    """Return text made visible, cut and filled with blanks to exactly width columns."""
    text = visible(text, width)
    return text + " " * (width - columns_of(text))


def wrapped(start, words):
    """Yield start and the words in lines that fit; later lines are indented."""
    line = start
    for word in words:
        if columns_of(line) + columns_of(word) > WIDTH and line.strip():
            yield line.rstrip()
            line = "      "
        line += word + " "
    yield line.rstrip()


def sentence(start, text):
    """Yield start and a text from a file or of this script in lines that fit."""
    return wrapped(start, visible(text).split())


def first_lines(lines):
    """Yield lines, but not more than MOST; say how many are left out."""
    lines = list(lines)
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield f"  ... and {len(lines) - MOST} more; the report has them all"


def coverage_lines(report):
    """Yield the state, and how far the judgments reach."""
    figures = report["summary"]
    yield visible(f"{report['set_id']} {report['version']}: {report['status']}", WIDTH)
    if "invented" in report:
        yield from sentence("INVENTED: ", report["invented"])
    asked = figures["queries"] - figures["queries_without_candidates"]
    yield (f"{figures['covered_queries']} of {asked} queries with candidates covered "
           f"({figures['coverage']:.1%}; at least {figures['minimum_query_coverage']:.1%} needed)")
    yield (f"{figures['counted_judges']} of {figures['judges']} judges count; a query needs "
           f"{figures['minimum_judges']} that graded all of its candidates")
    for row in report["judges"]:
        if not row["counted"]:
            yield from sentence("  does not count: ",
                                f"{row['judge']}: {'; '.join(row['why_not'])}")
    for notice in report["notices"]:
        yield from sentence("Notice: ", notice)


def to_do_lines(report):
    """Yield what is missing, query by query."""
    for row in report["to_do"]:
        parts = [f"{visible(entry['judge'], 40)} {entry['missing']} of {row['candidates']}"
                 for entry in row["judges"]]
        parts += [f"a judge to be found, all {row['candidates']}"] * row["new_judges_needed"]
        yield from wrapped(f"  {row['query_id']}: ", [
            part + ";" for part in parts[:-1]] + parts[-1:])


def system_lines(report, measures):
    """Yield the table of means, one line per system."""
    yield f"{'':24}" + "".join(f"{measure.title:>11}" for measure in measures)
    for row in report["systems"]:
        yield padded(row["system"], 24) + "".join(
            f"{figure(row['measures'][measure.name]['mean']):>11}" for measure in measures)
    for row in report["systems"]:
        for measure in measures[:2]:
            entry = row["measures"][measure.name]
            if entry["queries"] != report["summary"]["covered_queries"]:
                yield visible(f"  {row['system']}: {measure.title} over {entry['queries']} "
                              f"queries; {entry['undefined']} undefined", WIDTH)


def comparison_lines(report, measures):
    """Yield a line per comparison, with the interval and the p values."""
    titles = {measure.name: measure.title for measure in measures}
    yield f"{'':23}{'':8}{'difference':>11}{'95 % interval':>17}{'w/t/l':>12}{'p':>7}"
    for row in report["comparisons"]:
        ends = row["interval_95"]
        span = f"[{figure(ends[0], '+')}, {figure(ends[1], '+')}]" if ends else "-"
        record = f"{row['wins']}/{row['ties']}/{row['losses']}"
        p_value = row["p_value"] if row["primary"] else row["p_value_holm"]
        yield (padded(" - ".join(row["systems"]), 23) + f"{titles[row['measure']]:8}"
               f"{figure(row['mean_difference'], '+'):>11}{span:>17}{record:>12}"
               f"{figure(p_value):>7}{' *' if row['primary'] else ''}")


def agreement_lines(report):
    """Yield how far the judges agree, and whether they order the systems alike."""
    found = report["agreement"]
    yield (f"Agreement over {found['candidates']} candidates: raw "
           f"{figure(found['raw_agreement'])}, ordinal alpha "
           f"{figure(found['krippendorff_alpha'])}; {len(found['differ_by_2'])} differ by 2")
    for pair in found["pairs"]:
        yield (f"  {padded(' and '.join(pair['judges']), 40)} raw "
               f"{figure(pair['raw_agreement'])}, kappa "
               f"{figure(pair['quadratic_weighted_kappa'])}")
    same = report["order_of_systems"]["same_under_every_judge"]
    yield ("Order of the systems: " + ("cannot be compared between judges" if same is None else
                                       "the same under every judge" if same else
                                       "not the same under every judge"))


def summary_lines(report, measures):
    """Yield the summary, a line at a time, none wider than 80 columns."""
    yield from first_lines(coverage_lines(report))
    if report["status"] == EVALUATED:
        yield ""
        yield from first_lines(system_lines(report, measures))
        if report["comparisons"]:
            yield ""
            yield from first_lines(comparison_lines(report, measures))
            yield "* primary; the other p values are corrected (Holm)"
        yield ""
        yield from first_lines(agreement_lines(report))
    if report["to_do"]:
        yield ""
        yield "Missing grades, by query and judge:"
        if report.get("partly_covered"):
            yield "(the report gives the ranges that they leave open)"
        yield from first_lines(to_do_lines(report))
    yield ""
    for text in report["not_claimed"]:
        yield from sentence("Note: ", text)


################ TREC files

def file_name(kind, number, name, ending):
    """Return a file name that is safe everywhere and tells a reader what it is of."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.casefold())[:40].strip("-")
    return "-".join(filter(None, [kind, str(number), plain])) + ending


def trec_files(study):
    """Return {file name: text}: the qrels of each judge that counts and the run of each system."""
    files = {}
    for number, judge in enumerate(study.counted, 1):
        files[file_name("judge", number, judge.name, ".qrels")] = "".join(
            f"{query['query_id']} 0 {candidate['candidate_id']} {grade}\n"
            for place in study.covered if judge in study.complete[place]
            for query in [study.queries[place]]
            for candidate, grade in zip(query["candidates"], judge.grades[place]))
    for number, system in enumerate(study.systems, 1):
        name = file_name("system", number, system.name, ".run")
        files[name] = "".join(
            line for place in study.covered if system.windows[place] is not None
            for line in run_lines(study.queries[place], system.windows[place], name[:-4]))
    return files


def run_lines(query, window, name):
    """Yield the run's lines of one query, with falling scores.

    trec_eval leaves a query without results out of its means; "nothing" is no candidate's id.
    """
    ids = [query["candidates"][place]["candidate_id"] for place in window] or ["nothing"]
    for rank, candidate in enumerate(ids, 1):
        yield (f"{query['query_id']} Q0 {candidate} {rank} {scoring.CUTOFF + 1 - rank} {name}\n")


def write_trec(folder, files, inputs, output):
    """Write the TREC files into a folder, which is made if it is missing; return a line."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise KitError(in_file(folder, [f"cannot be made: {reason(error)}"])) from None
    paths = {os.path.join(folder, name): text for name, text in files.items()}
    for path in paths:
        check_output(path, inputs)
        if output is not None and os.path.realpath(path) == os.path.realpath(output):
            raise KitError(in_file(output, ["is an output of --output and of --trec"]))
    for path, text in paths.items():
        write_file(path, text.encode())
    return f"wrote {len(files)} files in {visible(folder)}"


################ The command

def parse(argv):
    """Return (options, help text) of a command line; raise KitError."""
    parser = Parser(prog="evaluate.py", description=__doc__, allow_abbrev=False, add_help=False,
                    formatter_class=help_formatter)
    add = parser.add_argument
    add("--rankings", metavar="FILE", action="append", default=[],
        help="one system's rankings; once per system")
    add("--judgments", metavar="FILE", action="append", default=[],
        help="one judge's judgments; once per judge")
    add("--output", metavar="FILE", help="write the report; - prints it in place of the summary")
    add("--trec", metavar="DIR", help="write qrels and runs into this folder")
    add("--set", metavar="FOLDER", default=HERE, help="the frozen set (default: beside this)")
    add("--depth", metavar="N", type=int, help="of the pool (default: the protocol's)")
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if options.help or options.version:
        return options, parser.format_help() if options.help else f"evaluate.py {VERSION}\n"
    if any("\0" in value for value in (*options.rankings, *options.judgments, options.set,
                                       options.output or "", options.trec or "")):
        parser.error("a file name holds a NUL character")
    if not options.rankings:
        parser.error("--rankings is missing")
    return options, ""


def study_of(options):
    """Return the Study of the files that the options name; raise KitError."""
    a_set = load_set(options.set)
    require_frozen(a_set, options.set)
    depth = a_set.protocol["depth"] if options.depth is None else options.depth
    if depth < scoring.CUTOFF:
        raise KitError(f"depth: {depth} is less than {scoring.CUTOFF}, so that candidates in the "
                       "window would not be judged")
    rankings = each(options.rankings, lambda path: read_ranking(path, a_set, depth))
    faults = same_name_faults(options.rankings, [ranking.about["system"]["name"]
                                                 for ranking in rankings], "system")
    if faults:
        raise KitError(faults)
    pool = pool_of(a_set, rankings, depth)
    if not any(query["candidates"] for query in pool["queries"]):
        raise KitError("no ranking holds a candidate, so that there is nothing to judge")
    places = {query["query_id"]: {candidate["candidate_id"]: place for place, candidate
                                  in enumerate(query["candidates"])} for query in pool["queries"]}
    systems = systems_of(a_set, rankings, places)
    del rankings
    judges = each(options.judgments, lambda path: read_judge(path, a_set, pool, places))
    faults = same_name_faults(options.judgments, [judge.name for judge in judges], "judge")
    if faults:
        raise KitError(faults)
    return Study(a_set, pool, systems, without_copies(judges))


def run(options):
    """Return (bytes or text for standard output, exit status), after all files are written."""
    own = [os.path.join(HERE, name) for name in SCRIPTS]
    frozen = [os.path.join(options.set, name)
              for name in ("manifest.json", "queries.json", "protocol.json")]
    inputs = [*options.rankings, *options.judgments, *frozen, *own]
    if options.output not in (None, "-"):
        check_output(options.output, inputs)
    digests = {name: sha256(read_bytes(path)) for name, path in zip(SCRIPTS, own)}
    study = study_of(options)
    report = report_of(study, digests)
    data, lines = encoded(report), list(summary_lines(report, study.measures))
    if options.trec is not None:
        lines += ["", "wrote no TREC files: they hold the grades" if study.waits
                  else write_trec(options.trec, trec_files(study), inputs, options.output)]
    status = 3 if study.waits else 0
    if options.output == "-":
        return data, status
    if options.output is not None:
        write_file(options.output, data)
        lines += ["", f"{sha256(data)}  {visible(options.output)}"]
    return "\n".join(lines) + "\n", status


def main(argv=None):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    collecting = gc.isenabled()
    gc.disable()            # millions of small objects and no cycles
    try:
        options, manual = parse(argv)
        output, status = (manual, 0) if manual else run(options)
        emit(output)
        return status
    except KitError as error:
        complain(f"error: {fault}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain(["interrupted"])
        return 130
    finally:
        if collecting:
            gc.enable()


if __name__ == "__main__":
    sys.exit(main())
