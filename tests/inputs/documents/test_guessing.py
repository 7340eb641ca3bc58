"""Which field of a record is its text, where no known name says so."""

from __future__ import annotations

import json

import pytest

from trecjudge.inputs.documents.guessing import guess_text

LONG = "Steam makes the kettle whistle."
CASES = {
    "one field": (f'{{"id": "d", "utterance": "{LONG}"}}', "utterance", True),
    "inside objects": (f'{{"a": {{"b": {{"c": "{LONG}"}}}}}}', "a.b.c", True),
    "a known name inside": (f'{{"a": {{"text": "{LONG}", "b": "{LONG}"}}}}', "a.text", True),
    "a short one of a known name": ('{"k": {"text": "Trams."}, "p": "q"}', "k.text", True),
    "a list": (f'{{"spans": [{{"t": "{LONG}"}}, {{"t": "B."}}]}}', "spans.t", True),
    "no spaces": ('{"p": "水壶的壶嘴里有蒸汽所以会响。"}', "p", True),
    "one is much longer": (f'{{"a": "{LONG}", "b": "{LONG * 4}"}}', "b", True),
    "two": (f'{{"a": "{LONG}", "b": "{LONG} Loudly."}}', "", True),
    "short": ('{"id": "d", "p": "Trams ran."}', "", True),
    "no text": (f'{{"title": "{LONG}", "authors": "{LONG}", "lang": "en", "n": 1}}', "", False),
}


@pytest.mark.parametrize(("record", "field", "is_open"), CASES.values(), ids=CASES)
def test_guess_text(record: str, field: str, is_open: bool) -> None:
    found = guess_text(json.loads(record))
    assert (found.field, bool(found.text), found.open) == (field, bool(field), is_open)
