"""What one process reads of a file is what reading all of its records gives."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import tarfile
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from tests.inputs.collections.oracle import slowly
from tests.reading import Write
from trecjudge.inputs.collections import reading
from trecjudge.inputs.collections.lines import RawIds
from trecjudge.inputs.collections.reading import MEMBER, UnitAnswers, read_unit
from trecjudge.inputs.collections.units import Unit
from trecjudge.records import Document
from trecjudge.settings.limits import apply_limits


@pytest.fixture(params=[300, 1 << 18], ids=["small pieces", "pieces"], autouse=True)
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are looked through in pieces of this size."""
    monkeypatch.setattr(reading, "PIECE", request.param)


def read(unit: Unit, wanted: Sequence[str]) -> dict[str, list[Any]]:
    """Return the answers on a unit, by their kind."""
    answers: dict[str, list[Any]] = {}

    def take(some: list[reading.Answer]) -> None:
        for kind, value in some:
            answers.setdefault(kind, []).append(value)

    read_unit(unit, UnitAnswers(take, RawIds(wanted)))
    return answers


def found_in(answers: dict[str, list[Any]]) -> dict[str, Document]:
    return {found.document.doc_id: found.document for found in answers.get("document", [])}


def check_equal(path: Path, wanted: Sequence[str]) -> dict[str, Document]:
    answers = read(Unit(path), wanted)
    documents, kinds = slowly([path], wanted)
    assert found_in(answers) == documents
    reported = [finding.kind for finding in answers.get("finding", [])]
    assert set(reported) <= set(kinds)
    assert bool(reported) == bool(kinds)
    return documents


