"""What stands in the closing table beside the means: intervals, groups, labels of people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.jobs import BAD, GOOD, job, partly_judged
from tests.commandline import SAMPLES, command, sample
from trecjudge.show.formats import interval

LABELS = SAMPLES / "rag" / "labels.jsonl"


def rescored(path: Path, *options: str | Path) -> list[str]:
    """Return the lines that `rescore` prints."""
    done = command("job", "rescore", f"{path}.judgments.jsonl", *options)
    assert done.status == 0, done.err
    return done.out.splitlines()


def test_an_interval_in_a_cell() -> None:
    assert interval((-0.1, 0.25), 2) == "-0.10 to 0.25"
    assert interval((None, 0.25)) == "n/a"


def test_intervals_and_groups_of_the_ranking_measure(tmp_path: Path) -> None:
    runs = {"good": [GOOD] * 13, "fair": [GOOD] * 12 + [BAD], "poor": [BAD] * 13}
    lines = rescored(job(tmp_path, "x", runs))
    cells = {line.split()[1]: line.split() for line in lines if line[:1].isdigit()}
    groups = {run: row[row.index("13/13") - 1] for run, row in cells.items()}
    assert groups == {"good": "a", "fair": "a", "poor": "b"}
    assert cells["good"][-5:-3] == ["n/a", "1-2"]  # always 1: no resample differs
    assert cells["fair"][-6] == "to"
    assert not any(line.startswith("groups:") for line in lines)


def test_runs_with_the_same_mean_share_a_place(tmp_path: Path) -> None:
    runs = {"a": [BAD, GOOD], "b": [GOOD, BAD], "best": [GOOD, GOOD], "last": [BAD, BAD]}
    lines = rescored(job(tmp_path, "x", runs))
    places = [line.split()[:2] for line in lines if line.strip()[:1].isdigit()]
    assert places == [["1", "best"], ["2=", "a"], ["2=", "b"], ["4", "last"]]


def test_too_few_topics_are_said(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    assert not any(line.startswith("groups:") for line in rescored(tmp_path / "x"))
    sample("rag", tmp_path, "-q", "--set", "leaderboard.test=holm")
    test = "a paired test with Holm's correction"
    line_expected = f"groups: 3 topics are too few for {test} to tell any of 3 runs apart"
    assert line_expected in rescored(tmp_path / "x")


def test_the_interval_of_a_rank_is_shown_where_the_table_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {"good": [GOOD] * 8, "fair": [GOOD, BAD] * 4, "poor": [BAD] * 8}
    made = job(tmp_path, "x", runs)
    for columns, is_there in (("140", True), ("56", False)):
        monkeypatch.setenv("COLUMNS", columns)
        lines = rescored(made)
        rows = {line.split()[1]: line.split() for line in lines if line[:1].isdigit()}
        assert ("1-2" in rows["fair"] or "2-3" in rows["fair"] or "2-2" in rows["fair"]) is is_there
        assert any("95 %" in line for line in lines)


def test_a_single_run_has_no_group(tmp_path: Path) -> None:
    lines = rescored(job(tmp_path, "x", {"only": [GOOD] * 5 + [BAD]}))
    assert not any(" group " in line for line in lines)
    assert any("0.778" in line and "0.833" in line and " to 0.93" in line for line in lines)


def test_one_topic_has_neither_interval_nor_group(tmp_path: Path) -> None:
    lines = rescored(job(tmp_path, "x", {"a": [GOOD], "b": [BAD]}))
    assert not any("95 %" in line or " group " in line for line in lines)


def test_labels_of_people_have_columns_of_their_own(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "support")
    lines = rescored(tmp_path / "x", "--human", LABELS)
    assert any("with labels" in line for line in lines)
    line_expected = (
        "labels of people: 38 given, 33 of them on judged items, 0 that the judge does not know"
    )
    assert any(line.startswith(line_expected) for line in lines)


def test_the_main_job_takes_them_too(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "support", "--human", LABELS)
    first = (tmp_path / "x.leaderboard.jsonl").read_bytes()
    assert b'"labelled":3' in first
    rescored(tmp_path / "x", "--human", LABELS)
    assert (tmp_path / "x.leaderboard.jsonl").read_bytes() == first
    assert str(LABELS) in (tmp_path / "x.config.yml").read_text()


def test_labels_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "support")
    bad = tmp_path / "bad.jsonl"
    bad.write_text(LABELS.read_text() + '{"label": "full"}\n')
    done = command("job", "rescore", tmp_path / "x.judgments.jsonl", "--human", bad, "-q")
    assert done.status == 3
    assert "bad.jsonl:39: needs topic_id, run_id and label" in done.err
    bad.write_text("")
    done = command("job", "rescore", tmp_path / "x.judgments.jsonl", "--human", bad)
    assert (done.status, "no labels in it" in done.err) == (1, True)


def test_labels_that_all_say_the_same_are_told(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "support")
    found = json.loads(command("labels", "next", tmp_path, "--budget", "100", "--json").out)[
        "items"
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(json.dumps(one | {"label": "none"}) for one in found[:25]))
    text = " ".join(rescored(tmp_path / "x", "--human", labels))
    assert "all 25 say the same, and the judge does not" in text
    assert "too few" not in text.partition("labels of people")[2]


def test_a_judge_that_takes_no_labels_says_so_before_it_judges(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "--judge", "length", "--human", LABELS)
    assert (done.status, "'length' takes no labels of others (--labels)" in done.err) == (1, True)
    assert not (tmp_path / "x.judgments.jsonl").exists()


def many(path: Path, *options: str) -> list[str]:
    """Return what is printed of 23 runs with long names by two judges."""
    runs = {f"team-{i:02d}-with-a-long-name-of-a-run": [GOOD] * (i % 3) + [BAD] for i in range(23)}
    made = job(path, "x", runs, "--judge", "citation", "--also", "support")
    return rescored(made, *options)


def test_by_default_twenty_runs_and_the_measure_that_ranks(tmp_path: Path) -> None:
    lines = many(tmp_path)
    table = lines[: next(i for i, line in enumerate(lines) if line.startswith("…"))]
    assert max(map(len, table)) <= 80
    assert len(re.findall(r"^ *[\d?]+=? ", "\n".join(table), re.MULTILINE)) == 20
    assert "WEIGHTED" not in "".join(table)
    where = tmp_path / "out" / "x.leaderboard.txt"
    assert f"… 3 more runs in {where}; --all shows them too" in lines
    assert any(f" more measures in {where}; --measure A,B or all" in line for line in lines)


@pytest.mark.parametrize(
    ("options", "there", "gone"),
    [
        pytest.param(["--all"], "team-22", "more run", id="all runs"),
        pytest.param(["--measures", "all"], "WEIGHTED_", "more measure", id="all measures"),
        pytest.param(["--measures", "ranking"], "PRECISION", "RECALL", id="of each judge"),
        pytest.param(["--measures", "HARD_RECALL,AVG_CITATIONS"], "HARD_", "PERFECT", id="named"),
        pytest.param(["--wide"], "team-00-with-a-long-name-of-a-run", "more measure", id="wide"),
    ],
)
def test_the_rest_is_shown_on_request(
    tmp_path: Path, options: list[str], there: str, gone: str
) -> None:
    text = "\n".join(many(tmp_path, *options))
    assert there in text
    assert gone not in text


def test_a_measure_that_is_none_is_told_before_anything_is_judged(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "--measures", "PERFECT")
    assert done.status == 1
    assert "--measure: unknown measure 'PERFECT'" in done.err
    assert not (tmp_path / "x.judgments.jsonl").exists()


def test_what_unjudged_items_leave_open_is_no_confidence_interval(tmp_path: Path) -> None:
    lines = rescored_open(partly_judged(tmp_path))
    assert "lowest to" in lines[1] and "highest" in lines[2]
    (row,) = [line for line in lines if line.split()[1:2] == ["b"]]
    assert row.split()[:4] == ["?", "b", "1.000", "0.33-1.00"]
    assert any(line.endswith("it is not a confidence interval") for line in lines)


def rescored_open(path: Path) -> list[str]:
    """Return the lines that `rescore` prints of a job with unjudged items."""
    done = command("job", "rescore", f"{path}.judgments.jsonl")
    assert done.status == 3
    return done.out.splitlines()
