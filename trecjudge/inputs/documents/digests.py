"""A table of digests in little memory: a million documents in 50 MB at most."""

from __future__ import annotations

from array import array

_FIRST_SIZE = 1 << 10
# `digest` never returns it.
_FREE = 0


class DigestTable:
    """A table from digests of 8 bytes to others: 24 to 48 bytes a pair, where a dict takes 150.

    A key is at the place of its last bits, or at the next free one (open addressing).
    """

    def __init__(self) -> None:
        self._count = 0
        self._keys, self._values = _free(_FIRST_SIZE), _free(_FIRST_SIZE)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: int) -> bool:
        return self._keys[self._place(key)] != _FREE

    def setdefault(self, key: int, value: int) -> int:
        """Return the value of `key`; it becomes `value` where there is none yet."""
        place = self._place(key)
        if self._keys[place] != _FREE:
            return self._values[place]
        self._keys[place], self._values[place] = key, value
        self._count += 1
        # Above two thirds the searches for a free place become long.
        if 3 * self._count > 2 * len(self._keys):
            self._grow()
        return value

    def _place(self, key: int) -> int:
        """Return the place of a key, or the free place where it would be put."""
        last = len(self._keys) - 1
        place = key & last
        while self._keys[place] not in (_FREE, key):
            place = (place + 1) & last
        return place

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._keys, self._values = _free(2 * len(keys)), _free(2 * len(keys))
        for key, value in zip(keys, values, strict=True):
            if key != _FREE:
                place = self._place(key)
                self._keys[place], self._values[place] = key, value


def digest(*parts: object) -> int:
    """Return a digest of 64 bits, never 0; it is the same only within one process."""
    return (hash(parts) & 0xFFFFFFFFFFFFFFFF) or 1


def _free(size: int) -> array[int]:
    return array("Q", bytes(8 * size))
