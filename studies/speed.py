#!/usr/bin/env python3
"""Measure speed and memory beside other programs, in one run on one machine.

    $ python studies/speed.py                             all four parts, on varied fixtures
    $ python studies/speed.py --snapshot snapshot.json    on the listings of a file
    $ python studies/speed.py --only start                one part

    start      the default run of run_benchmark.py, a whole process, beside a Python process that
               only imports the standard modules that it needs
    score      evaluate_rankings on 10,000 cases with 100 results each and two rankings, beside the
               evaluation of one such ranking by pytrec-eval-terrier
    large      CapabilityIndex over 100,000 listings, the given ones repeated and varied: time to
               build, memory, and a search beside SQLite FTS5 with bm25 and beside bm25s
    snapshot   the same over the listings as they are, such as a live sample's

Each part runs in a process of its own. What is compared is measured in turns; figures are medians.
A search asks five words and takes ten results, once with queries as people type them and once with
queries without function words; the bound is for the first kind. Memory is the peak of the process,
the listings included. The bounds of `large` are for 100,000 listings and more, those of `snapshot`
for 6,000 and fewer. A peer that is not installed is named and left out. Other work on the machine
moves seconds, and ratios less.

One that fails:

    $ python studies/speed.py --snapshot nowhere.json
    error: nowhere.json: cannot be read: No such file or directory

Exit status: 0 every bound that could be measured holds; 1 one is broken; 2 bad input or usage;
130 interrupted.
"""

import json
import os
import random
import subprocess
import sys
from statistics import median
from time import perf_counter

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from run_benchmark import (  # noqa: E402
    BenchmarkError, Parser, complain, emit, evaluate_rankings, help_formatter, in_file, instant,
    read_json)

VERSION = "1.0.0"
# Of whole processes, of scorings, of each search, of indexes of a snapshot.
PAIRS, TURNS, ROUNDS, BUILDS = 21, 9, 5, 5
CASES, RESULTS, LARGE, SMALL = 10_000, 100, 100_000, 6_000
BOUNDS = {"start": 3, "score": 1}
LARGE_BOUNDS = {"build": 30, "memory": 1536, "fts5": 0.2}   # seconds, MiB, ratio
SMALL_BOUNDS = {"build": 1.5, "search": 0.005}              # seconds
CLOCK = "2026-10-20T12:00:00+00:00"
# Five words each, as people type them, and five words that all tell something. Words such as "to"
# and "with" stand in most listings: they cost FTS5 much, and programs that set them aside nothing.
TYPED = (
    "send email to a customer", "convert markdown file into pdf", "find flights and hotel prices",
    "monitor website uptime and alerts", "query postgres database with sql",
    "generate images from text prompts", "translate documents into spanish language",
    "get stock price history data", "create calendar event for meeting",
    "summarize a youtube video transcript", "extract text from scanned documents",
    "find restaurants near my location", "review code for security problems",
    "track package delivery status online", "plan a trip to japan",
)
TELLING = (
    "send bulk email customer newsletter", "convert markdown files pdf documents",
    "search cheap flights hotel prices", "monitor website uptime downtime alerts",
    "query postgres database read schema", "generate product images text prompts",
    "translate legal documents german english", "historical stock prices market data",
    "create calendar event team meeting", "summarize long youtube video transcripts",
    "extract text scanned invoice images", "find restaurants nearby map directions",
    "review pull request code security", "track parcel delivery shipment status",
    "weather forecast city next week",
)


################ Rows of a table: (what, figure, bound, whether it holds)

def row(what, figure, bound="", holds=None):
    """Return a row; `holds` is None where there is no bound."""
    return [what, figure, bound, "" if holds is None else "yes" if holds else "NO"]


def ratio_row(what, ours, theirs, bound=None):
    """Return the row of a ratio, with its bound if it has one."""
    if bound is None:
        return row(what, f"{ours / theirs:.2f}")
    return row(what, f"{ours / theirs:.2f}", f"at most {bound}", ours / theirs <= bound)


