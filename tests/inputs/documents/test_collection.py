"""Collections of documents in every container that the field uses."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import lzma
import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.reading import Write, documents_of, fail
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.documents.collection import entries
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.records import Document

pytestmark = pytest.mark.usefixtures("forked_readers")
A, B = Document("a", "The ferry."), Document("b", "The lamp.")
PUBMED = """<?xml version="1.0"?>
<!DOCTYPE PubmedArticleSet [<!ENTITY big "x"><!ENTITY more "&big;&big;">]>
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">12345</PMID>
<Article><Journal><Title>A Journal</Title></Journal><ArticleTitle>On <i>ferries</i>.</ArticleTitle>
<Abstract><AbstractText Label="AIM">The ferry &more; &amp; crew.</AbstractText>
<AbstractText>Second.</AbstractText></Abstract></Article></MedlineCitation>
<PubmedData><ReferenceList><Reference><ArticleIdList><ArticleId>99</ArticleId></ArticleIdList>
</Reference></ReferenceList></PubmedData></PubmedArticle></PubmedArticleSet>
"""
LONG = "x" * (3 << 20)


def opened(path: Path, held: bool, folder: Path, *findings: list[Finding]) -> DocumentStore:
    report = findings[0].append if findings else fail
    return documents_of([path], folder / "cache", report, (1 << 30) if held else 0)


BOTH = pytest.mark.parametrize("held", [True, False], ids=["held", "indexed"])


CONTAINERS = {
    "by id": ('{"a": {"text": "The ferry."}, "b": "The lamp."}', [A, B]),
    "by id, a line each": ('{"a": "The ferry."}\n{"b": "The lamp."}', [A, B]),
    "lines": ('{\n "a":\n  "The ferry.",\n "b": {"text": "The lamp."}\n}', [A, B]),
    "by id, on a long line": (f'{{"x": "{LONG}", "b": "The lamp."}}', [B]),
    "array on a long line": (
        f'[{{"id": "x", "text": "{LONG}"}}, {{"id": "b", "text": "The lamp."}}]',
        [B],
    ),
    "TSV": ("a\tThe ferry.\nb\tThe lamp.\n", [A, B]),
    "TSV with a header": ("docno\ttext\na\tThe ferry.\n", [A]),
    "TSV with a header, text first": ("text\tPID\nThe ferry.\ta\n", [A]),
    "TSV of DPR": (
        'id\ttext\ttitle\na\t"The ""old"" ferry."\tN\n',
        [Document("a", 'The "old" ferry.', "N")],
    ),
    "TSV, quoted": ('a\t"Old" she said.\n', [Document("a", '"Old" she said.')]),
    "TSV, titles": ("a\tN\tThe ferry.\n", [Document("a", "The ferry.", "N")]),
    "TSV of MS MARCO": (
        "a\thttps://x.org/1\tN\tThe ferry.\tOn two.\nb\thttp://x\t\tThe lamp.\n",
        [
            Document("a", "The ferry.\tOn two.", "N", "https://x.org/1"),
            Document("b", "The lamp.", url="http://x"),
        ],
    ),
    "CSV": (
        'doc_id,title,text\r\na,N,"The ferry,\nonce."\r\n',
        [Document("a", "The ferry,\nonce.", "N")],
    ),
    "CSV with semicolons": ('"docno";"contents"\na;The ferry.\n', [A]),
    "TREC": (
        "<DOC>\n<DOCNO> a </DOCNO>\n<TEXT>\nThe\nferry.\n</TEXT>\n</DOC>\n"
        "<DOC><DOCNO>b</DOCNO><TEXT>The lamp.</TEXT></DOC>",
        [Document("a", "The\nferry."), B],
    ),
    "TREC, newspapers": (
        "<DOC><DOCNO>a</DOCNO><DOCID> 7 </DOCID><HEADLINE><P>N &amp; M</P></HEADLINE>"
        "<TEXT><P>One.</P><P>Two &lt; three.</P></TEXT><TEXT>Four.</TEXT></DOC>",
        [Document("a", "One.\nTwo < three.\nFour.", "N & M")],
    ),
    "TREC, web": (
        "<doc><docno>a</docno><dochdr>http://x</dochdr><html><head><title>N</title></head>"
        "<script>if (a < b) {}</script><body>The <b>fer</b>ry.</body></html></doc>",
        [Document("a", "The ferry.", "N")],
    ),
    "TREC, one not closed": (
        "<DOC><DOCNO>a</DOCNO>The ferry.\n<DOC><DOCNO>b</DOCNO>The lamp.</DOC>",
        [A, B],
    ),
    "Latin-1": (b"<DOC><DOCNO>a</DOCNO><TEXT>caf\xe9</TEXT></DOC>", [Document("a", "café")]),
    "attribute": ('<DOC id="a" type="story"><TEXT>The ferry.</TEXT></DOC>', [A]),
    "İ": ("<DOC><DOCNO>a</DOCNO><TEXT>İİİ.</TEXT></DOC>", [Document("a", "İİİ.")]),
    "Solr": (
        '<add><doc><field name="id">a</field><field name="text">The ferry.</field></doc></add>',
        [A],
    ),
    "XML with CDATA": (
        '<?xml version="1.0"?><documents><document><id>a</id><text><![CDATA[The <ferry>.]]>'
        "</text></document></documents>",
        [Document("a", "The <ferry>.")],
    ),
    "PubMed, and no entity is expanded": (
        PUBMED,
        [Document("12345", "The ferry &more; & crew.\nSecond.", "On ferries.")],
    ),
    "candidates": (
        '{"query": {"text": "q", "qid": "1"}, "candidates": [{"docid": "a", "score": 1.5,'
        ' "doc": {"segment": "The ferry."}}, {"docid": "b", "doc": {"contents": "The lamp."}}]}'
        "\n"
        '{"query": {"text": "r", "qid": "2"}, "candidates": [{"docid": "a", "score": 1,'
        ' "doc": {"segment": "The ferry."}}]}',
        [A, B],
    ),
    "an array of candidates": (
        '[\n{"query": "q", "candidates": [{"docid": "a", "doc": {"text": "The ferry."}}]}\n]',
        [A],
    ),
    "a run's documents": ('{"documents": {"a": "The ferry."}, "run": 1}', [A]),
    "a search engine's reply": (
        '{"hits": {"hits": [{"_id": "a", "_source": {"body": "The ferry."}}]}}',
        [A],
    ),
}


@BOTH
@pytest.mark.parametrize(("text", "wanted"), CONTAINERS.values(), ids=CONTAINERS)
def test_containers(
    text: str | bytes, wanted: list[Document], held: bool, write: Write, tmp_path: Path
) -> None:
    store = opened(write(text, "c"), held, tmp_path)
    assert [store.get(document.doc_id) for document in wanted] == wanted
    assert store.lost == 0


PACKERS: list[Callable[[bytes], bytes]] = [
    gzip.compress,
    bz2.compress,
    lzma.compress,
    lambda data: zstandard.ZstdCompressor().compress(data),
]


@pytest.mark.parametrize("pack", PACKERS, ids=["gzip", "bzip2", "xz", "zstd"])
@pytest.mark.parametrize(
    "text", ["a\tThe ferry.", "<DOC><DOCNO>a</DOCNO>The ferry.</DOC>", "id,text\na,The ferry."]
)
def test_every_container_may_be_packed(
    text: str, pack: Callable[[bytes], bytes], write: Write, tmp_path: Path
) -> None:
    assert opened(write(pack(text.encode())), True, tmp_path).get("a") == A


TEXTS = {
    "row without tab": ("a\tThe ferry.\nno tab\n", "documents_unusable", 2),
    "row of bad bytes": (b"a\tThe ferry.\nb\t\x81\n", "bad_utf8", 2),
    "no id in CSV": ("id,text\na,The ferry.\n,Lost.\n", "documents_unusable", 3),
    "no DOCNO": (
        "<DOC><DOCNO>a</DOCNO>The ferry.</DOC>\n<DOC><TEXT>Lost.</TEXT></DOC>",
        "documents_unusable",
        2,
    ),
    "breaks off": (
        "<DOC><DOCNO>a</DOCNO>The ferry.</DOC>\n<DOC><DOCNO>b</DOCNO>Lost",
        "collection_unreadable",
        2,
    ),
    "an object that breaks off": ('{"a": "The ferry.",\n"b": "Lost', "line_not_json", 2),
    "a name that is not known": (
        '{"docno": "a", "text": "The ferry."}\n{"call": "b", "text": "Lost."}',
        "documents_unusable",
        2,
    ),
    "a candidate without id": (
        '{"docid": "a", "text": "The ferry."}\n{"query": "q", "candidates": [{"doc": {}}]}',
        "documents_unusable",
        2,
    ),
}


@pytest.mark.parametrize(("text", "kind", "line"), TEXTS.values(), ids=TEXTS)
@BOTH
def test_what_is_lost_is_reported_and_counted_each_time(
    text: str | bytes, kind: str, line: int, held: bool, write: Write, tmp_path: Path
) -> None:
    path = write(text)
    for _ in range(2):  # the second time an index is there
        findings: list[Finding] = []
        store = opened(path, held, tmp_path, findings)
        assert (store.get("a"), store.lost) == (A, 1)
        assert [(f.kind, f.place.line, f.place.path) for f in findings] == [(kind, line, str(path))]


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Some notes,\nand more.\n", id="prose"),
        pytest.param("PAR1\x00\x01\x02\tx", id="Parquet"),
        pytest.param("<topics><topic number='1'>q</topic></topics>", id="topics in XML"),
        pytest.param("1 Q0 a 1 0.5 run\n", id="a TREC run"),
        pytest.param('{"call": "a", "words": 5}', id="nothing known"),
        pytest.param('{"call": "a", "text": "T."}\n{"call": "b", "text": "U."}', id="no id"),
        pytest.param('{"call": "a", "say": "T."}\n{"call": "b", "say": "U."}', id="no id, no text"),
    ],
)
def test_an_unknown_container_stops_with_the_choices(
    text: str, held: bool, write: Write, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"c: no documents found; give JSON.*TSV.*SGML.*docno"):
        opened(write(text, "c"), held, tmp_path, [])


def test_a_file_that_lies_beside_a_collection_is_passed_over(write: Write, tmp_path: Path) -> None:
    write("a\tThe ferry.", "docs/a.tsv")
    write("# The documents\n", "docs/README.md")
    findings: list[Finding] = []
    store = opened(tmp_path / "docs", True, tmp_path, findings)
    assert (store.get("a"), store.lost) == (A, 0)
    assert [finding.kind for finding in findings] == ["file_not_documents"]


def test_a_part_that_cannot_be_read_is_lost(write: Write, tmp_path: Path) -> None:
    write("a\tThe ferry.", "docs/a.tsv")
    write(b"PAR1\0\0", "docs/b.parquet")
    findings: list[Finding] = []
    assert opened(tmp_path / "docs", True, tmp_path, findings).lost == 1
    assert "b.parquet: cannot be read" in str(findings[0])


@pytest.mark.parametrize("ending", ["tsv", "json", "sgml"])
def test_a_large_collection_is_never_held(ending: str, tmp_path: Path) -> None:
    path, text = tmp_path / f"c.{ending}", "word " * 3200
    with path.open("w") as file:
        rows = range(1000)  # 16 MB
        if ending == "tsv":
            file.writelines(f"d{n}\t{text}\n" for n in rows)
        elif ending == "sgml":
            file.writelines(f"<DOC><DOCNO>d{n}</DOCNO>{text}</DOC>\n" for n in rows)
        else:
            file.write(json.dumps({f"d{n}": {"text": text} for n in rows}))
    tracemalloc.start()
    found = entries(path, fail)
    assert found is not None
    count = sum(1 for _ in found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (count, peak < 8 << 20) == (1000, True)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<doc " * 200_000, id="tags that do not end"),
        pytest.param("<doc><docno>a</docno>" + "<text>" * 100_000, id="elements not closed"),
        pytest.param("<doc>" * 100_000, id="documents without anything"),
        pytest.param('{"a' + "\\" * 1_000_000, id="a key that does not end"),
        pytest.param("id,text\n" + '"' * 1_000_001, id="quotation marks"),
    ],
)
def test_hostile_collections_are_read_in_no_time(text: str, write: Write) -> None:
    path, began = write(text), time.process_time()
    list(entries(path, lambda finding: None) or ())
    assert time.process_time() - began < 5


SEEDS = (
    b'{"a": {"text": "x"}, "b": "y"}',
    b'{"id": "a", "text": "x"}\n{"id": "b"}\n',
    b"a\tb\tc\nd\te\n",
    b'id,text\na,"b\nc"\n',
    b"<DOC><DOCNO>a</DOCNO><TEXT>x &amp; <b>y</b></TEXT></DOC>",
    b'[{"query": {"q": 1}, "candidates": [{"docid": "a", "doc": {"segment": "s"}}]}]',
)


def test_any_bytes_are_read_or_found(tmp_path: Path) -> None:
    rng, path = random.Random(1), tmp_path / "c"
    for _ in range(500):
        data = bytearray(rng.choice(SEEDS))
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data) + 1)
            odd = rng.choice((b'{}[]<>",:\t\n\\/&;\xff\0 aD', data[max(0, at - 8) : at] or b"x"))
            data[at : at + rng.choice((0, 0, 3))] = bytes([rng.choice(odd)]) * rng.randint(0, 2)
        path.write_bytes(data)
        with contextlib.suppress(InputError):
            documents_of([path], tmp_path, lambda finding: None)
