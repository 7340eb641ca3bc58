"""Whatever is judged, with whatever flags: shards of a few items write the bytes of one process."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import pytest
import typer
from typer.testing import CliRunner

from tests.commandline import SAMPLES, command
from trecjudge.cli.flags import JobFlags
from trecjudge.cli.judge import jobs_asked_for
from trecjudge.cli.parameters import bind_flags
from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.findings import Finding
from trecjudge.inputs.labels import read_labels
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.inputs.runs import ignore_format
from trecjudge.job.inputs import JobInputs
from trecjudge.job.judges import judgments_header, make_job_panel
from trecjudge.job.request import Job
from trecjudge.job.shards.judging import Worker, judge_shard
from trecjudge.job.shards.session import JudgedParts, JudgingScheduler, make_setup
from trecjudge.job.shards.shard import check_unchanged, into_shards, locate_responses
from trecjudge.job.shards.workers import T
from trecjudge.results.outputs import Outputs

OF_A_FEW = 3
"""Items of a shard, at least: so there are many, and runs are cut in the middle."""


class Here:
    """Judges shards in this process, in a thread of its own."""

    count = 1

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)

    def submit(self, work: Callable[..., T], *given: object) -> Future[T]:
        """Begin the work on a shard."""
        return self._pool.submit(work, *given)

    def renew(self) -> None:
        """Nothing dies."""

    def look(self) -> None:
        """Nothing stops."""

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown()


def _ignore(_: object) -> None:
    """Ignore a finding or a message."""


def in_shards(job: Job, folder: Path) -> int:
    """Judge and score a job in shards of a few items; return how many there were."""
    outputs, panel = Outputs(folder, "x"), make_job_panel(job)
    outputs.prepare()
    findings: list[Finding] = []
    inputs = JobInputs.read(job, findings.append)
    reader = inputs.reader(findings.append, ignore_format)
    parts = folder / "parts"
    parts.mkdir()
    setup = make_setup(job, parts, inputs)
    # The longest first is another order than that of the job.
    shards = into_shards(locate_responses(inputs, reader), 10**6, least=OF_A_FEW)
    inputs.close()
    with closing(Here()) as here:
        judging = JudgingScheduler(here, setup, shards, _ignore, lambda responses, items: None)
        asyncio.run(judging.run())
    done = judging.done
    merged = JudgedParts(
        setup, judgments_header(job, panel, inputs), panel, [done[n] for n in sorted(done)]
    )
    with whole(outputs.log) as log:
        merged.merge(outputs, log if job.debug_log else None)
    labels = read_labels(job.human, _ignore) if job.human else None
    merged.score(outputs, labels, findings.append)
    return len(shards)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files that must be the same byte for byte."""
    own = ("x.log", "x.config.yml")
    found = (path for path in folder.glob("x.*") if path.name not in own)
    return {path.name: path.read_bytes() for path in found}


def log_of(folder: Path) -> list[dict[str, object]]:
    """Return what the log says of items, without the time."""
    path = folder / "x.log"
    events = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return [
        {name: value for name, value in event.items() if name != "timestamp"}
        for event in events
        if str(event["event"]).endswith(("INPUT", "OUTPUT"))
    ]


@dataclass(frozen=True)
class Case:
    """What is judged, and how; `data` is a folder of sample data."""

    data: str
    judge: str = "support"
    more: tuple[str, ...] = ()


def words(case: Case, root: Path = SAMPLES) -> list[str]:
    """Return the flags of a case."""
    folder = root / case.data
    given = ["--judge", case.judge] if case.judge else []
    if case.data == "pipeline":
        return [*given, "--rag-responses", str(folder), *case.more]
    inputs = {"rag-responses": "runs", "rag-topics": "topics.jsonl", "documents": "documents.jsonl"}
    paths = [word for name, at in inputs.items() for word in (f"--{name}", str(folder / at))]
    return [*given, *paths, *case.more]