def milliseconds(seconds):
    """Return a time as text: with three digits, in milliseconds."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds * 1000:.0f} ms"


def seconds_of(call, *arguments):
    """Return how long one call takes."""
    start = perf_counter()
    call(*arguments)
    return perf_counter() - start


def version_of(package):
    """Return the name and version of an installed package."""
    from importlib.metadata import version
    return f"{package} {version(package)}"


################ start

def start(options):
    """Return the rows of the default run beside a Python process that only imports."""
    ours = [sys.executable, os.path.join(ROOT, "run_benchmark.py")]
    bare = [sys.executable, "-c", "import argparse, hashlib, json"]
    pairs = []
    for _ in range(PAIRS + 1):
        pairs.append([seconds_of(lambda command=command: subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL)) for command in (ours, bare)])
    runs, imports = (median(column) for column in zip(*pairs[1:]))  # the first fills file caches
    return [row("`python run_benchmark.py`", milliseconds(runs)),
            row('`python -c "import argparse, hashlib, json"`', milliseconds(imports)),
            ratio_row("ratio", runs, imports, BOUNDS["start"])]


################ score

def judged_cases(rng):
    """Return (cases, first ranking, second ranking) of seeded random ids."""
    cases, first, second = [], {}, {}
    for number in range(CASES):
        ids = [f"listing-{one}" for one in rng.sample(range(100_000), RESULTS)]
        judged = [*rng.sample(ids, 5), f"missing-{number}"]
        cases.append({"id": f"case-{number}", "q": "a task", "requirements": {}, "judgments": {
            "relevant_ids": judged[2:], "unacceptable_ids": judged[:1],
            "constraint_ineligible_ids": judged[1:2], "no_match_expected": False}})
        first[f"case-{number}"], second[f"case-{number}"] = ids, rng.sample(ids, RESULTS)
    return cases, first, second


def score(options):
    """Return the rows of evaluate_rankings beside pytrec_eval."""
    cases, first, second = judged_cases(random.Random(options.seed))
    what = f"`evaluate_rankings`, {CASES:,} cases × {RESULTS} results × 2 rankings"
    try:
        from pytrec_eval import RelevanceEvaluator
    except ImportError:
        ours = median(seconds_of(evaluate_rankings, cases, first, second) for _ in range(TURNS))
        return [row(what, milliseconds(ours)), row("pytrec-eval-terrier", "not installed")]
    qrels = {case["id"]: {one: int(name == "relevant_ids") for name, ids in
                          case["judgments"].items() if name.endswith("ids") for one in ids}
             for case in cases}
    run = {case: {one: float(RESULTS - rank) for rank, one in enumerate(ids)}
           for case, ids in first.items()}
    peer = RelevanceEvaluator(qrels, {"P_5", "recall_5", "recip_rank"})
    ours, theirs = (median(column) for column in zip(*(
        (seconds_of(evaluate_rankings, cases, first, second), seconds_of(peer.evaluate, run))
        for _ in range(TURNS))))
    return [row(what, milliseconds(ours)),
            row(f"{version_of('pytrec-eval-terrier')}, `evaluate` of one ranking, P_5, recall_5, "
                "recip_rank", milliseconds(theirs)),
            ratio_row("ratio", ours, theirs, BOUNDS["score"])]


################ large, snapshot

def swapped(text, words, rng):
    """Return text with one word in ten, and at least one, replaced by another."""
    parts = text.split() or [""]
    for place in rng.sample(range(len(parts)), 1 + len(parts) // 10):
        parts[place] = rng.choice(words)
    return " ".join(parts)


def varied(listings, number, seed):
    """Return so many listings: the given ones in turn, each time a little different."""
    rng = random.Random(seed)
    words = [word for one in listings for word in (one["card"].get("description") or "").split()]
    result = []
    for place in range(number):
        one = listings[place % len(listings)]
        card, skills = one["card"], one["card"].get("skills") or []
        result.append({**one, "id": f"{one['id']}#{place}", "publisher": f"publisher {place % 997}",
                       "card": {**card, "name": f"{card.get('name') or ''} {rng.choice(words)}",
                                "description": swapped(card.get("description") or "", words, rng),
                                "skills": rng.sample(skills, len(skills))}})
    return result


def texts(listing):
    """Return (name, description, skills, tags) of a listing as four texts."""
    card = listing["card"]
    skills = card.get("skills") or []
    return (card.get("name") or "", card.get("description") or "",
            " ".join(f"{one.get('name') or ''} {one.get('description') or ''}" for one in skills),
            " ".join([*(listing.get("tags") or []),
                      *(tag for one in skills for tag in one.get("tags") or [])]))


def fts5(listings):
    """Return (name, function that searches with SQLite FTS5); the function is None without it."""
    try:
        import sqlite3
        database = sqlite3.connect(":memory:")
        database.execute("CREATE VIRTUAL TABLE t USING fts5(name, description, skills, tags)")
    except (ImportError, sqlite3.OperationalError):
        return "SQLite FTS5", None
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", map(texts, listings))
    sql = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 10"
    return (f"SQLite {sqlite3.sqlite_version} FTS5, bm25", lambda query: database.execute(
        sql, [" OR ".join(f'"{word}"' for word in query.split())]).fetchall())


def bm25s(listings):
    """Return (name, function that searches with bm25s); the function is None without it."""
    try:
        import bm25s as peer
    except ImportError:
        return "bm25s", None

    def tokens(these):
        return peer.tokenize(these, stopwords="en", show_progress=False)

    ranker = peer.BM25()
    ranker.index(tokens([" ".join(texts(one)) for one in listings]), show_progress=False)
    most = min(10, len(listings))
    return version_of("bm25s"), lambda query: ranker.retrieve(
        tokens([query]), k=most, show_progress=False)


def peak_mib():
    """Return the peak memory of this process in MiB, or None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def search_rows(kind, queries, searches, bounds):
    """Return the rows of searches by name, ours first, measured in turns; the medians over queries.

    Each search is called once before it is measured.
    """
    columns = {name: [] for name in searches}
    for query in queries:
        for search in searches.values():
            search(query)
        for _ in range(ROUNDS):
            for name, search in searches.items():
                columns[name].append(seconds_of(search, query))
    size = len(queries) * ROUNDS
    medians = {name: median(median(column[at:at + ROUNDS]) for at in range(0, size, ROUNDS))
               for name, column in columns.items()}
    ours, *peers = medians
    most = bounds.get("search")
    return [row(f"{ours}, {kind}", milliseconds(medians[ours]),
                most and f"under {milliseconds(most)}", most and medians[ours] < most),
            *(row(f"{name}, {kind}", milliseconds(medians[name])) for name in peers),
            *(ratio_row(f"ratio to {name}, {kind}", medians[ours], medians[name],
                        bounds.get("fts5") if "FTS5" in name else None) for name in peers)]


