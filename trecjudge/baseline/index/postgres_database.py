"""The tables of an index in PostgreSQL: made, checked, and used in one transaction at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trecjudge.baseline.index.postgres_address import EXTRA, Address, psycopg
from trecjudge.baseline.index.state import State, state_of
from trecjudge.errors import InputError, OutputError
from trecjudge.inputs.documents.index_file import AGAIN

if TYPE_CHECKING:
    from psycopg import Connection

SHAPE = 1
"""The version of the tables."""
PATIENCE = "10s"
"""How long a refresh waits for another one."""
MEMORY = "256MB"
"""The memory in which an index of vectors is built."""
TABLES = (
    "CREATE TABLE state (shape integer NOT NULL, state text NOT NULL,"
    " indexed_to bigint, indexed integer NOT NULL DEFAULT 0)",
    "CREATE TABLE documents (number bigint PRIMARY KEY, id text NOT NULL UNIQUE,"
    " sha256 text NOT NULL, record text NOT NULL, title text NOT NULL, url text NOT NULL,"
    " date text NOT NULL, version text NOT NULL, metadata jsonb NOT NULL,"
    " first_chunk bigint NOT NULL, chunks integer NOT NULL, content text NOT NULL)",
    # As tables of vectors usually are, so that other programs can read it.
    "CREATE TABLE chunks (id bigint PRIMARY KEY, document_id bigint NOT NULL,"
    " chunk_index integer NOT NULL, span_start integer NOT NULL, span_end integer NOT NULL,"
    " content text NOT NULL, metadata jsonb NOT NULL, embedding vector,"
    " created_at timestamptz NOT NULL DEFAULT now())",
    # Texts lie apart, so that looking through the vectors does not read them.
    "ALTER TABLE chunks ALTER COLUMN content SET STORAGE EXTERNAL",
    # By code points, as in any other database.
    'CREATE TABLE fields (name text NOT NULL, value text COLLATE "C" NOT NULL,'
    " document bigint NOT NULL)",
    # Of a long value the beginning: an entry of an index has an end.
    "CREATE INDEX fields_by_value ON fields (name, left(value, 100))",
    "CREATE INDEX fields_by_document ON fields (document)",
    "CREATE TABLE segments (number integer PRIMARY KEY, chunks bytea NOT NULL,"
    " lengths bytea NOT NULL, gone bytea NOT NULL)",
    'CREATE TABLE postings (segment integer NOT NULL, term text COLLATE "C" NOT NULL,'
    " list bytea NOT NULL, PRIMARY KEY (segment, term))",
)
_THERE = (
    "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = %s AND tablename = 'state'),"
    " (SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
    " WHERE extname = 'vector')"
)


@dataclass(frozen=True, slots=True)
class Database:
    """A connection to the database of an index."""

    address: Address
    connection: Connection[Any]

    @classmethod
    def opened(cls, address: Address) -> Database:
        """Return a database that has this index. Raises InputError."""
        database = cls(address, address.connect())
        try:
            with database.reading():
                database.state()
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def made(cls, address: Address, state: State) -> Database:
        """Return a database that has this index, made anew where there is none."""
        database = cls(address, address.connect())
        try:
            with address.understood(), database.connection.transaction():
                database.lock()
                database.make(state)
        except BaseException:
            database.close()
            raise
        return database

    def make(self, state: State) -> None:
        """Make the tables, unless they are there."""
        if self._settle():
            return
        self._make_extension()
        self.connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{self.address.name}"')
        self._settle()
        for table in TABLES:
            self.connection.execute(table)
        row = (SHAPE, state.as_json())
        self.connection.execute("INSERT INTO state (shape, state) VALUES (%s, %s)", row)

    def _make_extension(self) -> None:
        errors = psycopg().errors
        missing, denied = (errors.FeatureNotSupported, errors.UndefinedFile), ""
        try:
            with self.connection.transaction():
                self.connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except missing:
            denied = f"the server has no extension `vector` ({EXTRA}); install it there"
        except errors.InsufficientPrivilege:
            denied = (
                "this user may not create the extension `vector`; ask an administrator for"
                " CREATE EXTENSION vector"
            )
        if denied:
            raise OutputError(f"{self.address.shown}: {denied}")

    def _settle(self) -> bool:
        """Make names mean the tables of this index; return whether they are there."""
        name = self.address.name
        row = self.connection.execute(_THERE, (name,)).fetchone() or (False, None)
        path = ", ".join(f'"{part}"' for part in (name, row[1], "public") if part)
        self.connection.execute("SELECT set_config('search_path', %s, true)", (path,))
        return bool(row[0])

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within it, the index stays as it is. Raises InputError where there is none."""
        with self.address.understood(), self.connection.transaction():
            self.connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self._check()
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within it, no other refresh is under way; what is written is written whole at the end."""
        with self.address.understood(), self.connection.transaction():
            self.lock()
            # An endpoint may take hours for the vectors.
            self.connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            self.connection.execute(f"SET LOCAL maintenance_work_mem = '{MEMORY}'")
            self._check()
            yield

    def _check(self) -> None:
        if not self._settle():
            there = f"make one: run_judge.py index DOCUMENTS --to '{self.address.shown}'"
            raise InputError(f"{self.address.shown}: there is no such index; {there}")

    def lock(self) -> None:
        """Wait until no other process refreshes the index; to the end of the transaction."""
        digest = hashlib.sha256(f"trecjudge index {self.address.name}".encode()).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        self.connection.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
        self.connection.execute("SELECT pg_advisory_xact_lock(%s)", (number,))
        self.connection.execute("SET LOCAL lock_timeout = 0")

    def state(self) -> State:
        """Return the state of the index. Raises InputError for one that cannot be read."""
        shown = self.address.shown
        row = self.connection.execute("SELECT shape, state FROM state").fetchone()
        if row is None:
            raise InputError(f"{shown}: is damaged: it has no state; {AGAIN}")
        if row[0] != SHAPE:
            message = f"is of version {row[0]}, and this program reads {SHAPE}"
            raise InputError(f"{shown}: {message}; {AGAIN}")
        return state_of(row[1], shown)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()
