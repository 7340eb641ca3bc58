"""What judges need and nobody gave is said in one line, before anything is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command

PLAIN = (
    '{"metadata": {"team_id": "t", "run_id": "r", "topic_id": "1"%s},'
    ' "responses": [{"text": "Steam whistles.", "citations": [%s]}]}'
)
DATA = SAMPLES / "ragtime"
NONE = "none are given, and the runs carry none"
NUGGETS = '{"qid": "77", "query": "q", "nuggets": [{"text": "n", "importance": "vital"}]}'


def lines(folder: Path, record: str, *flags: str | Path) -> list[str]:
    """Return what a quiet job on one record prints on standard error."""
    (folder / "runs").mkdir()
    (folder / "runs" / "r.jsonl").write_text(record)
    given = ("--rag-responses", folder / "runs", "--out-dir", folder, "-q", "--no-check")
    return command(*given, *flags).err.splitlines()


def test_judgments_that_cannot_be_scored_are_kept_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRECJUDGE_LIMITS", "rows=1")
    given = ("--rag-responses", DATA / "runs", "--out-dir", tmp_path, "--name", "x", "--no-check")
    done = command("--judge", "length", *given)
    assert done.status == 1
    assert "more than 5 (--limit rows); what was judged is in" in done.err
    monkeypatch.delenv("TRECJUDGE_LIMITS")
    assert command("job", "rescore", tmp_path / "x", "-q").status == 0


@pytest.mark.parametrize(
    ("judges", "record", "said"),
    [
        ("nuggets,rubric", PLAIN % ("", ""), "nuggets: judges nuggets, rubric need banks of nug"),
        ("direct_prompt", PLAIN % ("", ""), "rag-topics: judge direct_prompt needs the text of t"),
        ("citation", PLAIN % ("", '"k"'), "documents: judge citation needs the text of documents"),
    ],
)
def test_it_is_said_in_a_line_even_if_quiet(
    judges: str, record: str, said: str, tmp_path: Path
) -> None:
    (line,) = lines(tmp_path, record, "--judge", judges)
    assert line.startswith(f"warning: --{said}")
    assert line.endswith("; what depends on it will be unjudged")


@pytest.mark.parametrize(
    ("judges", "record"),
    [
        pytest.param("length", PLAIN % ("", '"k"'), id="it needs nothing"),
        pytest.param("citation", PLAIN % ("", ""), id="it cites nothing"),
        pytest.param("direct_prompt", PLAIN % (', "narrative": "Why?"', ""), id="runs carry it"),
        pytest.param("citation,support", (DATA / "runs" / "careful.jsonl").read_text(), id="given"),
    ],
)
def test_nothing_is_said_where_it_is_there(judges: str, record: str, tmp_path: Path) -> None:
    documents = ("--documents", DATA / "documents.jsonl") if "support" in judges else ()
    assert lines(tmp_path, record, "--judge", judges, *documents) == []


def test_banks_of_other_topics(tmp_path: Path) -> None:
    (tmp_path / "bank.jsonl").write_text(NUGGETS)
    given = ("--nuggets", tmp_path / "bank.jsonl", "--rag-topics", DATA / "topics.jsonl")
    record = (DATA / "runs" / "careful.jsonl").read_text()
    (line,) = lines(tmp_path, record, "--judge", "nuggets", *given)
    assert "those given are of other topics, such as '77'; asked for are such as '501'" in line


def test_it_is_counted_and_stands_first_in_the_log(tmp_path: Path) -> None:
    lines(tmp_path, PLAIN % ("", ""), "--judge", "nuggets,length", "--name", "x")
    log = [json.loads(line) for line in (tmp_path / "x.log").read_text().splitlines()]
    assert [line.get("kind") for line in log][:2] == [None, "input_lacking"]


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        pytest.param(
            ["msmarco_v2.1_doc_16_1992489241#2_2215054467", "x"],
            "",
            id="half of them",
        ),
        pytest.param(
            [f"msmarco_v2.1_doc_16_1992489241#{n}_22150544{n}" for n in (2, 3)] + ["x"],
            "; these are ids of MS MARCO V2.1 segmented: --documents FOLDER, with"
            " msmarco_v2.1_doc_segmented_NN.json.gz, or --documents"
            " 'https://HOST/v1/msmarco-v2.1-doc-segmented/doc/{docid}'",
            id="MS MARCO, segmented",
        ),
        pytest.param(
            ["shard_00000_12"],
            "; these are ids of ClimbMix: --documents FOLDER, with shard_NNNNN.parquet, or"
            " --documents 'https://HOST/v1/climbmix-400b/doc/{docid}'",
            id="ClimbMix",
        ),
        pytest.param(
            ["afff11d4-0f9b-45b7-a39f-03b82928668a"],
            "; these are ids of NeuCLIR1: --documents FOLDER, with the JSONL files of its three"
            " languages, plain or packed",
            id="NeuCLIR",
        ),
        pytest.param(["129069349"], "", id="unknown"),
    ],
)
def test_it_is_said_what_to_give_for_documents(ids: list[str], said: str, tmp_path: Path) -> None:
    cited = ", ".join(f'"{doc_id}"' for doc_id in ids)
    (line,) = lines(tmp_path, PLAIN % ("", cited), "--judge", "citation")
    assert line.endswith(f"{NONE}{said}; what depends on it will be unjudged")
