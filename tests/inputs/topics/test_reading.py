"""Topic files of every track, in every layout."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics
from trecjudge.inputs.topics.reading import header_of
from trecjudge.records import Topic


def topics(path: Path) -> tuple[list[Topic], list[tuple[str, int | None]]]:
    """Return the topics of a file, and (kind, line) of each finding."""
    findings: list[Finding] = []
    found = read_topics(path, findings.append)
    assert list(found) == [topic.topic_id for topic in found.values()]
    return list(found.values()), [(f.kind, f.place.line) for f in findings]


def test_every_shape_of_a_topic(write: Write) -> None:
    cases = {
        "RAG 2024, TSV": ("2024-1\twhy moss\n", Topic("2024-1", "why moss")),
        "RAG 2025": ('{"id": "464", "title": "moss"}', Topic("464", "moss")),
        "integer id": ('{"id": 14, "title": "moss"}', Topic("14", "moss")),
        "spaces round the id": ('{"id": " 7 ", "title": "moss"}', Topic("7", "moss")),
        "RAGTIME": (
            '{"topic_id": "1001", "request_id": "1001", "collection_id": "ragtime/1/eng",'
            ' "title": "canals", "problem_statement": "List.", "background": "Me.", "limit": 2000}',
            Topic("1001", "canals", "List.", "Me.", limit=2000),
        ),
        "DRAGUN, native": (
            '{"docid": "msmarco_v2.1_doc_0_1", "url": "https://e.org", "title": "Bridge",'
            ' "headings": "x", "body": "It reopened."}',
            Topic("msmarco_v2.1_doc_0_1", "Bridge", body="It reopened.", url="https://e.org"),
        ),
        "DRAGUN, as a request": (
            '{"request_id": "m_1", "collection_ids": ["m"], "title": "Pizza", "background": "B.",'
            ' "problem_statement": "P."}',
            Topic("m_1", "Pizza", "P.", "B."),
        ),
        "narrative": ('{"narrative_id": 7, "narrative": "n"}', Topic("7", "n")),
        "text by id": ('{"1": "why moss"}', Topic("1", "why moss")),
        "object by id": ('{"1": {"title": "moss", "desc": "why"}}', Topic("1", "moss", "why")),
        "qid and query": ('{"qid": "q9", "query": "q"}', Topic("q9", "q")),
        "question": ('{"query_id": "q9", "question": "q"}', Topic("q9", "q")),
        "empty title": ('{"id": "7", "title": "", "query": "q"}', Topic("7", "q")),
        "null id beside a good one": ('{"id": null, "qid": "7"}', Topic("7")),
        "null and number": ('{"id": "7", "title": null, "body": 5}', Topic("7")),
        "true is no limit": ('{"id": "7", "limit": true}', Topic("7")),
        "text is no limit": ('{"id": "7", "limit": "2000"}', Topic("7")),
    }
    wrong = {
        name: found
        for name, (text, wanted) in cases.items()
        if (found := topics(write(text))) != ([wanted], [])
    }
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"id": "1"}\n\n{"id": "2"}', id="blank line, no LF at the end"),
        pytest.param('{"id": "1"}{"id": "2"}', id="one after another on a line"),
        pytest.param('[{"id": "1"}, {"id": "2"}]', id="array"),
        pytest.param('[\n  {"id": "1"},\n  {"id": "2"}\n]', id="pretty array"),
        pytest.param('\ufeff{"id": "1"}\r\n{"id": "2"}\r\n', id="byte order mark, CRLF"),
        pytest.param("\ufeff1\t\n\n2\t\n", id="TSV with byte order mark and blank line"),
        pytest.param(gzip.compress(b"1\t\n2\t\n"), id="gzip"),
        pytest.param("qid\n1\n2\n", id="header of ids only"),
        pytest.param('{"1": {"title": ""}, "2": {"title": null}}', id="objects by id"),
        pytest.param("<top><num>1</top><top><num>2</top>", id="tags"),
    ],
)
def test_every_layout_of_a_file(text: str | bytes, write: Write) -> None:
    assert topics(write(text)) == ([Topic("1"), Topic("2")], [])


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        pytest.param(b'{"title": "moss"}', "topic_unreadable", id="no id"),
        pytest.param(b'{"id": true}', "topic_unreadable", id="true as id"),
        pytest.param(b'{"id": ""}', "topic_unreadable", id="empty id"),
        pytest.param(b'{"id": "1", "title": "again"}', "topic_duplicate", id="twice"),
        pytest.param(b'{"id": 1}', "topic_duplicate", id="twice, once as an integer"),
        pytest.param(b'{"id": ', "line_not_json", id="cut"),
        pytest.param(b'{"id": "\xff"}', "bad_utf8", id="bad bytes"),
        pytest.param(b'"2"', "record_not_an_object", id="text"),
    ],
)
def test_a_bad_record_is_found_and_the_others_are_read(bad: bytes, kind: str, write: Write) -> None:
    found = topics(write(b'{"id": "1"}\n' + bad + b'\n{"id": "3"}'))
    assert found == ([Topic("1"), Topic("3")], [(kind, 2)])


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        pytest.param(b"2 why moss", "topic_unreadable", id="no tab"),
        pytest.param(b"2 3\twhy moss", "topic_unreadable", id="space in the id"),
        pytest.param(b"\twhy", "topic_unreadable", id="no id"),
        pytest.param(b'{"id":"2"}', "topic_unreadable", id="JSON"),
        pytest.param(b"1\tagain", "topic_duplicate", id="twice"),
        pytest.param(b"2\t\x81", "bad_utf8", id="bad bytes"),
    ],
)
def test_a_bad_tsv_line_is_found_and_the_others_are_read(
    bad: bytes, kind: str, write: Write
) -> None:
    found = topics(write(b"1\ta\n" + bad + b"\n3\tc\tc\n"))
    assert found == ([Topic("1", "a"), Topic("3", "c\tc")], [(kind, 2)])


def test_two_ids_in_a_topic_are_found(write: Write) -> None:
    found = topics(write('{"topic_id": "7", "request_id": "8"}'))
    assert found == ([Topic("7")], [("topic_id_conflict", 1)])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("\n\n", id="blank"),
        pytest.param("[]", id="empty array"),
        pytest.param('{"topics": [{"id": "1"}]}', id="topics inside"),
        pytest.param('{"subject": "why moss"}', id="a key that is no id"),
        pytest.param('{"1": {"run_id": "r"}}', id="an object without text as value"),
        pytest.param("<top>\n<title> moss\n</top>", id="tags without an id"),
        pytest.param("Some notes on topics.\n", id="prose"),
        pytest.param(b"\x1f\x8b\x08", id="broken gzip"),
        pytest.param(b"\xff\xfe{\x00", id="UTF-16"),
    ],
)
def test_a_file_without_topics_is_an_input_error(text: str | bytes, write: Write) -> None:
    with pytest.raises(InputError, match=r"run\.jsonl: (no topics found; give|cannot be read)"):
        topics(write(text))


@pytest.mark.parametrize("name", ["gone", "", "x" * 300])
def test_a_file_that_is_not_there_is_an_input_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such topic file|is a folder; give a topic file"):
        topics(tmp_path / name)


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


def test_a_header_names_an_id_and_a_text() -> None:
    cases = [
        (["qid", "query"], ["qid", "query"]),
        (["id", "lang", "text"], ["id", "lang", "text"]),
        (["topic_id"], ["topic_id"]),
        (["topic", "title"], ["topic_id", "title"]),
        (["id", "lang"], []),
        (["query"], []),
        (["2024-1", "query"], []),
        (["1", "id and title"], []),
        (["id", "title", "title"], []),
    ]
    wrong = [(cells, found) for cells, names in cases if (found := header_of(cells)) != names]
    assert not wrong


CLASSIC = """\
<top>
<num> Number: 301
<title> International Crime &amp; Law

