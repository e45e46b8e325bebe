#!/usr/bin/env python3
"""Score the two rankers on retrieval sets in BEIR form, which nobody here wrote.

    $ python studies/retrieval.py metatool bfcl-live
    $ python studies/retrieval.py --trec runs my-set

A folder holds corpus.jsonl (_id, title, text, and in metadata "tags" and "skills" where there are
any), queries.jsonl (_id, text) and qrels/test.tsv (query-id, corpus-id, score, with a head line). A
document becomes a listing: its title the card's name, its text the description. Measured are, for
every query with a relevant document, nDCG@5 (gain = score, discount 1 / log2(rank + 1)), recall@5
and the reciprocal rank of the first relevant document among the first five; then their means.

One that fails:

    $ python studies/retrieval.py nowhere
    error: nowhere/corpus.jsonl: cannot be read: No such file or directory

Exit status: 0 done; 2 bad input or usage; 130 interrupted.
"""

import argparse
import json
import math
import os
import sys
from datetime import datetime, timezone
from urllib.parse import quote

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from run_benchmark import BenchmarkError, Engine, visible, write_file  # noqa: E402

CUTOFF = 5
RANKERS = ("baseline", "recommend")
MEASURES = ("nDCG@5", "recall@5", "RR@5")
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)  # No document has an observation to age.
ENGINE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                      "capability_search.py")


################ Sets

def lines_of(path):
    """Yield (number, line) of a UTF-8 text file; raise BenchmarkError."""
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                yield number, line.rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", None) or "is not UTF-8"
        raise BenchmarkError(f"{visible(path)}: cannot be read: {what}") from None


