"""Compare, agree, meta-evaluate from Python: on results, files and frames, as the commands."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import trecjudge
from tests.cli.jobs import BAD, GOOD, as_json, job, partly_judged
from tests.commandline import SAMPLES
from trecjudge import FindingWarning, InputError, Result

RUNS = {"a": [GOOD, GOOD, BAD], "b": [GOOD, BAD, BAD], "c": [BAD, BAD, BAD]}
MEASURE = "CITATION_ACCURACY"


@pytest.fixture
def result() -> Result:
    folder = SAMPLES / "rag"
    return trecjudge.judge(
        folder / "runs",
        topics=folder / "topics.jsonl",
        documents=folder / "documents.jsonl",
    )


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda v: asdict(v) if v else v))


def test_compare_is_the_command(tmp_path: Path) -> None:
    before, after = (job(tmp_path, name, runs) for name, runs in (("x", RUNS), ("y", RUNS)))
    _, printed = as_json("compare", before, after)
    found = trecjudge.compare(before, after).as_dict()
    assert plain(found["differences"]) == printed["differences"]
    assert found["verdicts"]["shared"] == printed["verdicts"]["shared"] == 9


def test_meta_evaluate_is_the_command(tmp_path: Path) -> None:
    truth, board = (job(tmp_path, name, RUNS) for name in "xy")
    _, printed = as_json("meta-evaluate", board, "--truth", truth)
    with pytest.warns(FindingWarning):
        found = trecjudge.meta_evaluate(board, truth=truth)
    assert plain([one.as_dict() for one in found.pairs]) == printed["pairs"]


def test_agree_is_the_command(tmp_path: Path) -> None:
    truth, predicted = (job(tmp_path, name, RUNS) for name in "xy")
    _, printed = as_json("agree", "--truth", truth, "--predicted", predicted)
    found = plain(trecjudge.agree(truth, predicted).as_dict())
    assert found == {key: value for key, value in printed.items() if key != "findings"}


def test_results_and_paths_and_frames_are_the_same_side(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    written = result.write(tmp_path, "x")["leaderboard"]
    for other in (written, result, result.scores_frame()):
        gap = "uncited: SENTENCE_SUPPORT has no value on 2 topics"
        told = pytest.warns(match=gap) if hasattr(other, "columns") else nullcontext()
        with told:
            differences = trecjudge.compare(result, other).differences
        assert len(differences) == 3 * len(result.measures)
        assert max(abs(one.difference or 0.0) for one in differences) <= 1e-6
        pairs = trecjudge.meta_evaluate(other, truth=result, measures=[MEASURE]).pairs
        kendall = {c.name: c.value for c in pairs[0].correlations}["kendall"]
        assert kendall is not None


def test_a_gap_of_a_frame_is_in_no_mean_and_a_row_that_is_not_there_counts_0() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [("a", "1", 1.0), ("a", "2", None), ("b", "1", 1.0), ("b", "2", 1.0), ("c", "1", 1.0)]
    frame = pandas.DataFrame(
        [(run, topic, "M", value) for run, topic, value in rows],
        columns=["run_id", "topic_id", "measure", "value"],
    )
    found = trecjudge.meta_evaluate(frame, truth=frame, on_finding=lambda finding: None)
    means = dict(zip(found.pairs[0].runs, found.pairs[0].predicted, strict=True))
    assert means == {"a": 1.0, "b": 1.0, "c": 0.5}


def test_unjudged_items_of_a_frame_are_told(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    given = [
        {
            "metadata": {"run_id": run, "topic_id": str(n)},
            "responses": [{"text": "Said.", "citations": ["k"]}],
        }
        for run in "abc"
        for n in range(2)
    ]
    lost = trecjudge.judge(given, "citation")
    with pytest.warns(FindingWarning, match="measures that runs lack .*: .*CITATION_SUPPORT"):
        found = trecjudge.meta_evaluate(lost.scores_frame(), truth=job(tmp_path, "x", RUNS))
    assert "CITATION_SUPPORT" not in {one.measure for one in found.pairs}


def test_unjudged_of_a_result_is_as_of_its_files(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    _, printed = as_json("compare", path, "--against", "a")
    found = trecjudge.compare(path, against="a", on_finding=lambda finding: None)
    assert plain(found.as_dict()["differences"]) == printed["differences"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"run_id": ["a"], "topic_id": ["1"], "measure": ["M"]}, "unknown column 'value'"),
        (
            {"run_id": ["a"], "topic_id": ["1"], "measure": ["M"], "value": ["x"]},
            "frame 1:1: value is 'x', not a number",
        ),
    ],
)
def test_a_frame_that_is_none_is_refused(frame: dict[str, list[str]], message: str) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=message):
        trecjudge.compare(pandas.DataFrame(frame))


def test_labels_as_records_and_frames(result: Result) -> None:
    records = [
        {
            "topic_id": judgment.topic_id,
            "run_id": judgment.run_id,
            "sentence_index": judgment.sentence_index,
            "doc_id": judgment.doc_id,
            "label": judgment.label,
        }
        for judgment in result.judgments()
        if judgment.doc_id
    ]
    found = trecjudge.agree(records, result)
    assert (found.items, found.only_truth) == (len(records), 0)
    pandas = pytest.importorskip("pandas")
    again = trecjudge.agree(pandas.DataFrame(records), result)
    assert again.confusion == found.confusion
    gaps = pandas.DataFrame([*records[1:], records[0] | {"label": None}])
    assert trecjudge.agree(gaps, result).items == len(records) - 1


def test_two_results_of_one_name_are_told_apart(result: Result) -> None:
    names = {d.before.partition(":")[0] for d in trecjudge.compare(result, result).differences}
    names |= {d.after.partition(":")[0] for d in trecjudge.compare(result, result).differences}
    assert names == {"default", "default (2)"}


def test_nothing_to_compare(result: Result) -> None:
    with pytest.raises(InputError, match="unknown run 'z'"):
        trecjudge.compare(result, runs=["z"])


BAD_CALLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], str]] = {
    "no leaderboard": ("compare", (), {}, "there is no leaderboard"),
    "none beside the truth": ("meta_evaluate", (), {"truth": "r"}, "there is no leaderboard"),
    "None": ("compare", (None,), {}, "leaderboard 1: None: give a result"),
    "a list of results": ("compare", ("r", ["r", "r"]), {}, "leaderboard 2: .*give a result"),
    "a measure that is not there": ("compare", ("r", "r"), {"measures": ["N"]}, "measure 'N'"),
    "one name is one name": ("compare", ("r", "r"), {"measures": "NOPE"}, "measure 'NOPE'"),
    "a run's name": ("compare", ("r",), {"runs": "nope"}, "unknown run 'nope'"),
    "duplicates": ("compare", ("r", "r"), {"duplicates": "x"}, "unknown duplicates 'x'.*first"),
    "on_missing": ("agree", ("r", "r"), {"on_missing": "skip"}, "unknown on_missing.*common"),
    "on_missing of runs": (
        "meta_evaluate",
        ("r",),
        {"truth": "r", "on_missing": "default"},
        "unknown on_missing 'default'.*common, error, zero",
    ),
    "labels None": ("agree", (None, "r"), {}, "truth: None: give"),
    "labels one record": ("agree", ("r", {"label": "x"}), {}, "predicted: .*list of records"),
    "labels no records": ("agree", (["x"], "r"), {}, "truth: record 1 is 'x', not an object"),
    "labels no JSON": ("agree", ([{"label": 1, "x": {1}}], "r"), {}, "truth: record 1 is not JSON"),
    "labels of nothing": ("agree", ([], "r"), {}, r"^truth\.jsonl: no labels in it; give qrels"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_what_cannot_be_compared_is_said(result: Result, case: str) -> None:
    name, given, options, message = BAD_CALLS[case]
    given = tuple(result if one == "r" else one for one in given)
    options = {key: result if value == "r" else value for key, value in options.items()}
    with pytest.raises(InputError, match=message):
        getattr(trecjudge, name)(*given, **options)


def test_one_name_may_stand_for_a_list_of_one(result: Result) -> None:
    one = {"measures": MEASURE, "correlations": "kendall", "truth_measures": MEASURE}
    (pair,) = trecjudge.meta_evaluate(result, truth=result, **one).pairs
    assert [c.name for c in pair.correlations] == ["kendall"]
    assert {d.measure for d in trecjudge.compare(result, measures=MEASURE).differences} == {MEASURE}
