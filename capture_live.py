#!/usr/bin/env python3
"""Rank a snapshot of public listings for judged cases, and write a capture that can be replayed.

    $ python capture_live.py --snapshot snapshot.json --cases live-cases.json \\
        --engine capability_search.py --captured-at 2026-12-01T00:00:00+00:00 \\
        --output live-capture.json
    wrote live-capture.json: 8 cases, 5294 listings, depth 10
    $ python capture_live.py --verify live-capture.json --snapshot snapshot.json
    the same: 11 facts, 16 rankings
    $ python run_benchmark.py --captures live-capture.json --output live-report.json

The last command scores the capture; it needs no snapshot and no ranker. One that fails:

    $ python capture_live.py --snapshot snapshot.json --cases live-cases.json --output new.json
    error: usage: --captured-at is needed: the clock of the capture, such as 2026-12-01T00:00:00Z

How a sample is made, so that somebody else can make another one:

1. Freeze the snapshot: public listings of one moment, from registries whose licences allow it,
   with registry, commit and licence of each in its head ("sources"). Change it no more.
2. Choose capabilities by hand that people ask a directory for: some in the words of the listings,
   some in other words, some with a constraint. Nobody draws them at random, so they say nothing
   about all searches.
3. For each, read what listings declare, found with plain text search over the snapshot and never
   with a ranker. Write down known positives (the declaration says that it does this), distractors
   (it shares words and does something else), listings that fail the constraint, and why.
4. Commit the cases. Only then rank: this script asks both rankers, with the capture time as clock.
5. Commit the capture. Only then score it.

Known positives are not all positives: thousands of listings cannot all be read, so a result that
no list names is unjudged, and neither precision nor recall is reported. Once a ranker has been
changed after a look at these rankings, the cases are development data.

--cases takes {"cases": [...]}, a list, or an existing capture, whose cases are asked again.
--snapshot takes whatever `capability_search.py --listings` takes, a folder too, whose digest is
that of the lines that sha256sum prints for its files, sorted by name.

What is published is decided by an allow-list. Of a listing that is judged or returned: its id,
name, link and the names of its skills, shortened to 120 characters, without e-mail and IP
addresses; no descriptions, no observations, nothing else. judgments_sha256 is the digest of
{"cases": [...]} written as this project writes JSON, which for live-cases.json is the file's own.

Exit status: 0 done; 1 --verify found a difference; 2 bad input, engine or usage, and then nothing
is written; 130 interrupted.
"""

import os
import re
import sys
from ipaddress import ip_address
from urllib.parse import urlsplit

from capability_search import SearchError, read_listings
from run_benchmark import (
    HERE, TIME_RULE, BenchmarkError, Engine, Parser, capture_faults, check_cases, check_output,
    complain, emit, encoded, few, help_formatter, in_file, instant, judged_ids, parse_json,
    rank_cases, read_bytes, read_json, sha256, shown_id, visible, write_file)

VERSION = "1.0.0"
DEPTH = 10              # results kept of each ranking, twice the window that is scored
MOST_CHARACTERS = 120   # of a published name

SELECTION = (
    "Capabilities were chosen by hand, and known positives, distractors and rationales were "
    "written from the declarations before any ranking of this snapshot was seen, as "
    "capture_live.py documents. Not a random sample; judgments are not complete.")


################ Data: what may be published

CASE_KEYS = ("id", "q", "requirements")
JUDGMENT_KEYS = ("relevant_ids", "unacceptable_ids", "constraint_ineligible_ids",
                 "no_match_expected", "rationale")
SOURCE_KEYS = ("registry", "commit", "licence", "license")
EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}")
IP_ADDRESS = re.compile(
    r"(?<![\w.])(?:\d+\.){3}\d+(?!\w|\.\w)"
    r"|(?<![\w.:])(?:[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*[0-9a-f]|[0-9a-f]+::)(?![\w:]|\.\w)",
    re.IGNORECASE | re.ASCII)