def search(listings, bounds, builds=1):
    """Return the rows of an index over listings and of its searches beside the peers'."""
    from capability_search import CapabilityIndex
    before, times = peak_mib(), []
    for _ in range(builds):
        index = None                # so that there is never more than one
        start_time = perf_counter()
        index = CapabilityIndex(listings, instant(CLOCK))
        times.append(perf_counter() - start_time)
    build, build_bound, memory_bound = median(times), bounds.get("build"), bounds.get("memory")

    def recommend(query):
        return index.recommend(query, limit=10)

    rows = [row(f"build `CapabilityIndex`, {len(listings):,} listings", f"{build:.2f} s",
                build_bound and f"under {build_bound} s", build_bound and build < build_bound),
            row("first search, which fills caches",
                milliseconds(seconds_of(recommend, TYPED[0])))]
    for query in TYPED + TELLING:
        recommend(query)
    peak = peak_mib()
    rows.append(row("peak memory", "the system does not say") if peak is None else row(
        f"peak memory ({before:.0f} MiB before the index)", f"{peak:.0f} MiB",
        memory_bound and f"under {memory_bound} MiB", memory_bound and peak < memory_bound))
    peers = dict([fts5(listings), bm25s(listings)])
    searches = {"`recommend`": recommend, **{name: one for name, one in peers.items() if one}}
    return [*rows, *search_rows("as typed", TYPED, searches, bounds),
            *search_rows("no function words", TELLING, searches, {}),
            *(row(name, "not installed") for name, one in peers.items() if not one)]


