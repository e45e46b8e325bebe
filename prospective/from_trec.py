#!/usr/bin/env python3
"""Make a ranking file of a TREC run and a file that describes its documents.

    $ python from_trec.py --run my.run --candidates my-candidates.json --system candidate-c \\
        --captured-at 2026-11-02T09:00:00+00:00 --output candidate-c.json
    wrote candidate-c.json: 50 queries, 47 with results
    $ python from_trec.py --run bad.run --candidates my-candidates.json --system candidate-c \\
        --captured-at 2026-11-02T09:00:00+00:00 --output candidate-c.json
    error: bad.run: line 3: must be QUERY Q0 DOCUMENT RANK SCORE TAG, not 'pdf-report Q0 d7'

A line of the run is QUERY Q0 DOCUMENT RANK SCORE TAG. As trec_eval reads it, the score makes the
order and the rank does not; equal scores are refused, because trec_eval would order them by the
document's name. Queries are those of the frozen set. One without a line was asked and had no
result.

The candidates are an object from document to what a ranking says of it:

    {"d7": {"candidate_key": "https://agent.example/.well-known/agent-card.json", "name": "Agent",
            "declaration": "What the publisher says.", "skills": [{"name": "...",
            "description": "..."}], "url": "https://agent.example", "evidence": []}}

Only candidate_key must be there. It is what makes two systems' results one candidate: the address
of the agent's own card, else of its package or repository, else SYSTEM-ADDRESS:ID.

Exit status: 0 done; 2 bad input or usage, and then nothing is written; 130 interrupted.
"""

import math
import os
import re
import sys

from kit import (
    HERE, VERSION, KitError, Parser, check_output, complain, emit, encoded, faults_of, few, head,
    help_formatter, in_file, instant, load_set, private_findings, read_bytes, read_json, repeated,
    require_frozen, shown, visible, write_file)
from pool import ranking_faults

SELECTION = "The first {depth} results of the run, by score; none added and none left out."
EMPTY = {"candidate_key": "", "name": "", "declaration": "", "skills": [], "url": "",
         "evidence": []}
LINE = re.compile(r"(\S+)\s+\S+\s+(\S+)\s+\S+\s+(\S+)\s+\S+")


def read_run(path):
    """Return {query: documents, best first} of a TREC run; raise KitError with every bad line."""
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise KitError(in_file(path, [f"byte {error.start + 1} is not UTF-8"])) from None
    scores, faults = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.fullmatch(line.strip())
        if not line.strip():
            continue
        score = number_of(match[3]) if match else None
        if match is None:
            faults.append(f"line {number}: must be QUERY Q0 DOCUMENT RANK SCORE TAG, "
                          f"not {shown(line)}")
        elif score is None:
            faults.append(f"line {number}: the score must be a finite number, "
                          f"not {shown(match[3])}")
        elif match[2] in scores.setdefault(match[1], {}):
            faults.append(f"line {number}: document {shown(match[2])} occurs more than once")
        else:
            scores[match[1]][match[2]] = score
    faults += [f"query {shown(query)}: the score {again[0]} occurs more than once"
               for query, found in scores.items() if (again := repeated(found.values()))]
    if faults:
        raise KitError(in_file(path, faults))
    return {query: sorted(found, key=lambda document: -found[document])
            for query, found in scores.items()}


