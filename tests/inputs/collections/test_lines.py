"""Lines of JSON that may have a wanted id: which are read, and by what."""

from __future__ import annotations

import json
import random

import pytest

from trecjudge.inputs.collections.lines import LineShape, RawIds, StringFilter


@pytest.mark.parametrize(
    ("doc_id", "text"),
    [
        ("a", '{"id": "a"}'),
        ("a", '{"id": " a "}'),
        ("a/é", '{"id":"a\\/\\u00e9"}'),
        ("a/é", '{"id":"a/\\u00E9"}'),
        ("😀", '{"id":"\\ud83d\\ude00"}'),
        ("a<b>&c", '{"id":"a\\u003cb\\u003e\\u0026c"}'),
        ("it's", '{"id":"it\\u0027s"}'),
        ('say "it" so', json.dumps({"id": 'say "it" so'})),
        ('say "it" so', '{"id":"say \\u0022it\\u0022 so"}'),
        ("back\\slash", json.dumps({"id": "back\\slash"})),
        ("12", '{"pmid": 12}'),
        ("-12", '{"text": "T", "doc_id":-12,"x": 3}'),
    ],
)
def test_what_may_be_in_json(doc_id: str, text: str) -> None:
    assert RawIds([doc_id, "other"]).may_be_in_json(text.encode())
    assert not RawIds(["other", "13"]).may_be_in_json(text.encode())


def test_what_is_no_number_of_an_id() -> None:
    cases = ['{"year": 12}', '{"id": 123}', '{"id": 12.5}', '{"text": "12 of"}']
    wrong = [text for text in cases if RawIds(["12"]).may_be_in_json(text.encode())]
    assert not wrong


@pytest.mark.parametrize(
    ("doc_id", "text"),
    [
        ("a", "a\tT"),
        ("a b", '"a b"\tT\tU'),
        ("a", "<DOC>\n<DOCNO> a </DOCNO>"),
        ("a", "<doc id='a'>"),
        ("a&b", "<id>a&amp;b</id>"),
        ("x[1]", "<id><![CDATA[x[1]]]></id>"),
        ("café", "<id>café</id>"),
    ],
)
def test_what_may_be_in_tables_and_markup(doc_id: str, text: str) -> None:
    assert RawIds([doc_id, "other"]).may_be_in_row(text.encode())
    assert RawIds([doc_id]).may_be_in_row(text.encode("latin-1"))
    assert not RawIds(["other"]).may_be_in_row(text.encode())


@pytest.mark.parametrize(
    ("text", "has_id"),
    [
        ("<DOC><DOCNO>a</DOCNO>", True),
        ("<doc x='1' id='a'><text>", True),
        ('<doc><field name="id">a</field>', True),
        ("<PubmedArticle><PMID Version='1'>", True),
        ("<doc><warc:doc-id>", True),
        ("<doc><call>a</call><idea> id = 'x'", False),
    ],
)
def test_an_element_without_any_id_is_read_too(text: str, has_id: bool) -> None:
    assert RawIds(["other"]).may_be_in_element(text.encode()) is not has_id


@pytest.mark.parametrize("size", [1, 3, 7, 8, 9, 30])
def test_a_string_that_is_there_is_found(size: int) -> None:
    string = ("0123456789é" * 3)[:size]
    befores = ["", "{", '{"id": ', '{"title": "N", "docid":']
    afters = ["", "}\n", ', "text": "T"}\n' * 30]
    pieces = [f'{before}"{string}"{after}' for before in befores for after in afters]
    strings = StringFilter([b"another", string.encode(), b"x" * 40])
    assert not [piece for piece in pieces if not strings.may_be_in(piece.encode())]


def test_of_strings_that_are_not_there_few_are_looked_for() -> None:
    rng = random.Random(1)
    known = StringFilter(f"D{n}".encode() for n in range(1000))
    for _ in range(50):
        ids = (rng.randrange(1000, 9999) for _ in range(20))
        assert not known.may_be_in("".join(f'{{"id": "D{i}"}}\n' for i in ids).encode())
    assert not StringFilter([]).may_be_in(b'{"id": "a", "text": "b"}\n')


LINE = '{"docid": "a", "body": "T"}\n'


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        (LINE * 9, True),
        (LINE * 4 + '{"docid": "b", "body": "cut\n' + LINE, False),
        (LINE * 4 + '{"docno": "b", "body": "T"}\n' + LINE, False),
        (LINE * 4 + ' {"docid": "b", "body": "T"}\n', False),
        (LINE * 4 + "\n" + LINE, False),
        (LINE * 4 + "x\n", False),
        ("\n" + LINE * 4, False),
        (LINE * 4 + LINE[:-1], False),
        (LINE.replace("\n", "\r\n") * 4, False),
    ],
)
def test_lines_that_are_alike(text: str, alike: bool) -> None:
    shape = LineShape.of([LINE[:-1].encode()] * 3)
    assert shape.is_regular(text.encode()) == alike


def test_lines_that_end_as_on_windows() -> None:
    piece = LINE.replace("\n", "\r\n").encode() * 3
    assert LineShape.of(piece.split(b"\n")[:-1]).is_regular(piece)
    assert not LineShape.of([LINE[:-1].encode()]).is_regular(piece)