def large(options):
    """Return the rows over repeated and varied listings."""
    return search(varied(options.directory, options.listings, options.seed),
                  LARGE_BOUNDS if options.listings >= LARGE else {})


def snapshot(options):
    """Return the rows over the listings as they are."""
    return search(options.directory, SMALL_BOUNDS if len(options.directory) <= SMALL else {},
                  BUILDS)


################ Command

PARTS = {"start": start, "score": score, "large": large, "snapshot": snapshot}


def parse(argv):
    """Return (options, help text) of a command line; raise BenchmarkError."""
    parser = Parser(prog="speed.py", description=__doc__, allow_abbrev=False, add_help=False,
                    formatter_class=help_formatter)
    add = parser.add_argument
    add("--only", choices=PARTS, action="append", help="this part alone; may be repeated")
    add("--snapshot", metavar="FILE", default=os.path.join(ROOT, "fixtures.json"),
        help="an object with listings (default: fixtures.json in the folder above)")
    add("--listings", metavar="N", type=int, default=LARGE,
        help="how many in the part large (default: 100000)")
    add("--seed", metavar="N", type=int, default=1, help="of all that is random (default: 1)")
    add("--rows", action="store_true", help="print one part's rows as JSON; used by the parts")
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if options.listings < 1:
        parser.error("--listings: must be 1 or more")
    if options.rows and len(options.only or ()) != 1:
        parser.error("--rows: needs one --only")
    return options, parser.format_help() if options.help else ""


def read_directory(path):
    """Return the listings of a file; raise BenchmarkError."""
    data, _ = read_json(path)
    listings = data.get("listings") if type(data) is dict else None
    if type(listings) is not list or not listings or not all(
            type(one) is dict and "id" in one and type(one.get("card")) is dict
            for one in listings):
        raise BenchmarkError(in_file(path, ['must hold "listings", objects with "id" and "card"']))
    for place, one in enumerate(listings):
        try:
            " ".join(texts(one))
        except (TypeError, AttributeError):
            raise BenchmarkError(in_file(path, [
                f"listings[{place}]: name, description, skills and tags must be texts"])) from None
    return listings


def machine():
    """Return a line that says when and on what this runs."""
    import platform
    from datetime import date
    return (f"Measured on {date.today()}: {platform.python_implementation()} "
            f"{platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores.")


def rows_of(part, options):
    """Return the rows of a part that runs in a process of its own."""
    command = [sys.executable, os.path.abspath(__file__), "--rows", "--only", part,
               "--snapshot", options.snapshot, "--listings", str(options.listings),
               "--seed", str(options.seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode:
        raise BenchmarkError(f"the part {part} ended with status {done.returncode}")
    return json.loads(done.stdout)


def run(options):
    """Print the tables; return 1 if a bound is broken, else 0."""
    read_directory(options.snapshot)        # what is wrong with it is said before a minute is spent
    emit(machine() + "\n")
    broken = False
    for part in options.only or PARTS:
        rows = rows_of(part, options)
        broken |= any(holds == "NO" for *_, holds in rows)
        lines = [f"\n| {part} | figure | bound | held |", "|---|--:|---|---|"]
        lines += ["| " + " | ".join(cell or "" for cell in cells) + " |" for cells in rows]
        emit("\n".join(lines) + "\n")
    return int(broken)


def main(argv=None):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    try:
        options, manual = parse(argv)
        if options.version:
            manual = f"speed.py {VERSION}\n"
        if manual:
            emit(manual)
        elif options.rows:
            options.directory = read_directory(options.snapshot)
            emit(json.dumps(PARTS[options.only[0]](options)) + "\n")
        else:
            return run(options)
        return 0
    except BenchmarkError as error:
        complain(f"error: {fault}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain([] if "--rows" in sys.argv else ["interrupted"])    # the parent process says it
        return 130


if __name__ == "__main__":
    sys.exit(main())
