from __future__ import annotations

import pytest

from trecjudge.text.frequencies import (
    Frequencies,
    blend_frequencies,
    count_frequencies,
    frequency_lines,
    parse_frequencies,
    read_frequencies,
)

TABLE = Frequencies.of(100, {"the": 100, "world": 20, "lyon": 2})


@pytest.mark.parametrize(
    ("form", "written", "weight"),
    [
        pytest.param("the", "the", 0.0, id="in every passage"),
        pytest.param("world", "world", 0.411, id="log(5) of log(50)"),
        pytest.param("lyon", "Lyon", 1.0, id="rarest of the table"),
        pytest.param("quark", "quark", 1.0, id="outside the table"),
        pytest.param("12", "12", 1.0, id="number"),
        pytest.param("und", "und", 0.3, id="short word outside the table"),
        pytest.param("ncaa", "NCAA", 1.0, id="four letters"),
        pytest.param("fbi", "FBI", 1.0, id="short name"),
        pytest.param("और", "और", 0.3, id="short word without case"),
        pytest.param("东京", "东京", 1.0, id="Han bigram"),
        pytest.param("的首", "的首", 0.5, id="Han bigram with grammar"),
        pytest.param("では", "では", 0.5, id="hiragana"),
    ],
)
def test_weight(form: str, written: str, weight: float) -> None:
    assert TABLE.weight(form, written) == pytest.approx(weight, abs=0.001)


def test_table_is_read_as_written() -> None:
    table = Frequencies.of(10, {"the": 9, "of": 9, "lyon": 2})
    assert frequency_lines(table) == ["10", "9 of the", "2 lyon"]
    found = parse_frequencies(frequency_lines(table))
    assert (found.passages, found.counts, found.highest) == (10, table.counts, table.highest)


def test_words_are_counted_once_a_text() -> None:
    assert count_frequencies(["Cats and cats in 1999.", "A cat."]) == (
        2,
        {"cat": 2, "and": 1, "in": 1, "a": 1},
    )


def counts_in(passages: int, **shares: float) -> dict[str, int]:
    return {form: round(passages * share) for form, share in shares.items()}


@pytest.mark.parametrize(
    ("passages", "lyon", "die"),
    [
        pytest.param(10, TABLE.weight("lyon", "Lyon"), 0.3, id="few: only the background"),
        pytest.param(100, TABLE.weight("lyon", "Lyon"), 0.023, id="some: words that it lacks"),
        pytest.param(1000, TABLE.weight("lyon", "Lyon"), 0.016, id="many: the same"),
    ],
)
def test_own_frequencies_over_the_background(passages: int, lyon: float, die: float) -> None:
    own = blend_frequencies(TABLE, passages, counts_in(passages, die=0.9, lyon=0.5, rar=0.1))
    assert own.weight("lyon", "Lyon") == pytest.approx(lyon, abs=0.001)
    assert own.weight("die", "die") == pytest.approx(die, abs=0.02)


def test_shipped_table_has_words_only() -> None:
    shipped = read_frequencies()
    assert len(shipped.counts) == 3000
    assert all(form.isalpha() for form in shipped.counts)
    assert max(shipped.counts.values()) <= shipped.passages
