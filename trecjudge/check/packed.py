"""A long list of records in few bytes: every place of a broken rule, every change of a copy."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")
AT_ONCE = 128
"""Records that are packed together."""


@dataclass(slots=True)
class Packed(Generic[T]):
    """Records in the order they came; most take 10 to 40 bytes. `given` counts those not kept too.

    None is kept after the first `most`.
    """

    most: int | None = None
    given: int = 0
    _count: int = 0
    _full: list[bytes] = field(default_factory=list)
    _open: list[T] = field(default_factory=list)

    def append(self, record: T) -> None:
        """Keep a record, if there is room."""
        self.given += 1
        if self.most is not None and self._count >= self.most:
            return
        self._count += 1
        self._open.append(record)
        if len(self._open) == AT_ONCE:
            # Never read from outside this process, so pickle is safe, and the fastest here.
            self._full.append(zlib.compress(pickle.dumps(self._open), 1))
            self._open = []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        for packed in self._full:
            yield from pickle.loads(zlib.decompress(packed))
        yield from self._open


@dataclass(frozen=True, slots=True)
class JsonLines(Generic[T]):
    """JSON values made of records one by one, as often as they are asked for."""

    records: Iterable[T]
    make: Callable[[T], Any]

    def __iter__(self) -> Iterator[Any]:
        return map(self.make, self.records)
