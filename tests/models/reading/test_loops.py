"""A reply that repeats itself for ever is told from one that is only long."""

from __future__ import annotations

import pytest

from trecjudge.models.reading import loop_at_end

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
