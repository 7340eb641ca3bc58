"""Our judges run by `auto-judge run`: as our own command judges; and the page on it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from tests.autojudge import auto_judge, auto_judge_apart, inputs, rows
from tests.commandline import ROOT, SAMPLES, Done, command
from tests.endpoint import attesting, serving
from tests.examples import arguments

Run = Callable[..., Done]
HEADER = "judge_class: trecjudge.interop.autojudge:Judge\n"
PANEL = "citation,support,length,attribution"
NUGGETIZER = (
    '{"qid": "%s", "query": "?", "nuggets": [{"text": "Steam makes a kettle whistle.",'
    ' "importance": "vital", "assignment": "support"}]}\n'
)


def ours(
    folder: Path,
    settings: str,
    flags: list[str],
    *more: str | Path,
    status: int = 0,
    run: Run = auto_judge,
) -> str:
    """Run our judges by `auto-judge run` into `folder/theirs`; return what it told."""
    path = folder / "ours.yml"
    path.write_text(f"{HEADER}settings: {settings}\n")
    done = run("-w", path, *flags, "--out-dir", folder / "theirs", "--filebase", "x", *more)
    assert done.status == status, done.err
    return done.err


def same(folder: Path, measures: int, qrels: int) -> None:
    """Compare the rows of both commands."""
    own, theirs = folder / "own", folder / "theirs"
    board = rows(own / "x.leaderboard.txt")
    assert rows(theirs / "x.eval.txt") == board
    assert len(board) == measures
    if qrels:
        written = sorted(own.glob("x*.qrels"))[0]  # of several judges, that of the first by name
        assert rows(theirs / "x.qrels.txt") == rows(written)
        assert len(rows(written)) == qrels


@pytest.mark.parametrize(
    ("judge", "measures", "qrels"), [("citation", 70, 20), (PANEL, 246, 19)], ids=["one", "four"]
)
def test_rows_are_those_of_our_own_command(
    judge: str, measures: int, qrels: int, tmp_path: Path
) -> None:
    data = SAMPLES / "ragtime"
    given = ["--rag-responses", str(data / "runs"), "--rag-topics", str(data / "topics.jsonl")]
    documents = data / "documents.jsonl"
    ours(tmp_path, f'{{judge: "{judge}", documents: {documents}}}', given)
    own = ["--documents", documents, "--qrels-pool", "--out-dir", tmp_path / "own", "--name", "x"]
    command("--judge", judge, *given, *own, "-q")
    same(tmp_path, measures, qrels)
    assert (tmp_path / "theirs" / "trecjudge" / "x.judgments.jsonl").exists()


def test_what_is_unjudged_is_told_and_never_averaged(tmp_path: Path) -> None:
    flags = inputs(tmp_path)
    told = ours(tmp_path, "{judge: [length, nuggets]}", flags)
    assert "[trecjudge] unjudged: 4 items, not_given, in no numerator" in told
    lines = (tmp_path / "theirs" / "trecjudge" / "x.unjudged.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    assert (len(lines), first["run_id"], first["judge"]) == (4, "bad", "nuggets")
    assert "no bank of nuggets for this topic" in first["message"]
    command("--judge", "length,nuggets", *flags, "--out-dir", tmp_path / "own", "--name", "x", "-q")
    same(tmp_path, len(rows(tmp_path / "own" / "x.leaderboard.txt")), 0)
    assert ("good", "1", "STRICT_VITAL_SCORE") not in rows(tmp_path / "theirs" / "x.eval.txt")


def test_a_topic_without_grades_is_no_error(tmp_path: Path) -> None:
    flags = inputs(tmp_path)
    for path in (tmp_path / "runs").iterdir():
        first, second = path.read_text().splitlines()
        uncited = second.replace('["k"]', "[]")
        path.write_text(f"{first}\n{uncited}\n")
    told = ours(tmp_path, "{judge: citation}", flags)
    assert "[trecjudge] no document is graded on 1 topics: 2" in told
    assert rows(tmp_path / "theirs" / "x.qrels.txt") == {("1", "0", "k"): 2}


@pytest.mark.parametrize(
    "run",
    [
        auto_judge,
        pytest.param(auto_judge_apart, marks=pytest.mark.slow("trecjudge/interop", "judges")),
    ],
)
def test_a_judge_without_grades_gives_no_qrels(run: Run, tmp_path: Path) -> None:
    given = ("{judge: length, set: {limit: 9}}", inputs(tmp_path))
    ours(tmp_path, *given, run=run)
    assert not (tmp_path / "theirs" / "x.qrels.txt").exists()
    assert rows(tmp_path / "theirs" / "x.eval.txt")["good", "all", "FITS"] == 0


def test_banks_of_another_format_are_nuggets_too(tmp_path: Path) -> None:
    flags = inputs(tmp_path)
    bank = tmp_path / "n.jsonl"
    bank.write_text("".join(NUGGETIZER % topic for topic in "12"))
    ours(tmp_path, "{judge: nuggets}", flags, "--nugget-banks", bank)
    own = ["--nuggets", bank, "--out-dir", tmp_path / "own", "--name", "x", "-q"]
    command("--judge", "nuggets", *flags, *own)
    same(tmp_path, 36, 0)
    assert rows(tmp_path / "own" / "x.leaderboard.txt")["good", "all", "STRICT_VITAL_SCORE"] == 1


def test_banks_are_made_and_judged_with(tmp_path: Path) -> None:
    flags = inputs(tmp_path)
    told = ours(tmp_path, "{judge: nuggets, make_nuggets: documents}", flags)
    assert "nuggets for 2 topics, by words" in told
    banks = [json.loads(line) for line in (tmp_path / "theirs" / "x.nuggets.jsonl").open()]
    assert [bank["query_id"] for bank in banks] == ["1", "2"]
    found = rows(tmp_path / "theirs" / "x.eval.txt")
    assert found["good", "all", "ALL_SCORE"] > found["bad", "all", "ALL_SCORE"]


def test_the_model_of_the_environment_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = inputs(tmp_path)
    with serving(attesting()) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("OPENAI_MODEL")
        monkeypatch.setenv("LLM_MODEL", "stub")  # the name that theirs reads too
        ours(tmp_path, "{judge: citation, use_env_llm: true}", flags)
        assert len(server.requests) == 2  # two sentences, on one document
    found = rows(tmp_path / "theirs" / "x.eval.txt")
    assert found["bad", "all", "CITATION_SUPPORT"] == 1  # words would find nothing


REFUSED = {
    "no such judge": ("{judge: citations}", "unknown judge 'citations'; did you mean 'citation'?"),
    "no such setting": ("{judges: length}", "unknown key 'judges'; did you mean 'judge'?"),
    "a setting of no judge": ("{judge: length, set: {limits: 3}}", "did you mean 'limit'?"),
    "no such documents": ("{judge: citation, documents: not/there}", "not/there"),
    "no such source": ("{make_nuggets: run}", "unknown source 'run'; did you mean 'runs'?"),
}


@pytest.mark.parametrize(("settings", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_judged_is_one_line(settings: str, message: str, tmp_path: Path) -> None:
    told = ours(tmp_path, settings, inputs(tmp_path), status=1)
    assert message in told
    assert told.splitlines()[-1].startswith("Error: trecjudge: ")
    assert "Traceback" not in told


def test_equal_calls_are_judged_once(tmp_path: Path) -> None:
    from autojudge_base import Report, Request

    from trecjudge.interop.autojudge import Judge

    metadata = {"team_id": "t", "run_id": "r", "topic_id": "1"}
    reports = [Report(metadata=metadata, responses=[{"text": "A kettle.", "citations": []}])]
    given = [reports, [Request(request_id="1", title="?")], None]
    judge, settings = Judge(), {"judge": "length", "outdir": tmp_path, "filebase": "x"}
    assert judge.create_qrels(*given, **settings) is None
    log = tmp_path / "trecjudge" / "x.judgments.jsonl"
    before = log.stat().st_mtime_ns
    board = Judge().judge(*given, **settings | {"filebase": str(tmp_path / "x")})
    assert log.stat().st_mtime_ns == before
    assert {e.topic_id: e.values["LENGTH"] for e in board.entries} == {"1": 2.0, "all": 2.0}
    other = judge.judge(*given, **settings | {"set": {"unit": "characters"}})
    assert other.entries[0].values["LENGTH"] == 9.0
    with pytest.raises(click.ClickException, match="there are no responses to judge"):
        judge.judge([], *given[1:], **settings)


def test_our_own_import_needs_nothing_of_theirs() -> None:
    code = (
        "import sys, run_judge, trecjudge.cli.main, trecjudge.judges.autojudge;"
        "print([m for m in ('nltk', 'autojudge_base', 'pandas', 'aiohttp') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"


def test_their_own_verification_passes(tmp_path: Path) -> None:
    from autojudge_base import LeaderboardVerification, QrelsVerification, load_report
    from autojudge_base.request import load_requests_from_file

    from trecjudge.interop.autojudge import Judge

    inputs(tmp_path)
    paths = sorted((tmp_path / "runs").iterdir())
    reports = [report for path in paths for report in load_report(path)]
    topics = load_requests_from_file(tmp_path / "topics.jsonl")
    settings = {"judge": "citation,support", "outdir": tmp_path, "filebase": "x"}
    ids = [topic.request_id for topic in topics]
    qrels = Judge().create_qrels(reports, topics, None, **settings)
    board = Judge().judge(reports, topics, None, qrels=qrels, **settings)
    QrelsVerification(qrels, expected_topic_ids=ids).all()
    LeaderboardVerification(board, on_missing="fix_aggregate", expected_topic_ids=ids).all()
    board.verify(on_missing="fix_aggregate", expected_topic_ids=ids)


PAGE = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
RAGTIME = (
    "--rag-responses sample_data/ragtime/runs --rag-topics sample_data/ragtime/topics.jsonl"
    " --documents sample_data/ragtime/documents.jsonl"
)
SECTION = PAGE[PAGE.index("## autojudge") : PAGE.index("## Banks of nuggets")]
BLOCK = re.compile(r"<!-- (file|run): (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    for kind, name, block in BLOCK.findall(SECTION):
        if kind == "file":
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(block)
        elif block.startswith("auto-judge run"):
            done = auto_judge(*block.replace("\\\n", " ").split()[2:])
            assert done.status == 0, done.err
        else:
            assert command(*arguments(block)).status == 0
    ours = f"citation,length --set length.limit=400 {RAGTIME} --qrels-pool --out-dir ours"
    assert command("--judge", *ours.split(), "--name", "default").status == 0
    assert rows(Path("theirs/default.eval.txt")) == rows(Path("ours/default.leaderboard.txt"))
    assert rows(Path("theirs/default.qrels.txt")) == rows(Path("ours/default.citation.qrels"))
    counted = rows(Path("out/by-class.leaderboard.txt"))
    lengths = {k: v for k, v in rows(Path("theirs/default.eval.txt")).items() if k[2] == "LENGTH"}
    assert counted == {(run, topic, "WORDS"): n for (run, topic, _), n in lengths.items()}


def test_the_page_says_which_settings_there_are() -> None:
    from trecjudge.interop.autojudge_records import Settings

    ours = SECTION[SECTION.index("### Our judges") :]
    assert [n for n in Settings.__dataclass_fields__ if f"`{n}`" not in ours] == []


def test_without_the_package_the_message_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "autojudge_base.py").write_text("raise ImportError('not here')\n")
    shutil.copytree(ROOT / "sample_data" / "ragtime" / "runs", tmp_path / "runs")
    flags = ["--judge", "autojudge", "--set", "judge_class=mine:X", "--rag-responses", "runs"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "run_judge.py"), *flags, "--out-dir", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 1
    assert "pip install 'trecjudge[autojudge]'" in done.stderr
