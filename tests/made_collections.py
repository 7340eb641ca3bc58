"""Small made-up collections in exactly the forms of the tracks' own.

Each builder takes texts, or how many to make up, writes the files into a folder, and returns the
documents with the ids that runs would cite, in the order in which they lie there.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from uuid import UUID
from xml.sax.saxutils import escape

import zstandard

from trecjudge.records import Document

LANGUAGES = ("arb", "eng", "rus", "zho")
WORDS = [
    "river",
    "harbour",
    "museum",
    "vaccine",
    "trade",
    "climate",
    "border",
    "market",
    "engine",
    "school",
    "festival",
    "glacier",
    "senate",
    "orchard",
    "tariff",
    "reactor",
    "pipeline",
    "library",
    "satellite",
    "museum",
    "ферма",
    "новость",
    "新闻",
    "سوق",
]
HOLE = 1 << 24
"""Bytes of blank lines that are packed at a time."""
REAL = re.compile(r"msmarco_v2\.1_doc_(\d+)_(\d+)(?:#\d+_(\d+))?")


@dataclass(frozen=True)
class Text:
    """What a made-up document says."""

    text: str
    title: str = ""


Texts = int | Sequence[Text]
"""Texts, or how many to make up."""


def made_texts(count: int, seed: int = 0) -> list[Text]:
    """Return texts of some sentences, in several scripts; each one names its number."""
    chance = random.Random(seed)

    def sentence() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(6, 14))).capitalize() + "."

    return [
        Text(
            f"Text {seed}-{number} says “so”. " + " ".join(sentence() for _ in range(3)),
            f"Title {number}",
        )
        for number in range(count)
    ]


def texts_of(texts: Texts, seed: int) -> list[Text]:
    """Return the texts that are given, or as many as are to be made up."""
    return made_texts(texts, seed) if isinstance(texts, int) else list(texts)


def write(path: Path, lines: Iterable[bytes], packing: str = ".gz") -> Path:
    """Write lines into a file, packed as `.gz` or `.zst`, or plain where that is empty.

    The ending is added to the path, which is returned.
    """
    path = path.with_name(path.name + packing)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = b"".join(lines)
    if packing == ".gz":
        text = gzip.compress(text, mtime=0)
    elif packing == ".zst":
        text = zstandard.compress(text)
    path.write_bytes(text)
    return path


def line_of(record: dict[str, object]) -> bytes:
    """Return a record as a line of JSON."""
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def in_parts(texts: Sequence[Text], numbers: Sequence[int]) -> Iterable[tuple[int, Sequence[Text]]]:
    """Yield each number of a file with its part of the texts."""
    each = -(-len(texts) // len(numbers))
    return ((number, texts[i * each : (i + 1) * each]) for i, number in enumerate(numbers))


def crawled(doc_id: str, text: Text) -> Document:
    """Return a document that has an address."""
    return Document(doc_id, text.text, text.title, f"https://example.org/{len(text.text)}")


def page(document: Document) -> dict[str, object]:
    """Return a record as MS MARCO V2.1 has them."""
    return {
        "docid": document.doc_id,
        "url": document.url,
        "title": document.title,
        "headings": f"{document.title}\n",
        "body": document.text,
    }


def segment(document: Document) -> dict[str, object]:
    """Return a record as the segmented MS MARCO V2.1 has them."""
    return {
        "docid": document.doc_id,
        "url": document.url,
        "title": document.title,
        "headings": f"{document.title}\n",
        "segment": document.text,
        "start_char": 0,
        "end_char": len(document.text),
    }


def msmarco(
    folder: Path,
    texts: Texts = 20,
    numbers: Sequence[int] = (0, 1),
    *,
    packing: str = ".gz",
    seed: int = 0,
) -> list[Document]:
    """Write MS MARCO V2.1 documents: `msmarco_v2.1_doc_NN.json.gz`."""
    found: list[Document] = []
    for number, part in in_parts(texts_of(texts, seed), numbers):
        lines: list[bytes] = []
        place = 0
        for text in part:
            doc_id = f"msmarco_v2.1_doc_{number:02}_{place}"
            found.append(crawled(doc_id, text))
            lines.append(line_of(page(found[-1])))
            place += len(lines[-1])
        write(folder / f"msmarco_v2.1_doc_{number:02}.json", lines, packing)
    return found


def segmented(
    folder: Path,
    texts: Texts = 20,
    numbers: Sequence[int] = (0, 1),
    *,
    packing: str = ".gz",
    seed: int = 0,
    each: int = 3,
) -> list[Document]:
    """Write MS MARCO V2.1 segmented, `each` segments of a document after one another."""
    found: list[Document] = []
    for number, part in in_parts(texts_of(texts, seed), numbers):
        lines: list[bytes] = []
        place = 0
        for i, text in enumerate(part):
            # A document begins elsewhere in the files of documents than in the segmented ones.
            whole = f"msmarco_v2.1_doc_{number:02}_{7919 * (i // each)}"
            doc_id = f"{whole}#{i % each}_{place}"
            found.append(crawled(doc_id, text))
            lines.append(line_of(segment(found[-1])))
            place += len(lines[-1])
        write(folder / f"msmarco_v2.1_doc_segmented_{number:02}.json", lines, packing)
    return found


def climbmix(
    folder: Path,
    texts: Texts = 20,
    numbers: Sequence[int] = (0, 1),
    *,
    rows_of_group: int = 4,
    id_column: str = "",
    seed: int = 0,
) -> list[Document]:
    """Write ClimbMix: `shard_NNNNN.parquet`; with `id_column` also ids that are no rows."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    found: list[Document] = []
    for number, part in in_parts(texts_of(texts, seed), numbers):
        rows = [f"shard_{number:05}_{row}" for row in range(len(part))]
        ids = [f"own-{row}" for row in rows] if id_column else rows
        columns = {"text": [text.text for text in part]}
        if id_column:
            columns |= {id_column: ids}
        found += [Document(i, text.text) for i, text in zip(ids, part, strict=True)]
        path = folder / f"shard_{number:05}.parquet"
        parquet.write_table(pyarrow.table(columns), path, row_group_size=rows_of_group)
    return found


