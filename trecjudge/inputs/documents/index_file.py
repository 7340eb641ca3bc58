"""An index that `rag index` made: its address, or its file opened to be read, its documents."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast

import orjson

from trecjudge.errors import InputError, OutputError, why
from trecjudge.files import open_regular
from trecjudge.findings import Finding, brief
from trecjudge.inputs.sources.databases import (
    MAGIC,
    PATIENCE,
    PLACE,
    TimedConnection,
    fault_of_files,
    is_database_of,
    open_database,
)
from trecjudge.records import Document, Place
from trecjudge.settings.limits import limits

AGAIN = "index the documents again, into another file"
APPLICATION = 0x74724978
"""Says that a file is an index of this program ("trIx")."""
SHAPE = 1
"""The version of the tables."""
POSTGRES = re.compile(r"postgres(?:ql)?:(?=/)")
"""How the address of an index in a database begins."""
MODES = ("mode=rw", "mode=ro", "mode=ro&immutable=1")
"""How a file is opened to be read, the first that can be: the last to close a file that it may
write clears up beside it; where nothing may be written, it cannot be shared with a writer."""
UNUSABLE = (
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
    *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_PROTOCOL),
)
"""What SQLite says where not the file is at fault."""
TABLES = (
    "CREATE TABLE state (state TEXT NOT NULL)",
    "CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " sha256 TEXT NOT NULL, record TEXT NOT NULL, title TEXT NOT NULL, url TEXT NOT NULL,"
    " date TEXT NOT NULL, version TEXT NOT NULL, metadata TEXT NOT NULL,"
    " first_chunk INTEGER NOT NULL, chunks INTEGER NOT NULL)",
    # Apart, so that looking through the documents does not read their texts.
    "CREATE TABLE texts (document INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE chunks (number INTEGER PRIMARY KEY, document INTEGER NOT NULL,"
    " start INTEGER NOT NULL, end INTEGER NOT NULL)",
    "CREATE TABLE fields (name TEXT NOT NULL, value TEXT NOT NULL, document INTEGER NOT NULL,"
    " PRIMARY KEY (name, value, document)) WITHOUT ROWID",
    "CREATE TABLE segments (number INTEGER PRIMARY KEY, chunks BLOB NOT NULL,"
    " lengths BLOB NOT NULL, gone BLOB NOT NULL)",
    "CREATE TABLE postings (segment INTEGER NOT NULL, term TEXT NOT NULL, list BLOB NOT NULL,"
    " PRIMARY KEY (segment, term)) WITHOUT ROWID",
    "CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, vector BLOB NOT NULL)",
)
SCHEMA = {("index", ""), *(("table", table) for table in TABLES)}
"""The type and SQL of all that a file holds; the index is that of the documents' ids."""
LEAF = b"\x0d"
"""The kind of a page that holds rows: so few tables fit on the first page."""
WHOLE = (
    "SELECT id, title, url, date, version, metadata, sha256, record, text FROM documents"
    " LEFT JOIN texts ON texts.document = documents.number WHERE id = ?"
)
COUNTED = "SELECT json_extract(state, '$.documents') IS (SELECT count(*) FROM documents) FROM state"


class DamagedIndex(InputError):
    """What is wrong with the values of an index, without its name."""


def damaged_index_error(where: object, what: object) -> InputError:
    """Return the error on an index that is damaged."""
    return InputError(f"{where}: is damaged: {what}; {AGAIN}")


