#!/usr/bin/env python3
"""Score the two rankers on search sets in BEIR form, which nobody here wrote.

    $ python studies/retrieval.py sets/metatool sets/toolbench
    $ python studies/retrieval.py --trec runs --limit 100 my-set      a deeper run, for trec_eval
    $ python studies/retrieval.py --engine my_ranker.py --json my-set

A set is a folder with three files in UTF-8:

    corpus.jsonl     {"_id", "title", "text", "metadata": {"tags": [...],
                      "skills": [{"name", "description", "tags"}]}}; only _id and text must be there
    queries.jsonl    {"_id", "text"}
    qrels/test.tsv   a head line, then query id, document id and a whole score, parted by tabs

A document becomes a listing: its title is the card's name, its text the description. Figures are
means over the queries that have a document with a score above 0; the column "queries" counts them.
An unanswered query scores 0. Five results count, and a repeated one earns nothing more:

    nDCG@5     Σ score / log2(rank + 1) over the results, divided by the same sum of the best order
    recall@5   relevant documents returned / relevant documents
    RR@5       1 / rank of the first relevant document, or 0

--trec writes SET.qrels.txt, SET.baseline.run and SET.recommendation.run, from which trec_eval reads
the same ndcg_cut_5, recall_5 and, at the default depth, recip_rank. White space, "%" and letters
beyond ASCII in an id are percent-encoded.

A run that fails names the place:

    $ python studies/retrieval.py broken
    error: broken/qrels/test.tsv: line 4: query 'q9' is not in queries.jsonl

Exit status: 0 done; 2 bad input, engine or usage, and then nothing is written; 130 interrupted.
"""

import math
import os
import re
import sys
from datetime import datetime, timezone

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from run_benchmark import (  # noqa: E402
    METHODS, RANKERS, BenchmarkError, Engine, Parser, complain, emit, encoded, few, help_formatter,
    id_list, in_file, parse_json, read_bytes, reason, sha256, shown_id, trec_name, visible,
    write_file)

VERSION = "1.0.0"
CUTOFF = 5
MEASURES = ("nDCG@5", "recall@5", "RR@5")
FILES = ("corpus.jsonl", "queries.jsonl", os.path.join("qrels", "test.tsv"))
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)     # nothing in a set has a time to compare with


################ Sets

def each_line(path, data, read):
    """Call read(number, line) on each line that is not blank; BenchmarkErrors get its place."""
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line.strip():
                read(number, line)
        except BenchmarkError as error:
            what = error.faults[0].removeprefix("line 1").lstrip(": ")
            raise BenchmarkError(in_file(path, [f"line {number}: {what}"])) from None


def record_fault(record):
    """Return what is wrong with a document or query, or None."""
    if type(record) is not dict:
        return "must be an object"
    if type(record.get("_id")) is not str or not record["_id"].strip():
        return "_id: must be text that is not empty"
    for key, value in (("text", record.get("text")), ("title", record.get("title") or "")):
        if type(value) is not str:
            return f"{key}: must be text"
    metadata = record.get("metadata") or {}
    if type(metadata) is not dict:
        return "metadata: must be an object"
    for key, kind, name in (("tags", str, "texts"), ("skills", dict, "objects")):
        values = metadata.get(key) or []
        if type(values) is not list or any(type(value) is not kind for value in values):
            return f"metadata.{key}: must be a list of {name}"
    return None


def read_records(path, data):
    """Return {_id: record} of a JSON lines file, in its order; raise BenchmarkError."""
    records = {}

    def read(number, line):
        record = parse_json(line)
        what = record_fault(record)
        if what is None and record["_id"] in records:
            what = f"_id {shown_id(record['_id'])}: occurs more than once"
        if what:
            raise BenchmarkError(what)
        records[record["_id"]] = record

    each_line(path, data, read)
    return records


