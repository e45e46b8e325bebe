#!/usr/bin/env python3
"""Measure how long the prospective kit takes over a large study, and how much memory.

    $ python studies/prospective_size.py                 500 queries, 6 systems, 5 judges
    $ python studies/prospective_size.py --shared 600    systems that return nothing in common

It makes a frozen set, rankings of depth 100 and judgments with seeded chance, all in a temporary
folder, and runs pool.py and evaluate.py over them, each as a process of its own. Each system
returns 100 of the candidates that a query has (--shared, 250 unless given otherwise): with 250
the six systems together return nearly all of them, with 600 each system has 100 of its own. A
result has two skills and a declaration of 150 characters, about 800 bytes of JSON in all.

One that fails:

    $ python studies/prospective_size.py --shared 99
    error: --shared: must be from 100 to 600

Exit status: 0 every bound holds; 1 one is broken; 2 bad usage; 130 interrupted.
"""

import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KIT = os.path.join(ROOT, "prospective")
sys.path.insert(0, KIT)

from kit import (  # noqa: E402
    KitError, Parser, complain, emit, encoded, head, help_formatter, load_set, read_json)

QUERIES, SYSTEMS, DEPTH, JUDGES = 500, 6, 100, 5
MEMORY = 500                                    # MiB
SECONDS = {"pool": 5, "evaluate": 20}
FROZEN_AT, CAPTURED_AT = "2026-11-01T00:00:00+00:00", "2026-11-02T00:00:00+00:00"
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu".split()


################ An invented study

def text(chance, words):
    """Return a text of so many words."""
    return " ".join("".join(chance.choices(SYLLABLES, k=chance.randint(1, 4)))
                    for _ in range(words))


def save(folder, name, value):
    """Write a value as a file of the kit; return its path."""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(encoded(value))
    return path


def make_set(folder, chance):
    """Return the Set of a folder in which it is written and frozen."""
    save(folder, "queries.json", {
        "schema": "queries/1", "set_id": "size", "version": "1.0.0", "status": "draft",
        "queries": [{"query_id": f"q{number:03}", "text": text(chance, 5),
                     "need": text(chance, 20), "requirements_text": "",
                     "evidence_policy_id": "any", "facets": []} for number in range(QUERIES)],
        "evidence_policies": [{
            "evidence_policy_id": "any", "what_counts_as_2": "fits", "what_counts_as_1": "may fit",
            "what_counts_as_0": "does not", "acceptable_evidence": "any", "cutoff": "none"}]})
    protocol = read_json(os.path.join(KIT, "protocol.json"))[0]
    save(folder, "protocol.json", {**protocol, "depth": DEPTH})
    subprocess.run([sys.executable, os.path.join(KIT, "freeze.py"), "--set", folder, "--frozen-at",
                    FROZEN_AT, "--ranker", os.path.join(ROOT, "capability_search.py")],
                   check=True, stdout=subprocess.DEVNULL)
    return load_set(folder)


def candidate(chance, number):
    """Return a result with about 800 bytes of JSON."""
    host = f"https://{text(chance, 1)}{number}.example"
    return {"candidate_key": f"{host}/.well-known/agent-card.json", "name": text(chance, 3),
            "declaration": text(chance, 40)[:150], "skills": [
                {"name": text(chance, 3), "description": text(chance, 9)} for _ in range(2)],
            "url": f"{host}/agent", "evidence": [f"{host}/docs"]}


def make_rankings(folder, shared):
    """Return the paths of the systems' rankings, after the set is written and frozen."""
    chance = random.Random(500)
    a_set = make_set(folder, chance)
    found = {query["query_id"]: [candidate(chance, number) for number in range(shared)]
             for query in a_set.queries}
    # Places of a query's candidates that each system returns: its own ones if there are enough.
    apart = shared >= SYSTEMS * DEPTH
    paths = []
    for system in range(SYSTEMS):
        paths.append(save(folder, f"system-{system}.json", {
            **head("ranking", a_set), "system": {
                "name": f"system {system}", "version": "1", "operator": "",
                "developed_with_this_set": False},
            "selection_policy": "chance", "corpus": {
                "description": "invented", "observed_from": None, "observed_until": None,
                "snapshot_sha256": None}, "capture": None,
            "queries": [{
                "query_id": name, "status": "ok", "error": None, "captured_at": CAPTURED_AT,
                "response_sha256": None, "results":
                candidates[system * DEPTH:(system + 1) * DEPTH] if apart
                else chance.sample(candidates, DEPTH)} for name, candidates in found.items()]}))
    return paths


