"""Which field of a record is its text, where no known name says so."""

from __future__ import annotations

import json

import pytest

from trecjudge.inputs.documents.guessing import guess_text

LONG = "Steam makes the kettle whistle."


@pytest.mark.parametrize(
    ("record", "field", "is_open"),
    [
        pytest.param(f'{{"id": "d", "utterance": "{LONG}"}}', "utterance", True, id="one field"),
        pytest.param(f'{{"a": {{"b": {{"c": "{LONG}"}}}}}}', "a.b.c", True, id="inside objects"),
        pytest.param(f'{{"a": {{"text": "{LONG}", "b": "{LONG}"}}}}', "a.text", True, id="known"),
        pytest.param(
            f'{{"spans": [{{"t": "{LONG}"}}, {{"t": "B."}}]}}', "spans.t", True, id="list"
        ),
        pytest.param('{"p": "水壶的壶嘴里有蒸汽所以会响。"}', "p", True, id="no spaces"),
        pytest.param(f'{{"a": "{LONG}", "b": "{LONG * 4}"}}', "b", True, id="one is much longer"),
        pytest.param(f'{{"a": "{LONG}", "b": "{LONG} Loudly."}}', "", True, id="two"),
        pytest.param('{"id": "d", "p": "Trams ran."}', "", True, id="short"),
        pytest.param('{"id": "d", "lang": "en", "score": 0.5}', "", False, id="none"),
        pytest.param(f'{{"title": "{LONG}", "authors": "{LONG}"}}', "", False, id="no text"),
        pytest.param('{"file": "https://x.org/a b c d."}', "", False, id="an address"),
    ],
)
def test_guess_text(record: str, field: str, is_open: bool) -> None:
    found = guess_text(json.loads(record))
    assert (found.field, bool(found.text), found.open) == (field, bool(field), is_open)
