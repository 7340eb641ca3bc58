"""Replies that were cut: loops are told from long texts, a list is closed behind its whole part."""

from __future__ import annotations

import pytest

from trecjudge.models.reading import close_cut_list, loop_at_end

TRAM = "The tram ran until 1957. "
QUOTED = '{"evidence": "' + TRAM
PARAGRAPH = " ".join(map(str, range(700)))
NUMBERED = "".join(f'{{"number": {n}, "label": "no_support"}}, ' for n in range(1, 40))


@pytest.mark.parametrize(
    ("reply", "loop"),
    [
        pytest.param(QUOTED * 12, QUOTED, id="a whole answer"),
        pytest.param('{"evidence": "' + TRAM * 12, TRAM, id="a quote"),
        pytest.param(f"{QUOTED * 12}{QUOTED[:9]}", QUOTED[9:] + QUOTED[:9], id="cut within it"),
        pytest.param("Some thoughts. " * 3 + TRAM * 12, TRAM, id="behind another text"),
        pytest.param('{"a": "x' + r"\n\u00e9 " * 60, r"\n\u00e9 ", id="escapes in a string"),
        pytest.param('{"a": "x' + '\\"' * 150, '\\"', id="escaped quotes"),
        pytest.param('{"a": "x"' + "\n" * 300, "\n", id="line breaks"),
        pytest.param('{"a": "x"' + " " * 300, " ", id="spaces"),
        pytest.param('{"a": "x"' + "\t" * 300, "\t", id="tabs"),
        pytest.param('{"a": "x"' + "\n\t " * 100, "\n\t ", id="white space of several kinds"),
        pytest.param('{"score": 0.' + "3" * 400, "3", id="a number without end"),
        pytest.param('{"score": 0.' + "142857" * 60, "142857", id="a fraction without end"),
        pytest.param("電車は廃止された。" * 40, "電車は廃止された。", id="Japanese"),
        pytest.param("🚋 " * 200 + "\ufffd", "🚋 ", id="a broken character"),
        pytest.param(f"{'x' * 5000}{TRAM * 12}", TRAM, id="behind a long text"),
        pytest.param(PARAGRAPH * 7, PARAGRAPH, id="a long text"),
        pytest.param("ab" * 150, "ab", id="as short as may be"),
    ],
)
def test_a_reply_that_repeats_itself(reply: str, loop: str) -> None:
    assert loop_at_end(reply) == loop


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("", id="nothing"),
        pytest.param("The tram ran from Market Square to the quay. " * 5, id="a few times"),
        pytest.param(NUMBERED, id="a list whose entries differ in a number"),
        pytest.param(
            '["' + '", "'.join(["okay", "vital"][int(bit)] for bit in f"{7**40:b}"), id="labels"
        ),
        pytest.param('["' + '", "'.join(["okay"] * 30), id="30 equal labels"),
        pytest.param(f"{TRAM * 12}It", id="it went on"),
        pytest.param(TRAM * 12 + '", "label": "full_supp', id="the next field has begun"),
        pytest.param(TRAM * 6 + TRAM.upper() + TRAM * 5, id="another text between"),
        pytest.param("".join(f"{n}. {TRAM}" for n in range(30)), id="a numbered list"),
        pytest.param(str(7**400), id="a long number"),
        pytest.param(f"1{'0' * 100}", id="a large number"),
        pytest.param('{"a": 1,' + "\n" + " " * 200, id="deep indenting"),
        pytest.param("-" * 120, id="a rule"),
    ],
)
def test_a_reply_that_is_only_long(reply: str) -> None:
    assert loop_at_end(reply) == ""


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
    assert close_cut_list(reply) == part
