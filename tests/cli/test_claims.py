"""Claims through a whole job: weights of a file, what is said below the table and of each claim."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.jobs import BAD, GOOD, as_json, job, written
from tests.commandline import command
from tests.endpoint import Answer, serving, text_of

WEIGHTS = (
    '{"topic_id": "1", "sentence_index": 0, "weight": 4}',
    '{"topic_id": "3", "claim": "Nobody says so.", "weight": 2}',
)
BOTH = f"{GOOD}, {BAD}"


def weighted(folder: Path, name: str, *options: str) -> Path:
    path = folder / "weights.jsonl"
    path.write_text("\n".join(WEIGHTS))
    named = ("--judge", "attribution", "--set", f"claim_weights={path}")
    return job(folder, name, {"a": [BOTH, BOTH], "b": [GOOD, GOOD]}, *named, *options)


def test_weights_count_in_one_process_and_in_several(tmp_path: Path) -> None:
    one, several = weighted(tmp_path, "x"), weighted(tmp_path, "y", "--workers", "2")
    table = one.with_suffix(".leaderboard.txt").read_text()
    assert table == several.with_suffix(".leaderboard.txt").read_text()
    values = dict(line.rsplit("\t", 1) for line in table.splitlines())
    rate, weighted_rate = (
        [float(values[f"a\t{topic}\t{name}"]) for topic in ("1", "2")]
        for name in ("ATTRIBUTION_RATE", "WEIGHTED_ATTRIBUTION")
    )
    lost = 1 / rate[0] - 1  # claims that are not attributed, for each that is
    assert (rate[0], weighted_rate[1]) == (rate[1], rate[1])
    assert round(weighted_rate[0], 4) == round(4 / (4 + lost), 4)
    for path in (one, several):
        config = path.with_suffix(".config.yml").read_text()
        assert "claim_weight_unused: 1" in config
        assert f"{tmp_path / 'weights.jsonl'}: " in config.partition("inputs_sha256:")[2]
    (tmp_path / "weights.jsonl").unlink()
    assert command("job", "rescore", one, "-q").status == 0


def weighing(body: dict[str, Any], number: int) -> Answer:
    """Weigh the claims of an answer 3, 1, 1 ...; on topic 2 leave one out."""
    text = text_of(body)
    claims = json.loads(text.partition("## claims ## ]]")[2].partition("\n\n")[0])
    weights = [3, *[1] * (len(claims) - 1)]
    return Answer(json.dumps({"weights": weights[: -1 if "Rivers" in text else None]}))


def test_a_model_weighs_claims_planned_kept_and_logged(tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    rows = ({"id": "1", "title": "Kettles"}, {"id": "2", "title": "Rivers"})
    topics.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("--judge", "attribution", "--set", "claims=rules", "--set", "detector=lexical")
    words += ("--set", "claim_weights=model", "--rag-topics", str(topics), "--use-env-llm")
    words += ("--cache-dir", str(tmp_path / "cache"))
    runs = {"a": [BOTH, BOTH]}
    with pytest.MonkeyPatch.context() as patch, serving(weighing, patch) as endpoint:
        status, plan = as_json(*words, "--plan", "--rag-responses", written(tmp_path, runs))
        assert (status, plan["calls"], endpoint.requests) == (0, 2, [])
        out = job(tmp_path, "x", runs, *words, status=3)
        asked = len(endpoint.requests)
        assert asked == 1 + 3  # what cannot be read is asked for as often as anything else
        job(tmp_path, "y", runs, *words, status=3)
        assert len(endpoint.requests) == asked + 3
    table = out.with_suffix(".leaderboard.txt").read_text()
    values = dict(line.rsplit("\t", 1) for line in table.splitlines())
    assert values["a\t1\tATTRIBUTION_RATE"] == values["a\t2\tATTRIBUTION_RATE"]
    assert values["a\t1\tWEIGHTED_ATTRIBUTION"] != values["a\t1\tATTRIBUTION_RATE"]
    assert "a\t2\tWEIGHTED_ATTRIBUTION" not in values
    assert values["a\tall\tWEIGHTED_ATTRIBUTION"] == values["a\t1\tWEIGHTED_ATTRIBUTION"]
    log = out.with_suffix(".log").read_text()
    assert '"program": "weigh_claims"' in log or '"program":"weigh_claims"' in log
    assert "must have" in log
    assert command("job", "rescore", out, "-q").status == 3
    assert out.with_suffix(".leaderboard.txt").read_text() == table


def test_weights_by_a_model_need_one(tmp_path: Path) -> None:
    words = ("--judge", "attribution", "--set", "claim_weights=model")
    done = command(*words, "--rag-responses", written(tmp_path, {"a": [GOOD]}))
    assert done.status == 1 and "--use-env-llm" in done.err


def test_a_claim_is_shown_with_its_kind_and_the_probability_of_its_verdict(tmp_path: Path) -> None:
    out = job(tmp_path, "x", {"a": [BOTH]}, "--judge", "attribution", "--report")
    assert (
        command("job", "judgments", out.parent, "--output", tmp_path / "all.csv", "-q").status == 0
    )
    with (tmp_path / "all.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["claim"]]
    kinds = {row["label"]: row["kind"] for row in rows}
    assert kinds["ATTRIBUTED"] == "" and kinds["UNATTRIBUTED"] in ("date", "name")
    assert all(0.5 < float(row["confidence"]) <= 1 for row in rows if row["kind"])
    shown = command("show", out.parent, "--run", "a", "--topic", "1").out
    lost = next(row for row in rows if row["kind"])
    assert f"claim, {lost['kind']} ({float(lost['confidence']):.2f}): {lost['claim']}" in shown
    page = out.with_suffix(".report.html").read_text(encoding="utf-8")
    remarks = [line for line in page.splitlines() if "no document states: " in line]
    assert remarks and "ATTRIBUTION_RATE: 1 " in page


def test_a_line_that_is_not_understood_stops_the_job_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_text('{"topic_id": "1", "claim": "A", "weight": -1}')
    (tmp_path / "r.jsonl").write_text(json.dumps({"no": "run"}))
    named = ("--judge", "attribution", "--set", f"claim_weights={tmp_path / 'w.jsonl'}")
    paths = ("--rag-responses", tmp_path / "r.jsonl", "--out-dir", tmp_path / "out")
    done = command(*named, *paths)
    assert done.status == 1 and "w.jsonl:1: weight is -1, not a finite number >= 0" in done.err
    assert not (tmp_path / "out").exists()
