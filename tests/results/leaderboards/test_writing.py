"""Every format written and read again, by us and by the tools that it is for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval

from tests.commandline import sample
from trecjudge.errors import OutputError
from trecjudge.findings import Finding
from trecjudge.results.jobs import outcome
from trecjudge.results.leaderboards.reading import read_all
from trecjudge.results.leaderboards.writing import LAYOUTS, write_rows
from trecjudge.results.trec import LeaderboardRow

ODD = ["a b", "a\tb", "100%", "a%20b", "é", "a,b", 'a"b', "../a", ".a", "a/b", "a\u2028b", "a.json"]
ODD += ['=HYPERLINK("http://x")', "+a", "-a", "@a", "'=a", "''=a", "'a", "-0.5", "'-0.5", "a;=b"]
ROWS = [
    LeaderboardRow(run, topic, measure, value)
    for run in ["plain", *ODD]
    for topic, measure, value in [("t 1", "M", 1 / 3), ("all", "M", 1e-17), (None, "N.M@5", -2.0)]
] + [LeaderboardRow("plain", None, measure, 0.5) for measure in ODD]


def fail(finding: Finding) -> None:
    pytest.fail(str(finding))


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_is_written_is_read_again_to_the_last_digit(name: str, tmp_path: Path) -> None:
    written = write_rows(ROWS, tmp_path / "lb", LAYOUTS[name])
    read = [row for _, row in read_all(written, fail, name)]
    assert sorted(read, key=str) == sorted(ROWS, key=str)


@pytest.mark.parametrize("name", LAYOUTS)
def test_and_recognised_without_its_name(name: str, tmp_path: Path) -> None:
    rows = [r for r in ROWS if r.run_id == "plain"]
    write_rows(rows, tmp_path / "lb", LAYOUTS[name])
    read = [row for _, row in read_all(outcome(tmp_path / "lb").leaderboard, fail)]
    assert sorted(read, key=str) == sorted(rows, key=str)


def test_trec_eval_writes_nothing_outside_its_folder(tmp_path: Path) -> None:
    write_rows(ROWS, tmp_path / "lb", LAYOUTS["trec_eval"])
    assert os.listdir(tmp_path) == ["lb"]
    names = os.listdir(tmp_path / "lb")
    assert len(names) == len(ODD) + 1
    assert not [name for name in names if name.startswith(".")]


def test_a_run_too_long_for_a_file_name(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="too long for the name of a file; give another format"):
        write_rows([LeaderboardRow("x" * 300, None, "M", 1)], tmp_path, LAYOUTS["trec_eval"])


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="no folder for one file a run"):
        write_rows(ROWS, tmp_path / "file" / "x", LAYOUTS["trec_eval"])


def test_ir_measures_reads_our_qrels(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--qrels-pool")
    rows = list(ir_measures.read_trec_qrels(str(tmp_path / "x.qrels")))
    ours = (tmp_path / "x.qrels").read_text().split()
    assert [(r.query_id, r.doc_id, str(r.relevance)) for r in rows] == list(
        zip(ours[0::4], ours[2::4], ours[3::4], strict=True)
    )


def test_pytrec_eval_and_ir_measures_evaluate_a_run_by_our_qrels(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--qrels-pool")
    with (tmp_path / "x.qrels").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    assert sum(map(len, qrels.values())) == len((tmp_path / "x.qrels").read_text().splitlines())
    lines = [
        f"{topic} Q0 {doc_id} {rank} {-rank} r"
        for topic, docs in qrels.items()
        for rank, doc_id in enumerate(sorted(docs), 1)
    ]
    (tmp_path / "run").write_text("\n".join(lines))
    with (tmp_path / "run").open() as file:
        scores = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(
            pytrec_eval.parse_run(file)
        )
    measure = ir_measures.nDCG
    read = ir_measures.read_trec_qrels(str(tmp_path / "x.qrels"))
    found = ir_measures.iter_calc([measure], read, ir_measures.read_trec_run(str(tmp_path / "run")))
    by_topic = {metric.query_id: metric.value for metric in found}
    assert by_topic == pytest.approx({topic: own["ndcg"] for topic, own in scores.items()})
    assert 0 < sum(by_topic.values()) / len(by_topic) < 1


LOADED = """
import json, pathlib, sys
from autojudge_evaluate.eval_results import load
found = load(pathlib.Path(sys.argv[1]), format=sys.argv[2], has_header=False,
             recompute_aggregates=False, verify=True, on_missing="error")
rows = [[e.run_id, e.topic_id, e.measure, float(e.value)] for e in found.entries]
print(json.dumps(rows))
"""


@pytest.mark.skipif(
    find_spec("autojudge_evaluate") is None, reason="pip install autojudge-evaluate"
)
@pytest.mark.parametrize("name", ["ir_measures", "tot", "trec_eval", "jsonl"])
def test_autojudge_evaluate_reads_what_we_write(name: str, tmp_path: Path) -> None:
    rows = [
        LeaderboardRow(run, topic, "M", value)
        for run in ("a", "b", "c")
        for topic, value in (("1", 0.25), ("2", 0.75), (None, 0.5))
    ]
    write_rows(rows, tmp_path / "lb", LAYOUTS[name])
    done = subprocess.run(  # it looks for data in the network while it is imported
        [sys.executable, "-c", LOADED, str(tmp_path / "lb"), name],
        capture_output=True,
        text=True,
        check=True,
    )
    found = {tuple(row) for row in json.loads(done.stdout.splitlines()[-1])}
    assert found == {(r.run_id, r.topic_id or "all", r.measure, r.value) for r in rows}
