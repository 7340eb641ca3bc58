"""Two systems never become one, whatever they are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reading import Reading, Write, reading
from trecjudge.inputs.naming import visible_form
from trecjudge.inputs.run_records import RunRecords
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.records import Topic


def record(team: str = "A", run: str = "base", topic: str = "1", text: str = "S.") -> str:
    """Return a record; an empty team or run_id is left out."""
    named = {"team_id": team, "run_id": run, "topic_id": topic}
    ids = ", ".join(f'"{key}": "{value}"' for key, value in named.items() if value)
    return f'{{"metadata": {{{ids}}}, "responses": [{{"text": "{text}", "citations": []}}]}}\n'


def read(write: Write, root: Path, files: dict[str, str], **options: Any) -> Reading:
    for name, text in files.items():
        write(text, f"runs/{name}")
    return reading(*find_runs([root / "runs"]), **options)


NAMED: dict[str, tuple[dict[str, str], list[tuple[str, str]]]] = {
    "a run_id that is the name made of another": (
        {
            "a.jsonl": record("C", "B/base"),
            "b.jsonl": record("A") + record("A", topic="2"),
            "c.jsonl": record("B", topic="2"),
        },
        [("B/base", "1"), ("base", "1"), ("base", "2"), ("c/base", "2")],
    ),
    "the same, the made name first": (
        {"a.jsonl": record("A"), "b.jsonl": record("B"), "c.jsonl": record("C", "B/base")},
        [("base", "1"), ("B/base", "1"), ("C/B/base", "1")],
    ),
    "slashes that meet": (
        {
            "a.jsonl": record("X", "c") + record("X", "B/c"),
            "b.jsonl": record("A/B", "c"),
            "c.jsonl": record("A", "B/c"),
        },
        [("c", "1"), ("B/c", "1"), ("A/B/c", "1"), ("c/B/c", "1")],
    ),
    "no ids in two folders": (
        {"x/run.jsonl": record("", ""), "y/run.jsonl": record("", "")},
        [("run", "1"), ("y/run", "1")],
    ),
    "no ids in three folders, two of one name": (
        {"x/run": record("", ""), "y/run": record("", ""), "z/y/run": record("", "")},
        [("run", "1"), ("y/run", "1"), ("y/run-2", "1")],
    ),
    "no run_id, two teams": (
        {"x/run.jsonl": record("A", ""), "y/run.jsonl": record("B", "")},
        [("run", "1"), ("B/run", "1")],
    ),
    "a file called as another's run_id": (
        {"a.jsonl": record("A", "base"), "base.jsonl": record("", "")},
        [("base", "1"), ("runs/base", "1")],
    ),
    "two versions of one run": (
        {"v1/base.jsonl": record(), "v2/base.jsonl": record(text="Other.")},
        [("base", "1"), ("v2/base", "1")],
    ),
    "two versions in files of other names": (
        {"base-v1.jsonl": record(), "base-v2.jsonl": record(text="Other.")},
        [("base", "1"), ("base-v2/base", "1")],
    ),
    "two versions that overlap late, each in two files": (
        {
            "v1/1.jsonl": record(),
            "v1/2.jsonl": record(topic="2"),
            "v2/1.jsonl": record(topic="3") + record(text="Other."),
            "v2/2.jsonl": record(topic="2", text="Other."),
        },
        [("base", "1"), ("base", "2"), ("v2/base", "3"), ("v2/base", "1"), ("v2/base", "2")],
    ),
    "a run over several files": (
        {"1.jsonl": record(), "2.jsonl": record(topic="2"), "3.jsonl": record(topic="3")},
        [("base", "1"), ("base", "2"), ("base", "3")],
    ),
    "files of a run that repeat a topic alike": (
        {"1.jsonl": record() + record(topic="2"), "2.jsonl": record(topic="2") + record(topic="3")},
        [("base", "1"), ("base", "2"), ("base", "3")],
    ),
    "a team on one side only": (
        {"a.jsonl": record("A"), "b.jsonl": record("")},
        [("base", "1"), ("b/base", "1")],
    ),
    "a team on the later side only": (
        {"a.jsonl": record(""), "b.jsonl": record("A")},
        [("base", "1"), ("A/base", "1")],
    ),
    "lines without a team, then two teams": (
        {"a.jsonl": record("") + record("A", topic="2") + record("B", topic="3")},
        [("base", "1"), ("base", "2"), ("B/base", "3")],
    ),
    "a file that goes on, its first line without a team": (
        {"1.jsonl": record("A"), "2.jsonl": record("", topic="2") + record("A", topic="3")},
        [("base", "1"), ("base", "2"), ("base", "3")],
    ),
    "several runs in one file": (
        {"a.jsonl": record("A") + record("B") + record("A", "other") + record("B", topic="2")},
        [("base", "1"), ("B/base", "1"), ("other", "1"), ("B/base", "2")],
    ),
    "upper and lower case": (
        {"a.jsonl": record("A", "Base"), "b.jsonl": record("a", "base")},
        [("Base", "1"), ("base", "1")],
    ),
    "normal forms": (
        {"a.jsonl": record("A", "caf\u00e9"), "b.jsonl": record("A", "cafe\u0301")},
        [("caf\u00e9", "1"), ("cafe\u0301", "1")],
    ),
    "percent signs": (
        {"a.jsonl": record("A", "my run"), "b.jsonl": record("A", "my%20run")},
        [("my run", "1"), ("my%20run", "1")],
    ),
}


@pytest.mark.parametrize(("files", "answers"), NAMED.values(), ids=NAMED)
def test_every_system_has_its_own_name(
    files: dict[str, str], answers: list[tuple[str, str]], write: Write, tmp_path: Path
) -> None:
    found = read(write, tmp_path, files)
    assert found.answers == answers


@pytest.mark.parametrize(("files", "answers"), NAMED.values(), ids=NAMED)
def test_no_filter_changes_a_name(
    files: dict[str, str], answers: list[tuple[str, str]], write: Write, tmp_path: Path
) -> None:
    for name in dict(answers):
        found = read(write, tmp_path, files, only_runs=[name])
        assert found.answers == [answer for answer in answers if answer[0] == name]
    topic = {"1": Topic("1")}
    on_one = [answer for answer in answers if answer[1] == "1"]
    assert read(write, tmp_path, files, topics=topic).answers == on_one
    first = [answer for answer in answers if answer[0] == answers[0][0]]
    some = read(write, tmp_path, files, max_runs=1).answers
    assert some == first[: len(some)] != []


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (record("B"), "run_id 'base' is also used by team 'A'; named 'B/base'"),
        (
            record("A", text="Other."),
            "base' has other responses in {}/runs/a.jsonl; named 'b/base'",
        ),
    ],
    ids=["team", "version"],
)
def test_a_name_that_is_made_is_reported(
    second: str, message: str, write: Write, tmp_path: Path
) -> None:
    found = read(write, tmp_path, {"a.jsonl": record(), "b.jsonl": second})
    (finding,) = found.findings
    assert (finding.kind, finding.topic_id, finding.place.line) == ("run_id_conflict", "1", 1)
    assert finding.message.endswith(message.format(tmp_path))
    assert finding.message.endswith(f"named {finding.run_id!r}")


@pytest.mark.parametrize(
    ("names", "run"),
    [
        (("a.jsonl", "a.jsonl.gz"), "base"),
        (("a.jsonl", "a.jsonl.gz"), ""),
        (("a.jsonl", "b.jsonl"), "base"),
        (("a", "x/b"), "base"),
    ],
    ids=str,
)
def test_a_second_copy_counts_once(
    names: tuple[str, str], run: str, write: Write, tmp_path: Path
) -> None:
    text = record(run=run) + record(run=run, topic="2")
    found = read(write, tmp_path, dict.fromkeys(names, text))
    (finding,) = [finding for finding in found.findings if finding.kind == "run_repeated"]
    assert (len(found.answers), finding.severity) == (2, "note")
    assert finding.message.endswith(f" of {tmp_path}/runs/{names[0]}; passed over")


def test_copies_without_run_id_are_two_systems_where_their_files_are(
    write: Write, tmp_path: Path
) -> None:
    found = read(write, tmp_path, {"a": record(run=""), "b": record(run="")})
    assert found.answers == [("a", "1"), ("b", "1")]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("base", "ba\u200bse", True, id="zero width space"),
        pytest.param("base", "base\ufe0f", True, id="variation selector"),
        pytest.param("caf\u00e9", "cafe\u0301", True, id="normal form"),
        pytest.param("Base", "base", True, id="case"),
        pytest.param("my run", "my\u00a0run", True, id="no-break space"),
        pytest.param("my run", "myrun", False, id="space"),
        pytest.param("run-1", "run_1", False, id="punctuation"),
        pytest.param("\u0915", "\u0915\u0941", False, id="vowel sign"),
    ],
)
def test_names_that_look_alike_are_reported(
    one: str, other: str, same: bool, write: Write, tmp_path: Path
) -> None:
    assert (visible_form(one) == visible_form(other)) is same
    found = read(write, tmp_path, {"a.jsonl": record(run=one), "b.jsonl": record(run=other)})
    assert found.answers == [(one, "1"), (other, "1")]
    assert ("run_id_alike" in found.kinds) is same


def test_looking_ahead_is_for_files_that_share_a_run_id(write: Write, tmp_path: Path) -> None:
    texts = {f"{n}.jsonl": record(run=f"r{n}") for n in range(3)}
    paths = [write(text, name) for name, text in texts.items()]
    records = RunRecords(paths)
    assert len(list(RunReader(paths, lambda finding: None, records=records.read))) == 3
    assert [run.answers for run in records.names.runs.values()] == [None] * 3