@contextmanager
def explain_index_errors(path: Path) -> Iterator[None]:
    """Raise what is wrong with a file as InputError, or as OutputError where it is in use."""
    try:
        yield
    except DamagedIndex as error:
        raise damaged_index_error(path, error) from error
    except sqlite3.DataError as error:
        raise InputError(f"{path}: holds a text that {limits().too_long}") from error
    except sqlite3.Error as error:
        if _is_busy(error):
            raise OutputError(
                f"{path}: another refresh of this index is under way; try again when it has ended"
            ) from error
        if _is_unusable(error):
            raise OutputError(f"{path}: cannot be used: {error}") from error
        endless = f"to look something up takes more than {PATIENCE:g} s"
        raise damaged_index_error(
            path, endless if str(error) == "interrupted" else error
        ) from error


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def _is_unusable(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in UNUSABLE and code != sqlite3.SQLITE_IOERR_SHORT_READ


def check_header(path: Path) -> None:
    """Raise InputError for a folder, and for a file that is not of SQLite: none is overwritten."""
    try:
        with open_regular(path) as file:
            start = file.read(101)
        fault = fault_of_files(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {why(error)}") from error
    if not start.startswith(MAGIC):
        raise InputError(f"{path}: is no index, but another file; give another path")
    if start[PLACE] == APPLICATION.to_bytes(4, "big") and start[100:] != LEAF:
        raise damaged_index_error(path, "its first page is none of an index")
    if fault:
        raise InputError(f"{path}: cannot be read: {fault}; remove it")


def open_reader(path: Path) -> TimedConnection:
    """Return a connection that only reads. Raises InputError where there is no index."""
    if not path.exists():
        there = f"make one: run_judge.py rag index DOCUMENTS --output {path}"
        raise InputError(f"{path}: there is no such index; {there}")
    check_header(path)
    with explain_index_errors(path):
        for mode in MODES[:-1]:
            try:
                return _open_checked(path, mode)
            except sqlite3.OperationalError as error:
                if not _is_unusable(error):
                    raise
        return _open_checked(path, MODES[-1])


def _open_checked(path: Path, mode: str) -> TimedConnection:
    database = open_database(path, mode)
    try:
        check_tables(database, path)
        if database.execute(COUNTED).fetchone() != (1,):
            raise damaged_index_error(path, "it has not as many documents as it counts")
    except BaseException:
        database.close()
        raise
    return database


def check_tables(database: sqlite3.Connection, path: Path) -> None:
    """Raise InputError for a database of another program, or of another version of this one."""
    found = {
        pragma: database.execute(f"PRAGMA {pragma}").fetchone()[0]
        for pragma in ("application_id", "user_version")
    }
    if found["application_id"] != APPLICATION:
        raise InputError(f"{path}: is no index, but another database; give another path")
    if found["user_version"] != SHAPE:
        message = f"is of version {found['user_version']}, and this program reads {SHAPE}"
        raise InputError(f"{path}: {message}; {AGAIN}")
    query = f"SELECT type, coalesce(sql, '') FROM sqlite_master LIMIT {len(SCHEMA) + 1}"
    rows = database.execute(query).fetchall()
    if len(rows) != len(SCHEMA) or set(rows) != SCHEMA:
        raise damaged_index_error(path, "its tables are not those of an index")


def is_index(path: Path) -> bool:
    """Return whether a file is an index of this program."""
    return is_database_of(path, APPLICATION)


def index_address(where: str | Path) -> str:
    """Return the address of an index in PostgreSQL; empty for anything else.

    A path has lost the second slash of an address, and a third one: where nothing but a name is
    left, it is that of a database here, as in `postgresql:///NAME?host=/tmp`.
    """
    text = str(where)
    found = POSTGRES.match(text)
    if found is None or text.startswith("//", found.end()):
        return text if found else ""
    rest = text[found.end() + 1 :]
    has_host = re.match(r"[^?]*[/@:]", rest)
    return f"{found[0]}//{'' if has_host else '/'}{rest}"


def names_index(where: str | Path) -> bool:
    """Return whether a path or an address is that of an index."""
    return bool(index_address(where)) or is_index(Path(where))


def sha256_of(*parts: str) -> str:
    """Return a digest of texts. Raises UnicodeEncodeError for half of a surrogate pair."""
    # With the lengths before them, no part can be mistaken for two.
    encoded = [part.encode() for part in parts]
    lengths = ",".join([str(len(part)) for part in encoded])
    return hashlib.sha256(b"".join([lengths.encode(), b":", *encoded])).hexdigest()


def digests_of(document: Document, metadata: Mapping[str, str]) -> tuple[str, str]:
    """Return the digests of title and text, and of all that is kept of a document."""
    text = sha256_of(document.title, document.text)
    fields = (document.doc_id, document.url, document.date, document.version)
    further = (part for pair in sorted(metadata.items()) for part in pair)
    return text, sha256_of(text, *fields, *further)


def further_of(metadata: Any) -> dict[str, str]:
    """Return the further fields of a document, which an index has as JSON. Raises DamagedIndex."""
    try:
        found = orjson.loads(metadata)
    except orjson.JSONDecodeError as error:
        raise DamagedIndex(f"the fields of a document are no JSON: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise DamagedIndex("the fields of a document are no texts")
    return found


def document_of_row(
    doc_id: Any, title: Any, url: Any, date: Any, version: Any, *rest: Any, sound: bool = False
) -> tuple[Document, dict[str, str]]:
    """Return the document of a row of WHOLE, and its further fields; `rest` has its digests.

    Raises DamagedIndex where they are not those that were taken when it was indexed; a document
    that is known to be `sound` is not compared with them again.
    """
    metadata, sha256, record, text = rest
    fields = further_of(metadata)
    if not all(isinstance(value, str) for value in (doc_id, title, url, date, version, text)):
        raise DamagedIndex("a field of a document is no text")
    document = Document(doc_id, text, title, url, date, version)
    if not sound and digests_of(document, fields) != (sha256, record):
        raise DamagedIndex("a document is not the one that was indexed")
    return document, fields


@dataclass(slots=True)
class DocumentsOfIndex:
    """The whole documents of an index, looked up one by one."""

    path: Path
    lost: int = 0
    _database: TimedConnection = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._database = open_reader(self.path)

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None. Raises OutputError for a damaged index."""
        try:
            with explain_index_errors(self.path):
                row = self._database.execute(WHOLE, (doc_id,)).fetchone()
                return document_of_row(*row)[0] if row else None
        except InputError as error:  # it is not the run that cites it which cannot be read
            raise OutputError(str(error)) from error

    def some_ids(self, count: int) -> list[str]:
        """Return the first ids."""
        query = "SELECT id FROM documents ORDER BY number LIMIT ?"
        with explain_index_errors(self.path):
            return [str(doc_id) for (doc_id,) in self._database.execute(query, (count,))]


# The lines of a pack: documents that jobs asked for, and ids that have none.

NOT_THERE: Final = "not there"
NOT_LOOKED_FOR: Final = "not looked for"
NOT_KNOWN: Final = "not known"
Lack = Literal["not there", "not looked for", "not known"]
LACKS: Mapping[Lack, str] = {
    NOT_THERE: "is surely not in the collection",
    NOT_KNOWN: "was not found in a collection of which a part could not be read",
    NOT_LOOKED_FOR: "could not be looked for",
}
"""Why a pack has no document of an id, what settles least last."""
FIELDS = ("docid", "text", "title", "url", "date", "version")
"""The fields of a line that are a document's, in the order of `Document`."""
DOCUMENT, LACK = frozenset({*FIELDS, "sha256", "source"}), frozenset({"docid", "found"})
DIGEST = re.compile(r"[0-9a-f]{64}")


def document_line(document: Document, source: str) -> bytes:
    """Return the line of a document; `source` is where it came from."""
    record = {
        "docid": document.doc_id,
        "title": document.title,
        "text": document.text,
        "url": document.url,
        "date": document.date,
        "version": document.version,
        "sha256": digest_of(document),
        "source": source,
    }
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def lack_line(doc_id: str, why: Lack) -> bytes:
    """Return the line of an id whose document a pack does not have."""
    return orjson.dumps({"docid": doc_id, "found": why}, option=orjson.OPT_APPEND_NEWLINE)


def digest_of(document: Document) -> str:
    """Return the SHA-256, in hexadecimal digits, of a title, a line's end and a text, in UTF-8."""
    return hashlib.sha256(f"{document.title}\n{document.text}".encode()).hexdigest()


def packed_document(record: object) -> Document | None:
    """Return the document of a line of a pack; None where it is none."""
    if not isinstance(record, dict) or not record.keys() >= DOCUMENT:
        return None
    if not all(isinstance(record[name], str) for name in DOCUMENT):
        return None
    if not (record["docid"] and DIGEST.fullmatch(record["sha256"])):
        return None
    return Document(*(record[name] for name in FIELDS))


def lack_of(record: object) -> Lack | None:
    """Return why a line of a pack has no document; None where it is no such line."""
    if not isinstance(record, dict) or not record.keys() >= LACK or "text" in record:
        return None
    found: Any = record["found"]
    is_one = isinstance(record["docid"], str) and isinstance(found, str) and found in LACKS
    return cast(Lack, found) if is_one else None


def lacking(record: Any, why: Lack, place: Place) -> Finding:
    """Return the finding on an id whose document may be there, where no pack is read as one."""
    doc_id = str(record["docid"])
    message = f"{brief(doc_id)} {LACKS[why]}; only the pack says so, an index of it does not"
    return Finding("documents_unusable", place, message, doc_id)


def add_lack(lacks: dict[str, Lack], doc_id: str, why: Lack) -> None:
    """Add why an id has no document; of several reasons the one counts that settles least."""
    lacks[doc_id] = max(why, lacks.get(doc_id, why), key=[*LACKS].index)
