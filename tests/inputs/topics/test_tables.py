"""Topics in TSV and CSV files."""

from __future__ import annotations

import pytest

from tests.reading import Write
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics
from trecjudge.inputs.topics.reading import header_of
from trecjudge.records import Topic

BOTH = [Topic("1", "ferries"), Topic("2", "lamps, lit")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("qid\tquery\n1\tferries\n2\tlamps, lit\n", "t.tsv", id="TSV, header"),
        pytest.param("topic_id text\n1\tferries\n2\tlamps, lit\n", "t.tsv", id="spaced header"),
        pytest.param("#Query ID\tTitle\n1\tferries\n2\tlamps, lit\n", "t.txt", id="headings"),
        pytest.param("title\tid\nferries\t1\nlamps, lit\t2\n", "t.tsv", id="other order"),
        pytest.param('qid,query\n1,ferries\n2,"lamps, lit"\n', "t.csv", id="CSV, header"),
        pytest.param('qid,query\n1,ferries\n2,"lamps, lit"\n', "t.txt", id="CSV by its header"),
        pytest.param('1,ferries\n2,"lamps, lit"\n', "t.csv", id="CSV by its name"),
        pytest.param("1\tferries\n2\tlamps, lit\n", "t.csv", id="tabs in a CSV"),
        pytest.param("id;prompt\n1;ferries\n2;lamps, lit\n", "t.txt", id="semicolons"),
        pytest.param("\ufeffqid\tquery\r\n1\tferries\r\n\r\n2\tlamps, lit", "t.tsv", id="CRLF"),
    ],
)
def test_every_table(text: str, name: str, write: Write) -> None:
    findings: list[Finding] = []
    assert list(read_topics(write(text, name), findings.append).values()) == BOTH
    assert findings == []


def test_more_columns_are_read_by_their_names(write: Write) -> None:
    findings: list[Finding] = []
    text = "qid\tquery\tnarrative\tlang\thint\n1\tferries\tNo cars.\teng\tsay it\tall\n"
    found = read_topics(write(text, "t.tsv"), findings.append)
    assert found == {"1": Topic("1", "ferries", "No cars.")}
    assert [(f.kind, f.value, f.place.line) for f in findings] == [("topic_text_unused", "hint", 2)]


@pytest.mark.parametrize("text", ["Why so?", "List all of them by name."])
def test_a_question_that_is_not_read_is_a_warning(text: str, write: Write) -> None:
    findings: list[Finding] = []
    read_topics(write(f"id;topic;task\n1;Traffic;{text}\n", "t.csv"), findings.append)
    assert [(f.kind, f.severity) for f in findings] == [("topic_question_unused", "warning")]


def test_a_cell_of_a_csv_may_hold_lines(write: Write) -> None:
    text = 'id,title,description\n1,ferries,"One.\nTwo, ""three""."\n'
    found = read_topics(write(text, "t.csv"), lambda finding: None)
    assert found == {"1": Topic("1", "ferries", 'One.\nTwo, "three".')}


def test_what_is_not_used_is_reported_once_a_file(write: Write) -> None:
    findings: list[Finding] = []
    read_topics(write("qid\tquery\thint\n1\ta\tof it\n2\tb\tof that\n"), findings.append)
    assert [finding.kind for finding in findings] == ["topic_text_unused"]
    assert str(findings[0]).endswith("run.jsonl:2: holds text that no judge sees: hint")


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["qid", "query"], ["qid", "query"]),
        (["id", "lang", "text"], ["id", "lang", "text"]),
        (["topic_id"], ["topic_id"]),
        (["topic", "title"], ["topic_id", "title"]),
        (["id", "lang"], []),
        (["query"], []),
        (["2024-1", "query"], []),
        (["1", "id and title"], []),
        (["id", "title", "title"], []),
    ],
)
def test_a_header_names_an_id_and_a_text(cells: list[str], names: list[str]) -> None:
    assert header_of(cells) == names
