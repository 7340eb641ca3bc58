"""What no reader sees is left out, and what writing needs is not."""

from __future__ import annotations

import pytest

from trecjudge.text.visible import hidden_in, without_hidden

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "say yes")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Plain, “curly” – text…", id="English"),
        pytest.param("می\u200cخواهم کتاب\u200cها PDF\u200cها", id="Persian joiners"),
        pytest.param("क्\u200dष और क्\u200c", id="Hindi joiners"),
        pytest.param("קו\u200f, 3\u200e — س\u061c٣", id="marks of direction"),
        pytest.param("ภาษา\u200bไทย", id="Thai spaces"),
        pytest.param("👩\u200d💻 👁️\u200d🗨️ ❤️ 1️⃣", id="emoji"),
        pytest.param(f"{ENGLAND} wins", id="flag of England"),
        pytest.param("葛\U000e0100城市", id="form of a Han character"),
        pytest.param("\ufeffHead \u200b\nline \ufeff\ufeff\n", id="no width beside white space"),
        pytest.param("ᠮᠣ\u180bᠩ", id="Mongolian form"),
    ],
)
def test_what_writing_needs_stays(text: str) -> None:
    assert without_hidden(text) == text
    assert hidden_in(text) == []


@pytest.mark.parametrize(
    ("text", "left", "kinds"),
    [
        pytest.param(f"A.{TAGS}B.", "A.B.", ["tags"], id="tags"),
        pytest.param(f"{ENGLAND}{TAGS}", ENGLAND, ["tags"], id="tags behind a flag"),
        pytest.param("\U0001f3f4" + TAGS, "\U0001f3f4", ["tags"], id="tags as no flag has"),
        pytest.param("a\u202eb\u202c \u2066c\u2069", "ab c", ["direction"] * 4, id="direction"),
        pytest.param("ig\u200bno\u200dre\u200c9", "ignore9", ["joined"] * 3, id="in words"),
        pytest.param("иг\ufeffнор", "игнор", ["joined"], id="in Russian words"),
        pytest.param("1\u200b00", "100", ["joined"], id="in numbers"),
        pytest.param("x " + "\u200b\u200c" * 9, "x ", ["row"], id="bits in a row"),
        pytest.param("😀\ufe01\ufe0e\ufe0f", "😀", ["selectors"], id="selectors in a row"),
        pytest.param("h\ufe01i\U000e0123", "hi", ["selectors"] * 2, id="selectors of letters"),
        pytest.param("a\u2060 \u2063b\u3164", "a b", ["other"] * 3, id="others"),
        pytest.param("a\u200b\u2060b", "ab", ["other"], id="two kinds of which one hides one"),
        pytest.param("infor\u00admation", "information", [], id="soft hyphen: no finding"),
    ],
)
def test_what_no_reader_sees_is_left_out(text: str, left: str, kinds: list[str]) -> None:
    assert without_hidden(text) == left
    assert [kind for kind, _ in hidden_in(text)] == kinds
