"""DSPy's own modules through the client."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.endpoint import Answer, running
from tests.models.clients import client_to
from tests.models.clock import run
from trecjudge.errors import ModelError
from trecjudge.models.dspy_lm import dspy_lm

REPLY = "[[ ## reasoning ## ]]\nSo it is.\n\n[[ ## answer ## ]]\nblue\n\n[[ ## completed ## ]]"
MODULES = {"Predict": dspy.Predict, "ChainOfThought": dspy.ChainOfThought}


def asked(module: str, in_thread: bool, folder: Path, **settings: Any) -> Any:
    """Ask twice in the loop or in a thread; return the answers, what was sent and spent."""

    async def twice() -> Any:
        async with (
            running(lambda body, number: Answer(REPLY)) as endpoint,
            client_to(endpoint, folder, **settings) as client,
        ):
            lm = dspy_lm(client)
            program = MODULES[module]("question -> answer")

            def call() -> str:
                with dspy.context(lm=lm):
                    return str(program(question="Which colour?").answer)

            answers = []
            for _ in range(2):
                if in_thread:
                    answers.append(await asyncio.to_thread(call))
                else:
                    with dspy.context(lm=lm):
                        answers.append((await program.acall(question="Which colour?")).answer)
            return answers, endpoint.requests, client.spent()

    return run(twice())


@pytest.mark.parametrize("in_thread", [False, True], ids=["awaited", "in a thread"])
@pytest.mark.parametrize("module", MODULES)
def test_modules(module: str, in_thread: bool, tmp_path: Path) -> None:
    answers, requests, spent = asked(module, in_thread, tmp_path)
    assert (answers, len(requests)) == (["blue", "blue"], 1)
    assert (spent["calls"], spent["saved"]) == (1, 1)
    assert (requests[0]["model"], requests[0]["temperature"]) == ("stub", 0.0)
    assert "Which colour?" in requests[0]["messages"][-1]["content"]


def test_a_reasoning_model_is_sent_no_temperature(tmp_path: Path) -> None:
    _, requests, _ = asked("Predict", False, tmp_path, reasoning=True, max_tokens=99)
    assert "temperature" not in requests[0]
    assert requests[0]["max_completion_tokens"] == 99


def test_the_next_job_asks_nothing(tmp_path: Path) -> None:
    async def both() -> int:
        async with running(lambda body, number: Answer(REPLY)) as endpoint:
            for _ in range(2):
                async with client_to(endpoint, tmp_path) as client:
                    with dspy.context(lm=dspy_lm(client)):
                        await dspy.Predict("question -> answer").acall(question="Which?")
            return len(endpoint.requests)

    assert run(both()) == 1


def test_called_in_the_loop_it_would_block(tmp_path: Path) -> None:
    async def once() -> None:
        async with (
            running(lambda body, number: Answer(REPLY)) as endpoint,
            client_to(endpoint, tmp_path) as client,
        ):
            with dspy.context(lm=dspy_lm(client)), pytest.raises(ModelError, match="acall"):
                dspy.Predict("question -> answer")(question="Which?")

    run(once())
