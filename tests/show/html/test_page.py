"""The page put together: the policy, bars, blocks inside and beside."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.show.html.test_writing import blocks_of
from trecjudge.errors import OutputError
from trecjudge.show.html import labelling
from trecjudge.show.html.blocks import Packed
from trecjudge.show.html.page import SCRIPTS, STARTING, Bar, Page, policy, write_page
from trecjudge.show.templates import ASSETS

BOARD: dict[str, Any] = {
    "judge": "judge citation", "model": "", "ranked_by": "M", "ranked_lower": False,
    "ranks_for": "", "judged": 1, "expected": 1, "by_judge": "", "shown": {}, "folded": [],
    "has_intervals": False, "sign_columns": [], "has_languages": False, "has_groups": False,
    "has_ranks": False, "test": "", "too_few_topics": "", "findings_total": 0, "compared": None,
    "nuggets": [], "topics": [], "measures": [], "runs": [],
}  # fmt: skip


EMPTY = dict.fromkeys(
    ("topic-0", "documents-0", "findings"), Packed(io.BytesIO(b"[]"), [0, 1, 1, 1])
)
DIGEST = hashlib.blake2b(b"W10=", digest_size=6).hexdigest()


def folder_of(page: Path) -> list[str] | None:
    """Return the names of the files beside a page, None where there is no folder."""
    folder = page.with_suffix("")
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else None


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
    assert len(re.findall(r"<script>", text)) == 2
    assert "a &lt;note&gt;" in text


@pytest.mark.parametrize(
    ("beside", "expected"),
    [(False, "trusted-types 'none'"), (True, "script-src 'self' 'sha256-")],
)
def test_only_blocks_beside_open_the_policy(beside: bool, expected: str) -> None:
    found = policy("style", ("script",), beside)
    assert expected in found
    assert found.startswith("default-src 'none'; style-src 'sha256-")
    assert ("'self'" in found) is beside
    assert "unsafe" not in found


def test_blocks_are_in_the_page_or_beside_it(tmp_path: Path) -> None:
    beside, path = written(tmp_path, EMPTY)
    assert (beside, folder_of(path)) == (0, None)
    assert re.findall(r'id="([a-z]+-\d|findings)">W10=<', path.read_text()) == list(EMPTY)
    beside, path = written(tmp_path, EMPTY, most=10)
    assert beside == 3
    assert set(blocks_of(path)) == {"head"}
    (head,) = blocks_of(path)["head"]
    assert head["beside"] == "x.report"
    assert head["scripts"] == {name: f"{name}.{DIGEST}" for name in EMPTY}
    script = tmp_path / f"x.report/topic-0.{DIGEST}.js"
    assert script.read_text() == 'trecjudge("topic-0", "W10=");\n'


def test_scripts_of_an_earlier_page_go_and_what_others_keep_stays(tmp_path: Path) -> None:
    _, path = written(tmp_path, EMPTY, most=10)
    folder = tmp_path / "x.report"
    (folder / "topic-7.js").write_text('trecjudge("topic-7", "W10=");\n')  # of an older version
    (folder / ".topic-1.js.99999999-abc.part").write_text("of a process that was killed")
    others = ["findings.js", "mine.js", f"topic-1.{DIGEST}.js", "topic-7.txt"]
    for name in others:
        (folder / name).write_text("theirs")
    written(tmp_path, {"topic-0": EMPTY["topic-0"]}, most=3)
    assert folder_of(path) == [*others[:2], f"topic-0.{DIGEST}.js", *others[2:]]
    written(tmp_path, {})
    assert folder_of(path) == others
    for name in others:
        (folder / name).unlink()
    written(tmp_path, {})
    assert folder_of(path) is None


class Breaking(Packed):
    """A block that is whole when its digest is taken, and breaks off when it is written."""

    tries: ClassVar[list[int]] = []

    def __iter__(self) -> Iterator[bytes]:
        self.tries.append(1)
        yield b"W10="
        if len(self.tries) > 1:
            raise KeyboardInterrupt


@pytest.mark.parametrize("earlier", [True, False])
def test_an_interrupt_leaves_the_earlier_report_whole(earlier: bool, tmp_path: Path) -> None:
    if earlier:
        written(tmp_path, EMPTY, most=10)
    before = {file: file.is_dir() or file.read_bytes() for file in tmp_path.rglob("*")}
    assert len(before) == (5 if earlier else 0)
    other = Packed(io.BytesIO(b"[1]"), [0, 3])
    Breaking.tries.clear()
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path, {"topic-0": other, "topic-1": Breaking(io.BytesIO(), [0, 2])}, most=0)
    assert len(Breaking.tries) == 2
    assert {file: file.is_dir() or file.read_bytes() for file in tmp_path.rglob("*")} == before


def test_a_folder_that_is_in_the_way_or_a_link(tmp_path: Path) -> None:
    (tmp_path / "x.report").write_text("")
    with pytest.raises(OutputError, match=r"x\.report: cannot be written: a file of this name is"):
        written(tmp_path, EMPTY, most=10)
    (tmp_path / "x.report").unlink()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "topic-0.js").write_text('trecjudge("')
    (tmp_path / "x.report").symlink_to(theirs)
    _, path = written(tmp_path, EMPTY, most=10)
    assert len(folder_of(path) or []) == 3
    assert [file.name for file in theirs.iterdir()] == ["topic-0.js"]


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


def test_every_script_is_in_a_page() -> None:
    own = {*SCRIPTS, STARTING, *labelling.SCRIPTS}
    assert own == {path.stem for path in ASSETS.glob("*.js")}
    for path in ASSETS.glob("*.js"):
        code = path.read_text()
        assert "</script" not in code
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", code)


def test_a_page_shows_no_block_twice(sample_page: Path) -> None:
    names = re.findall(r'<script type="text/plain" id="([^"]+)">', sample_page.read_text())
    assert sorted(names) == sorted(blocks_of(sample_page)) == sorted(set(names))