def read_qrels(path, data, queries, documents):
    """Return {query id: {document id: score}}, scores of 0 and below included."""
    qrels = {}

    def read(number, line):
        fields = [field.strip() for field in line.decode("utf-8", "replace").split("\t")]
        whole = len(fields) == 3 and re.fullmatch(r"-?[0-9]{1,9}", fields[2])
        if number == 1 and (len(fields) != 3 or whole):
            raise BenchmarkError("must be the head line: query-id, corpus-id, score")
        if number > 1 and not whole:
            raise BenchmarkError("must be query id, document id and a whole score, parted by tabs")
        if number == 1:
            return
        query, document, score = fields
        if query not in queries:
            raise BenchmarkError(f"query {shown_id(query)} is not in queries.jsonl")
        if document not in documents:
            raise BenchmarkError(f"document {shown_id(document)} is not in corpus.jsonl")
        if document in qrels.setdefault(query, {}):
            raise BenchmarkError(f"judges {shown_id(query)} and {shown_id(document)} again")
        qrels[query][document] = int(score)

    each_line(path, data, read)
    return qrels


def read_set(folder):
    """Return (documents, queries, qrels, digests) of a folder; qrels of scored queries alone."""
    paths = [os.path.join(folder, name) for name in FILES]
    corpus, texts, judged = (read_bytes(path) for path in paths)
    documents = read_records(paths[0], corpus)
    queries = read_records(paths[1], texts)
    qrels = {query: scores
             for query, scores in read_qrels(paths[2], judged, queries, documents).items()
             if max(scores.values()) > 0}
    if not qrels:
        raise BenchmarkError(in_file(paths[2], ["no query has a document with a score above 0"]))
    digests = {name.replace(os.sep, "/"): sha256(data)
               for name, data in zip(FILES, (corpus, texts, judged))}
    return documents, queries, qrels, digests


def listing(document):
    """Return the listing of a document."""
    metadata = document.get("metadata") or {}
    return {"id": document["_id"], "tags": metadata.get("tags") or [],
            "card": {"name": document.get("title") or "", "description": document["text"],
                     "skills": metadata.get("skills") or []}}


################ Rankings and their scores

def rankings(engine, documents, texts, limit):
    """Return {ranker: {query id: document ids}}; `texts` maps query ids to what they ask."""
    index = engine.guarded("CapabilityIndex", engine.module.CapabilityIndex,
                           [listing(document) for document in documents.values()], NOW)
    runs = {}
    for ranker in RANKERS:
        method = engine.guarded("CapabilityIndex", getattr, index, METHODS[ranker])
        run = runs[ranker] = {}
        for query, text in texts.items():
            where = f"{ranker}, query {shown_id(query)}"
            answer = engine.guarded(where, method, text, None, limit)
            run[query] = list(engine.guarded(where, id_list, answer))[:limit]
            unknown = [one for one in run[query] if type(one) is not str or one not in documents]
            if unknown:
                engine.fail(f"{where}: returned {few(unknown)}, which is no document's id")
    return runs


def dcg(gains):
    """Return the discounted cumulative gain: Σ gain / log2(rank + 1), the first rank is 1."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def query_scores(ranking, scores):
    """Return (nDCG@5, recall@5, RR@5) of a ranking; `scores` maps judged documents to scores."""
    gains = {document: score for document, score in scores.items() if score > 0}
    relevant, best = len(gains), sorted(gains.values(), reverse=True)[:CUTOFF]
    found = [gains.pop(document, 0) for document in ranking[:CUTOFF]]  # a repeat finds it gone
    hits = [rank for rank, gain in enumerate(found, 1) if gain]
    return dcg(found) / dcg(best), len(hits) / relevant, 1 / hits[0] if hits else 0.0


def means(rows):
    """Return {measure: mean} of rows of values in the order of MEASURES."""
    columns = [list(column) for column in zip(*rows)]
    return {measure: math.fsum(column) / len(column) for measure, column in zip(MEASURES, columns)}


################ Output

def trec_files(name, runs, qrels):
    """Return {file name: text}: the judgments and the runs of a set."""
    # trec_eval drops unanswered queries from its means, and repeated documents from their slots:
    # both get a document that nobody judged. No encoded id begins like it.
    files = {f"{name}.qrels.txt": "".join(
        f"{trec_name(query)} 0 {trec_name(document)} {score}\n"
        for query, scores in qrels.items() for document, score in scores.items())}
    for ranker, run in runs.items():
        lines = []
        for query, ranking in run.items():
            words = [f"%repeat-{at}" if document in ranking[:at] else trec_name(document)
                     for at, document in enumerate(ranking)] or ["%nothing"]
            lines += [f"{trec_name(query)} Q0 {word} {rank} {len(words) - rank + 1} {ranker}\n"
                      for rank, word in enumerate(words, 1)]
        files[f"{name}.{ranker}.run"] = "".join(lines)
    return files


def write_trec(folder, files):
    """Write {file name: text} into a folder, which is made if it is missing."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise BenchmarkError(in_file(folder, [f"cannot be made: {reason(error)}"])) from None
    for name, text in files.items():
        write_file(os.path.join(folder, name), text.encode())


