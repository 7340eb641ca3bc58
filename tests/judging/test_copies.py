"""What a response copies from its documents."""

from __future__ import annotations

from tests.fakes import response
from trecjudge.job.recording import copies_in
from trecjudge.records import Copies

LONG = "Steam forced through a narrow gap makes a kettle whistle."
OTHER = "Nobody in the whole city had ever heard such a sound."
DOCUMENTS = {"k": f"Of kettles. {LONG}", "l": "Of lines."}


def test_sentences_are_counted_by_their_words() -> None:
    answer = response((LONG, ["l"]), (OTHER, ["k"]), ("Too short.", []), documents=DOCUMENTS)
    assert copies_in(answer) == Copies((0,), 2)


def test_a_response_without_sentences_copies_nothing() -> None:
    assert copies_in(response(documents=DOCUMENTS)) == Copies((), 0)


def test_without_text_of_documents_nothing_is_known() -> None:
    assert copies_in(response((LONG, ["k"]))) is None
    assert copies_in(response((LONG, ["k"]), documents={"k": " "})) is None
