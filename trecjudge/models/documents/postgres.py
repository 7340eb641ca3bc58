"""An index in PostgreSQL by its address: a connection to it, and documents looked up by id."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from trecjudge.errors import InputError, OutputError, PluginError
from trecjudge.inputs.documents.index_file import DamagedIndex, damaged_index_error
from trecjudge.records import Document
from trecjudge.text.credentials import public

if TYPE_CHECKING:
    from psycopg import Connection, Error

EXTRA = "pgvector"
INDEX = "index"
"""The parameter of an address that names the index: several may lie in one database."""
DEFAULT = "trecjudge"
NAME = re.compile(r"[a-z_][a-z0-9_]{0,39}")
CONNECT = 10
"""Seconds in which a connection must stand."""
BUSY = "another refresh of this index is under way; try again when it has ended"


@cache
def psycopg() -> Any:
    """Return the package. Raises PluginError where the extra is not installed."""
    try:
        return importlib.import_module("psycopg")
    except ImportError as error:
        message = f"an index in PostgreSQL needs an extra: pip install 'trecjudge[{EXTRA}]'"
        raise PluginError(message) from error


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where an index is: the database, and the schema `name` in it.

    `shown` is the address without its secrets.
    """

    shown: str
    name: str
    parameters: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, url: str) -> PostgresAddress:
        """Return the address that is written as a URL. Raises InputError, PluginError."""
        package = psycopg()
        try:
            parts = urlsplit(url)
            _ = parts.port  # raises ValueError for one that is no number
            pairs = parse_qsl(parts.query, keep_blank_values=True)
            name = dict(pairs).get(INDEX, DEFAULT)
            own = urlencode([pair for pair in pairs if pair[0] != INDEX], quote_via=quote)
            plain = urlunsplit(parts._replace(query=own, fragment=""))
            found = package.conninfo.conninfo_to_dict(plain)
        except (ValueError, package.Error):
            # Not quoted, and not chained: a password may stand in it at any place.
            found = None
        if found is None:
            raise InputError(
                "the address of the index is not valid: write postgresql://USER@HOST:PORT/DATABASE,"
                " special characters of a password as %40"
            )
        if not NAME.fullmatch(name):
            message = f"{INDEX}={name!r}: must be small letters, digits and _, 40 at most"
            raise InputError(f"{public(url)}: {message}")
        found.setdefault("connect_timeout", CONNECT)
        return cls(public(url), name, found)

    def connect(self) -> Connection[Any]:
        """Return a connection without a transaction. Raises InputError."""
        with self.translate_errors():
            # Without transactions of its own: none is left open between two questions.
            connection: Connection[Any] = psycopg().connect(
                **self.parameters, autocommit=True, client_encoding="UTF8"
            )
        return connection

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Raise what the database says as InputError or OutputError, in one line."""
        failed: InputError | OutputError | None = None
        try:
            yield
        except DamagedIndex as error:
            failed = damaged_index_error(self.shown, error)
        except psycopg().Error as error:
            failed = self._to_our_error(error)
        # Raised out here: the database's own error may hold the address.
        if failed is not None:
            raise failed

    def _to_our_error(self, error: Error) -> InputError | OutputError:
        errors = psycopg().errors
        if isinstance(error, errors.LockNotAvailable):
            return OutputError(f"{self.shown}: {BUSY}")
        if isinstance(error, errors.InvalidPassword | errors.InvalidAuthorizationSpecification):
            return InputError(f"{self.shown}: {self._one_line(error)}; set PGPASSWORD")
        if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            return OutputError(f"{self.shown}: {self._one_line(error)}")
        words = self._one_line(error)
        if isinstance(error, psycopg().OperationalError) and error.sqlstate is None:
            hint = "; set PGPASSWORD" if "password" in words else ""
            return InputError(f"{self.shown}: cannot be reached: {words}{hint}")
        return OutputError(f"{self.shown}: {words}")

    def _one_line(self, error: Error) -> str:
        """Return an error on one line, without a secret."""
        return public(" ".join((error.diag.message_primary or str(error)).split()))

    def no_index(self) -> InputError:
        """Return the error where no index is."""
        there = f"make one: run_judge.py rag index DOCUMENTS --output '{self.shown}'"
        return InputError(f"{self.shown}: there is no such index; {there}")


NUL, IN_ITS_PLACE = "\x00", "\ufffd"
AT_A_TIME = 500
"""Documents that are looked up by one query."""


def storable(text: str) -> str:
    """Return a text as the database has it."""
    # NUL is the one character that it cannot keep; of a command line, half a surrogate pair.
    text = text.replace(NUL, IN_ITS_PLACE) if NUL in text else text
    return text if text.isascii() else text.encode(errors="replace").decode()


def find_documents(address: PostgresAddress, ids: Sequence[str]) -> Iterator[Document]:
    """Yield those documents of an index that it has, by the ids that are asked for.

    Raises InputError where there is no index, InputError and OutputError for a database that
    cannot be asked.
    """
    left = iter(ids)
    with closing(address.connect()) as connection, address.translate_errors():
        there = "SELECT FROM pg_tables WHERE schemaname = %s AND tablename = 'documents'"
        if connection.execute(there, (address.name,)).fetchone() is None:
            raise address.no_index()
        query = (
            "SELECT id, content, title, url, date, version"
            f' FROM "{address.name}".documents WHERE id = ANY(%s)'
        )
        while batch := {storable(doc_id): doc_id for doc_id in islice(left, AT_A_TIME)}:
            for doc_id, *fields in connection.execute(query, (list(batch),)):
                yield Document(batch[doc_id], *fields)
