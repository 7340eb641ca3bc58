"""The program that decides on labels, of each judge."""

from __future__ import annotations

from typing import Any

import pytest

from trecjudge.errors import InputError
from trecjudge.evaluation.optimize.questions import find_program
from trecjudge.judging.judge import make_judge

DECIDING: dict[str, tuple[str, dict[str, Any], str]] = {
    "citation": ("citation", {}, "attest"),
    "citation in groups": ("citation", {"group": 5}, "attest_group"),
    "support": ("support", {}, "attest"),
    "argue": ("argue", {}, "attest"),
    "direct_prompt": ("direct_prompt", {}, "grade"),
    "nuggets": ("nuggets", {}, "assign_nuggets"),
    "grounding": ("grounding", {}, "attribute"),
    "attribution": ("attribution", {}, "attribute"),
    "faithfulness": ("faithfulness", {}, "verify"),
    "rubric": ("rubric", {}, "assess_answers"),
}


@pytest.mark.parametrize(("judge", "settings", "program"), DECIDING.values(), ids=DECIDING)
def test_the_program_that_decides(judge: str, settings: dict[str, Any], program: str) -> None:
    assert find_program(make_judge(judge, settings), "").name == program


def test_a_judge_without_a_prompt_has_none() -> None:
    with pytest.raises(InputError, match="asks no model"):
        find_program(make_judge("length", {}), "")
