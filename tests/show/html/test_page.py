"""The page put together: the policy, bars, blocks inside and beside."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from tests.show.html.test_blocks import unpacked
from tests.show.html.test_writing import blocks_of
from trecjudge.show.html.blocks import Packed
from trecjudge.show.html.page import SCRIPTS, Bar, Page, policy, write_page
from trecjudge.show.templates import ASSETS

BOARD: dict[str, Any] = {
    "judge": "judge citation", "model": "", "ranked_by": "M", "ranked_lower": False,
    "judged": 1, "expected": 1,
    "has_intervals": False, "has_copies": False, "has_groups": False, "too_few_topics": "",
    "findings_total": 0, "compared": None,
    "nuggets": [], "topics": [], "measures": [], "runs": [],
}  # fmt: skip


def mean(value: float | None, **fields: float | None) -> dict[str, float | None]:
    """Return a mean whose bounds and interval are itself, unless they are given."""
    return {"value": value, "low": None, "high": None, "lowest": value, "highest": value} | fields


def written(folder: Path, blocks: dict[str, Packed], most: int = 1000) -> tuple[int, Path]:
    page = Page("x", BOARD, [], ["a <note>"], {"name": "x"})
    return write_page(folder / "x.report.html", page, blocks, most), folder / "x.report.html"


def test_style_and_script_are_those_of_the_policy(tmp_path: Path) -> None:
    _, path = written(tmp_path, {})
    text = path.read_text()
    for part in re.findall(r"<style>(.*?)</style>|<script>(.*?)</script>", text, re.DOTALL):
        digest = hashlib.sha256("".join(part).encode()).digest()
        assert f"&#39;sha256-{base64.b64encode(digest).decode()}&#39;" in text
    assert len(re.findall(r"<script>", text)) == 1
    assert "a &lt;note&gt;" in text


@pytest.mark.parametrize(
    ("beside", "expected"),
    [(False, "trusted-types 'none'"), (True, "script-src 'self' 'sha256-")],
)
def test_only_blocks_beside_open_the_policy(beside: bool, expected: str) -> None:
    found = policy("style", "script", beside)
    assert expected in found
    assert found.startswith("default-src 'none'; style-src 'sha256-")
    assert ("'self'" in found) is beside
    assert "unsafe" not in found


def test_blocks_are_in_the_page_or_beside_it(tmp_path: Path) -> None:
    empty = Packed(io.BytesIO(b"[]"), [(0, 1), (1, 1)])
    blocks = dict.fromkeys(("topic-0", "documents-0", "findings"), empty)
    beside, path = written(tmp_path, blocks)
    assert beside == 0
    assert re.findall(r'id="([a-z]+-\d|findings)">W10=<', path.read_text()) == list(blocks)
    beside, path = written(tmp_path, blocks, most=10)
    assert beside == 2
    assert (tmp_path / "x.report/topic-0.js").read_text() == 'trecjudge("topic-0", "W10=");\n'
    (head,) = unpacked(re.search(r'id="head">([^<]*)<', path.read_text())[1].encode())  # type: ignore[index]
    assert (head["beside"], head["besides"]) == ("x.report", ["documents-0", "topic-0"])


def test_what_others_keep_in_the_folder_stays(tmp_path: Path) -> None:
    folder = tmp_path / "x.report"
    folder.mkdir()
    for name in ("topic-7.js", "mine.js", "topic-7.txt"):
        (folder / name).write_text("")
    written(tmp_path, {})
    assert sorted(path.name for path in folder.iterdir()) == ["mine.js", "topic-7.txt"]


@pytest.mark.parametrize(
    ("known", "parts"),
    [
        (mean(0.5), ["track", "length", "at"]),
        (mean(0.5, low=0.4, high=0.7), ["track", "length", "interval", "at"]),
        (mean(0.5, lowest=0.2, highest=0.9), ["track", "length", "open", "at"]),
        (mean(None, lowest=0.0, highest=1.0), ["track", "open"]),
        (mean(None), ["track"]),
    ],
)
def test_a_bar_shows_what_is_known(known: dict[str, Any], parts: list[str]) -> None:
    bar = Bar.over([known, mean(1.0)]).of(known)
    assert re.findall(r'class="(\w+)"', bar)[1:] == parts


def test_bars_of_one_measure_have_one_scale() -> None:
    bar = Bar.over([mean(20.0), mean(5.0), mean(None)])
    assert (bar.axis.at(20.0), bar.axis.at(5.0)) == (98.4, 24.6)


def test_every_script_of_the_page_is_in_it() -> None:
    assert sorted(SCRIPTS) == sorted(path.stem for path in ASSETS.glob("*.js"))
    for path in ASSETS.glob("*.js"):
        code = path.read_text()
        assert "</script" not in code
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", code)


def test_a_page_shows_no_block_twice(sample_page: Path) -> None:
    names = re.findall(r'<script type="text/plain" id="([^"]+)">', sample_page.read_text())
    assert sorted(names) == sorted(blocks_of(sample_page)) == sorted(set(names))
