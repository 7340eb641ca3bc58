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


def says(team: str = "A", run: str = "base", topic: str = "1", text: str = "S.") -> str:
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
            "a.jsonl": says("C", "B/base"),
            "b.jsonl": says("A") + says("A", topic="2"),
            "c.jsonl": says("B", topic="2"),
        },
        [("B/base", "1"), ("base", "1"), ("base", "2"), ("c/base", "2")],
    ),
    "the same, the made name first": (
        {"a.jsonl": says("A"), "b.jsonl": says("B"), "c.jsonl": says("C", "B/base")},
        [("base", "1"), ("B/base", "1"), ("C/B/base", "1")],
    ),
    "slashes that meet": (
        {
            "a.jsonl": says("X", "c") + says("X", "B/c"),
            "b.jsonl": says("A/B", "c"),
            "c.jsonl": says("A", "B/c"),
        },
        [("c", "1"), ("B/c", "1"), ("A/B/c", "1"), ("c/B/c", "1")],
    ),
    "no ids in two folders": (
        {"x/run.jsonl": says("", ""), "y/run.jsonl": says("", "")},
        [("run", "1"), ("y/run", "1")],
    ),
    "no ids in three folders, two of one name": (
        {"x/run": says("", ""), "y/run": says("", ""), "z/y/run": says("", "")},
        [("run", "1"), ("y/run", "1"), ("y/run-2", "1")],
    ),
    "no run_id, two teams": (
        {"x/run.jsonl": says("A", ""), "y/run.jsonl": says("B", "")},
        [("run", "1"), ("B/run", "1")],
    ),
    "a file called as another's run_id": (
        {"a.jsonl": says("A", "base"), "base.jsonl": says("", "")},
        [("base", "1"), ("runs/base", "1")],
    ),
    "two versions of one run": (
        {"v1/base.jsonl": says(), "v2/base.jsonl": says(text="Other.")},
        [("base", "1"), ("v2/base", "1")],
    ),
    "two versions in files of other names": (
        {"base-v1.jsonl": says(), "base-v2.jsonl": says(text="Other.")},
        [("base", "1"), ("base-v2/base", "1")],
    ),
    "two versions that overlap late, each in two files": (
        {
            "v1/1.jsonl": says(),
            "v1/2.jsonl": says(topic="2"),
            "v2/1.jsonl": says(topic="3") + says(text="Other."),
            "v2/2.jsonl": says(topic="2", text="Other."),
        },
        [("base", "1"), ("base", "2"), ("v2/base", "3"), ("v2/base", "1"), ("v2/base", "2")],
    ),
    "a run over several files": (
        {"1.jsonl": says(), "2.jsonl": says(topic="2"), "3.jsonl": says(topic="3")},
        [("base", "1"), ("base", "2"), ("base", "3")],
    ),
    "files of a run that repeat a topic alike": (
        {"1.jsonl": says() + says(topic="2"), "2.jsonl": says(topic="2") + says(topic="3")},
        [("base", "1"), ("base", "2"), ("base", "3")],
    ),
    "a team on one side only": (
        {"a.jsonl": says("A"), "b.jsonl": says("")},
        [("base", "1"), ("b/base", "1")],
    ),
    "a team on the later side only": (
        {"a.jsonl": says(""), "b.jsonl": says("A")},
        [("base", "1"), ("A/base", "1")],
    ),
    "lines without a team, then two teams": (
        {"a.jsonl": says("") + says("A", topic="2") + says("B", topic="3")},
        [("base", "1"), ("base", "2"), ("B/base", "3")],
    ),
    "a file that goes on, its first line without a team": (
        {"1.jsonl": says("A"), "2.jsonl": says("", topic="2") + says("A", topic="3")},
        [("base", "1"), ("base", "2"), ("base", "3")],
    ),
    "several runs in one file": (
        {"a.jsonl": says("A") + says("B") + says("A", "other") + says("B", topic="2")},
        [("base", "1"), ("B/base", "1"), ("other", "1"), ("B/base", "2")],
    ),
    "upper and lower case": (
        {"a.jsonl": says("A", "Base"), "b.jsonl": says("a", "base")},
        [("Base", "1"), ("base", "1")],
    ),
    "normal forms": (
        {"a.jsonl": says("A", "caf\u00e9"), "b.jsonl": says("A", "cafe\u0301")},
        [("caf\u00e9", "1"), ("cafe\u0301", "1")],
    ),
    "percent signs": (
        {"a.jsonl": says("A", "my run"), "b.jsonl": says("A", "my%20run")},
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
        (says("B"), "run_id 'base' is also one of team 'A'; named 'B/base'"),
        (says("A", text="Other."), "base' says something else in {}/runs/a.jsonl; named 'b/base'"),
    ],
    ids=["team", "version"],
)
def test_a_name_that_is_made_is_said(
    second: str, message: str, write: Write, tmp_path: Path
) -> None:
    found = read(write, tmp_path, {"a.jsonl": says(), "b.jsonl": second})
    (told,) = found.findings
    assert (told.kind, told.topic_id, told.place.line) == ("run_id_conflict", "1", 1)
    assert told.message.endswith(message.format(tmp_path))
    assert told.message.endswith(f"named {told.run_id!r}")


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
    text = says(run=run) + says(run=run, topic="2")
    found = read(write, tmp_path, dict.fromkeys(names, text))
    (told,) = [finding for finding in found.findings if finding.kind == "run_repeated"]
    assert (len(found.answers), told.severity) == (2, "note")
    assert told.message.endswith(f"once more, as {tmp_path}/runs/{names[0]} does; passed over")


def test_copies_without_run_id_are_two_systems_where_their_files_are(
    write: Write, tmp_path: Path
) -> None:
    found = read(write, tmp_path, {"a": says(run=""), "b": says(run="")})
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
def test_names_that_look_alike_are_said(
    one: str, other: str, same: bool, write: Write, tmp_path: Path
) -> None:
    assert (visible_form(one) == visible_form(other)) is same
    found = read(write, tmp_path, {"a.jsonl": says(run=one), "b.jsonl": says(run=other)})
    assert found.answers == [(one, "1"), (other, "1")]
    assert ("run_id_alike" in found.kinds) is same


def test_looking_ahead_is_for_files_that_share_a_run_id(write: Write, tmp_path: Path) -> None:
    texts = {f"{n}.jsonl": says(run=f"r{n}") for n in range(3)}
    paths = [write(text, name) for name, text in texts.items()]
    records = RunRecords(paths)
    assert len(list(RunReader(paths, lambda finding: None, records=records.read))) == 3
    assert [run.answers for run in records.names.runs.values()] == [None] * 3
