"""What docs/log.md shows is what happens: its tables are what is written, its queries are run."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jq
import pytest

from tests.commandline import command, sample
from tests.endpoint import Answer, Script, attestation, serving, text_of
from tests.fakes import item, judgment
from trecjudge.records import Failure, ModelCall, Usage, Vote
from trecjudge.results.log import DebugLog

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "log.md").read_text(encoding="utf-8")
QUERY = re.compile(r"```sh\n(jq .*?)\n```\n\n<!-- result -->\n```json\n(.*?)```", re.DOTALL)
Event = dict[str, Any]
OF_AN_ITEM = ("MODEL_CALL", "FAILURE", "BUG")


def scripted() -> Script:
    """Return a script that fails by what a sentence is, and so always in the same way."""
    asked: Counter[str] = Counter()

    def script(body: dict[str, Any], number: int) -> Answer:
        text = text_of(body)
        asked[text] += 1
        sentence = text.rpartition("[[ ## sentence")[2]
        kind, first = sum(text.encode()) % 8, asked[text] == 1
        usage = (len(text) // 4, 20 + kind)
        if sentence == text:  # of the judge `direct_prompt`
            bad = {1: Answer("It depends."), 2: Answer("", finish_reason="content_filter")}
            return replace(bad.get(kind, Answer('{"grade": 3}')), usage=usage)
        if kind == 2 and first:
            return Answer("I cannot tell.", usage=usage)
        if kind == 5 and first:
            return Answer(status=500)
        delay = 1.0 if "replaced the diesel ferry Heron" in sentence else 0.0
        label = "no_support" if kind == 4 else "full_support"
        return Answer(attestation(body, label), usage=usage, delay=delay)

    return script


def block_after(marker: str) -> str:
    """Return the block of code behind a marker."""
    found = re.search(rf"<!-- {marker} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the logs of the two jobs that the page shows."""
    folder = tmp_path_factory.mktemp("page")
    for name in ("sample_data", "workflows"):
        (folder / name).symlink_to(ROOT / name)
    with pytest.MonkeyPatch.context() as patch, serving(scripted()) as endpoint:
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        for name, value in endpoint.environment().items():
            patch.setenv(name, value)
        for marker in ("command", "with a model"):
            words = shlex.split(block_after(marker).replace("\\\n", " "))
            assert command(*words[2:]).status in (0, 3)
        yield folder


def answered(line: str, folder: Path) -> list[str]:
    """Return the lines that a jq command prints."""
    words = shlex.split(line)
    *flags, program, file = words[1:]
    assert set(flags) <= {"-s", "-c", "-r"}
    text = (folder / file).read_text(encoding="utf-8")
    found = jq.compile(program).input_text(text, slurp="-s" in flags).all()
    plain = "-r" in flags
    printed = [
        value
        if plain and isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        for value in found
    ]
    return "\n".join(printed).splitlines()


@pytest.mark.parametrize(("line", "shown"), QUERY.findall(PAGE))
def test_a_query_prints_what_the_page_shows(line: str, shown: str, logs: Path) -> None:
    assert answered(line, logs) == shown.splitlines()


def test_there_are_fifteen_queries_and_more() -> None:
    assert len(QUERY.findall(PAGE)) == PAGE.count("\njq ") == 18


def test_pandas_gives_what_jq_gives(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(logs)
    *lines, last = block_after("pandas").splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    (line,) = (line for line, _ in QUERY.findall(PAGE) if "group_by(.topic_id)[]" in line)
    cost = eval(last, names)["cost"]
    costs = [json.loads(row) for row in answered(line, logs)]
    assert [[str(topic), round(value * 1e6)] for topic, value in cost.items()] == costs


def test_a_line_for_cost_by_topic_gives_the_sum_of_the_table(logs: Path) -> None:
    (line,) = (line for line, _ in QUERY.findall(PAGE) if "group_by(.topic_id)[]" in line)
    log = (logs / "out" / "model.log").read_text(encoding="utf-8")
    end = json.loads(log.splitlines()[-1])
    total = sum(json.loads(row)[1] for row in answered(line, logs))
    assert total == pytest.approx(end["model"]["cost"] * 1e6, abs=3)


def tables() -> dict[str, list[str]]:
    """Return the fields of each table of the page, by its heading or marker."""
    fields: dict[str, list[str]] = {}
    under = ""
    for line in PAGE.splitlines():
        if found := re.match(r"### `(\w+)`|<!-- fields: (.*) -->", line):
            under = found[1] or found[2]
        elif row := re.match(r"\| `([\w.]+)` \|", line):
            fields.setdefault(under, []).append(row[1])
    return fields


def rare() -> list[Event]:
    """Return events that need a rare endpoint, a bug or a signal."""
    file = io.BytesIO()
    log = DebugLog(file)
    call = ModelCall("attest", [], "", Usage(), reasoning="Hm.", source="elsewhere", voter="a")
    votes = (Vote("a", failure="parse: no label"),)
    failed = judgment(None, failure=Failure("parse", "no label", 3, "attest"), votes=votes)
    log.log_judgments("support", item(), [failed], [call], trace="Traceback")
    log.event("session_interrupted", signal="SIGINT")
    log.event("session_end", voters=[], model={})
    return [json.loads(line) for line in file.getvalue().splitlines()]


def written(path: Path) -> list[Event]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def everything(logs: Path) -> list[Event]:
    """Return events of jobs that together have every field."""
    out = logs / "more"
    bank = logs / "bank.jsonl"
    nugget = {"text": "The ferry Perch is electric.", "importance": "vital"}
    bank.write_text(json.dumps({"qid": "501", "nuggets": [nugget]}), encoding="utf-8")
    found = [*written(logs / "out" / "words.log"), *written(logs / "out" / "model.log"), *rare()]
    cascade = ("--set", "claims=rules", "--set", "cascade=[lexical, llm]")
    jobs = (
        ("support", "--use-env-llm", "--set", "group=4", "--refresh"),
        ("grounding", "--use-env-llm", *cascade),
        ("grounding",),
        ("nuggets", "--nuggets", str(bank)),
        ("length",),
    )
    for number, (judge, *more) in enumerate(jobs):
        done = sample("ragtime", out / str(number), "--judge", judge, *more)
        assert done.status in (0, 3), done.err
        found += written(out / str(number) / "x.log")
    return found


def kind_of(event: Event) -> str:
    return re.sub(r"\w+_(INPUT|OUTPUT)", r"X_\1", event["event"])


def fields_of(event: Event) -> set[str]:
    """Return the names of an event's fields; those inside `model` of the last event too."""
    inside = event["model"] if event["event"] == "session_end" else {}
    return {*event, *(f"model.{name}" for name in inside)}


def test_every_field_that_is_written_is_on_the_page(everything: list[Event]) -> None:
    fields = tables()
    for event in everything:
        kind = kind_of(event)
        known = {*fields["every event"], *fields[kind]}
        if kind in OF_AN_ITEM or kind.startswith("X_"):
            known |= set(fields["of an item"])
        assert fields_of(event) <= known, event


def test_every_field_on_the_page_is_written(everything: list[Event]) -> None:
    seen: dict[str, set[str]] = {}
    for event in everything:
        seen.setdefault(kind_of(event), set()).update(fields_of(event))
    seen["every event"] = set.intersection(*map(set, everything))
    seen["of an item"] = seen["MODEL_CALL"]
    missing = {kind: set(names) - seen.get(kind, set()) for kind, names in tables().items()}
    assert {kind: names for kind, names in missing.items() if names} == {}