IDS = [
    *("a", "b-1", "msmarco_v2.1_doc_00_17#3_99", "http://x.org/a?b=1&c=<d>", "12345", "007", "-3"),
    *("café", "文書-1", "😀", 'say "it"', "back\\slash", "it's", "x[1]", "a b", "tab\tbed", "A+B"),
]
WRITERS: dict[str, Callable[[Any], str]] = {
    "python": json.dumps,
    "compact": lambda value: json.dumps(value, separators=(",", ":")),
    "utf-8": lambda value: json.dumps(value, ensure_ascii=False),
    "PHP": lambda value: json.dumps(value).replace("/", "\\/"),
    "Go": lambda value: (
        json.dumps(value, ensure_ascii=False)
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    ),
    ".NET": lambda value: json.dumps(value).replace("+", "\\u002B").replace("'", "\\u0027"),
    "spaced": lambda value: json.dumps(value, separators=(" , ", " : ")),
}
RECORDS: dict[str, Callable[[str, str], Any]] = {
    "docid first": lambda i, t: {"docid": i, "url": f"http://u/{t[:3]}", "title": "N", "body": t},
    "id last": lambda i, t: {"text": t, "title": 'He said "id": "x", so.\n}\n{', "id": i},
    "nested": lambda i, t: {"page_content": t, "metadata": {"n": 3, "doc_id": i}},
    "hit": lambda i, t: {"_score": 1.5, "_id": i, "_source": {"text": t}},
    "passage id": lambda i, t: {"docid": "D" + t[:2], "pid": i, "passage": t},
    "padded": lambda i, t: {"id": f" {i} ", "text": t},
    "address": lambda i, t: {"url": i, "text": t},
    "candidates": lambda i, t: {
        "query": {"qid": "q"},
        "candidates": [
            {"docid": "other", "doc": {"segment": "S"}},
            {"docid": i, "doc": {"segment": t}},
        ],
    },
    "by id inside": lambda i, t: {"run": 1, "documents": {"zz": "U", i: t}},
    "guessed": lambda i, t: {"id": i, "story": f"{t} " * 30},
    "no text": lambda i, t: {"id": i, "text": None},
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("record", RECORDS)
def test_lines_of_json(record: str, writer: str, write: Write) -> None:
    rng = random.Random(f"{record}{writer}")
    ids = [*IDS, *(f"d{n}" for n in range(60))]
    rng.shuffle(ids)
    lines = [WRITERS[writer](RECORDS[record](i, f"Text {rng.random()} of it.")) for i in ids]
    path = write("\n".join(lines) + rng.choice(("", "\n", "\n\n")), "c.jsonl")
    for wanted in ([*IDS, "nowhere"], [i for i in IDS if i.isascii() and i.isalnum()], ["b-1"]):
        documents = check_equal(path, wanted)
        assert len(documents) >= len([i for i in wanted if not i.lstrip("-").isdigit()]) - 1


@pytest.mark.parametrize("number", [7, -3, 12345678901234567890, 0])
def test_ids_that_are_numbers(number: int, write: Write) -> None:
    lines = (f'{{"text": "T {n}", "year": {number}, "id": {n}}}' for n in (1, number, 2))
    check_equal(write("\n".join(lines), "c"), [str(number)])


ODD = [
    "",
    "   ",
    "[]",
    "null",
    '"text"',
    '{"docid": "a", "te',
    '{"docid": "a", "body": "cut{"docid": "z", "body": "T"}',
    '{"body": "no id"}',
    '{"id": "b-1", "body": "another key"}',
    '{"docid": "a", "body": "twice", "docid": "z"}',
    '{"docid": "z1", "body": "T"}{"docid": "z2", "body": "U"}',
    '[{"docid": "z3", "body": "T"}, {"docid": "z4", "body": "U"}]',
    '  {"docid": "z5", "body": "T"}  ',
    '{"docid": "z6", "body": "T"}\r',
    '{"body": "the text says \\"docid\\": \\"z7\\"", "docid": "z8"}',
    '{"docid": ["z9"], "body": "T"}',
    '{"docid": null, "doc_id": "z10", "body": "T"}',
    '{"docid": "z11", "pid": "z12", "body": "T"}',
    '{"docid": 13, "body": "T"}',
    '{"docid": "z14", "score": NaN, "body": "T"}',
    '{"docid": "\\u007a15", "body": "T"}',
]
ALL = ["a", "b-1", "z", *(f"z{n}" for n in range(1, 15)), "13", "D3", "D40"]


@pytest.mark.parametrize("seed", range(12))
def test_lines_that_are_not_as_the_others(seed: int, write: Write) -> None:
    rng = random.Random(seed)
    lines = [f'{{"docid": "D{n}", "body": "Text {n}"}}' for n in range(rng.randint(1, 300))]
    for odd in rng.sample(ODD, rng.randint(1, 6)):
        lines.insert(rng.randint(0, len(lines)), odd)
    path = write("\n".join(lines), "c.jsonl")
    documents, _ = slowly([path], ALL)
    assert found_in(read(Unit(path), ALL)) == documents


@pytest.mark.parametrize("pad", ["  ", "\u00a0", "\u3000"], ids=repr)
def test_one_row_of_a_table_with_blanks_around_its_id(pad: str, write: Write) -> None:
    ids = [*(f"d{n}" for n in range(200)), f"a{pad}", f"{pad}b", f"{pad}{pad}c{pad}"]
    path = write("".join(f"{i}\tText of it.\n" for i in ids), "c")
    assert set(check_equal(path, ["a", "b", "c"])) == {"a", "b", "c"}


def test_ids_that_writers_escape_in_their_own_way(write: Write) -> None:
    lines = [f'{{"id": "d{n}", "text": "T"}}\n' for n in range(200)]
    gson = write("".join([*lines, '{"id": "YQ\\u003d\\u003d", "text": "T"}\n']), "c.jsonl")
    assert set(check_equal(gson, ["YQ=="])) == {"YQ=="}
    ids = [*(f"d{n}" for n in range(200)), "caf&#233;"]
    text = "".join(f"<doc><id>{i}</id><text>T</text></doc>\n" for i in ids)
    wanted = {"café"}
    assert set(check_equal(write(text, "c.xml"), sorted(wanted))) == wanted


@pytest.mark.parametrize("value", ["null", "1.5", "[]", "{}", "true"])
def test_a_record_whose_id_is_none_is_reported_in_any_line(value: str, write: Write) -> None:
    lines = [f'{{"id": "d{n}", "text": "T"}}\n' for n in range(200)]
    check_equal(write("".join([*lines, f'{{"id": {value}, "text": "T"}}\n']), "c"), ["x"])


def test_ranges_inside_one_long_line(write: Write) -> None:
    first = '{"docid": "a", "body": "T"}\n'
    path = write(first + "x" * 900_000 + first + "\n" * 9000 + first.replace("a", "b", 1))
    size = path.stat().st_size
    found = {
        start: found_in(read(Unit(path, start, min(size, start + 1000)), ["a", "b"])).keys()
        for start in range(0, size, 1000)
    }
    assert {start: set(ids) for start, ids in found.items() if ids} == {
        0: {"a"},
        size // 1000 * 1000: {"b"},
    }


def test_every_range_of_a_file_together_has_what_it_has(write: Write) -> None:
    lines = [f'{{"docid": "D{n}", "body": "{"x" * (n * 7 % 50)}"}}' for n in range(60)]
    path = write("\n".join([*lines, "{broken", *lines]))
    ids, size = [f"D{n}" for n in range(60)], path.stat().st_size
    for step in (1, 17, 100, 1000):
        found: dict[str, tuple[int, Document]] = {}
        broken = []
        for start in range(0, size, step):
            answers = read(Unit(path, start, min(size, start + step)), ids)
            for one in answers.get("document", []):
                found.setdefault(one.document.doc_id, (one.place, one.document))
            broken += answers.get("finding", [])
            if step == 1 and start > 300:
                break
        else:
            assert {i: document for i, (_, document) in found.items()} == slowly([path], ids)[0]
            assert [place for place, _ in found.values()] == [
                path.read_bytes().index(f'{{"docid": "D{n}"'.encode()) for n in range(60)
            ]
            assert [finding.place.line for finding in broken] == [61]


PUBMED = (
    "<PubmedArticleSet>{}</PubmedArticleSet>",
    '<PubmedArticle><MedlineCitation><PMID Version="1">{i}</PMID><Article><ArticleTitle>N'
    "</ArticleTitle><Abstract><AbstractText>{t}</AbstractText></Abstract></Article>"
    "</MedlineCitation></PubmedArticle>\n",
)
MARKED_UP: dict[str, tuple[str, str]] = {
    "TREC": ("{}", "<DOC>\n<DOCNO> {i} </DOCNO>\n<TEXT>\n{t}\n</TEXT>\n</DOC>\n"),
    "not closed": ("{}", "<DOC><DOCNO>{i}</DOCNO>{t}\n"),
    "attribute": ("{}", "<doc id=\"{i}\" date='1'><text>{t}</text></doc>"),
    "Solr": (
        "<add>{}</add>",
        '<doc><field name="id">{i}</field><field name="text">{t}</field></doc>',
    ),
    "CDATA": ("<r>{}</r>", "<document><id><![CDATA[{i}]]></id><text>{t}</text></document>"),
    "PubMed": PUBMED,
}
MARKED_IDS = ["a", "b-1", "WSJ 87", "café", "12345", "x[1]", "a&amp;b", "it's"]


@pytest.mark.parametrize("layout", MARKED_UP)
def test_markup(layout: str, write: Write) -> None:
    whole, one = MARKED_UP[layout]
    ids = [*MARKED_IDS, *(f"d{n}" for n in range(50))]
    text = whole.format("".join(one.format(i=i, t=f"Text of {n}.") for n, i in enumerate(ids)))
    path = write(text, "c.xml")
    documents = check_equal(path, [*MARKED_IDS, "a&b", "nowhere"])
    assert len(documents) >= 7
    check_equal(path, ["b-1"])
    lost = one.format(i="lost", t="T").replace("id", "call").replace("PMID", "PM")
    check_equal(write(text + lost.replace("DOCNO", "CALL"), "broken.xml"), ["a"])
    latin = write(text.encode("latin-1"), "latin.xml")
    assert "café" in check_equal(latin, MARKED_IDS)


@pytest.mark.parametrize("header", ["", "docno\ttitle\ttext\n", "text\ttitle\tPID\n"])
def test_tables_by_tabs(header: str, write: Write) -> None:
    ids = [*(i for i in IDS if "\t" not in i and i != "a b"), *(f"d{n}" for n in range(50))]
    order = "{t}\tN\t{i}\n" if header.startswith("text") else "{i}\tN\t{t}\n"
    text = header + "".join(order.format(i=i, t=f"Text of {n}.") for n, i in enumerate(ids))
    path = write(text, "c.tsv")
    assert len(check_equal(path, [*IDS, "nowhere"])) == len(IDS) - 2
    assert len(check_equal(path, ["b-1"])) == 1
    check_equal(write(text + "no tab\n", "broken.tsv"), ["b-1"])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('id,text\na,"The\nferry."\n,Lost\nb,Lamp\n', id="CSV"),
        pytest.param('[{"id": "a", "text": "T"},\n{"id": "b", "text": "U"}]', id="array"),
        pytest.param('{"a": "The ferry.", "b": {"text": "The lamp."}}', id="by id"),
        pytest.param('{\n"id": "a",\n"text": "T"}\n{\n"id": "b"\n, "text": "U"}', id="on lines"),
        pytest.param("Some notes,\nand more.\n", id="prose"),
        pytest.param("", id="empty"),
        pytest.param('{"id": "a", "text": "T"', id="cut"),
        pytest.param('broken\n{"id": "a", "text": "T"}\n', id="first line broken"),
        pytest.param('\ufeff{"id": "a", "text": "T"}\r\n{"id": "b", "text": "U"}\r\n', id="CRLF"),
    ],
)
def test_other_layouts(text: str, write: Write) -> None:
    check_equal(write(text, "c"), ["a", "b", "c"])
    check_equal(write(text.encode("utf-16"), "d"), ["a", "b", "c"])


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}
LINES = "".join(f'{{"docid": "D{n}", "body": "Text {n}"}}\n' for n in range(5000))


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            head = tarfile.TarInfo(name)
            head.size = len(data)
            tar.addfile(head, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_files(packing: str, write: Write) -> None:
    wanted = ["D7", "D4999", "nowhere"]
    assert len(check_equal(write(PACKERS[packing](LINES.encode()), "c"), wanted)) == 2
    files = {
        "x/a.jsonl": LINES.encode(),
        "x/b.tsv": b"D7\tAnother.\nD8\tMore.\n",
        "x/c.jsonl.gz": gzip.compress(b'{"docid": "g", "body": "In gzip."}'),
        "x/README.md": b"# Read me\n",
        "x/.hidden": b'{"docid": "h", "body": "T"}',
        "y.xml": b"<DOC><DOCNO>s</DOCNO>Text</DOC>",
        "z.json": b'{"m": {"text": "T"}, "n": "U"}',
        "lines/one.json": b'{\n"id": "o",\n"text": "T"}\n',
    }
    path = write(PACKERS[packing](tar_of(files)), "c.tar.packed")
    documents = check_equal(path, ["D7", "D8", "g", "h", "s", "m", "n", "o"])
    assert set(documents) == {"D7", "D8", "g", "s", "m", "n", "o"}
    assert documents["D7"].text == "Text 7"


def test_the_source_of_a_document_in_an_archive(write: Write) -> None:
    path = write(tar_of({"x/a.jsonl": LINES.encode()}), "c.tar")
    (found,) = read(Unit(path), ["D1"])["document"]
    place = found.place
    assert (place, found.source) == (LINES.index('{"docid": "D1"'), f"c.tar!x/a.jsonl@{place}")
    assert 100_000_000 * MEMBER < 1 << 63  # a place of SQLite, in an archive of as many files


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(gzip.compress(LINES.encode())[:-3000], id="gzip"),
        pytest.param(gzip.compress(tar_of({"a.jsonl": LINES.encode()}))[:-3000], id="tar.gz"),
        pytest.param(tar_of({"a.jsonl": LINES.encode()})[:-30000], id="tar"),
    ],
)
def test_a_file_that_is_cut_is_read_up_to_there(data: bytes, write: Write) -> None:
    answers = read(Unit(write(data, "c")), ["D0", "D1000", "D4999"])
    assert set(found_in(answers)) == {"D0", "D1000"}
    assert {finding.kind for finding in answers["finding"]} == {"collection_unreadable"}
    assert "failed" not in answers