OFFLINE = ("citation", "support", "citation_score", "attribution", "faithfulness", "length")
LABELS = str(SAMPLES / "rag" / "labels.jsonl")
CASES = [
    *(Case("rag", judge) for judge in OFFLINE),
    *(
        pytest.param(Case(data, judge), marks=pytest.mark.slow("trecjudge/job/shards", "judges"))
        for data in ("ragtime", "dragun")
        for judge in OFFLINE
    ),
    Case("rag", "grounding"),
    Case("rag", "direct_prompt"),
    Case("pipeline", "grounding"),
    Case("pipeline", ""),
    Case("rag", more=("--also", "length", "--also", "citation")),
    Case("rag", more=("--run", "careless")),
    Case("rag", more=("--topic", "12", "--topic", "11")),
    Case("rag", more=("--max", "runs=2")),
    Case("rag", more=("--max", "topics=1")),
    Case("rag", more=("--qrels-as", "pool")),
    Case("rag", more=("--labels", LABELS)),
    Case("rag", more=("--judgments-from", LABELS)),
    Case("rag", more=("--no-debug-log",)),
    Case("rag", more=("--no-document-text",)),
    Case("rag", more=("--no-check",)),
    Case("ragtime", "", ("--workflow", "support_ragtime")),
    Case("dragun", "", ("--workflow", "length_dragun")),
]


def flags_of(given: list[str], out: Path) -> list[str]:
    """Return the words of a command that writes into a folder."""
    return [*given, "--out-dir", str(out), "--name", "x"]


@contextmanager
def job_of(given: list[str]) -> Iterator[Job]:
    """Yield the job that a command line asks for."""
    taken: list[JobFlags] = []
    app = typer.Typer()

    @app.command()
    @bind_flags(JobFlags)
    def take(_: typer.Context, flags: JobFlags) -> None:
        taken.append(flags)

    assert CliRunner().invoke(app, given).exit_code == 0
    with use_record_keys(taken[0].keys):
        yield jobs_asked_for(taken[0])[0]


def check_equal(given: list[str], folder: Path, parts: int = 2) -> None:
    """Judge by one process, in shards and in parts of their own; all must be the same."""
    one, shards, merged = folder / "one", folder / "shards", folder / "merged"
    status = command(*flags_of(given, one), "-q").status
    assert status in (0, 3)
    with job_of(flags_of(given, shards)) as job:
        assert in_shards(job, shards) > 1
    assert files_of(shards) == files_of(one)
    assert log_of(shards) == log_of(one)
    human = [w for n, w in enumerate(given) if "--labels" in (w, given[n - 1])]
    of_parts = [word for word in given if word not in human]
    for number in range(1, parts + 1):
        asked = ("--shard", f"{number}/{parts}")
        done = command(*flags_of(of_parts, folder / "parts"), *asked, "-q")
        assert done.status in (0, 3), done.err
    done = command("job", "merge", folder / "parts", *flags_of(human, merged), "-q")
    assert done.status == status, done.err
    assert files_of(merged) == files_of(one)
    assert log_of(merged) == log_of(one)


@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join((c.data, c.judge, *c.more[:1])))
def test_shards_of_sample_data(case: Case, tmp_path: Path) -> None:
    check_equal(words(case), tmp_path)


def _sample_runs(folder: Path) -> list[list[str]]:
    """Return the lines of each run of the RAG sample; make a folder for other runs."""
    folder.mkdir()
    return [p.read_text().splitlines() for p in sorted((SAMPLES / "rag" / "runs").iterdir())]


def _one_file(folder: Path) -> None:
    lines = [line for run in _sample_runs(folder) for line in run]
    (folder / "all.jsonl").write_text("\n".join(lines[::2] + lines[1::2]) + "\n")


def _halves(folder: Path) -> None:
    for number, run in enumerate(_sample_runs(folder)):
        (folder / f"a{number}.jsonl").write_text(run[0] + "\n")
        (folder / f"b{number}.jsonl").write_text("\n".join(run[1:]) + "\n")


