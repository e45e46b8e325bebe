"""Score the exported TREC files with trec_eval and compare with the report; exit 1 on a difference.

Precision, recall and reciprocal rank per case and in the mean, for both rankers.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import pytrec_eval

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURES = {"P_5": "precision_at_5", "recall_5": "recall_at_5", "recip_rank": "mrr_at_5"}


def read(path, columns, kind):
    """{query: {document: value}} of a TREC file; `columns` are those of document and value."""
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split()
        rows.setdefault(fields[0], {})[fields[columns[0]]] = kind(fields[columns[1]])
    return rows


def main():
    """The exit status: 0 when trec_eval and the report agree to six places."""
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.executable, ROOT / "run_benchmark.py", "--trec", folder,
                        "--output", folder / "report.json"], check=True, stdout=subprocess.DEVNULL)
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        rows = {row["id"]: row for row in report["cases"]}
        qrels = read(folder / "qrels.txt", (2, 3), int)
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES))
        for ranker in ("baseline", "recommendation"):
            scores = evaluator.evaluate(read(folder / f"{ranker}.run", (2, 4), float))
            for theirs, ours in MEASURES.items():
                for case, values in scores.items():
                    if abs(values[theirs] - rows[case][f"{ranker}_{ours}"]) > 1e-6:
                        print(case, ranker, ours, rows[case][f"{ranker}_{ours}"], values[theirs])
                        faults += 1
                mean = math.fsum(values[theirs] for values in scores.values()) / len(scores)
                if abs(mean - report["summary"][ours][ranker]) > 1e-6:
                    print("mean", ranker, ours, report["summary"][ours][ranker], mean)
                    faults += 1
    print(f"{len(qrels)} cases, {faults} differences")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
