#!/usr/bin/env python3
"""Check the prospective kit against other people's programs; exit 1 on a difference.

Measures on the qrels and runs that --trec writes (pytrec_eval, ir_measures), agreement on random
grades with gaps (scikit-learn, krippendorff), the sign-flip test (scipy), and every file, those of
the example too, against its schema (jsonschema). Prints a line per check.
"""

import contextlib
import glob
import io
import os
import pathlib
import random
import sys
import tempfile
import warnings

import ir_measures
import jsonschema
import krippendorff
import numpy
import pytrec_eval
from scipy.stats import permutation_test
from sklearn.metrics import cohen_kappa_score

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "prospective"))

import evaluate  # noqa: E402
import kit  # noqa: E402
import scoring  # noqa: E402
from pool import pool_of  # noqa: E402
from test_evaluate import judgments_of, ranking_of, write_frozen  # noqa: E402

CLOSE = 1e-12
TREC = {"ndcg_at_5": (1, "ndcg_cut_5"), "precision_at_5": (2, "P_5"),
        "reciprocal_rank": (2, "recip_rank"), "precision_at_5_grade_1": (1, "P_5"),
        "reciprocal_rank_grade_1": (1, "recip_rank")}
IR_MEASURES = {"ndcg_at_5": ir_measures.nDCG @ 5, "precision_at_5": ir_measures.P(rel=2) @ 5,
               "reciprocal_rank": ir_measures.RR(rel=2) @ 5,
               "precision_at_5_grade_1": ir_measures.P(rel=1) @ 5,
               "reciprocal_rank_grade_1": ir_measures.RR(rel=1) @ 5}


def equal(one, two):
    """Return whether two figures are the same but for rounding; None and NaN are no figure."""
    if one is None or two is None or numpy.isnan(two):
        return one is None and (two is None or bool(numpy.isnan(two)))
    return abs(one - two) <= CLOSE


def write_study(folder, draw):
    """Write a random set, its rankings and judgments into a folder; return evaluate's arguments."""
    names = [f"q{number}" for number in range(12)]
    a_set = write_frozen(folder, names, minimum_query_coverage=0.5, resamples=200)
    rankings = []
    for system in ("alpha", "beta", "gamma"):
        answers = {name: draw.sample("abcdefghijklm", draw.randint(0, 10)) for name in names}
        answers[draw.choice(names)] = None
        answers[draw.choice(names)] = []
        rankings.append(ranking_of(a_set, system, answers))
    values = {"pool.json": pool_of(a_set, rankings, 10)}
    values.update({f"{ranking['system']['name']}.json": ranking for ranking in rankings})
    for judge in ("one", "two", "three"):
        gaps = draw.sample(names, 3)
        grades = {(name, candidate): 0 if name == "q3" else draw.choice([0, 0, 1, 2])
                  for name in names for candidate in "abcdefghijklm"}
        values[f"{judge}.json"] = judgments_of(
            a_set, values["pool.json"], judge,
            lambda name, candidate: None if name in gaps and candidate in "bd"
            else grades[name, candidate])
    argv = ["--set", folder]
    for name, value in values.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(kit.encoded(value))
        option = {"ranking/1": "--rankings", "judgments/1": "--judgments"}.get(value["schema"])
        argv += [option, os.path.join(folder, name)] if option else []
    return argv


def check_measures(folder, argv):
    """Yield differences between evaluate.py and two programs that read what --trec wrote."""
    report_path, trec = os.path.join(folder, "evaluation.json"), os.path.join(folder, "trec")
    with contextlib.redirect_stdout(io.StringIO()):
        status = evaluate.main([*argv, "--output", report_path, "--trec", trec])
    if status:
        yield f"evaluate.py ended with {status}"
        return
    report = kit.read_file(report_path, "evaluation")[0]
    study = evaluate.study_of(evaluate.parse(argv)[0])
    values = evaluate.all_values(study)
    for number, judge in enumerate(study.counted, 1):
        with open(glob.glob(f"{trec}/judge-{number}-*.qrels")[0], encoding="utf-8") as file:
            qrels = pytrec_eval.parse_qrel(file)
        for place, system in enumerate(study.systems):
            with open(glob.glob(f"{trec}/system-{place + 1}-*.run")[0], encoding="utf-8") as file:
                run = pytrec_eval.parse_run(file)
            answered = {name: grades for name, grades in qrels.items() if name in run}
            row = report["systems"][place]["by_judge"][number - 1]
            for measure in study.measures:
                mine = {study.queries[query]["query_id"]: one[judge.name]
                        for query, one in zip(study.covered, values[system.name, measure.name])
                        if judge.name in one}
                level, name = TREC[measure.name]
                theirs = pytrec_eval.RelevanceEvaluator(
                    answered, {name}, relevance_level=level).evaluate(run)
                others = {result.query_id: result.value for result in ir_measures.iter_calc(
                    [IR_MEASURES[measure.name]], answered, run)}
                what = f"{measure.name}, {judge.name}, {system.name}"
                if not mine.keys() == theirs.keys() == others.keys() == answered.keys():
                    yield f"{what}: not the same queries"
                    continue
                for query, value in mine.items():
                    # Without gain nDCG is undefined here, and 0 there.
                    if not (equal(value or 0.0, theirs[query][name])
                            and equal(value or 0.0, others[query])):
                        yield f"{what}, {query}: {value} {theirs[query][name]} {others[query]}"
                there = [theirs[query][name] for query, value in mine.items() if value is not None]
                if row["measures"][measure.name]["mean"] != (
                        round(float(numpy.mean(there)), 6) if there else None):
                    yield f"{what}: mean {row['measures'][measure.name]}"


