"""A small table of digests."""

from __future__ import annotations

import sys

from trecjudge.inputs.documents.digests import Digests, digest


def test_what_stands_there_first_counts() -> None:
    table = Digests()
    assert (table.setdefault(5, 1), table.setdefault(5, 2), 5 in table, 6 in table) == (
        1,
        1,
        True,
        False,
    )


def test_digests_of_the_same_last_bits_are_kept_apart() -> None:
    table = Digests()
    keys = [1 + (n << 32) for n in range(300)]
    assert [table.setdefault(key, key) for key in keys] == keys
    assert [table.setdefault(key, 7) for key in keys] == keys


def test_a_hundred_thousand_take_less_than_50_bytes_each() -> None:
    table = Digests()
    for number in range(100_000):
        table.setdefault(digest("id", number), number + 1)
    assert len(table) == 100_000
    assert all(table.setdefault(digest("id", n), 0) == n + 1 for n in range(0, 100_000, 997))
    assert sum(map(sys.getsizeof, (table._keys, table._values))) < 50 * 100_000


def test_no_digest_is_that_of_a_free_place() -> None:
    assert all(digest(part) > 0 for part in ("", "a", 0, None))