def is_ip_address(text):
    """Return whether a text is an IP address of either version."""
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def private_parts(text):
    """Return the e-mail and IP addresses in a text."""
    return EMAIL.findall(text) + list(filter(is_ip_address, IP_ADDRESS.findall(text)))


def public_text(value):
    """Return a text on one line, without e-mail and IP addresses, shortened; "" for no text."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    for part in private_parts(text):
        text = text.replace(part, "[removed]")
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS - 1] + "…"


def public_link(value):
    """Return a web address without its user, query and fragment; "" for any other address."""
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    link = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    is_web = parts.scheme in ("http", "https") and parts.hostname and link.isprintable()
    return link if is_web and not private_parts(link) and not is_ip_address(parts.hostname) else ""


def public_listing(listing):
    """Return what a capture holds of a listing: {"id", "name", "link", "skills"}."""
    card = listing.get("card")
    card = card if isinstance(card, dict) else {}
    skills = card.get("skills") if isinstance(card.get("skills"), list) else []
    names = [public_text(skill.get("name")) for skill in skills if isinstance(skill, dict)]
    return {"id": listing["id"], "name": public_text(card.get("name")),
            "link": public_link(listing.get("url")), "skills": list(filter(None, names))}


def public_case(case):
    """Return a case with the keys that a case has, in the order in which it gives them."""
    return {key: value if key != "judgments" else
            {inner: value[inner] for inner in value if inner in JUDGMENT_KEYS}
            for key, value in case.items() if key in (*CASE_KEYS, "judgments")}


def public_sources(head):
    """Return registry, commit and licence of each source that a snapshot's head names."""
    sources = head.get("sources", head.get("source"))
    sources = sources if isinstance(sources, list) else [sources]
    return [{key: public_text(source[key]) for key in SOURCE_KEYS if key in source}
            for source in sources if isinstance(source, dict)]


def private_ids(ids):
    """Return a line for each id that cannot be published."""
    return [f"listing {shown_id(value)}: id: holds an e-mail or IP address and would be published; "
            "give it another" for value in ids if isinstance(value, str) and private_parts(value)]


################ Inputs

class Snapshot:
    """Listings of a file or folder, read once: the bytes that are hashed are the ones used."""

    def __init__(self, path, strict=False):
        self.path, self.heads, self.digests = path, [], {}
        try:
            self.listings = read_listings(path, strict, self.read)[0]
        except SearchError as error:
            raise BenchmarkError(str(error)) from None
        self.known = {listing["id"]: listing for listing in self.listings}
        self.head = self.heads[0] if len(self.heads) == 1 else {}

    def read(self, path):
        """Return the value of a JSON file, after noting its digest."""
        data = read_bytes(path)
        self.digests[path] = sha256(data)
        try:
            value = parse_json(data)
        except BenchmarkError as error:
            raise BenchmarkError(in_file(path, error.faults)) from None
        self.heads.append(value if isinstance(value, dict) else {})
        return value

    def sha256(self):
        """Return the digest of the file, or of the sha256sum lines of a folder's files."""
        if not os.path.isdir(self.path):
            return self.digests[self.path]
        lines = sorted((os.path.basename(path), digest) for path, digest in self.digests.items())
        return sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode())


def read_cases(path):
    """Return (cases, selection method or None) of a file with cases or of a capture."""
    value, data = read_json(path)
    cases = value.get("cases") if isinstance(value, dict) else value
    faults = []
    check_cases(cases, faults)
    if not faults and not cases:
        faults.append("cases: there is none")
    if faults:
        raise BenchmarkError(in_file(path, faults))
    metadata = value.get("metadata") if isinstance(value, dict) else None
    method = metadata.get("selection_method") if isinstance(metadata, dict) else None
    return list(map(public_case, cases)), method if isinstance(method, str) else None


