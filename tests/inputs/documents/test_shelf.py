"""Which text of a document is judged: the run's own, or that of --documents."""

from __future__ import annotations

import sys

import pytest

from trecjudge.inputs.documents.shelf import DigestTable, JudgedTexts, digest
from trecjudge.inputs.documents.store import HeldDocuments
from trecjudge.records import Document

TEXT = "Steam makes a kettle whistle."


def shelf(text: str | None, title: str = "", own_text: bool = False) -> JudgedTexts:
    """Return a shelf with this text of `d` given beside the runs, or without `d`."""
    given = {} if text is None else {"d": Document("d", text, title)}
    return JudgedTexts(HeldDocuments(given), own_text)


def own(text: str) -> Document:
    return Document("d", text, own=True)


@pytest.mark.parametrize(
    ("given", "mine", "text", "is_own"),
    [
        pytest.param("Given.", "Mine.", "Given.", False, id="both"),
        pytest.param("", "Mine.", "Mine.", True, id="the run only"),
        pytest.param(None, "Mine.", "Mine.", True, id="not given at all"),
        pytest.param("Given.", "\u200b", "Given.", False, id="given only"),
        pytest.param(" ", "", " ", False, id="neither has text"),
        pytest.param(None, "", "", True, id="not given, carried without text"),
    ],
)
def test_the_text_that_is_judged(given: str | None, mine: str, text: str, is_own: bool) -> None:
    found = shelf(given).find("d", {"d": own(mine)})
    assert found is not None
    assert (found.text, found.own) == (text, is_own)


def test_the_runs_own_text_if_it_is_asked_for() -> None:
    found = shelf("Given.", own_text=True)
    assert found.find("d", {"d": own("Mine.")}) == Document("d", "Mine.")
    assert found.find("d", {"d": own(" ")}) == found.find("d", {}) == Document("d", "Given.")


DIFFERENCES = {
    "the same": (TEXT, ""),
    "but for white space": ("Steam  makes\na kettle whistle. ", ""),
    "with its title": (f"On steam\n{TEXT}", ""),
    "cut": ("Steam makes a kettle …", "carries only 22 of the 29 characters of 'd'"),
    "a part": ("makes a kettle", "carries only 14 of the 29 characters of 'd'"),
    "more": (f"{TEXT} Sold.", "carries 'd' with 6 characters more than --documents"),
    "another": ("Trams.", "carries 'd' with another text than --documents"),
    "none": ("", ""),
}


@pytest.mark.parametrize(("mine", "how"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_how_a_text_differs(mine: str, how: str) -> None:
    found = shelf(TEXT, "On steam")
    wanted = f"{how}; that of --documents is judged" if how else ""
    assert (found.differs("r", own(mine)), found.varies("r", own(mine))) == (wanted, "")


def test_a_difference_is_reported_once_of_each_run() -> None:
    found = shelf(TEXT, own_text=True)
    reported = [bool(found.differs(run, own(text))) for run, text in ("aX", "aY", "bX")]
    assert reported == [True, False, True]
    assert found.differs("c", own("X")).endswith("its own text is judged")


@pytest.mark.parametrize(
    "beside", [JudgedTexts(), shelf(None), shelf("")], ids=["no", "other", "empty"]
)
def test_texts_of_one_id_vary_where_none_is_given(beside: JudgedTexts) -> None:
    texts = ("a", "X"), ("a", "X "), ("b", "Y"), ("b", "Z"), ("c", "X"), ("d", "")
    assert [bool(beside.varies(run, own(text))) for run, text in texts] == [0, 0, 1, 0, 0, 0]


def test_what_stands_there_first_counts() -> None:
    table = DigestTable()
    assert (table.setdefault(5, 1), table.setdefault(5, 2), 5 in table, 6 in table) == (
        1,
        1,
        True,
        False,
    )


def test_digests_of_the_same_last_bits_are_kept_apart() -> None:
    table = DigestTable()
    keys = [1 + (n << 32) for n in range(300)]
    assert [table.setdefault(key, key) for key in keys] == keys
    assert [table.setdefault(key, 7) for key in keys] == keys


def test_a_hundred_thousand_take_less_than_50_bytes_each() -> None:
    table = DigestTable()
    for number in range(100_000):
        table.setdefault(digest("id", number), number + 1)
    assert len(table) == 100_000
    assert all(table.setdefault(digest("id", n), 0) == n + 1 for n in range(0, 100_000, 997))
    assert sum(map(sys.getsizeof, (table._keys, table._values))) < 50 * 100_000


def test_no_digest_is_that_of_a_free_place() -> None:
    assert all(digest(part) > 0 for part in ("", "a", 0, None))
