"""Personal data: what is masked, what is not, and the way back to the original."""

from __future__ import annotations

import pytest

from trecjudge.baseline.masking import KINDS, mask_personal_data
from trecjudge.inputs.provenance import MASKS

IBAN = "DE89 3704 0044 0532 0130 00"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Write to ann.lee+x@mail.example.org.", "Write to [EMAIL]."),
        ("Call +49 30 1234 5678 now", "Call [PHONE] now"),
        ("Call (030) 1234-5678 or 555-867-5309.", "Call [PHONE] or [PHONE]."),
        ("Call 0171 234 56789!", "Call [PHONE]!"),
        (f"Pay to {IBAN}, please", "Pay to [IBAN], please"),
        ("Card 4111 1111 1111 1111 expires", "Card [CARD] expires"),
        ("From 192.168.0.254:80", "From [IP]:80"),
        ("From 2001:db8::ff00:42:8329.", "From [IP]."),
        ("SSN 123-45-6789", "SSN [ID]"),
        ("NI number AB 12 34 56 C", "NI number [ID]"),
        ("DNI 12345678Z", "DNI [ID]"),
        ("CF RSSMRA85T10A562S", "CF [ID]"),
        ("NIR 2 55 08 14 168 025 38", "NIR [ID]"),
    ],
)
def test_what_is_masked(text: str, wanted: str) -> None:
    assert mask_personal_data(text).text == wanted


def test_what_is_not() -> None:
    cases = [
        "It cost 61,500,000 euros in 2014, or 1.2.3 of it.",
        "From 1939-1945 to 2014-05-03 at 12:30:45.",
        "Card 4111 1111 1111 1112 is none",
        "Account DE88 3704 0044 0532 0130 00 is none",
        "Document msmarco_v2.1_doc_21_41679647#3_77331219 says so.",
        "ISBN 978-3-16-148410-0 and DNI 12345678A",
        "Follow @anna on the network.",
        "",
    ]
    wrong = [text for text in cases if mask_personal_data(text).text != text]
    assert not wrong


def test_the_way_back_to_the_original() -> None:
    text = f"Ask ann@mail.org or bob@mail.org of 10.0.0.1 for {IBAN} today."
    hidden = mask_personal_data(text)
    assert hidden.text == "Ask [EMAIL] or [EMAIL] of [IP] for [IBAN] today."
    for word in ("Ask", " or ", " of ", " for ", " today."):
        start = hidden.text.index(word)
        assert text[slice(*hidden.span(start, start + len(word)))] == word
    first = hidden.text.index("[EMAIL]")
    assert text[slice(*hidden.span(first, first + 7))] == "ann@mail.org"
    # What cuts through a mask takes all that it stands for.
    assert text[slice(*hidden.span(first + 2, first + 5))] == "ann@mail.org"
    assert hidden.span(0, len(hidden.text)) == (0, len(text))


def test_a_hostile_text_ends_soon() -> None:
    for text in ("1 " * 50_000, "a@" * 50_000, "DE89 " * 20_000, "1:" * 50_000, "+1(" * 30_000):
        mask_personal_data(text)


def test_each_mask_is_known_where_quotes_are_looked_up() -> None:
    assert {name for name, _, _ in KINDS} == set(MASKS)