def test_hostile_archives(write: Write) -> None:
    long = tarfile.TarInfo("a.jsonl")
    long.pax_headers = {"comment": "x" * (2 << 20)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(long)
    nested = gzip.compress(tar_of({"b.tar": tar_of({"c.jsonl": LINES.encode()})}))
    pipe = tarfile.TarInfo("pipe")
    pipe.type = tarfile.FIFOTYPE
    links = io.BytesIO()
    with tarfile.open(fileobj=links, mode="w") as tar:
        tar.addfile(pipe)
    for data in (out.getvalue(), nested, links.getvalue(), tar_of({})):
        assert "document" not in read(Unit(write(data, "c.tar")), ["D1"])


def test_a_line_that_is_too_long_is_never_held(write: Write) -> None:
    long = '{"docid": "long", "body": "' + "x" * 3_000_000 + '"}\n'
    text = f'{long}{LINES[:200]}\n{" " * 2_000_000}\n{{"docid": "D9", "body": "T"}}\n{long}'
    path = write(text)
    for wanted in (["long", "D1", "D9"], ["D9"]):
        with apply_limits(["record=1MB"]):
            check_equal(path, wanted)
    with apply_limits(["record=30"]):
        check_equal(path, ["D1", "D9"])


PARQUET: dict[str, list[dict[str, Any]]] = {
    "ids": [{"id": f"D{n}", "text": f"Text {n}", "vector": [0.5, n]} for n in range(5000)],
    "numbers": [{"title": "N", "pmid": n, "abstract": f"Text {n}"} for n in range(100)],
    "another name": [{"warc_rid": f"D{n}", "text": f"Text {n}"} for n in range(100)],
    "no ids": [{"text": f"Text {n}", "dump": "2024"} for n in range(100)],
    "nested": [{"text": f"Text {n}", "metadata": {"docid": f"D{n}"}} for n in range(100)],
    "passages": [{"docid": "x", "pid": f"D{n}", "text": "T"} for n in range(100)],
    "dots": [{"meta.id": f"D{n}", "text": "T"} for n in range(100)],
    "other dots": [{"rid.x": f"D{n}", "text": "T"} for n in range(100)],
    "lists": [{"qid": "q", "passages": [{"docid": f"D{n}", "text": "T"}]} for n in range(100)],
    "dates": [{"id": f"D{n}", "text": "T", "date": date(2024, 5, 1)} for n in range(100)],
    "decimals": [{"id": Decimal(n), "text": "T"} for n in range(100)],
    "nulls": [{"id": None if n % 2 else f"D{n}", "text": "T"} for n in range(100)],
}


@pytest.mark.parametrize("layout", PARQUET)
def test_parquet(layout: str, tmp_path: Path) -> None:
    path = tmp_path / "shard_00001.parquet"
    table = pyarrow.Table.from_pylist(PARQUET[layout])
    pyarrow.parquet.write_table(table, path, row_group_size=1000)
    wanted = ["D7", "D8", "D42", "7", "shard_00001_7", "shard_00001_42", "shard_00001_9999", "x"]
    documents = check_equal(path, [*wanted, "D4999", "shard_00001_007"])
    assert len(documents) == {"ids": 4, "numbers": 1, "no ids": 2}.get(layout, len(documents)) > 0
    found = read(Unit(path), ["D42", "42", "shard_00001_42"])["document"]
    assert [one.place for one in found] == [42]


@pytest.mark.parametrize("kind", ["large_string", "string_view", "category"])
def test_parquet_with_ids_as_another_kind_of_text(kind: str, tmp_path: Path) -> None:
    ids = pyarrow.array([f"D{n}" for n in range(100)])
    column = ids.dictionary_encode() if kind == "category" else ids.cast(kind)
    table = pyarrow.table({"warc_rid": column, "text": ["T"] * 100})
    pyarrow.parquet.write_table(table, tmp_path / "c.parquet")
    assert set(check_equal(tmp_path / "c.parquet", ["D7", "c_8"])) == {"D7"}


def test_parquet_that_is_damaged_or_in_an_archive(tmp_path: Path, write: Write) -> None:
    path = tmp_path / "c.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(PARQUET["ids"]), path)
    whole = path.read_bytes()
    for data in (whole[:-100], tar_of({"c.parquet": whole})):
        answers = read(Unit(write(data, "d")), ["D1"])
        assert [finding.kind for finding in answers["finding"]] == ["collection_unreadable"]


def test_a_file_that_cannot_be_read_this_time(tmp_path: Path, write: Write) -> None:
    (why,) = read(Unit(tmp_path / "gone.jsonl"), ["a"])["failed"]
    assert why == "cannot be read: there is no such file or folder"
    with apply_limits(["unpacked=10k"]):
        answers = read(Unit(write(gzip.compress(LINES[:34].encode() * 99999), "c")), ["a"])
    assert "--limit unpacked" in answers["failed"][0]
