"""Several judges: the order of their names changes nothing, and each has figures of its own."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

import trecjudge
from tests.cli.jobs import BAD, GOOD, job
from tests.commandline import SAMPLES, command, sample
from trecjudge.judging.judge import judge_names

OFFLINE = sorted({*judge_names()} - {"autojudge"})
NUGGETS = [{"text": "The ferry entered service.", "importance": "vital"}]
BANK = {"qid": "501", "query": "The ferry", "nuggets": NUGGETS}
OF_TIME = re.compile(r'"(timestamp|seconds|command_line)":("[^"]*"|[\d.e-]+|\[[^\]]*\])')


def files(folder: Path, *judges: str) -> dict[str, bytes]:
    """Return the files of a job of these judges, without times and the command line."""
    bank = folder.parent / "bank.jsonl"
    bank.write_text(json.dumps(BANK))
    done = sample("ragtime", folder, "--judge", ",".join(judges), "--nuggets", bank, "--report")
    assert done.status in (0, 3), done.err
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    config = found.pop("x.config.yml").decode().splitlines()
    found["log"] = OF_TIME.sub("", found.pop("x.log").decode()).encode()
    own = (line for line in config if not re.match(r" *(written|seconds|- ):? ", line))
    del found["x.report.html"]  # it has the time of the job; its figures are those of the others
    return found | {"config": "\n".join(own).encode()}


PAIRS = [
    pytest.param(pair, marks=pytest.mark.slow("trecjudge/judging", "judges"))
    for pair in itertools.pairwise(OFFLINE)
]


@pytest.mark.parametrize("judges", [*PAIRS, tuple(OFFLINE)], ids="-".join)
def test_the_order_of_judges_changes_no_byte(judges: tuple[str, ...], tmp_path: Path) -> None:
    one, other = (files(tmp_path / o, *named) for o, named in (("a", judges), ("b", judges[::-1])))
    assert sorted(one) == sorted(other)
    assert [name for name in one if one[name] != other[name]] == []


def test_figures_of_a_judge_are_those_that_it_has_alone(tmp_path: Path) -> None:
    alone, beside = tmp_path / "a", tmp_path / "b"
    sample("rag", alone, "--judge", "support", "-q")
    sample("rag", beside, "--judge", "citation,support,nuggets", "-q")
    rows = set((alone / "x.leaderboard.txt").read_text().splitlines())
    assert rows <= set((beside / "x.leaderboard.txt").read_text().splitlines())
    assert (alone / "x.qrels").read_bytes() == (beside / "x.support.qrels").read_bytes()


def test_each_judge_that_grades_has_its_qrels(tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"r": [GOOD]}, "--judge", "length,citation,support")
    found = {file.name: file.read_text() for file in path.parent.glob("*.qrels")}
    assert found == {"x.citation.qrels": "1 r k 2\n", "x.support.qrels": "1 r k 2\n"}
    again = command("job", "rescore", path, "--out-dir", tmp_path / "again", "--json")
    made = json.loads(again.out)["files"]
    assert Path(made["qrels.citation"]).read_text() == "1 r k 2\n" and "qrels" not in made


def test_judged_in_parts_it_is_the_same(tmp_path: Path) -> None:
    names = ("--judge", "support,direct_prompt,citation", "--set", "direct_prompt.unit=document")
    wholes = [tmp_path / name for name in ("one", "workers", "merged")]
    sample("rag", wholes[0], *names, "-q")
    sample("rag", wholes[1], *names, "-q", "--workers", "2")
    for part in ("1/2", "2/2"):
        sample("rag", tmp_path / "parts", *names, "-q", "--shard", part)
    command("job", "merge", tmp_path / "parts", "--out-dir", wholes[2], "--name", "x", "-q")
    one, *others = ({p.name: p.read_bytes() for p in f.glob("*.qrels")} for f in wholes)
    assert others == [one, one]
    kinds = {name: text.split(maxsplit=2)[1] == b"0" for name, text in one.items()}
    judges = ("citation", "direct_prompt", "support")
    assert kinds == {f"x.{judge}.qrels": judge == "direct_prompt" for judge in judges}


def test_a_result_has_the_qrels_of_each_judge(tmp_path: Path) -> None:
    data = SAMPLES / "rag"
    given = {"documents": data / "documents.jsonl", "judges": ["support", "citation"]}
    result = trecjudge.judge(data / "runs", **given)
    names = {what for what in result.files if what.startswith("qrels")}
    assert names == {"qrels.citation", "qrels.support"}
    (tmp_path / "y.qrels").write_text("1 r k 2\n")
    written = result.write(tmp_path, "y")
    assert written["qrels.support"].read_bytes() == result.files["qrels.support"].read_bytes()
    assert sorted(p.name for p in tmp_path.glob("*.qrels")) == [
        "y.citation.qrels",
        "y.support.qrels",
    ]


@pytest.mark.parametrize(
    ("before", "now", "left"),
    [
        ("citation", "citation,support", ["citation", "support"]),
        ("citation,support", "citation", [""]),
        ("citation,support", "support,length", ["support"]),
    ],
)
def test_no_qrels_of_an_earlier_job_stay(
    before: str, now: str, left: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for judges in (before, now):
        sample("rag", out, "--judge", judges, "-q")
        (out / "x.human.qrels").write_text("1 0 k 2\n")
    names = ["x.human.qrels", *(f"x.{judge}.qrels".replace("..", ".") for judge in left)]
    assert sorted(path.name for path in out.glob("*.qrels")) == sorted(names)


@pytest.mark.parametrize("first", ["x", "x.support"])
def test_qrels_of_two_jobs_are_never_one_file(first: str, tmp_path: Path) -> None:
    jobs = {"x": "citation,support", "x.support": "support"}
    names = [first, *(name for name in jobs if name != first)]
    data = SAMPLES / "ragtime"
    given = ("--rag-responses", data / "runs", "--documents", data / "documents.jsonl")
    given = (*given, "--out-dir", tmp_path, "-q")
    one, other = (command(*given, "--judge", jobs[name], "--name", name) for name in names)
    assert "has qrels of this job's name; give another --name" in other.err
    assert (one.status, other.status) == (0, 1)


def test_any_of_the_files_stands_for_its_job(tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"r": [GOOD], "s": [BAD]}, "--judge", "citation,support")
    shown = command("job", "judgments", f"{path}.support.qrels")
    assert (shown.status, shown.out) == (0, command("job", "judgments", path).out)


def test_what_ranks_is_said_and_can_be_named(tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"r": [GOOD], "s": [BAD]}, "--judge", "support,citation,length")
    out = command("job", "rescore", path).out
    assert "ranked by EXPECTED_CITATION_SUPPORT of judge citation" in " ".join(out.split())
    line = "ranked by judge citation, the first by name; another ranks with --set"
    assert f"{line} leaderboard.sort_by=MEASURE: LENGTH (length), EXPECTED_PRECISION (sup" in out
    assert "judged, by judge: citation 2 of 2, length 2 of 2, support 2 of 2; the table" in out
    by = ("--judge", "citation,length", "--set", "leaderboard.sort_by=LENGTH")
    named = command("job", "rescore", job(tmp_path, "y", {"r": [GOOD], "s": [BAD]}, *by)).out
    assert "ranked by LENGTH of judge length" in " ".join(named.split())
    assert "leaderboard.sort_by" not in named


def test_a_judge_without_values_leaves_the_order_to_the_next(tmp_path: Path) -> None:
    runs = {"r": [GOOD] * 2, "s": [BAD] * 2, "t": [GOOD, BAD]}
    path = job(tmp_path, "x", runs, "--judge", "argue,citation", status=3)
    out = command("job", "rescore", path).out
    assert "ranked by EXPECTED_CITATION_SUPPORT of judge citation" in " ".join(out.split())
    assert (
        "ranked by judge citation, the first by name whose measure most runs have; another ranks"
        in out
    )
    counts = json.loads(command("job", "rescore", path, "--json").out)
    assert counts["judged_by_judge"] == {"argue": [6, 12], "citation": [6, 6]}
    truth = job(tmp_path, "truth", runs)
    done = command("judges", "meta", path, "--truth", truth)
    assert done.status == 0 and "measures that runs lack (how many of 3): " in done.err
    for others in (
        ["compare", path],
        ["report", path],
        ["convert", path, tmp_path / "t.md", "--to", "markdown"],
    ):
        assert command(*others).status == 0