def _packed(folder: Path) -> None:
    for number, run in enumerate(_sample_runs(folder)):
        (folder / f"{number}.jsonl.gz").write_bytes(gzip.compress("\n".join(run).encode()))


def _one_array(folder: Path) -> None:
    for number, run in enumerate(_sample_runs(folder)):
        (folder / f"{number}.json").write_text("[" + ",\n".join(run) + "]")


def _twice_and_broken(folder: Path) -> None:
    """Make runs called alike, a response twice, a broken line, a file that repeats another."""
    runs = _sample_runs(folder)
    (folder / "0.jsonl").write_text("\n".join([*runs[0], "{broken", *runs[0][:1]]))
    (folder / "1.jsonl").write_text("\n".join(runs[1]).replace("careless", "careful"))
    (folder / "2.jsonl").write_text("\n".join(runs[0]))
    (folder / "3.jsonl").write_text("\n".join(["[]", *runs[2], "\u0000"]))


@pytest.mark.parametrize("write", [_one_file, _halves, _packed, _one_array, _twice_and_broken])
@pytest.mark.parametrize("topics", [True, False])
def test_shards_of_other_files(write: Callable[[Path], None], topics: bool, tmp_path: Path) -> None:
    write(tmp_path / "runs")
    folder = SAMPLES / "rag"
    given = ["--judge", "support", "--documents", str(folder / "documents.jsonl")]
    given += ["--rag-topics", str(folder / "topics.jsonl")] if topics else ["--max", "topics=2"]
    check_equal([*given, "--rag-responses", str(tmp_path / "runs")], tmp_path, parts=3)


JUDGE = """
from dataclasses import dataclass
from trecjudge import Item, LeaderboardSpec, MeasureSpec, judgment_of

@dataclass(frozen=True)
class All:
    measures = LeaderboardSpec((MeasureSpec("ONE", lambda response, judgments: 1.0),))

    async def prepare(self, responses):
        pass

    def pool(self, topic, response):
        yield Item(topic, response.run_id, response.text)

    async def judge(self, item, model):
        return judgment_of(item, label="yes", value=1.0)
"""


@pytest.mark.parametrize("how", [("--workers", "2"), ("--shard", "1/2")])
def test_a_judge_that_looks_at_all_responses_is_refused(
    how: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "looks_at_all.py").write_text(JUDGE)
    done = command(*flags_of(words(Case("rag", "looks_at_all:All")), tmp_path), *how)
    assert (done.status, "is shown all responses before" in done.err) == (1, True), done.err
    assert len(done.err.splitlines()) == 1


def test_runs_that_change_meanwhile_are_said(tmp_path: Path) -> None:
    copytree(SAMPLES / "rag", tmp_path / "rag")
    (tmp_path / "parts").mkdir()
    with job_of(words(Case("rag", "citation"), tmp_path)) as job:
        inputs = JobInputs.read(job, _ignore)
        inputs.close()
        files = [opened.path for opened in inputs.files]
        setup = make_setup(job, tmp_path / "parts", inputs)
        places = locate_responses(inputs, inputs.reader(_ignore, ignore_format))
        (shard,) = into_shards(places, 1, least=10**6)
        first = tmp_path / "rag" / "runs" / "careful.jsonl"
        with (
            pytest.raises(InputError, match=r"careful\.jsonl: was changed"),
            check_unchanged(files),
        ):
            first.write_text(first.read_text().partition("\n")[0] + "\n")
        with pytest.raises(InputError, match="7 of 9 responses were found again"):
            judge_shard(setup, shard)


def test_a_worker_holds_no_run_open(tmp_path: Path) -> None:
    copytree(SAMPLES / "rag", tmp_path / "rag")
    with job_of(words(Case("rag", "citation"), tmp_path)) as job:
        inputs = JobInputs.read(job, _ignore)
        inputs.close()
        worker = Worker.of(make_setup(job, tmp_path, inputs))
    held = {os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
    read = [str(opened.path.resolve()) for opened in worker.inputs.files]
    assert len(read) == 3
    assert held.isdisjoint(read)
