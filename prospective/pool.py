#!/usr/bin/env python3
"""Make one pool of several rankings: all candidates that judges grade, unordered and unnamed.

    $ python pool.py --rankings candidate-a.json --rankings candidate-b.json --output pool.json
    wrote pool.json: 50 queries, 731 candidates, pool e5a1...07
    $ python pool.py --rankings candidate-a.json --rankings old.json --output pool.json
    error: old.json: version: '0.9' is not that of the frozen set, '1.0.0'

The pool holds the first results of every ranking, as many as the protocol's depth says (--depth).
Nothing in it tells which system returned a candidate, at which rank, how many did, or when. The
same rankings in another order, under other names or with every list reversed give the same bytes:

- a candidate's id is a digest of set, version, query and candidate key, and candidates stand in the
  order of their ids;
- where systems describe one candidate differently, each field is the longest text that any of them
  gives, and the first in the order of code points among the longest;
- every candidate has the same keys; texts are on one line and shortened; addresses that are not
  http or https are left out.

Exit status: 0 done; 2 bad input or usage, and then nothing is written; 130 interrupted.
"""

import os
import sys
from operator import itemgetter

from kit import (
    HERE, VERSION, KitError, Parser, candidate_ids, candidate_key, check_output, clean, complain,
    emit, encoded, few, head, head_faults, help_formatter, in_file, load_set, new_file, read_file,
    repeated, require_frozen, sha256, shown, uncollected, visible, write_json)

# The most characters of a text, and the most skills and addresses, that a candidate has in a pool.
MOST_NAME, MOST_TEXT, MOST_SKILL_TEXT, MOST_ADDRESS = 200, 4000, 1000, 500
MOST_SKILLS, MOST_EVIDENCE = 50, 10


################ Rankings

def ranking_faults(ranking, a_set):
    """Return what is wrong with a ranking that follows its schema: queries, repeated candidates."""
    ids = [entry["query_id"] for entry in ranking["queries"]]
    known = [query["query_id"] for query in a_set.queries]
    lost, strange = set(known) - set(ids), set(ids) - set(known)
    faults = [f"queries: {what}: {few(sorted(names))}" for what, names in (
        ("of the set are missing", lost), ("are not in the set", strange),
        ("occur more than once", repeated(ids))) if names]
    for entry in ranking["queries"]:
        where = f"query {visible(entry['query_id'])}"
        keys = [key_of(result) for result in entry["results"]]
        if len(set(keys)) < len(keys):
            faults.append(f"{where}: results: candidate {few(repeated(keys))} occurs more than "
                          "once")
        if entry["status"] != "ok" and keys:
            faults.append(f"{where}: results: must be empty where the status is "
                          f"{shown(entry['status'])}")
        if (entry["status"] == "error") != (entry["error"] is not None):
            faults.append(f"{where}: error: must say why where the status is 'error', and be null "
                          "elsewhere")
    return faults


def read_ranking(path, a_set):
    """Return (ranking, bytes) of a file, whole and of this set; raise KitError."""
    ranking, data = read_file(path, "ranking")
    faults = head_faults(ranking, a_set) or ranking_faults(ranking, a_set)
    if faults:
        raise KitError(in_file(path, faults))
    return ranking, data


def each_system_once(paths, a_set):
    """Yield the ranking of each file; raise KitError for a second one of the same system."""
    names = {}
    for path in paths:
        ranking = read_ranking(path, a_set)[0]
        name = ranking["system"]["name"]
        if name in names:
            raise KitError(in_file(path, [f"system: {shown(name)} is that of "
                                          f"{visible(names[name])} already"]))
        names[name] = path
        yield ranking
        ranking = None      # so that the next one is read without it in memory


def key_of(result):
    """Return the candidate key of a result, canonical where it is a web address."""
    return candidate_key(result["candidate_key"]) or result["candidate_key"]


def id_of(a_set, query_id, result):
    """Return the id that a result has in the pool of a query."""
    return candidate_ids(a_set.set_id, a_set.version, query_id)(key_of(result))


################ The pool

def longer(one, other, size=len):
    """Return the longer of two values; of two as long, the first in the order of their text."""
    if one == other:
        return one
    return min(one, other, key=lambda value: (-size(value), str(value)))


def web_address(text):
    """Return a text that is an address for http or https, shortened to nothing if it is long."""
    text = text and clean(text, MOST_ADDRESS + 1)
    return text if text.startswith(("http://", "https://")) and len(text) <= MOST_ADDRESS else ""


def public_skills(skills):
    """Return the skills of a result as a pool holds them."""
    return [{"name": clean(skill["name"], MOST_NAME),
             "description": clean(skill["description"], MOST_SKILL_TEXT)}
            for skill in skills[:MOST_SKILLS]]


