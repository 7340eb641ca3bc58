"""Long lists in few bytes."""

from __future__ import annotations

from trecjudge.check.outcome import AT_ONCE, JsonLines, PackedList
from trecjudge.findings import Finding
from trecjudge.records import Place


def place(number: int) -> Finding:
    return Finding("citation_malformed", Place("runs/a.jsonl", number), f"cites 'bad_{number}'")


def test_all_come_back_in_order_as_often_as_asked() -> None:
    packed = PackedList[Finding]()
    for number in range(3 * AT_ONCE + 5):
        packed.append(place(number))
    assert len(packed) == packed.given == 3 * AT_ONCE + 5
    assert list(packed) == list(packed) == [place(n) for n in range(3 * AT_ONCE + 5)]


def test_of_a_bounded_one_the_first_are_kept() -> None:
    packed = PackedList[int](3)
    for number in range(9):
        packed.append(number)
    assert (list(packed), len(packed), packed.given) == ([0, 1, 2], 3, 9)
    assert list(JsonLines(packed, str)) == ["0", "1", "2"]


def test_a_place_takes_few_bytes() -> None:
    packed = PackedList[Finding]()
    for number in range(50 * AT_ONCE):
        packed.append(place(number))
    assert sum(map(len, packed._full)) < 40 * len(packed)
