"""Two outputs compared with each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import judgment, response
from tests.show.html.made import Judged, output
from trecjudge.records import FULL, NONE, PARTIAL, AskedNugget, Claim, Failure, Judgment
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.show.html.entries import Other, read_other

SENTENCES = (("One.", ["d", "e"]), ("Two.", ["d"]))
RESPONSE = response(*SENTENCES)


def cited(label: str | None, doc_id: str = "d", sentence: int = 0, **fields: object) -> Judgment:
    """Return a judgment on a citation of run `r`."""
    return judgment(
        label, doc_id=doc_id, citation=doc_id, sentence_index=sentence, exists=True,
        judge="citation", **fields,
    )  # fmt: skip


def other_of(folder: Path, *judgments: Judgment, judge: str = "citation") -> Other:
    """Return an output with these judgments, to be compared with the judge `citation`."""
    judged: Judged = (RESPONSE, judgments)
    outputs = output(folder, judged, judge=judge)
    return read_other("theirs", JudgmentsReader(outputs.judgments), ["citation"])


def test_only_what_says_something_else_has_flipped(tmp_path: Path) -> None:
    other = other_of(tmp_path, cited(FULL), cited(NONE, "e"), cited(PARTIAL, sentence=1))
    ours = [cited(FULL), cited(FULL, "e", reason="why"), cited(PARTIAL, sentence=1)]
    (flip,) = other.flips(RESPONSE, ours)
    assert (flip["run"], flip["topic"], flip["sentence_index"], flip["doc_id"]) == (
        "r",
        "t1",
        0,
        "e",
    )
    assert (flip["here"]["word"], flip["there"]["word"]) == ("full_support", "no_support")
    assert flip["here"]["reason"] == "why"


def test_what_only_one_of_them_has_is_counted(tmp_path: Path) -> None:
    other = other_of(tmp_path, cited(FULL), cited(FULL, "e"))
    assert list(other.flips(RESPONSE, [cited(FULL), cited(FULL, "x"), cited(FULL, "y")])) == []
    found = other.as_dict(other.board)
    assert (found["met"], found["only_here"], found["only_there"]) == (1, 2, 1)


def test_what_is_unjudged_has_not_flipped(tmp_path: Path) -> None:
    cut = {"failure": Failure("cut", "")}
    theirs = [cited(None, **cut), cited(None, "e", **cut), cited(FULL, sentence=1)]
    ours = [cited(NONE), cited(None, "e", **cut), cited(None, sentence=1, **cut)]
    other = other_of(tmp_path, *theirs)
    assert list(other.flips(RESPONSE, ours)) == []
    found = other.as_dict(other.board)
    assert (found["met"], found["pairs"]) == (0, [])
    assert found["unjudged"] == {"here": 1, "there": 1, "both": 1}
    assert (found["only_here"], found["only_there"]) == (0, 0)


def test_runs_that_unjudged_items_leave_open_have_no_place(tmp_path: Path) -> None:
    other = other_of(tmp_path, cited(FULL), cited(None, "e", failure=Failure("cut", "")))
    sure = other_of(tmp_path / "sure", cited(FULL), cited(FULL, "e"))
    (move,) = [m for m in other.as_dict(sure.board)["moves"] if m["measure"] == "CITATION_SUPPORT"]
    assert (move["place_here"], move["place_there"]) == (1, None)
    bounds = {"lowest": 0.5, "highest": 1.0, "unjudged": False}
    assert move["there"] == {"value": 1.0, **bounds}


def claim(text: str, label: str, doc_id: str | None = None) -> Judgment:
    """Return a judgment on a claim of the first sentence."""
    return judgment(label, claim=Claim(len(text), text, 0), doc_id=doc_id, judge="citation")


def test_claims_are_told_apart_by_their_text(tmp_path: Path) -> None:
    theirs = [claim("One.", "yes", "d"), claim("Another.", "yes", "d")]
    outputs = output(tmp_path, (RESPONSE, theirs), judge="length")
    other = read_other("theirs", JudgmentsReader(outputs.judgments), ["citation"])
    (flip,) = other.flips(RESPONSE, [claim("One.", "yes", "e"), claim("Another.", "unsure")])
    assert (flip["claim"], flip["here"]["word"], flip["there"]["word"]) == (8, "unsure", "yes")


def measured(label: str, value: float) -> Judgment:
    """Return a judgment that measures a whole response."""
    return judgment(label, value=value, sentence_index=None, judge="citation")


def test_values_are_told_apart_by_what_they_measure(tmp_path: Path) -> None:
    theirs = [measured("COVERAGE", 0.5), measured("REDUNDANCY", 0.25)]
    outputs = output(tmp_path, (RESPONSE, theirs), judge="length")
    other = read_other("theirs", JudgmentsReader(outputs.judgments), ["citation"])
    (flip,) = other.flips(RESPONSE, [measured("COVERAGE", 0.5), measured("REDUNDANCY", 0.75)])
    assert (flip["here"]["word"], flip["there"]["word"]) == ("REDUNDANCY 0.750", "REDUNDANCY 0.250")


def test_judges_of_other_names_are_held_first_against_first(tmp_path: Path) -> None:
    other = other_of(tmp_path, cited(NONE), judge="support")
    assert other.renamed == {"citation": "support"}
    assert len(list(other.flips(RESPONSE, [cited(FULL)]))) == 1


@pytest.mark.parametrize("label", [FULL, NONE])
def test_runs_move_by_the_measures_that_both_have(label: str, tmp_path: Path) -> None:
    other = other_of(tmp_path, cited(label))
    moves = {move["measure"]: move for move in other.as_dict(other.board)["moves"]}
    assert moves["CITATION_SUPPORT"]["here"] == moves["CITATION_SUPPORT"]["there"]
    assert moves["CITATION_SUPPORT"]["here"]["value"] == float(label == FULL)


def on_nugget(label: str, nugget_id: str, answer: str = "") -> Judgment:
    """Return a judgment on a nugget, all of one wording."""
    nugget = AskedNugget(nugget_id, "When?", answer=answer)
    return judgment(label, sentence_index=None, nugget=nugget, judge="citation")


def test_nuggets_are_told_apart_by_id_and_answer(tmp_path: Path) -> None:
    theirs = [on_nugget("support", "1"), on_nugget("support", "2", "a"), on_nugget("none", "2")]
    outputs = output(tmp_path, (RESPONSE, theirs), judge="length")
    other = read_other("theirs", JudgmentsReader(outputs.judgments), ["citation"])
    ours = [cited(FULL), on_nugget("support", "1"), on_nugget("contradicts", "2", "a")]
    (flip,) = other.flips(RESPONSE, ours)
    assert (flip["at"], flip["nugget"]) == (2, "When? a")
    assert (flip["here"]["word"], flip["there"]["word"]) == ("contradicted", "stated")


@pytest.mark.parametrize(
    ("ours", "theirs", "size"),
    [
        pytest.param(cited(FULL, grade=2), cited(NONE, grade=0), 1.02, id="from end to end"),
        pytest.param(cited(FULL, grade=2), cited(PARTIAL, grade=1), 0.51, id="a step"),
        pytest.param(measured("COVERAGE", 0.75), measured("COVERAGE", 0.5), 0.25, id="values"),
    ],
)
def test_a_flip_has_its_sentence_and_its_size(
    ours: Judgment, theirs: Judgment, size: float, tmp_path: Path
) -> None:
    (flip,) = other_of(tmp_path, theirs, judge="length").flips(RESPONSE, [ours])
    assert flip["size"] == pytest.approx(size)
    assert flip["text"] == ("One." if ours.sentence_index == 0 else "")
