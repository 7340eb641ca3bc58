"""Every command that reads a job prints and writes the same for a packed job and its plain twin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import trecjudge
from tests.commandline import SAMPLES, Done, command
from tests.job.shards.parts import process, until
from trecjudge.inputs.sources.containers import lines

RAG = SAMPLES / "rag"
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+Z)?|<dd>\d+\.\d+")


def judged(*options: str | Path) -> Done:
    """Judge the sample data into `out`, below the current folder."""
    given = ("--rag-topics", RAG / "topics.jsonl", "--documents", RAG / "documents.jsonl")
    return command("--rag-responses", RAG / "runs", *given, "--out-dir", "out", *options)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the same two jobs in `plain` and in `packed`."""
    folder = tmp_path_factory.mktemp("twins")
    with pytest.MonkeyPatch.context() as patch:
        for name, form in (("plain", ()), ("packed", ("--compress",))):
            (folder / name).mkdir()
            patch.chdir(folder / name)
            for job, more in (("x", ()), ("y", ("--set", "attester=strict"))):
                made = judged("--name", job, "-q", *more, *form)
                assert made.status == 0, made.err
    return folder


def names_in(folder: Path) -> set[str]:
    """Return the names of the files of a job's folder."""
    return {path.name for path in (folder / "out").iterdir() if path.name.startswith("x.")}


def test_only_judgments_and_log_are_packed(twins: Path) -> None:
    plain, packed = names_in(twins / "plain"), names_in(twins / "packed")
    assert packed - plain == {"x.judgments.jsonl.zst", "x.log.zst"}
    assert plain - packed == {"x.judgments.jsonl", "x.log"}
    for path in (twins / "plain/out").glob("*"):
        twin = twins / "packed/out" / path.name
        if path.suffix != ".yml" and twin.exists():
            assert path.read_bytes() == twin.read_bytes()
    judgments = (twins / "plain/out/x.judgments.jsonl").read_bytes()
    unpacked = lines(twins / "packed/out/x.judgments.jsonl.zst")
    assert [text for _, text in unpacked] == judgments.splitlines()
    events = [len(list(lines(path))) for path in sorted(twins.glob("*/out/x.log*"))]
    assert events == [149, 149]


COMMANDS = [
    ("rescore", "out/x"),
    ("rescore", "out/x", "--human", RAG / "labels.jsonl", "--json"),
    ("report", "out/x", "--compare", "out/y"),
    ("report", "out/x", "--max-size", "0"),
    ("show", "out/x", "--run", "careless"),
    ("judgments", "out/x"),
    ("judgments", "out/x", "--output", "made/rows.csv"),
    ("judgments", "out/x", "--doc", "9", "--output", "made/rows.jsonl"),
    ("compare", "out/x", "out/y"),
    ("compare", "out/x", "out/y", "--json"),
    ("agree", "--truth", "out/x", "--predicted", "out/y"),
    ("agree", "--truth", "out/x", "--predicted", RAG / "labels.jsonl"),
    ("gate", "out/x", "--min", "CITATION_SUPPORT=0.5"),
    ("gate", "out/x", "--baseline", "out/y", "--max-drop", "CITATION_SUPPORT=0.1"),
    ("label-next", "out/x", "--budget", "9", "--output", "made/next.jsonl"),
    ("label-next", "out/x", "--for", "calibration"),
    ("meta-evaluate", "out/x", "--truth", "out/y"),
    ("convert", "out/x", "made/table.csv", "--to", "csv"),
    ("convert", "out/x", "made/table.tex", "--to", "latex"),
]


def done_in(folder: Path, words: tuple[str | Path, ...], patch: pytest.MonkeyPatch) -> list[str]:
    """Run a command in a folder; return all it printed and wrote, but for times and forms."""
    patch.chdir(folder)
    (folder / "made").mkdir(exist_ok=True)
    done = command(*words)
    written = sorted([*folder.glob("made/*"), *folder.glob("out/x.*"), *folder.glob("out/x.*/*")])
    kept = [p for p in written if p.is_file() and not p.name.endswith((".yml", "zst", "log"))]
    files = (p.read_text() for p in kept if not p.name.endswith("judgments.jsonl"))
    texts = (MOMENT.sub("", text.replace(".zst", "")) for text in (done.out, done.err, *files))
    return [str(done.status), *texts]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(map(str, words[:4:2])))
def test_a_command_does_not_see_the_form(
    twins: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str | Path, ...]
) -> None:
    plain = done_in(twins / "plain", words, monkeypatch)
    packed = done_in(twins / "packed", words, monkeypatch)
    assert packed == plain
    assert plain[0] in ("0", "1")
    assert plain[1] or plain[2]
    assert "Usage" not in plain[2]