def check_judged(path, cases, known):
    """Raise BenchmarkError for every case that judges a listing which the snapshot lacks."""
    faults = []
    for case in cases:
        lost = [value for value in judged_ids(case) if value not in known]
        if lost:
            faults.append(f"case {shown_id(case['id'])}: judgments: no listing {few(lost)}")
    if faults:
        raise BenchmarkError(in_file(path, faults))


################ The capture

def capture_of(snapshot, cases, engine_path, captured_at, depth, selection):
    """Return the capture of an engine's two rankers on a snapshot; raise BenchmarkError."""
    with Engine(engine_path) as engine:
        results = rank_cases(engine, snapshot.listings, cases, snapshot.known,
                             instant(captured_at), lambda: Snapshot(snapshot.path).listings)
        imports = engine.stamps()
    results = {ranker: {case: ids[:depth] for case, ids in answers.items()}
               for ranker, answers in results.items()}
    shown = {value for case in cases for value in judged_ids(case)}
    shown.update(value for answers in results.values() for ids in answers.values()
                 for value in ids)
    faults = private_ids([listing["id"] for listing in snapshot.listings if listing["id"] in shown])
    if faults:
        raise BenchmarkError(in_file(snapshot.path, faults))
    return {
        "metadata": {
            "captured_at": captured_at,
            "candidate_snapshot_sha256": snapshot.sha256(),
            "number_of_listings": len(snapshot.listings),
            "sources": public_sources(snapshot.head),
            "ranking_module_sha256": sha256(engine.source),
            "ranking_imports_sha256": imports,
            "ranker_version": engine.version,
            "selection_method": selection,
            "judgments_sha256": sha256(encoded({"cases": cases})),
            "judgments_complete": False,
            "depth": depth,
            "tool_version": f"capture_live.py {VERSION}",
        },
        "cases": cases,
        "baseline_results": results["baseline"],
        "recommendation_results": results["recommendation"],
        "listings": [public_listing(listing) for listing in snapshot.listings
                     if listing["id"] in shown],
    }


def differences(old, new):
    """Return (lines, facts compared, rankings compared): what a new capture has otherwise."""
    lines = []
    facts = [key for key in new["metadata"] if key != "tool_version"]
    for key in facts:
        before, after = old["metadata"].get(key), new["metadata"][key]
        if before != after:
            lines.append(f"differs: {key}: captured {shown_id(before)}, now {shown_id(after)}")
    rankings = 0
    for results in ("baseline_results", "recommendation_results"):
        for case, after in new[results].items():
            rankings += 1
            before = old[results].get(case)
            if before != after:
                lines.append(f"differs: {results}, case {shown_id(case)}: "
                             f"{first_move(before, after)}")
    if old.get("listings", new["listings"]) != new["listings"]:
        lines.append("differs: listings: what is published of them")
    return lines, len(facts), rankings


def first_move(before, after):
    """Return where two rankings part."""
    if not isinstance(before, list):
        return f"captured {shown_id(before)}"
    at = next((at for at, pair in enumerate(zip(before, after)) if pair[0] != pair[1]),
              min(len(before), len(after)))
    old, new = (shown_id(ids[at]) if at < len(ids) else "nothing" for ids in (before, after))
    return f"rank {at + 1}: captured {old}, now {new}"


################ Command