<desc> Description:
Identify organizations, p < 0.05,
that commit crimes.
<narr> Narrative:
A relevant document names one.
</top>
<top>
<num> Number: 302
<title> Polio
</top>
"""
XML = """\
<?xml version="1.0"?>
<topics task="2025">
 <topic number="301">
  <query>International Crime &amp; Law</query>
  <description>Identify organizations, p &lt; 0.05, that commit crimes.</description>
  <narrative>A relevant document names one.</narrative>
 </topic>
 <topic number="302">Polio</topic>
</topics>
"""
WANTED = [
    Topic(
        "301",
        "International Crime & Law",
        "Identify organizations, p < 0.05, that commit crimes.\n\nA relevant document names one.",
    ),
    Topic("302", "Polio"),
]


@pytest.mark.parametrize("text", [CLASSIC, XML], ids=["SGML", "XML"])
def test_topics_between_tags(text: str, write: Write) -> None:
    findings: list[Finding] = []
    assert list(read_topics(write(text, "topics.txt"), findings.append).values()) == WANTED
    assert findings == []


def test_an_unknown_tag_with_text_is_reported_with_its_line(write: Write) -> None:
    findings: list[Finding] = []
    text = CLASSIC.replace("<title> Polio", "<title> Polio\n<smry> Who had it?")
    assert list(read_topics(write(text), findings.append).values()) == WANTED
    assert [(f.kind, f.value, f.place.line) for f in findings] == [
        ("topic_question_unused", "smry", 11)
    ]


def test_bytes_that_are_not_utf_8_are_reported_and_the_rest_is_read(write: Write) -> None:
    findings: list[Finding] = []
    found = read_topics(
        write(CLASSIC.replace("Polio", "Caf\xe9").encode("latin-1")), findings.append
    )
    assert found["302"].title == "Caf\ufffd"
    assert [(f.kind, f.place.line) for f in findings] == [("bytes_replaced", 13)]
