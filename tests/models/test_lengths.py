"""How long replies are taken to be: stated, measured in the cache, seen in the job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attestation, running
from tests.models.clients import ask_many, client_to
from tests.models.clock import run
from trecjudge.errors import JudgmentFailed
from trecjudge.judges.citation import ATTEST, ATTEST_GROUP
from trecjudge.judges.direct_prompt import GRADE
from trecjudge.judges.faithfulness.steps import TRUTHS, VERIFY
from trecjudge.judging.claims.by_model import ATTRIBUTE
from trecjudge.judging.claims.statements import SPLIT
from trecjudge.models.model import Program
from trecjudge.models.plan import Planner
from trecjudge.models.spending import Lengths, TokenCounts, stated_length

RESPONSE = "[0] The tram opened in June, after a delay. " * 20


@pytest.mark.parametrize(
    ("program", "inputs", "least", "most"),
    [
        pytest.param(ATTEST, {}, 40, 80, id="a label and a quote"),
        pytest.param(GRADE, {}, 30, 60, id="a grade and a reason"),
        pytest.param(ATTRIBUTE, {"passages": RESPONSE * 9}, 100, 200, id="quotes and a verdict"),
        pytest.param(ATTEST_GROUP, {"sentences": ["a"] * 8}, 320, 640, id="a verdict a sentence"),
        pytest.param(VERIFY, {"claims": ["a"] * 10}, 400, 700, id="a verdict a claim"),
        pytest.param(SPLIT, {"response": RESPONSE}, 300, 600, id="claims of a response"),
        pytest.param(SPLIT, {"response": RESPONSE * 100}, 4000, 4000, id="no list is endless"),
        pytest.param(TRUTHS, {"text": RESPONSE}, 200, 350, id="truths of a text"),
    ],
)
def test_what_a_program_states(
    program: Program, inputs: dict[str, Any], least: int, most: int
) -> None:
    assert least <= stated_length(program, inputs, reasoning=False) <= most
    assert stated_length(program, inputs, reasoning=True) >= 500 + least


@pytest.mark.parametrize(
    ("kept", "seen", "limits", "expected"),
    [
        pytest.param(None, None, {}, 60, id="as stated"),
        pytest.param(None, None, {"p": 2048}, 512, id="a limit that was raised"),
        pytest.param(TokenCounts(3, 60, 600), None, {}, 60, id="too few are kept"),
        pytest.param(TokenCounts(9, 600, 1800), None, {"p": 2048}, 180, id="as kept replies"),
        pytest.param(
            TokenCounts(9, 600, 1800), TokenCounts(49, 600, 300), {}, 180, id="too few were seen"
        ),
        pytest.param(
            TokenCounts(9, 600, 1800), TokenCounts(50, 600, 300), {}, 30, id="as seen in the job"
        ),
        pytest.param(None, TokenCounts(5, 600, 1800), {}, 180, id="a few in the job were longer"),
        pytest.param(None, TokenCounts(5, 600, 300), {}, 60, id="a few in the job were shorter"),
        pytest.param(None, TokenCounts(4, 600, 1800), {}, 60, id="fewer than a few were longer"),
    ],
)
def test_what_is_expected(
    kept: TokenCounts | None, seen: TokenCounts | None, limits: dict[str, int], expected: int
) -> None:
    lengths = Lengths(lambda: {"p": kept} if kept else {}, limits, 512)
    for _ in range(seen.calls if seen else 0):
        assert seen is not None
        lengths.note("p", (10, 12), 20, round(12 * seen.took / seen.stated))
    assert lengths.reply("p", 60) == expected
    assert lengths.prompt(100) == (200 if seen and seen.calls >= 50 else 100)


def test_a_plan_is_made_by_what_the_cache_measured(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body), usage=(600, 240))

    async def planned() -> list[int]:
        found = []
        async with running(script) as endpoint, client_to(endpoint, tmp_path) as client:
            for before in (0, 6):
                await ask_many(client, before)
                async with client_to(endpoint, tmp_path) as other:
                    planner = Planner(other.replies)
                    with pytest.raises(JudgmentFailed):
                        await planner.predict(ATTEST, document="A text.", sentence="New.")
                    found.append(planner.plan.completion_tokens)
        return found

    assert run(planned()) == [60, 240]