def make_judgments(folder, pool):
    """Return the paths of the judges' files; four grades of five follow a common opinion."""
    chance, a_set, pool = random.Random(501), load_set(folder), read_json(pool)[0]
    opinion, paths = {}, []
    for judge in range(JUDGES):
        judgments = []
        for query in pool["queries"]:
            for one in query["candidates"]:
                common = opinion.setdefault((query["query_id"], one["candidate_id"]),
                                            chance.choices((0, 1, 2), (6, 2, 1))[0])
                grade = common if chance.random() < 0.8 else chance.choice((0, 1, 2))
                judgments.append({
                    "query_id": query["query_id"], "candidate_id": one["candidate_id"],
                    "grade": grade, "reason": text(chance, 8), "evidence_url": ""})
        paths.append(save(folder, f"judge-{judge}.json", {
            **head("judgments", a_set), "pool_sha256": pool["pool_sha256"],
            "judge": {"name": f"judge {judge}", "kind": "human"}, "disclosure": {
                "conflicts": "none", "helped_develop_ranker": False, "rankings_hidden": True,
                "assistance": "none"}, "complete": True, "judgments": judgments}))
    return paths


################ Measuring

def measure(script, *arguments):
    """Return (seconds, peak MiB) of a script of the kit as a process; raise KitError."""
    start = perf_counter()
    process = subprocess.Popen([sys.executable, os.path.join(KIT, f"{script}.py"), *arguments],
                               stdout=subprocess.DEVNULL)
    status, usage = os.wait4(process.pid, 0)[1:]
    if status:
        raise KitError(f"{script}.py: failed")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10     # of ru_maxrss
    return perf_counter() - start, usage.ru_maxrss / unit


def repeated_option(name, paths):
    """Return the arguments that give an option once per path."""
    return [part for path in paths for part in (name, path)]


def study(folder, shared):
    """Yield (script, seconds, peak MiB) of each measured step."""
    pool = os.path.join(folder, "pool.json")
    # A process passes its peak of memory on to those that it starts, so this one stays small.
    with ProcessPoolExecutor(1) as other:
        rankings = other.submit(make_rankings, folder, shared).result()
        rankings = repeated_option("--rankings", rankings)
        yield "pool", *measure("pool", "--set", folder, *rankings, "--output", pool)
        judgments = repeated_option(
            "--judgments", other.submit(make_judgments, folder, pool).result())
    yield "evaluate", *measure("evaluate", "--set", folder, *rankings, *judgments, "--output",
                               os.path.join(folder, "evaluation.json"))


################ Command

def parse(argv):
    """Return (options, help text) of a command line; raise KitError."""
    parser = Parser(prog="prospective_size.py", description=__doc__, allow_abbrev=False,
                    add_help=False, formatter_class=help_formatter)
    parser.add_argument("--shared", metavar="N", type=int, default=250,
                        help="candidates that a query has (default: 250)")
    parser.add_argument("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if not DEPTH <= options.shared <= SYSTEMS * DEPTH:
        raise KitError(f"--shared: must be from {DEPTH} to {SYSTEMS * DEPTH}")
    return options, parser.format_help() if options.help else ""


def main(argv=None):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    try:
        options, manual = parse(argv)
        if manual:
            emit(manual)
            return 0
        broken = False
        emit("| step | seconds | bound | peak MiB | bound |\n|---|--:|--:|--:|--:|\n")
        with tempfile.TemporaryDirectory() as folder:
            for script, seconds, memory in study(folder, options.shared):
                broken |= seconds > SECONDS[script] or memory > MEMORY
                emit(f"| {script} | {seconds:.1f} | {SECONDS[script]} | {memory:.0f} | {MEMORY} "
                     "|\n")
        return int(broken)
    except KitError as error:
        complain(f"error: {fault}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain(["interrupted"])
        return 130


if __name__ == "__main__":
    sys.exit(main())