def check_agreement(draw):
    """Yield differences from scikit-learn's kappa and the package krippendorff's alpha."""
    for _ in range(300):
        kinds = draw.choice([(0,), (0, 2), (0, 1, 2), (0, 0, 0, 1, 2)])
        judges = [[draw.choice([*kinds, None]) for _ in range(draw.randint(2, 30))]
                  for _ in range(draw.randint(2, 5))]
        size = min(map(len, judges))
        judges = [grades[:size] for grades in judges]
        both = [pair for pair in zip(*judges[:2]) if None not in pair]
        theirs = None
        if both:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")     # it warns where kappa is undefined
                theirs = float(cohen_kappa_score(*zip(*both), weights="quadratic",
                                                 labels=scoring.GRADES))
        mine = scoring.quadratic_kappa(scoring.table_of(*judges[:2]))
        if not equal(mine, theirs):
            yield f"kappa of {judges[:2]}: {mine} {theirs}"
        units = [tuple(map(grades.count, scoring.GRADES)) for grades in zip(*judges)]
        mine = scoring.ordinal_alpha(units)
        paired = {g for unit in units if sum(unit) > 1 for g in scoring.GRADES if unit[g]}
        theirs = None
        if len(paired) > 1:     # the package raises or divides by 0 where alpha is undefined
            theirs = float(krippendorff.alpha(
                reliability_data=[[numpy.nan if g is None else g for g in grades]
                                  for grades in judges],
                level_of_measurement="ordinal", value_domain=list(scoring.GRADES)))
        if not equal(mine, theirs):
            yield f"alpha of {judges}: {mine} {theirs}"


def check_test(draw):
    """Yield differences from scipy's permutation test over every pattern of signs."""
    for _ in range(60):
        differences = [draw.randint(-6, 6) for _ in range(draw.randint(2, 10))]
        theirs = permutation_test(
            (numpy.array(differences),), lambda x, axis: numpy.sum(x, axis=axis),
            permutation_type="samples", vectorized=True, n_resamples=numpy.inf).pvalue
        if not equal(scoring.exact_sign_flip(differences), float(theirs)):
            yield f"p of {differences}: {scoring.exact_sign_flip(differences)} {theirs}"
    differences = [draw.gauss(0.3, 1) for _ in range(18)]
    exact = scoring.exact_sign_flip(list(map(scoring.steps, differences)))
    sampled, = scoring.sampled_sign_flips([list(map(scoring.steps, differences))], 40000, 1)
    if abs(exact - sampled) > 0.01:
        yield f"sampled p {sampled}, exact {exact}"


def check_files(folder, argv):
    """Yield the faults that jsonschema finds in the schemas and in every file of a folder."""
    with contextlib.redirect_stdout(io.StringIO()):
        evaluate.main([*argv[:-2], "--output", os.path.join(folder, "two.report.json")])
        evaluate.main([*argv[:-4], "--output", os.path.join(folder, "waiting.report.json")])
    for path in sorted(glob.glob(os.path.join(kit.HERE, "schemas", "*.json"))):
        jsonschema.Draft202012Validator.check_schema(kit.read_json(path)[0])
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))
                       + glob.glob(os.path.join(kit.HERE, "example", "*.json"))):
        value = kit.read_json(path)[0]
        kind = value["schema"].partition("/")[0]
        found = list(jsonschema.Draft202012Validator(kit.schema(kind)).iter_errors(value))
        yield from (f"{os.path.basename(path)}: {error.message}" for error in found)
        if bool(found) != bool(kit.faults_of(value, kind)):
            yield f"{os.path.basename(path)}: kit.py says otherwise"


def main():
    """Run all checks; return 1 if one found a difference."""
    status = 0
    for seed in range(5):
        with tempfile.TemporaryDirectory() as folder:
            argv = write_study(folder, random.Random(seed))
            status |= told(f"measures, study {seed}", check_measures(folder, argv))
            status |= told(f"files, study {seed}", check_files(folder, argv))
    status |= told("agreement", check_agreement(random.Random(1)))
    status |= told("sign-flip test", check_test(random.Random(2)))
    return status


def told(what, differences):
    """Print the differences of a check, or that there is none; return 1 for any."""
    differences = list(differences)
    print(f"{what}: {'the same' if not differences else ''}")
    for line in differences[:10]:
        print(f"  {line}")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
