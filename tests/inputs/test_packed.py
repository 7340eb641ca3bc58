"""Rows that are packed by group come back as they were, wherever they lie."""

from __future__ import annotations

import base64
import random
import tracemalloc
from typing import Any

import pytest

from trecjudge.inputs.packed import PackedRows


def row(number: int, chance: random.Random) -> tuple[Any, ...]:
    return number, base64.b64encode(chance.randbytes(90)).decode()


@pytest.mark.parametrize("spooled", [0, 2_000_000])
def test_rows_come_back_in_their_order(spooled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trecjudge.inputs.packed.SPOOLED", spooled)
    monkeypatch.setattr("trecjudge.inputs.packed.MOST_OPEN", 7)
    packed = PackedRows()
    for number in range(50):
        packed.add((f"g{number % 3}",), number)
    assert packed.rows(("g1",)) == [*range(1, 50, 3)]
    packed.put(("g1",), ["last"])
    packed.put(("none",), [])
    assert packed.rows(("g1",)) == [*range(1, 50, 3), "last"]
    assert (packed.rows(("none",)), packed.rows(("other",)), packed.size) == ([], [], 51)
    assert list(packed) == [("g0",), ("g1",), ("g2",)]
    assert [group in packed for group in (("g1",), ("none",))] == [True, False]


def test_many_rows_are_not_held_in_memory() -> None:
    chance, packed = random.Random(0), PackedRows()
    tracemalloc.start()
    try:
        for group in range(400):
            packed.put((str(group),), [row(number, chance) for number in range(100)])
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 400_000, "3.9 MB while all were held"
    assert [number for number, _ in packed.rows(("7",))] == [*range(100)]