def table(report):
    """Return a report as a Markdown table."""
    lines = ["| set | documents | queries | ranker | " + " | ".join(MEASURES) + " |",
             "|---|--:|--:|---|" + "--:|" * len(MEASURES)]
    for ranker in RANKERS:
        rows = [(visible(one["set"]), f"{one['documents']:,}", f"{one['queries']:,}", one[ranker])
                for one in report["sets"]]
        rows.append((f"mean of {len(rows)}", "", "", report["mean"][ranker]))
        for *cells, figures in rows:
            cells += [ranker, *(f"{figures[measure]:.4f}" for measure in MEASURES)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


################ Command

def parse(argv):
    """Return (options, help text) of a command line; raise BenchmarkError."""
    parser = Parser(prog="retrieval.py", description=__doc__, allow_abbrev=False, add_help=False,
                    formatter_class=help_formatter)
    add = parser.add_argument
    add("folders", metavar="DIR", nargs="*", help="a set in BEIR form, one or more")
    add("--engine", metavar="FILE", default=os.path.join(ROOT, "capability_search.py"),
        help="the rankers (default: capability_search.py in the folder above)")
    add("--limit", metavar="N", type=int, default=CUTOFF,
        help="depth of the rankings and runs, from 5 (default: 5)")
    add("--trec", metavar="DIR", help="write judgments and runs for trec_eval into this folder")
    add("--json", action="store_true", help="print JSON, with the SHA-256 of every file")
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if options.help or options.version:
        return options, parser.format_help() if options.help else f"retrieval.py {VERSION}\n"
    if not options.folders:
        parser.error("name a folder, or more")
    if options.limit < CUTOFF:
        parser.error(f"--limit: must be {CUTOFF} or more")
    names = [os.path.basename(os.path.realpath(folder)) for folder in options.folders]
    if len(set(names)) < len(names):
        parser.error("two folders have the same name")
    options.sets = dict(zip(names, options.folders))
    return options, ""


def run(options):
    """Return what to print, after the TREC files are written."""
    sets, files = [], {}
    with Engine(options.engine) as engine:
        for name, folder in options.sets.items():
            documents, queries, qrels, digests = read_set(folder)
            texts = {query: queries[query]["text"] for query in qrels}
            runs = rankings(engine, documents, texts, options.limit)
            sets.append({"set": name, "documents": len(documents), "queries": len(qrels),
                         **{ranker: means(query_scores(run[query], qrels[query]) for query in qrels)
                            for ranker, run in runs.items()}, "sha256": digests})
            files.update(trec_files(name, runs, qrels))
        report = {"ranker_version": engine.version, "engine_sha256": sha256(engine.source),
                  "limit": options.limit, "sets": sets,
                  "mean": {ranker: means(one[ranker].values() for one in sets)
                           for ranker in RANKERS}}
    if options.trec is not None:
        write_trec(options.trec, files)
    return encoded(report) if options.json else table(report)


def main(argv=None):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    try:
        options, manual = parse(argv)
        emit(manual or run(options))
        return 0
    except BenchmarkError as error:
        complain(f"error: {fault}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain(["interrupted"])
        return 130


if __name__ == "__main__":
    sys.exit(main())