def text_size(skills):
    """Return how many characters a list of skills has."""
    return sum(len(skill["name"]) + len(skill["description"]) for skill in skills)


def candidate_of(identity, result):
    """Return the candidate that a result of one system is."""
    return {
        "candidate_id": identity, "name": clean(result["name"], MOST_NAME),
        "declaration": clean(result["declaration"], MOST_TEXT),
        "skills": public_skills(result["skills"]), "url": web_address(result["url"]),
        "evidence": sorted(set(filter(None, map(web_address, result["evidence"]))))
        if result["evidence"] else []}


description = itemgetter("name", "declaration", "skills", "url", "evidence")


def merge(candidate, other):
    """None; makes a candidate what two systems together say of it, in whichever order."""
    for key in ("name", "declaration", "url"):
        candidate[key] = longer(candidate[key], other[key])
    candidate["skills"] = longer(candidate["skills"], other["skills"], text_size)
    candidate["evidence"] = sorted({*candidate["evidence"], *other["evidence"]})


def pool_of(a_set, rankings, depth):
    """Return the pool of rankings, each whole and of this set; see the manual above.

    The rankings may come one by one, from an iterator: none is kept.
    """
    found = {query["query_id"]: {} for query in a_set.queries}
    for ranking in rankings:
        for entry in ranking["queries"]:
            candidates = found[entry["query_id"]]
            id_of_key = candidate_ids(a_set.set_id, a_set.version, entry["query_id"])
            for result in entry["results"][:depth]:
                identity = id_of_key(key_of(result))
                known = candidates.get(identity)
                if known is None:
                    candidates[identity] = candidate_of(identity, result)
                elif description(known) != description(result):     # mostly they are the same
                    merge(known, candidate_of(identity, result))
        ranking = entry = result = None     # as in each_system_once
    queries = []
    for query in a_set.queries:
        candidates = found[query["query_id"]]
        for candidate in candidates.values():
            del candidate["evidence"][MOST_EVIDENCE:]
        queries.append({
            "query_id": query["query_id"], "text": query["text"], "need": query["need"],
            "requirements_text": query["requirements_text"],
            "evidence_policy": a_set.policies[query["evidence_policy_id"]],
            "candidates": [candidates[identity] for identity in sorted(candidates)]})
    return {**head("pool", a_set), "pool_sha256": pool_sha256_of(queries), "depth": depth,
            "queries": queries}


def pool_sha256_of(queries):
    """Return the digest of the lines "query_id candidate_id" of a pool, in its order."""
    return sha256("".join(f"{query['query_id']} {candidate['candidate_id']}\n"
                          for query in queries for candidate in query["candidates"]).encode())


################ Command

def parse(argv):
    """Return (options, help text) of a command line; raise KitError."""
    parser = Parser(prog="pool.py", description=__doc__, allow_abbrev=False, add_help=False,
                    formatter_class=help_formatter)
    add = parser.add_argument
    add("--rankings", metavar="FILE", action="append", default=[], help="one system; repeat it")
    add("--output", metavar="FILE", help="where the pool goes; - is standard output")
    add("--set", metavar="FOLDER", default=HERE, help="the frozen set (default: this folder)")
    add("--depth", metavar="N", type=int, help="results of each ranking (default: of the protocol)")
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if options.help or options.version:
        return options, parser.format_help() if options.help else f"pool.py {VERSION}\n"
    if not options.rankings or options.output is None:
        parser.error("--rankings and --output are needed")
    if any("\0" in path for path in (*options.rankings, options.output, options.set)):
        parser.error("a file name holds a NUL character")
    if options.depth is not None and not 1 <= options.depth <= 1000:
        parser.error("--depth: must be from 1 to 1000")
    return options, ""


def run(options):
    """Return what goes to standard output, after the pool is written; raise KitError."""
    a_set = load_set(options.set)
    require_frozen(a_set, options.set)
    if options.output != "-":
        check_output(options.output, [*options.rankings, *(os.path.join(options.set, name) for name
                                      in ("queries.json", "protocol.json", "manifest.json"))])
    with uncollected():
        pool = pool_of(a_set, each_system_once(options.rankings, a_set),
                       options.depth or a_set.protocol["depth"])
        if options.output == "-":
            return encoded(pool)
        with new_file(options.output) as file:
            write_json(pool, file)
    number = sum(len(query["candidates"]) for query in pool["queries"])
    return (f"wrote {visible(options.output)}: {len(pool['queries'])} queries, {number} "
            f"candidates, pool {pool['pool_sha256']}\n")


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
