"""What docs/python.md shows is what happens: its examples run one after the other."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- (python|prints)(?:: (\w+))? -->\n```\w*\n(.*?)```", re.DOTALL)


def test_the_examples_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for kind, needs, text in BLOCK.findall(PAGE):
        if needs and importlib.util.find_spec(needs) is None:
            continue
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "docs/python.md", "exec", dont_inherit=True), names)
            printed = out.getvalue()
        else:
            assert printed == text


def test_every_example_of_the_page_is_run() -> None:
    assert PAGE.count("```python") == len([b for b in BLOCK.findall(PAGE) if b[0] == "python"])
