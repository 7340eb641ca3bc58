"""Topic files of every track."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics
from trecjudge.records import Topic


def topics(path: Path) -> tuple[list[Topic], list[tuple[str, int | None]]]:
    """Return the topics of a file, and (kind, line) of each finding."""
    findings: list[Finding] = []
    found = read_topics(path, findings.append)
    assert list(found) == [topic.topic_id for topic in found.values()]
    return list(found.values()), [(f.kind, f.place.line) for f in findings]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("2024-1\twhy moss\n", Topic("2024-1", "why moss"), id="RAG 2024, TSV"),
        pytest.param('{"id": "464", "title": "moss"}', Topic("464", "moss"), id="RAG 2025"),
        pytest.param('{"id": 14, "title": "moss"}', Topic("14", "moss"), id="integer id"),
        pytest.param(
            '{"id": " 7 ", "title": "moss"}', Topic("7", "moss"), id="spaces round the id"
        ),
        pytest.param(
            '{"topic_id": "1001", "request_id": "1001", "collection_id": "ragtime/1/eng",'
            ' "title": "canals", "problem_statement": "List.", "background": "Me.", "limit": 2000}',
            Topic("1001", "canals", "List.", "Me.", limit=2000),
            id="RAGTIME",
        ),
        pytest.param(
            '{"docid": "msmarco_v2.1_doc_0_1", "url": "https://e.org", "title": "Bridge",'
            ' "headings": "x", "body": "It reopened."}',
            Topic("msmarco_v2.1_doc_0_1", "Bridge", body="It reopened.", url="https://e.org"),
            id="DRAGUN, native",
        ),
        pytest.param(
            '{"request_id": "m_1", "collection_ids": ["m"], "title": "Pizza", "background": "B.",'
            ' "problem_statement": "P."}',
            Topic("m_1", "Pizza", "P.", "B."),
            id="DRAGUN, as a request",
        ),
        pytest.param('{"narrative_id": 7, "narrative": "n"}', Topic("7", "n"), id="narrative"),
        pytest.param('{"1": "why moss"}', Topic("1", "why moss"), id="text by id"),
        pytest.param(
            '{"1": {"title": "moss", "desc": "why"}}', Topic("1", "moss", "why"), id="object by id"
        ),
        pytest.param('{"qid": "q9", "query": "q"}', Topic("q9", "q"), id="qid and query"),
        pytest.param('{"query_id": "q9", "question": "q"}', Topic("q9", "q"), id="question"),
        pytest.param('{"id": "7", "title": "", "query": "q"}', Topic("7", "q"), id="empty title"),
        pytest.param('{"id": null, "qid": "7"}', Topic("7"), id="null id beside a good one"),
        pytest.param('{"id": "7", "title": null, "body": 5}', Topic("7"), id="null and number"),
        pytest.param('{"id": "7", "limit": true}', Topic("7"), id="true is no limit"),
        pytest.param('{"id": "7", "limit": "2000"}', Topic("7"), id="text is no limit"),
    ],
)
def test_every_shape_of_a_topic(text: str, wanted: Topic, write: Write) -> None:
    assert topics(write(text)) == ([wanted], [])


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
