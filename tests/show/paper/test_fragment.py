"""Tables as HTML: well-formed, and with nothing of a name but its text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.show.paper.grids import grid
from trecjudge.show.paper.fragment import fragment


@pytest.mark.parametrize("run", ["<script>x</script>", "a\"&'b", "a\x00\x1bb", "\ud800x", "ü中"])
def test_a_name_is_text(run: str) -> None:
    table = ElementTree.fromstring(fragment(grid(run, "b")).replace("&darr;", "↓"))
    rows = table.findall("tbody/tr")
    assert [len(list(row)) for row in rows] == [3, 3]
    name = rows[0].find("th")
    assert name is not None and len(name) == 0
    assert (name.text or "").replace("\\x00", "\x00").replace("\\x1b", "\x1b") in (run, "x")


def test_the_best_is_bold_and_details_are_small() -> None:
    text = fragment(grid("a", "b"))
    assert "<td><b>0.500</b> <small>[0.1, 0.9]</small> <small>(unjudged 1 of 2" in text
    assert '<th scope="col">M_1 &darr;</th>' in text
    assert "<caption>Means over 3 topics. p &lt; 0.05.</caption>" in text