def number_of(text):
    """Return the finite number that a text is, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_candidates(path, documents):
    """Return {document: result} of a file for these documents; raise KitError."""
    value, data = read_json(path)
    if not isinstance(value, dict):
        raise KitError(in_file(path, ["must be an object from document to candidate"]))
    lost = [document for document in documents if document not in value]
    faults = [f"has no candidate {few(lost)}, which the run names"] if lost else []
    for document in documents:
        about = value.get(document, {})
        if not isinstance(about, dict) or about.keys() - EMPTY.keys():
            faults.append(f"{shown(document)}: must be an object with the keys "
                          f"{', '.join(EMPTY)} only")
        elif private_findings(str(about)):
            faults.append(f"{shown(document)}: holds {', '.join(private_findings(str(about)))}")
    if faults:
        raise KitError(in_file(path, faults))
    return {document: {**EMPTY, **value[document]} for document in documents}


def ranking_of(a_set, options, depth):
    """Return the ranking that the options describe; raise KitError."""
    run = read_run(options.run)
    strange = sorted(run.keys() - {query["query_id"] for query in a_set.queries})
    if strange:
        raise KitError(in_file(options.run, [f"queries that are not in the set: {few(strange)}"]))
    documents = sorted({document for found in run.values() for document in found[:depth]})
    results = read_candidates(options.candidates, documents)
    ranking = {
        **head("ranking", a_set),
        "system": {"name": options.system, "version": options.system_version or "",
                   "operator": options.operator or "",
                   "developed_with_this_set": options.developed_with_this_set},
        "selection_policy": options.selection_policy or SELECTION.format(depth=depth),
        "corpus": {"description": options.corpus or "What the system searches.",
                   "observed_from": options.captured_at, "observed_until": options.captured_at,
                   "snapshot_sha256": None},
        "capture": None,
        "queries": [{"query_id": query["query_id"], "status": "ok", "error": None,
                     "captured_at": options.captured_at, "response_sha256": None,
                     "results": [results[document] for document in
                                 run.get(query["query_id"], ())[:depth]]}
                    for query in a_set.queries]}
    faults = faults_of(ranking, "ranking") or ranking_faults(ranking, a_set)
    if faults:
        raise KitError(in_file(options.candidates, faults))
    return ranking


def parse(argv):
    """Return (options, help text) of a command line; raise KitError."""
    parser = Parser(prog="from_trec.py", description=__doc__, allow_abbrev=False, add_help=False,
                    formatter_class=help_formatter)
    add = parser.add_argument
    add("--run", metavar="FILE", help="the TREC run")
    add("--candidates", metavar="FILE", help="what its documents are")
    add("--system", metavar="NAME", help="what the system is called in the evaluation")
    add("--captured-at", metavar="TIME", help="when it was asked, ISO 8601 with an offset")
    add("--output", metavar="FILE", help="where the ranking goes; - is standard output")
    add("--set", metavar="FOLDER", default=HERE, help="the frozen set (default: this folder)")
    add("--depth", metavar="N", type=int, help="results kept (default: of the protocol)")
    add("--operator", metavar="TEXT", help="who runs the system")
    add("--system-version", metavar="TEXT", help="its version")
    add("--developed-with-this-set", action="store_true", help="these queries helped develop it")
    add("--selection-policy", metavar="TEXT", help="how results were chosen")
    add("--corpus", metavar="TEXT", help="what was searched")
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if options.help or options.version:
        return options, parser.format_help() if options.help else f"from_trec.py {VERSION}\n"
    for name in ("run", "candidates", "system", "captured_at", "output"):
        if not getattr(options, name):
            parser.error(f"--{name.replace('_', '-')} is needed")
    if any("\0" in value for value in vars(options).values() if isinstance(value, str)):
        parser.error("a value holds a NUL character")
    if instant(options.captured_at) is None:
        parser.error(f"--captured-at: {shown(options.captured_at)} must be a time with an offset, "
                     "such as 2026-11-02T09:00:00+00:00")
    if options.depth is not None and not 1 <= options.depth <= 1000:
        parser.error("--depth: must be from 1 to 1000")
    return options, ""


def run(options):
    """Return what goes to standard output, after the ranking is written; raise KitError."""
    a_set = load_set(options.set)
    require_frozen(a_set, options.set)
    if options.output != "-":
        check_output(options.output, [options.run, options.candidates,
                                      *(os.path.join(options.set, name) for name in (
                                          "queries.json", "protocol.json", "manifest.json"))])
    ranking = ranking_of(a_set, options, options.depth or a_set.protocol["depth"])
    if options.output == "-":
        return encoded(ranking)
    write_file(options.output, encoded(ranking))
    found = sum(bool(entry["results"]) for entry in ranking["queries"])
    return (f"wrote {visible(options.output)}: {len(ranking['queries'])} queries, {found} with "
            "results\n")


def main(argv=None):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    try:
        options, manual = parse(argv)
        emit(manual or run(options))
        return 0
    except KitError as error:
        complain(f"error: {fault}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain(["interrupted"])
        return 130


if __name__ == "__main__":
    sys.exit(main())
