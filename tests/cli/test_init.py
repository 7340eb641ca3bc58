"""`init`: what it finds in a folder, the judge that it chooses, and the command that it prints."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.commandline import ROOT, SAMPLES, Done, command
from trecjudge.job.discover import FoundInputs
from trecjudge.job.schema import SCHEMA_FILE
from trecjudge.settings.strict_yaml import read_yaml

PYTHON = str(Path(sys.executable).parent)
QUESTION = {"metadata": {"run_id": "r", "topic_id": "1"}}
KETTLE = "Steam makes a kettle whistle."
CITED = {**QUESTION, "responses": [{"text": KETTLE, "citations": ["k"]}]}
UNCITED = {**QUESTION, "responses": [{"text": KETTLE}], "documents": {"k": KETTLE}}
RAG = {
    "metadata": {"team_id": "t", "run_id": "r", "narrative_id": "1"},
    "references": ["k"],
    "answer": [{"text": KETTLE, "citations": [0]}],
}
DOCUMENT = {"docid": "k", "text": KETTLE}
TOPIC = {"topic_id": "1", "title": "kettles"}
BANK = {
    "qid": "1",
    "query": "kettles",
    "nuggets": [{"text": "Steam makes a kettle whistle", "importance": "vital"}],
}
CLAIMS = {"query_id": "1", "title_query": "kettles", "claim_bank": {}}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def started(done: Done, *more: str) -> Done:
    """Run the command that `init` printed, as it stands, with more flags."""
    assert done.status == 0, done.err
    printed = done.out.partition("\n\n")[2].replace("\\\n", " ")
    words = shlex.split(printed)
    return command(*words[words.index("--workflow") :], *more)


def workflow(path: Path) -> dict[str, Any]:
    """Return a workflow that `init` wrote: valid by the schema that its first line names."""
    text = path.read_text()
    named = text.partition("\n")[0].removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == SCHEMA_FILE.resolve()
    value: dict[str, Any] = read_yaml(text).value
    jsonschema.validate(value, json.loads(SCHEMA_FILE.read_text()))
    return value


@pytest.mark.parametrize(
    ("dataset", "judge"), [("dragun", "citation"), ("rag", "support"), ("ragtime", "citation")]
)
def test_the_command_for_sample_data_works(dataset: str, judge: str, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / dataset, tmp_path / dataset)
    done = started(command("init", dataset))
    assert done.status == 0, done.err
    assert workflow(tmp_path / "judge.yml")["judge"] == judge
    config = (tmp_path / "out" / f"{dataset}.config.yml").read_text()
    for given in ("topics", "documents"):
        assert f"{given}.jsonl" in config
    assert len((tmp_path / "out" / f"{dataset}.leaderboard.txt").read_text().splitlines()) > 9


def test_the_command_for_real_runs_works(shared: Path, tmp_path: Path) -> None:
    done = started(command("init", shared / "data" / "rag25_support"), "--max-topics", "2")
    assert done.status in (0, 3), done.err
    assert workflow(tmp_path / "judge.yml")["judge"] == "support"
    assert "53 runs" in done.out


FILES = {
    "citations": ([CITED], {"docs.jsonl": DOCUMENT}, "citation"),
    "TREC RAG": ([RAG], {"docs.jsonl": DOCUMENT}, "support"),
    "no citations": ([UNCITED], {}, "grounding"),
    "nuggets": ([CITED], {"bank.jsonl": BANK, "docs.jsonl": DOCUMENT}, "nuggets"),
    "questions": ([CITED], {"docs.jsonl": DOCUMENT, "topics.jsonl": TOPIC}, "citation"),
}


@pytest.mark.parametrize(("runs", "beside", "judge"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("place", ["{0}", "a folder/{0}"], ids=["flat", "in folders"])
def test_the_judge_that_fits(
    runs: list[Any], beside: dict[str, Any], judge: str, place: str, tmp_path: Path
) -> None:
    folder = tmp_path / "my data"
    files = {place.format("r.jsonl"): runs, **{name: [one] for name, one in beside.items()}}
    for name, records in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    printed = command("init", "my data", "--output", "sub/w.yml")
    done = started(printed)
    assert done.status == 0, done.err
    assert workflow(tmp_path / "sub" / "w.yml")["judge"] == judge
    assert f"judge {judge}, since" in printed.out
    kinds = {"docs.jsonl": "--documents", "bank.jsonl": "--nuggets", "topics.jsonl": "--rag-topics"}
    for name, flag in kinds.items():
        assert (flag in printed.out) == (name in beside)


def test_a_bank_of_claims_is_for_argue(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(CITED))
    (tmp_path / "bank.json").write_text(json.dumps(CLAIMS))
    printed = command("init", ".")
    assert "judge argue, since there are banks of nuggets (autoargue)" in printed.out


def test_grades_of_documents_go_to_grounding(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(UNCITED))
    (tmp_path / "qrels.txt").write_text("1 0 k 2\n")
    printed = command("init")
    assert "--qrels qrels.txt" in printed.out
    assert started(printed).status == 0


def test_what_it_wrote_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(CITED))
    (tmp_path / "judge.yml").write_text("mine")
    done = command("init")
    assert (done.status, (tmp_path / "judge.yml").read_text()) == (1, "mine")
    assert "judge.yml: is there already; --force replaces it" in done.err
    assert command("init", "--force").status == 0
    assert workflow(tmp_path / "judge.yml")["judge"] == "citation"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({}, "Found: nothing else that is known", id="empty"),
        pytest.param({"notes.md": "# Notes"}, "Found: nothing else", id="something else"),
        pytest.param({"b.jsonl": json.dumps(BANK)}, "Found: nuggets", id="only a bank"),
        pytest.param({"d.jsonl": json.dumps(DOCUMENT)}, "Found: documents", id="only documents"),
    ],
)
def test_where_there_is_no_run(files: dict[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name, text in files.items():
        (tmp_path / "data" / name).write_text(text)
    done = command("init", "data")
    assert done.status == 1
    assert done.err.startswith("error: data: no run in it. Looked for files of responses (")
    assert said in done.err
    assert not (tmp_path / "judge.yml").exists()


def test_a_folder_that_is_not_there() -> None:
    done = command("init", "nowhere")
    assert (done.status, done.err) == (1, "error: nowhere: no such file or folder\n")


NAMES = {
    "a line break": "two\nlines",
    "an escape sequence": "\x1b[31mred",
    "what a shell reads": "it's $HOME `x` \\",
    "as a flag begins": "-dash",
    "a line break of YAML": "\u2028",
    "all at once": "日本 \x01 ' \\",
}


def laid_in(name: str) -> None:
    """Lay a run with its document into a folder of this name."""
    folder = Path(name)
    folder.mkdir()
    (folder / "run.jsonl").write_text(json.dumps(CITED))
    (folder / "documents.jsonl").write_text(json.dumps(DOCUMENT))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_command_can_be_pasted_whatever_the_folder_is_called(name: str) -> None:
    laid_in(name)
    pasted = command("init", "--", name).out.partition("\n\n")[2]
    told = "run-judge() { printf '%s\\0' \"$@\"; }; "
    read = subprocess.run(["bash", "-c", told + pasted], capture_output=True, check=True)
    assert command(*read.stdout.decode().split("\0")[:-1], "-q").status == 0
    assert workflow(Path("judge.yml"))["judge"] == "citation"


def test_the_command_can_be_pasted_where_the_folder_has_no_utf_8() -> None:
    name = "by\udcff"
    laid_in(name)
    done = subprocess.run(
        [sys.executable, ROOT / "run_judge.py", "init", "--", name], capture_output=True, check=True
    )
    pasted = done.stdout.partition(b"\n\n")[2].strip() + b" -q"
    ran = subprocess.run(["bash", "-c", b"PATH=$1:$PATH; " + pasted, "-", PYTHON], check=False)
    assert ran.returncode == 0
    assert workflow(Path("judge.yml"))["judge"] == "citation"


def test_thousands_of_files_beside_others_take_seconds() -> None:
    files = [Path(f"many/{number}.jsonl") for number in range(20_000)]
    others = [Path(f"many/{number}.json") for number in range(20_000)]
    started = time.process_time()
    Path("many").mkdir()
    assert FoundInputs({"run": files, "topics": others}).paths("run") == files
    assert time.process_time() - started < 5
