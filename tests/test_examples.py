"""How pages are played: what a block shows is compared, and renewed if it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import part, played, renew

PAGE = """
<!-- file: a/run.txt -->
```
r	all	M	0.5
```
<!-- run: 1 -->
```sh
python run_judge.py gate a/run.txt --min M=0.8
```
<!-- prints -->
```
%s
```
<!-- run: elsewhere -->
```sh
python run_judge.py nothing of this kind
```
<!-- run -->
```sh
cat a/run.txt && echo note >&2
```
<!-- says: -1 -->
```
note
```
"""
TRUE = "r: M is 0.5, must be at least 0.8\ngate: 0 of 1 rules kept"


def test_what_a_page_shows_is_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, folder = tmp_path / "page.md", tmp_path / "here"
    page.write_text(PAGE % TRUE)
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert [shown.true for shown in played(page, folder)] == [f"{TRUE}\n", "note"]


def test_a_page_that_is_wrong_is_renewed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE % "all is well")
    assert renew(page) == 1
    assert page.read_text() == PAGE % TRUE
    assert renew(page) == 0


def test_another_exit_status_is_a_mistake(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text((PAGE % TRUE).replace("run: 1", "run"))
    with pytest.raises(AssertionError):
        renew(page)


@pytest.mark.parametrize(
    ("count", "expected"), [(1, "a"), (-1, "c"), (9, "a\nb\nc")], ids=["first", "last", "all"]
)
def test_a_part_of_what_is_printed(count: int, expected: str) -> None:
    assert part("a\nb\nc\n", count) == expected
