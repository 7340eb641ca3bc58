"""Verdicts that two judgments of the same items do not share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes import judgment, response
from trecjudge.records import FULL, NONE, AskedNugget, Claim, Failure, Judgment, Response
from trecjudge.stats.flips import VerdictChanges, verdict_changes

FAILED = Failure("transport", "reset")
RESPONSE = response(("First.", ["d"]), ("Second.", ["d"]))


def of(label: str | None, index: int = 0, judge: str = "citation", **fields: Any) -> Judgment:
    return judgment(label, sentence_index=index, doc_id="d", judge=judge, **fields)


@dataclass(frozen=True)
class Side:
    """The judgments of one response, as a file of them."""

    judgments: list[Judgment]

    def __iter__(self) -> Iterator[tuple[Response, list[Judgment]]]:
        yield RESPONSE, self.judgments

    def again(
        self, run_id: str, topic_id: str, places: Sequence[int]
    ) -> tuple[Response, list[Judgment]]:
        assert (run_id, topic_id) == (RESPONSE.run_id, RESPONSE.topic_id)
        return RESPONSE, [self.judgments[place] for place in places]


def found(before: list[Judgment], after: list[Judgment]) -> VerdictChanges:
    return verdict_changes(Side(before), Side(after))


def test_a_flip_has_both_judgments_and_the_sentence() -> None:
    before, after = of(FULL, 1, reason="r1"), of(NONE, 1, reason="r2")
    result = found([of(FULL), before], [of(FULL), after])
    (flip,) = result.flips
    assert (flip.sentence, flip.before.reason, flip.after.reason) == ("Second.", "r1", "r2")
    assert dict(result.counts) == {(FULL, FULL): 1, (FULL, NONE): 1}
    assert result.shared == 2


def test_an_unjudged_item_is_a_verdict_of_its_own() -> None:
    result = found([of(FULL)], [of(None, failure=FAILED)])
    assert dict(result.counts) == {(FULL, "unjudged"): 1}


def test_items_of_one_side_only_are_counted() -> None:
    result = found([of(FULL), of(NONE, 1)], [of(FULL), of(FULL, 1, citation="other")])
    assert (result.shared, result.only_before, result.only_after) == (1, 1, 1)


def test_two_judges_of_different_names_are_set_beside_each_other() -> None:
    assert found([of(FULL, judge="mine")], [of(NONE, judge="yours")]).shared == 1
    both = [of(FULL, judge="mine"), of(FULL, judge="third")]
    assert found(both, [of(NONE, judge="yours")]).shared == 0


def test_nuggets_are_distinguished_by_their_text_and_answer() -> None:
    one, other = (AskedNugget("1", "Of what?", answer=answer) for answer in ("tin", "zinc"))
    plain = judgment("NEEDS_NONE")
    before = [judgment(FULL, nugget=one), judgment(FULL, nugget=other), plain]
    result = found(before, [plain, judgment(FULL, nugget=one), judgment(NONE, nugget=other)])
    assert [flip.sentence for flip in result.flips] == ["Of what? zinc"]
    assert (result.shared, result.only_before, result.only_after) == (3, 0, 0)


def test_claims_are_distinguished_by_their_text() -> None:
    one, other = (Claim(0, text, 0) for text in ("The sea is salt.", "The sea is wet."))
    result = found([of("yes", claim=one)], [of("no", claim=one), of("no", claim=other)])
    assert (result.shared, result.only_after) == (1, 1)
    assert result.flips[0].sentence == "The sea is salt."


def test_judgments_that_measure_have_no_verdict() -> None:
    assert found([of(None, value=0.5)], [of(None, value=0.7)]).shared == 0


def on(label: str, nugget_id: str, answer: str = "", text: str = "When?") -> Judgment:
    nugget = AskedNugget(nugget_id, text, answer=answer)
    return judgment(label, sentence_index=None, nugget=nugget, judge="nuggets")


def test_nuggets_are_distinguished_by_id_and_answer() -> None:
    before = [on("support", "1"), on("support", "2"), on("support", "2", "1871")]
    after = [on("support", "1"), on("not_support", "2"), on("support", "2", "1926")]
    result = found(before, after)
    assert (result.shared, result.only_before, result.only_after) == (2, 1, 1)
    assert [flip.before.nugget for flip in result.flips] == [AskedNugget("2", "When?")]


def test_a_nugget_that_judges_word_differently_is_the_same() -> None:
    (flip,) = found([on("support", "1")], [on("not_support", "1", text="When? 1871")]).flips
    assert flip.sentence == "When? 1871"