def uuid_of(chance: random.Random) -> str:
    """Return a made-up uuid."""
    return str(UUID(int=chance.getrandbits(128), version=4))


def ragtime(
    folder: Path, texts: Texts = 20, *, packing: str = "", seed: int = 0, ids: Sequence[str] = ()
) -> list[Document]:
    """Write RAGTIME1: `LANGUAGE.jsonl`, four languages; ids as `uuid_NUMBER`, or those given."""
    chance = random.Random(seed)
    given = texts_of(texts, seed)
    names = ids or [f"{uuid_of(chance)}_{chance.randrange(10**9)}" for _ in given]
    return _of_languages(folder, given, names, packing)


def neuclir(
    folder: Path, texts: Texts = 20, *, packing: str = "", seed: int = 0, ids: Sequence[str] = ()
) -> list[Document]:
    """Write NeuCLIR1: `LANGUAGE.jsonl`; ids are uuids, or those given."""
    chance = random.Random(seed)
    given = texts_of(texts, seed)
    names = ids or [uuid_of(chance) for _ in given]
    return _of_languages(folder, given, names, packing)


def _of_languages(
    folder: Path, texts: Sequence[Text], ids: Sequence[str], packing: str
) -> list[Document]:
    found = [
        replace(crawled(doc_id, text), date="2021-01-01T00:00:00+00:00")
        for doc_id, text in zip(ids, texts, strict=True)
    ]
    each = -(-len(found) // len(LANGUAGES))
    for i, language in enumerate(LANGUAGES):
        lines = [
            line_of(
                {
                    "id": document.doc_id,
                    "cc_file": "crawl-data/CC-NEWS/2021/01/CC-NEWS-20210101.warc.gz",
                    "time": document.date,
                    "title": document.title,
                    "text": document.text,
                    "url": document.url,
                }
            )
            for document in found[i * each : (i + 1) * each]
        ]
        write(folder / f"{language}.jsonl", lines, packing)
    return found


def pubmed(
    folder: Path,
    texts: Texts = 20,
    numbers: Sequence[int] = (1, 2),
    *,
    packing: str = ".gz",
    seed: int = 0,
    ids: Sequence[str] = (),
) -> list[Document]:
    """Write PubMed: `pubmedNNnNNNN.xml.gz`; ids are PMIDs, or those given."""
    chance = random.Random(seed)
    given = texts_of(texts, seed)
    names = ids or [str(20_000_000 + n) for n in chance.sample(range(10**7), len(given))]
    found = [Document(i, text.text, text.title) for i, text in zip(names, given, strict=True)]
    each = -(-len(found) // len(numbers))
    for i, number in enumerate(numbers):
        lines = ['<?xml version="1.0" encoding="utf-8"?>', "<PubmedArticleSet>"]
        for document in found[i * each : (i + 1) * each]:
            lines += [
                "<PubmedArticle>",
                '  <MedlineCitation Status="MEDLINE" Owner="NLM">',
                f'    <PMID Version="1">{document.doc_id}</PMID>',
                f"    <Article><ArticleTitle>{escape(document.title)}</ArticleTitle>",
                f"    <Abstract><AbstractText>{escape(document.text)}</AbstractText></Abstract>",
                "    </Article>",
                "  </MedlineCitation>",
                "</PubmedArticle>",
            ]
        lines += ["</PubmedArticleSet>"]
        name = f"pubmed24n{number:04}.xml"
        write(folder / name, (f"{line}\n".encode() for line in lines), packing)
    return found


def at_real_places(
    ids: Iterable[str],
    folder: Path,
    text_of: Callable[[str], str] = "Text of {} that was made up.".format,
    *,
    packing: str = "",
) -> list[Document]:
    """Write MS MARCO V2.1 files, plain or segmented, with records where ids of real runs say.

    Each file begins with a record of its own. Between records nothing lies in a plain file, which
    takes no room on disk though it may seem to have gigabytes, and which only a reader by address
    can use; a packed file (`.gz`) has blank lines there, and needs a limit `unpacked` of as much.
    A text is cut where the next record begins.
    """
    files: dict[str, dict[int, str]] = {}
    for doc_id in ids:
        if found := REAL.fullmatch(doc_id):
            number, place, of_segment = found.groups()
            name = f"msmarco_v2.1_doc_{'segmented_' if of_segment else ''}{number}.json"
            first = f"msmarco_v2.1_doc_{number}_0{'#0_0' if of_segment else ''}"
            files.setdefault(name, {0: first})[int(of_segment or place)] = doc_id
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Document] = []
    for name, there in files.items():
        with (folder / f"{name}{packing}").open("wb") as file:
            end = 0
            for place, following in pairwise([*sorted(there), 1 << 62]):
                doc_id = there[place]
                form = segment if "segmented" in name else page
                text = text_of(doc_id)
                while len(line := line_of(form(crawled(doc_id, Text(text))))) > following - place:
                    text = text[: len(text) // 2]
                if packing:
                    file.write(_blank(place - end) + gzip.compress(line, 1, mtime=0))
                else:
                    file.seek(max(0, place - 1))
                    file.write(b"\n" * (place > 0) + line)
                end = place + len(line)
                written.append(crawled(doc_id, Text(text)))
    return written


def _blank(size: int) -> bytes:
    """Return so many blank lines as gzip, whose members may follow one another."""
    whole, rest = divmod(size, HOLE)
    many = gzip.compress(b"\n" * HOLE, 1, mtime=0) * whole if whole else b""
    return many + gzip.compress(b"\n" * rest, 1, mtime=0)
