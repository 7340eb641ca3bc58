"""Responses as a judgments file has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.fakes import response
from tests.provenance import line
from trecjudge.records import Copies
from trecjudge.results.judgments import response_of, response_record

PLAIN = replace(response(("A kettle whistles.", ["k"])), team_id="t")


def stored(**fields: Any) -> dict[str, Any]:
    """Return the record of a response as a file has it."""
    record: dict[str, Any] = orjson.loads(orjson.dumps(response_record(replace(PLAIN, **fields))))
    return record


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="neither"),
        pytest.param({"copies": Copies((), 0)}, id="no copies"),
        pytest.param({"copies": Copies((0,), 1), "provenance": (line(), line())}, id="both"),
    ],
)
def test_what_is_written_is_read_again(fields: dict[str, Any]) -> None:
    assert response_of(stored(**fields)) == replace(PLAIN, **fields)


def test_what_is_not_known_is_not_written() -> None:
    assert not {"copies", "provenance"} & set(stored())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"copies": [1]}, "copies is wrong", id="copies"),
        pytest.param({"copies": {"at": ["x"], "of": 1}}, "copies is wrong", id="an index"),
        pytest.param({"provenance": [{}]}, "provenance is wrong", id="provenance"),
        pytest.param({"run_id": 7}, "run_id is 7", id="run_id"),
    ],
)
def test_a_record_that_is_none(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        response_of(stored() | fields)