def parse(argv):
    """Return (options, help text) of a command line; raise BenchmarkError."""
    parser = Parser(prog="capture_live.py", description=__doc__, allow_abbrev=False,
                    add_help=False, formatter_class=help_formatter)
    add = parser.add_argument
    add("--snapshot", metavar="SNAPSHOT", help="listings, cards or a registry: a file or a folder")
    add("--cases", metavar="CASES", help="judged cases, or a capture whose cases are used again")
    add("--engine", metavar="FILE", help="the ranker (default: capability_search.py beside this)")
    add("--captured-at", metavar="TIME", help="the clock of the capture, ISO 8601 with an offset")
    add("--depth", metavar="N", default=None, help=f"results kept (default: {DEPTH})")
    add("--selection-method", metavar="TEXT", help="how the cases were chosen, if otherwise")
    add("--strict", action="store_true", help="a record that cannot be read is an error")
    add("--output", metavar="FILE", help="where the capture goes; - is standard output")
    add("--verify", metavar="CAPTURE", help="rank again and compare; writes nothing")
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if any("\0" in value for value in vars(options).values() if isinstance(value, str)):
        parser.error("a file name holds a NUL character")
    if options.help or options.version:
        return options, parser.format_help() if options.help else f"capture_live.py {VERSION}\n"
    needed = ["snapshot"] if options.verify else ["snapshot", "cases", "output", "captured_at"]
    barred = ["cases", "captured_at", "depth", "selection_method", "output"]
    for name in needed:
        if getattr(options, name) is None:
            parser.error(f"--{name.replace('_', '-')} is needed" + (
                ": the clock of the capture, such as 2026-12-01T00:00:00Z"
                if name == "captured_at" else ""))
    given = [name for name in barred if options.verify and getattr(options, name) is not None]
    if given:
        parser.error(f"--verify takes --{given[0].replace('_', '-')} from the capture")
    if options.captured_at is not None and instant(options.captured_at) is None:
        parser.error(f"--captured-at: {shown_id(options.captured_at)} {TIME_RULE}")
    if not re.fullmatch(r"[1-9][0-9]{0,3}", options.depth or str(DEPTH), re.ASCII):
        parser.error(f"--depth: {shown_id(options.depth)} must be a whole number from 1 to 9999")
    options.engine = options.engine or os.path.join(HERE, "capability_search.py")
    return options, ""


def capture(options):
    """Return (text for standard output, exit status), after the capture is written."""
    inputs = [options.snapshot, options.cases, options.engine, os.path.abspath(__file__)]
    if options.output != "-":
        check_output(options.output, inputs)
    cases, selection = read_cases(options.cases)
    snapshot = Snapshot(options.snapshot, options.strict)
    if options.output != "-":
        check_output(options.output, snapshot.digests)
    check_judged(options.cases, cases, snapshot.known)
    made = capture_of(snapshot, cases, options.engine, options.captured_at,
                      int(options.depth or DEPTH),
                      options.selection_method or selection or SELECTION)
    if options.output == "-":
        return encoded(made), 0
    write_file(options.output, encoded(made))
    return (f"wrote {visible(options.output)}: {len(cases)} cases, {len(snapshot.listings)} "
            f"listings, depth {made['metadata']['depth']}\n"), 0


def verify(options):
    """Return (text for standard output, exit status) of ranking a capture again."""
    old, data = read_json(options.verify)
    faults = capture_faults(old)
    metadata = old.get("metadata") if isinstance(old, dict) and not faults else {}
    if not faults and instant(metadata.get("captured_at")) is None:
        faults.append(f"metadata.captured_at: {TIME_RULE}")
    depth = metadata.get("depth", DEPTH)
    if type(depth) is not int or depth < 1:
        faults.append(f"metadata.depth: must be a whole number from 1, not {shown_id(depth)}")
    faults += [f"{key}: must be an object" for key in ("baseline_results", "recommendation_results")
               if not faults and type(old[key]) is not dict]
    if faults:
        raise BenchmarkError(in_file(options.verify, faults))
    cases, selection = read_cases(options.verify)
    snapshot = Snapshot(options.snapshot, options.strict)
    new = capture_of(snapshot, cases, options.engine, metadata["captured_at"], depth,
                     selection or SELECTION)
    lines, facts, rankings = differences(old, new)
    if lines:
        return "".join(f"{line}\n" for line in lines), 1
    return f"the same: {facts} facts, {rankings} rankings\n", 0


def main(argv=None):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    try:
        options, manual = parse(argv)
        output, status = (manual, 0) if manual else (
            verify(options) if options.verify else capture(options))
        emit(output)
        return status
    except BenchmarkError as error:
        complain(f"error: {visible(fault)}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain(["interrupted"])
        return 130


if __name__ == "__main__":
    sys.exit(main())