def records(path):
    """Return {_id: record} of a JSON lines file, in order; raise BenchmarkError."""
    found = {}
    for number, line in lines_of(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        where = f"{visible(path)}: line {number}"
        if not isinstance(record, dict) or not isinstance(record.get("_id"), str):
            raise BenchmarkError(f'{where}: must be an object with a text "_id"')
        if record["_id"] in found:
            raise BenchmarkError(f"{where}: repeats _id {record['_id']!r}")
        if not isinstance(record.get("text"), str):
            raise BenchmarkError(f'{where}: "text" must be text')
        found[record["_id"]] = record
    return found


def judgments(path, queries, documents):
    """Return {query: {document: score}} with the scores above 0; raise BenchmarkError."""
    found = {}
    for number, line in lines_of(path):
        fields = line.split("\t")
        where = f"{visible(path)}: line {number}"
        if number == 1 or not line.strip():
            continue
        if len(fields) != 3 or not fields[2].strip().lstrip("-").isdigit():
            raise BenchmarkError(f"{where}: must be query, document and a whole score")
        query, document, score = fields[0], fields[1], int(fields[2])
        if query not in queries:
            raise BenchmarkError(f"{where}: no query {query!r}")
        if document not in documents:
            raise BenchmarkError(f"{where}: no document {document!r}")
        if score > 0:
            found.setdefault(query, {})[document] = score
    return found


def listing(document):
    """Return the listing of a document."""
    metadata = document.get("metadata") or {}
    return {"id": document["_id"], "tags": metadata.get("tags") or [],
            "card": {"name": document.get("title") or "", "description": document["text"],
                     "skills": metadata.get("skills") or []}}


################ Scores

def dcg(gains):
    """Return the discounted cumulative gain: Σ gain / log2(rank + 1), ranks from 1."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def scores(ranking, relevant):
    """Return (nDCG@5, recall@5, RR@5) of a ranking; `relevant` maps documents to scores above 0."""
    window = ranking[:CUTOFF]
    ideal = sorted(relevant.values(), reverse=True)[:CUTOFF]
    hits = [rank for rank, document in enumerate(window, 1) if document in relevant]
    return (dcg([relevant.get(document, 0) for document in window]) / dcg(ideal),
            len(hits) / len(relevant), 1 / hits[0] if hits else 0.0)


def evaluate(folder, engine, limit):
    """Return (documents, queries, {ranker: means}, {ranker: run}, qrels) of one set."""
    documents = records(os.path.join(folder, "corpus.jsonl"))
    queries = records(os.path.join(folder, "queries.jsonl"))
    qrels = judgments(os.path.join(folder, "qrels", "test.tsv"), queries, documents)
    if not qrels:
        raise BenchmarkError(f"{visible(folder)}: no query has a relevant document")
    index = engine.module.CapabilityIndex([listing(one) for one in documents.values()], NOW)
    means, runs = {}, {}
    for ranker in RANKERS:
        run = runs[ranker] = {}
        for query in qrels:
            answer = getattr(index, ranker)(queries[query]["text"], limit=limit)
            items = answer["items"] if isinstance(answer, dict) else answer
            run[query] = [item["id"] if isinstance(item, dict) else item for item in items]
        columns = zip(*(scores(run[query], relevant) for query, relevant in qrels.items()))
        means[ranker] = [math.fsum(column) / len(qrels) for column in columns]
    return len(documents), len(qrels), means, runs, qrels


def trec_files(name, runs, qrels):
    """Return {file name: text} of a set's judgments and runs."""
    files = {f"{name}.qrels.txt": "".join(
        f"{quote(query)} 0 {quote(document)} {score}\n"
        for query, relevant in qrels.items() for document, score in relevant.items())}
    for ranker, run in runs.items():
        files[f"{name}.{ranker}.run"] = "".join(
            f"{quote(query)} Q0 {quote(document)} {rank} {len(ranking) + 1 - rank} {ranker}\n"
            for query, ranking in run.items() for rank, document in enumerate(ranking, 1))
    return files


################ Command

def table(results):
    """Return the Markdown table of the means, with the mean over the sets."""
    lines = ["| set | documents | queries | ranker | " + " | ".join(MEASURES) + " |",
             "|---|---|---|---|" + "---|" * len(MEASURES)]
    for ranker in RANKERS:
        for name, documents, queries, means in results:
            cells = " | ".join(f"{value:.4f}" for value in means[ranker])
            lines.append(f"| {name} | {documents} | {queries} | {ranker} | {cells} |")
        over = [math.fsum(column) / len(results)
                for column in zip(*(means[ranker] for _, _, _, means in results))]
        cells = " | ".join(f"{value:.4f}" for value in over)
        lines.append(f"| mean of {len(results)} | | | {ranker} | {cells} |")
    return "\n".join(lines) + "\n"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are BenchmarkErrors, one line each."""

    def error(self, message):
        """Raise BenchmarkError; --help shows the usage."""
        raise BenchmarkError(f"usage: {visible(message)}; see --help")


def parse(argv):
    """Return the options of a command line."""
    parser = Parser(prog="retrieval.py", description=__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a set in BEIR form")
    parser.add_argument("--engine", metavar="FILE", default=ENGINE, help="another ranker's file")
    parser.add_argument("--limit", metavar="N", type=int, default=CUTOFF,
                        help="the depth of the runs, from 5 (default: 5)")
    parser.add_argument("--trec", metavar="DIR", help="write judgments and runs for trec_eval")
    parser.add_argument("--version", action="version", version="retrieval.py 1.0.0")
    options = parser.parse_args(argv)
    if options.limit < CUTOFF:
        parser.error(f"--limit must be {CUTOFF} or more")
    return options


def run(options):
    """Return the table, after the TREC files are written."""
    results, files = [], {}
    with Engine(options.engine) as engine:
        for folder in options.folders:
            name = os.path.basename(os.path.abspath(folder))
            documents, queries, means, runs, qrels = evaluate(folder, engine, options.limit)
            results.append((visible(name), documents, queries, means))
            files.update(trec_files(name, runs, qrels))
    if options.trec:
        os.makedirs(options.trec, exist_ok=True)
        for name, text in files.items():
            write_file(os.path.join(options.trec, name), text.encode())
    return table(results)


def main(argv=None):
    """Return the exit status of a command line, as the manual lists them."""
    try:
        sys.stdout.write(run(parse(argv)))
        sys.stdout.flush()
        return 0
    except BenchmarkError as error:
        print("\n".join(f"error: {fault}" for fault in error.faults), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"error: {visible(str(error.filename))}: {error.strerror}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
