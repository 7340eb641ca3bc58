"""The address of an index in PostgreSQL, how it is reached, and what goes wrong in plain words."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from trecjudge.errors import InputError, OutputError, PluginError
from trecjudge.inputs.documents.index_file import Damaged, damaged
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
class Address:
    """Where an index is: the database, and the schema `name` in it.

    `shown` is the address without its secrets.
    """

    shown: str
    name: str
    parameters: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, url: str) -> Address:
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
        with self.understood():
            connection: Connection[Any] = psycopg().connect(
                **self.parameters, autocommit=True, client_encoding="UTF8"
            )
        return connection

    @contextmanager
    def understood(self) -> Iterator[None]:
        """Raise what the database says as InputError or OutputError, in one line."""
        failed: InputError | OutputError | None = None
        try:
            yield
        except Damaged as error:
            failed = damaged(self.shown, error)
        except psycopg().Error as error:
            failed = self._in_words(error)
        # Raised out here: the database's own error may hold the address.
        if failed is not None:
            raise failed

    def _in_words(self, error: Error) -> InputError | OutputError:
        errors = psycopg().errors
        if isinstance(error, errors.LockNotAvailable):
            return OutputError(f"{self.shown}: {BUSY}")
        if isinstance(error, errors.InvalidPassword | errors.InvalidAuthorizationSpecification):
            return InputError(f"{self.shown}: {self._words(error)}; set PGPASSWORD")
        if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            return OutputError(f"{self.shown}: {self._words(error)}")
        words = self._words(error)
        if isinstance(error, psycopg().OperationalError) and error.sqlstate is None:
            hint = "; set PGPASSWORD" if "password" in words else ""
            return InputError(f"{self.shown}: cannot be reached: {words}{hint}")
        return OutputError(f"{self.shown}: {words}")

    def _words(self, error: Error) -> str:
        """Return an error on one line, without a secret."""
        return public(" ".join((error.diag.message_primary or str(error)).split()))
