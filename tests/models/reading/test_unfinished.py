"""What a reply that was cut has of a list of objects, as far as these are whole."""

from __future__ import annotations

import pytest

from trecjudge.models.reading import closed

WHOLE = '{"answerable": "yes", "sentences": [{"text": "A.", "passages": [1]}'


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        pytest.param(f'{WHOLE}, {{"text": "B', f"{WHOLE}]}}", id="within a text"),
        pytest.param(f'{WHOLE}, {{"text": "B.", "passages": [1, 2', f"{WHOLE}]}}", id="a list"),
        pytest.param(WHOLE, f"{WHOLE}]}}", id="behind an object"),
        pytest.param(f"{WHOLE},\n  ", f"{WHOLE}]}}", id="behind a comma"),
        pytest.param('[{"a": 1}, {"a": {"b": [{"c": 2}', '[{"a": 1}]', id="the outermost list"),
        pytest.param('{"a": [{"b": 1}], "c": [{"d": 2}, ', '{"a": [{"b": 1}], "c": [{"d": 2}]}',
                     id="the list that is open"),
        pytest.param(r'[{"a": "\"}], \\"}, {"a": "\\\"}', r'[{"a": "\"}], \\"}]', id="escapes"),
        pytest.param('[[ ## sentences ## ]]\n[{"a": "]"}, {', '[[ ## sentences ## ]]\n[{"a": "]"}]',
                     id="markers of a form"),
        pytest.param('Here: 6" of rain. [{"a": 1}, {', 'Here: 6" of rain. [{"a": 1}]', id="prose"),
        pytest.param(f"{WHOLE}]}}", None, id="not cut"),
        pytest.param('{"answerable": "yes", "sentences": [{"text": "A', None, id="no whole object"),
        pytest.param('{"evidence": "The tram', None, id="no list"),
        pytest.param('["a", "b', None, id="a list of texts"),
        pytest.param('{"a": [{"b": 1}], "c": [{"d": 2', None, id="only another list has one"),
        pytest.param('{"a": [{"b": 1], "c', None, id="brackets that do not match"),
        pytest.param("", None, id="nothing"),
    ],
)  # fmt: skip
def test_it_is_closed_behind_its_last_whole_object(reply: str, part: str | None) -> None:
    assert closed(reply) == part
