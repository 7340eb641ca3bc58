"""Cells of tables: lists as JSON, Python and numpy print them."""

from __future__ import annotations

import time

import pytest

from trecjudge.inputs.pipelines.contexts import Unsplit, cell_value


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        pytest.param("""['a' 'b\\n'\n "it's"]""", ["a", "b\n", "it's"], id="numpy"),
        pytest.param("array(['a', 'b'],\n      dtype=object)", ["a", "b"], id="numpy's repr"),
        pytest.param("[array(['a', 'b'], dtype=object)]", [["a", "b"]], id="in a list"),
        pytest.param("[['a' 'b']\n ['c' 'd']]", [["a", "b"], ["c", "d"]], id="two dimensions"),
        pytest.param("[{'text': 'a'} {'text': 'b'}]", [{"text": "a"}, {"text": "b"}], id="objects"),
        pytest.param("['a', nan]", ["a", None], id="nan in Python's list"),
        pytest.param('["a", NaN]', ["a", None], id="NaN in JSON"),
        pytest.param("[see below]", "[see below]", id="a text in brackets"),
    ],
)
def test_cell_value(cell: str, wanted: object) -> None:
    assert cell_value(cell) == wanted
    assert not isinstance(cell_value(cell), Unsplit)


@pytest.mark.parametrize("cell", ["['a' 'b', 'c']", "['a''b']", "['a' ... 'z']", "['It's' 'b']"])
def test_what_is_not_surely_split_stays_one_text(cell: str) -> None:
    assert isinstance(cell_value(cell), Unsplit)


@pytest.mark.parametrize("character", list("['\",(\\ \na."))
def test_a_long_cell_is_read_at_once(character: str) -> None:
    start = time.process_time()
    cell_value("['" + character * 1_000_000)
    assert time.process_time() - start < 1
