"""A service of vectors or scores that never answers: reported after 5 s, and the wait ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer
from tests.models.clock import now, run
from tests.models.retrieval.services import ranker_of, vectors_of
from trecjudge.errors import JudgmentFailed, ModelError


@pytest.mark.parametrize("service", ["embeddings", "rerank"])
@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        pytest.param(Answer(delay=5000.0), 300, id="silent"),
        pytest.param(Answer(status=503), 900, id="always busy"),
    ],
)
def test_the_wait_for_a_service_ends(
    service: str, answer: Answer, seconds: float, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return answer

    async def asked() -> float:
        began = now()
        with pytest.raises((ModelError, JudgmentFailed), match=f"for {seconds:g} s"):
            if service == "embeddings":
                async with vectors_of(script, tmp_path) as (vectors, _):
                    await vectors.of(["Text."])
            else:
                async with ranker_of(script, tmp_path) as (ranker, _):
                    await ranker.scores("Why?", ["Text."])
        return now() - began

    assert seconds <= run(asked()) < 2 * seconds
    first = (tmp_path / "messages").read_text().splitlines()[0]
    assert " 5 s" in first
    assert f"/v1/{service}" in first
