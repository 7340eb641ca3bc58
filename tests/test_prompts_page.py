"""The page on prompts has the prompts that there are."""

from __future__ import annotations

from tests.prompts_page import PAGE, written


def test_the_table_of_prompts_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == written(text), "python -m tests.prompts_page"
