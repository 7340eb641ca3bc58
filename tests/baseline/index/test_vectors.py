"""Vectors of an index from an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.models.clock import run
from tests.models.retrieval.services import embedded, unit, vectors_of
from trecjudge.baseline.index.records import VectorMaker
from trecjudge.baseline.index.vectors import EndpointEmbeds


def opened(folder: Path, texts: list[str], **given: Any) -> Any:
    """Return the model of the vectors, the vectors, and the requests that were made."""

    async def ask() -> Any:
        async with vectors_of(embedded, folder, **given) as (vectors, endpoint):
            embeds: VectorMaker = await EndpointEmbeds.of(vectors)
            return embeds.model, await embeds.embed(texts), endpoint.requests

    return run(ask())


def test_the_model_is_known_by_address_name_and_dimensions(tmp_path: Path) -> None:
    model, found, requests = opened(tmp_path, ["Two"])
    assert (model.name, model.dimensions, len(model.digest)) == ("stub", 3, 64)
    np.testing.assert_allclose(found, [unit("Two")], rtol=1e-6)
    assert len(requests) == 2
    again, _, requests = opened(tmp_path, ["Two"])
    assert (again, requests) == (model, [])
    other, _, _ = opened(tmp_path, ["Two"], model="other")
    assert other.digest != model.digest