@pytest.mark.parametrize(
    ("flags", "events"),
    [
        ((), 149),
        (("--log", "lean"), 3),
        (("--log", "lean", "--debug-log"), 3),
        (("--log", "none"), 0),
        (("--no-debug-log",), 0),
        (("--log", "full", "--no-debug-log"), 0),
    ],
)
def test_how_much_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], events: int
) -> None:
    monkeypatch.chdir(tmp_path)
    assert judged("--name", "x", "-q", *flags).status == 0
    path = Path("out/x.log")
    assert len(list(lines(path)) if path.exists() else ()) == events


NAMES = ("", ".judgments.jsonl", ".judgments.jsonl.zst", ".log", ".log.zst", ".log.zst.part")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_finds_a_packed_job(
    twins: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(twins / "packed")
    assert len(command("job", "judgments", f"out/x{name}").out.splitlines()) == 40


def test_labels_are_taken_from_packed_judgments(
    twins: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for form in ("plain/out/x.judgments.jsonl", "packed/out/x.judgments.jsonl.zst"):
        done = judged("--judge", "citation", "--judgments-from", twins / form, "-q")
        found.append((done.status, done.err, Path("out/default.leaderboard.txt").read_bytes()))
    assert found[0] == found[1]


def test_the_python_api_reads_and_writes_packed_jobs(
    twins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"topics": RAG / "topics.jsonl", "documents": RAG / "documents.jsonl"}
    result = trecjudge.judge(RAG / "runs", "citation", **given, compress=True, log="lean")
    paths = result.write(tmp_path / "out", "x")
    assert paths["judgments"] == tmp_path / "out/x.judgments.jsonl.zst"
    assert paths["log"] == tmp_path / "out/x.log.zst"
    same = twins / "packed/out/x.judgments.jsonl.zst"
    assert paths["judgments"].read_bytes() == same.read_bytes()
    assert len(list(result.judgments())) == 39
    plain = trecjudge.compare(str(twins / "plain/out/x"), str(twins / "plain/out/y")).differences
    mixed = trecjudge.compare(result, str(twins / "packed/out/y")).differences
    assert [d.difference for d in mixed] == [d.difference for d in plain] != []


@pytest.mark.parametrize("first", [True, False])
def test_a_job_of_the_other_form_replaces_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for packed in (first, not first):
        assert judged("--name", "x", "-q", *(["--compress"] if packed else [])).status == 0
    ending = "" if first else ".zst"
    mine = {name for name in names_in(tmp_path) if "log" in name or "judgments" in name}
    assert mine == {f"x.judgments.jsonl{ending}", f"x.log{ending}"}


@pytest.fixture
def slow_runs(tmp_path: Path) -> Iterator[list[str]]:
    """Yield the words of a packed job that takes some seconds."""
    record = (RAG / "runs/careless.jsonl").read_text().splitlines()[0]
    (tmp_path / "runs").mkdir()
    for run in range(400):
        (tmp_path / f"runs/{run}.jsonl").write_text(record.replace("careless", f"r{run}") + "\n")
    given = ("--documents", str(RAG / "documents.jsonl"), "--out-dir", str(tmp_path / "out"))
    flags = ("--judge", "citation", "--no-check", "--name", "x", "--compress", "-q")
    yield ["--rag-responses", str(tmp_path / "runs"), *given, *flags]


def test_a_kill_leaves_whole_frames_that_the_next_job_removes(
    slow_runs: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    job = process(*slow_runs)
    until(lambda: [p for p in out.glob(".x.log.zst.*.part") if p.stat().st_size])
    job.kill()
    job.communicate(timeout=60)
    assert not (out / "x.judgments.jsonl.zst").exists()
    (part,) = out.glob(".x.log.zst.*.part")
    assert b'"session_start"' in next(text for _, text in lines(part))
    assert command(*slow_runs).status == 0
    assert not list(out.glob(".x.*"))
    assert command("job", "judgments", out / "x", "--limit", "1").status == 0


@pytest.mark.slow("trecjudge/results", "trecjudge/files.py", "trecjudge/job/process.py")
def test_an_interrupt_keeps_the_log_so_far(slow_runs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    job = process(*slow_runs)
    until(lambda: [p for p in out.glob(".x.log.zst.*.part") if p.stat().st_size])
    job.terminate()
    _, err = job.communicate(timeout=60)
    assert job.returncode == 130
    assert f"the log so far, {out / 'x.log.zst.part'}" in err
    assert {path.name for path in out.iterdir()} == {"x.log.zst.part"}
    *_, (_, last) = lines(out / "x.log.zst.part")
    assert b'"event":"session_interrupted"' in last
