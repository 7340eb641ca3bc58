"""The offline attester: labels, reasons, quotes, and how sure it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trecjudge.judging.offline.features import Features
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import (
    Calibration,
    Contradicted,
    Kept,
    SupportComparison,
    Weight,
    compare,
    format_calibration,
    read_calibration,
    shipped_calibration,
)
from trecjudge.text.frequencies import Frequencies, frequency_lines

TOWER = (
    "The Eiffel Tower is a lattice tower in Paris. It was completed in 1889 by the company of"
    " Gustave Eiffel. Critics did not like it at first. Millions of tourists visit it every year."
)


def judged(sentence: str, document: str) -> SupportComparison:
    return compare(sentence, prepare(document))


def test_label() -> None:
    cases = {
        "identity": (TOWER, TOWER, "full_support"),
        "one sentence of it": ("Tourists visit the tower.", TOWER, "full_support"),
        "unrelated": ("Gluons bind quarks.", TOWER, "no_support"),
        "half of it": (
            "The lattice tower in Paris also hosts jazz concerts and chess tournaments.",
            TOWER,
            "partial_support",
        ),
        "wrong number": ("The Eiffel Tower was completed in 1898.", TOWER, "no_support"),
        "another number and more": (
            "The lattice tower in Paris was sold in 1898.",
            TOWER,
            "partial_support",
        ),
        "citation mark": ("The Eiffel Tower was completed in 1889 [2].", TOWER, "full_support"),
        "a negation that a reader sees, with what has no width in it": (
            "The Eiffel Tower was n\u200bot completed in 1889.",
            TOWER,
            "no_support",
        ),
        "empty sentence": ("", TOWER, "no_support"),
        "empty document": ("A tower.", "", "no_support"),
        "both empty": ("", "", "no_support"),
        "no letters": ("😀 …", "😀 …", "no_support"),
        "document without letters": ("A tower.", "😀 …", "no_support"),
    }
    wrong = {
        name: found
        for name, (sentence, document, label) in cases.items()
        if (found := judged(sentence, document).label) != label
    }
    assert not wrong


def test_label_in_other_scripts() -> None:
    cases = {
        "zh": ("东京是日本的首都。", "日本的首都是东京，人口众多。", "full_support"),
        "zh unrelated": ("东京是日本的首都。", "量子力学研究微观粒子。", "no_support"),
        "Japanese": ("東京は日本の首都である", "日本の首都は東京である。", "full_support"),
        "Arabic": ("القاهرة عاصمة مصر", "عاصمة مصر هي القاهرة.", "full_support"),
        "ar unrelated": ("القاهرة عاصمة مصر", "تدرس الفيزياء المادة.", "no_support"),
        "Russian, other cases": (
            "Столицей России является Москва.",
            "Москва — столица России.",
            "full_support",
        ),
        "ru unrelated": ("Москва велика.", "Кошки любят рыбу.", "no_support"),
        "Thai": ("กรุงเทพเป็นเมืองหลวง", "เมืองหลวงคือกรุงเทพ", "full_support"),
        "Korean": ("서울은 한국의 수도", "한국의 수도는 서울이다", "full_support"),
    }
    wrong = {
        name: found
        for name, (sentence, document, label) in cases.items()
        if (found := judged(sentence, document).label) != label
    }
    assert not wrong


@pytest.mark.parametrize(
    ("sentence", "document", "missing"),
    [
        pytest.param("Built in 1984.", "Built in 1894.", ("1984",), id="other year"),
        pytest.param("It sold 1,234 cars.", "It sold 1234 cars.", (), id="group separator"),
        pytest.param("It grew 12 %.", "It grew 12% a year.", (), id="percent"),
        pytest.param("It has 12 members.", "It has twelve members.", (), id="count in words"),
        pytest.param("It has twelve members.", "It has members.", (), id="words do not contradict"),
        pytest.param("It cost 1.5 million.", "It cost 1,500,000.", (), id="written out there"),
        pytest.param("It cost 1,500,000.", "It cost 1.5 million.", (), id="written out here"),
        pytest.param(
            "It cost 1.5 million.", "It cost 1.5 billion.", ("1.5 million",), id="same digits"
        ),
        pytest.param("It was so [3, 4].", "It was so.", (), id="citation mark is no number"),
        pytest.param("From 3 to 5.", "From 4 to 6.", ("3", "5"), id="two"),
    ],
)
def test_numbers_missing(sentence: str, document: str, missing: tuple[str, ...]) -> None:
    found = judged(sentence, document)
    assert found.numbers_missing == missing
    assert not (missing and found.label == "full_support")


@pytest.mark.parametrize(
    ("sentence", "document", "differs"),
    [
        ("The drug does not reduce mortality.", "The drug reduces mortality.", True),
        ("The drug reduces mortality.", "The drug does not reduce mortality.", True),
        ("The drug doesn't reduce mortality.", "The drug reduces mortality.", True),
        ("The drug does not reduce mortality.", "The drug did not reduce mortality.", False),
        ("The drug reduces mortality.", "The drug reduces mortality, but not costs.", False),
        ("The drug not only reduces mortality.", "The drug reduces mortality.", False),
        ("There is no proof of harm.", "Proof of harm is lacking.", False),
        ("The drug reduces mortality.", "Cats do not reduce anything.", False),
        ("Das Gesetz gilt nicht für Kinder.", "Das Gesetz gilt für Kinder.", True),
        ("Закон не касается детей.", "Закон касается детей.", True),
        ("疫苗不支持这个结论", "疫苗支持这个结论。", True),
        ("日本は原子力を支持していない", "日本は原子力を支持している。", True),
        ("لا يدعم البرلمان القانون", "يدعم البرلمان القانون", True),
    ],
    ids=[
        "only the sentence negates",
        "only the document negates",
        "contraction",
        "both negate",
        "another word is negated",
        "not only asserts",
        "denied in other words",
        "too little in common",
        "German",
        "Russian",
        "Chinese",
        "Japanese",
        "Arabic",
    ],
)
def test_negation(sentence: str, document: str, differs: bool) -> None:
    found = judged(sentence, document)
    assert found.negation_differs is differs
    assert not (differs and found.label == "full_support")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("It cost 1,000 crowns.", "It cost 1000 crowns.", id="grouped"),
        pytest.param("It cost 1,000 crowns.", "It cost one thousand crowns.", id="in words"),
        pytest.param("It has 250 ships.", "It has two hundred and fifty ships.", id="many words"),
        pytest.param("It grew 3 percent.", "It grew 3 %.", id="percent"),
        pytest.param("It grew 3 per cent.", "It grew 3 percent.", id="per cent"),
        pytest.param("It cost 5 dollars.", "It cost $5.", id="currency"),
        pytest.param("It cost 2.5 billion euros.", "It cost €2,500,000,000.", id="scale, currency"),
        pytest.param("It is 5 kilometres long.", "It is 5 km long.", id="unit"),
        pytest.param("It opened on 3 May 2022.", "It opened on 2022-05-03.", id="ISO date"),
        pytest.param("It opened on 3 May 2022.", "It opened on May 3rd, 2022.", id="American date"),
        pytest.param("It opened in Sept. 2022.", "It opened in September 2022.", id="short month"),
    ],
)
def test_the_same_number_in_another_writing_is_full_support(one: str, other: str) -> None:
    for sentence, document in ((one, other), (other, one)):
        found = judged(sentence, document)
        assert (found.label, found.numbers_missing) == ("full_support", ())


@pytest.mark.parametrize(
    ("sentence", "document"),
    [
        pytest.param("Exports rose in spring.", "Exports fell in spring.", id="rise and fall"),
        pytest.param("The city banned cars.", "The city allowed cars.", id="ban and allow"),
        pytest.param("北京举办了2012年奥运会。", "2008年奥运会在北京举办。", id="Chinese year"),
        pytest.param("В 2019 году экспорт вырос.", "В 2018 году экспорт вырос.", id="Russian year"),
        pytest.param("تأسست الجامعة عام 1950", "تأسست الجامعة عام 1960.", id="Arabic year"),
    ],
)
def test_what_contradicts_is_no_full_support(sentence: str, document: str) -> None:
    found = judged(sentence, document)
    assert found.label == "no_support"
    assert found.full < found.probability / 2


def test_a_denial_beside_the_likest_sentence_is_another_statement() -> None:
    document = "Shoppers no longer pay late fees. The shop sells shoes late at night in Perth."
    found = judged("The shop sells shoes late at night in Perth.", document)
    assert (found.label, found.negation_differs) == ("full_support", False)
    assert judged("Perth is in a no 1 place.", "Perth is in a 1 place.").negation_differs is False


def test_an_opposite_word_is_in_the_reason() -> None:
    found = judged("Exports rose in spring.", "Exports fell in spring.")
    assert found.direction_differs
    assert found.reason.endswith("says the opposite of a word there")


SENTENCES = [
    "The Eiffel Tower was completed in 1889.",
    "The lattice tower in Paris hosts jazz concerts.",
    "Gluons bind quarks.",
    "",
    "Critics did not like 1898 cats.",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_probabilities_label_and_score_agree(sentence: str) -> None:
    found = judged(sentence, TOWER)
    chances = {
        "no_support": 1 - found.probability,
        "partial_support": found.probability - found.full,
        "full_support": found.full,
    }
    assert 0 <= found.full <= found.probability <= 1
    assert found.confidence == pytest.approx(max(chances.values()))
    assert chances[found.label] == pytest.approx(found.confidence)
    assert found.score == pytest.approx((found.probability + found.full) / 2)


def test_more_support_is_never_less_probable() -> None:
    sentence = "The Eiffel Tower, a lattice tower in Paris, was completed in 1889 by a company."
    words = sentence.rstrip(".").split()
    documents = [" ".join(words[:count]) + "." for count in range(1, len(words) + 1)]
    found = [judged(sentence, document).probability for document in documents]
    assert found == sorted(found)


def test_a_calibration_of_ones_own_decides() -> None:
    doubting = replace(shipped_calibration(), supported=-20.0)
    found = compare("Tourists visit the tower.", prepare(TOWER), doubting)
    assert (found.label, found.probability < 0.01) == ("no_support", True)


def test_missing_name_lowers_the_score() -> None:
    document = "The minister of Norway opened the bridge in Oslo."
    name = judged("The minister of Norway opened the bridge in Bergen.", document)
    word = judged("The minister of Norway opened the bridge in spring.", document)
    assert name.score < word.score


def test_evidence_is_the_passage_that_says_it() -> None:
    found = judged("Tourists visit the tower every year.", TOWER)
    assert TOWER[found.start : found.end] == "Millions of tourists visit it every year"


@pytest.mark.parametrize("document", ["", "Cats sleep."], ids=["empty", "nothing in common"])
def test_no_evidence(document: str) -> None:
    found = judged("Gluons bind quarks.", document)
    assert (found.start, found.end, found.score) == (0, 0, 0.0)


def test_missing_words_are_as_written_and_in_order() -> None:
    found = judged("In Lyon, the Eiffel Tower was repainted in 1894.", TOWER)
    assert found.missing == ("Lyon", "repainted", "1894")
    assert found.reason.endswith("; missing: 'Lyon', 'repainted', '1894'")


def test_missing_bigrams_are_joined() -> None:
    assert judged("大阪城很大", "很大").missing == ("大阪城",)


def test_at_most_eight_words_are_missing() -> None:
    assert len(judged(" ".join(f"w{i}x" for i in range(20)), TOWER).missing) == 8


@pytest.mark.parametrize(
    ("sentence", "document", "reason"),
    [
        ("A tower.", "A tower.", "100 % of the sentence's weight is in the document"),
        ("", "A tower.", "the sentence has no words"),
        (
            "The drug reduces mortality.",
            "The drug never reduces mortality.",
            "100 % of the sentence's weight is in the document; negated on one side only",
        ),
    ],
    ids=["all there", "empty", "negation"],
)
def test_reason(sentence: str, document: str, reason: str) -> None:
    assert judged(sentence, document).reason == reason


def test_words_in_one_passage_count_more_than_words_scattered() -> None:
    filler = "Nothing of interest happened here. " * 5
    together = judged("Gluons bind quarks tightly.", f"Gluons bind quarks tightly. {filler}")
    scattered = judged(
        "Gluons bind quarks tightly.",
        f"Gluons. {filler} Bind. {filler} Quarks. {filler} Tightly. {filler}",
    )
    assert scattered.score < together.score
    assert "in one passage" in scattered.reason


def test_a_pair_is_judged_alike_whatever_came_before() -> None:
    first = judged("The tower is in Paris.", TOWER)
    judged("The tower is in Paris.", "Other text. " * 50)
    judged("Gluons bind quarks.", TOWER)
    assert judged("The tower is in Paris.", TOWER) == first


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("The tower of Lyon has 3 floors.\n" * 15_000, id="many lines"),
        pytest.param("tower " * 80_000, id="no stop"),
        pytest.param("塔" * 150_000, id="no space"),
        pytest.param("x" + " " * 500_000 + "y", id="only spaces"),
    ],
)
def test_a_long_document_is_compared_to_its_end(document: str) -> None:
    """Half a megabyte: whatever took quadratic time would not come back."""
    end = "Mira Quill sold a pot in Dunmoor."
    found = judged(end, f"{document}\n{end}")
    assert (found.label, found.missing) == ("full_support", ())


KINDS = ("Rights", "Costs", "Views", "Laws", "History")
OF = (
    "courts",
    "doctors",
    "churches",
    "parties",
    "clinics",
    "lawyers",
    "voters",
    "nurses",
    "judges",
)
LINES = [f"{kind} of {whom}" for whom in OF for kind in KINDS]
CONTENTS = "Contents\n" + "\n".join(f"{n}.{n} {line}" for n, line in enumerate(LINES))
LISTED = f"Abortion debate: {CONTENTS}\nOverview\nIn ancient times it was another matter."
LONG = "The tower of Lyon has many floors and a lift. " * 30


def test_a_copy_of_more_lines_than_a_passage_has_is_supported() -> None:
    found = judged(" ".join(LISTED.split()[:-4]), f"See also\n{LISTED} It is a debate. {LONG}")
    assert (found.label, found.start, found.missing) == ("full_support", 9, ())
    assert found.end == 9 + len(LISTED) - 1
    assert found.reason == "the sentence stands in the document word for word"


@pytest.mark.parametrize(
    "sentence",
    [
        LISTED.replace("2.2", "9.2"),
        LISTED.replace("Laws of nurses", "Laws of zebras"),
        LISTED.replace("debate", "non-debate"),
        LISTED.replace("3.3 Laws of courts\n", ""),
        "Abortion debate … 41.41 Costs of judges Overview",
    ],
    ids=["another number", "another word", "a denial", "a line left out", "much left out"],
)
def test_nearly_a_copy_of_many_lines_is_not_taken_for_one(sentence: str) -> None:
    assert not judged(sentence, LISTED + LONG).reason.startswith("the sentence stands")


ZEROS = Features(*([0.0] * len(Features._fields)))
NOTHING = Weight(0.0, 1.0, 0.0, 0.0)


def simple(supported: float = 0.0, full: float = 0.0, **weights: Weight) -> Calibration:
    rows = tuple(weights.get(name, NOTHING) for name in Features._fields)
    return Calibration(rows, supported, full, Frequencies.of(1, {}), ("by hand",))


def test_probabilities() -> None:
    cases = {
        "even odds": (simple(), ZEROS, (0.5, 0.5)),
        "full is no likelier": (simple(supported=-1.0), ZEROS, (0.269, 0.269)),
        "a unit of a feature": (
            simple(words=Weight(0.0, 1.0, 2.0, 1.0)),
            ZEROS._replace(words=1.0),
            (0.881, 0.731),
        ),
        "beyond the range": (
            simple(words=Weight(0.0, 0.5, 2.0, 1.0)),
            ZEROS._replace(words=9.0),
            (0.731, 0.622),
        ),
        "below the range": (simple(words=Weight(0.5, 1.0, 2.0, 1.0)), ZEROS, (0.731, 0.622)),
    }
    wrong = {
        name: found
        for name, (calibration, features, expected) in cases.items()
        if (found := calibration.probabilities(features)) != pytest.approx(expected, abs=0.001)
    }
    assert not wrong


def test_a_calibration_is_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    written = replace(shipped_calibration(), frequencies=Frequencies.of(9, {"lyon": 2, "the": 9}))
    path.write_text(format_calibration(written), encoding="utf-8")
    found = read_calibration(path)
    assert (found.weights, found.supported, found.full, found.how) == (
        *(written.weights, written.supported, written.full, written.how),
    )
    assert frequency_lines(found.frequencies) == frequency_lines(written.frequencies)


def test_the_shipped_calibration_says_how_and_has_the_signs_of_its_names() -> None:
    shipped = shipped_calibration()
    weights = dict(zip(Features._fields, shipped.weights, strict=True))
    assert any("tau-b" in line for line in shipped.how)
    for name in ("document", "passage", "words", "beginning", "weakest_part", "names", "run"):
        assert min(weights[name].supported, weights[name].full) >= 0
    for name in ("numbers_missing", "names_missing", "turned", "hedge_dropped"):
        assert max(weights[name].supported, weights[name].full) <= 0


def shipped_content(**changes: Any) -> str:
    content = json.loads(format_calibration(shipped_calibration()))
    return json.dumps({key: value for key, value in (content | changes).items() if value})


def test_a_calibration_made_before_keeps_what_the_package_keeps_of_contradicted_copies(
    tmp_path: Path,
) -> None:
    path = tmp_path / "c.json"
    path.write_text(shipped_content(contradicted=None), encoding="utf-8")
    older = read_calibration(path)
    assert older.contradicted is None
    pair = "Exports rose in spring.", prepare("Exports fell in spring.")
    assert compare(*pair, older) == compare(*pair)


def test_a_contradicted_copy_keeps_its_share_of_both_probabilities() -> None:
    shipped = shipped_calibration()
    kept = shipped.contradicted
    assert kept is not None
    everything = replace(shipped, contradicted=Contradicted(Kept(1.0, 1.0), Kept(1.0, 1.0)))
    pair = "Exports rose in spring.", prepare("Exports fell in spring.")
    found, before = compare(*pair), compare(*pair, everything)
    assert found.probability == pytest.approx(kept.brief.supported * before.probability)
    assert found.full == pytest.approx(kept.brief.full * before.full)
    assert found.label == "no_support"


# Texts that were taken apart for a model, and those of many languages, write numbers so.
@pytest.mark.parametrize(
    ("sentence", "document"),
    [
        pytest.param("It cost 12,500 crowns.", "It cost 12, 500 crowns.", id="comma and blank"),
        pytest.param("It cost 12500 crowns.", "It cost 12 500 crowns.", id="blank"),
        pytest.param("It cost 1,234,567 crowns.", "It cost 1 234 567 crowns.", id="two blanks"),
        pytest.param("It grew 31.8 percent.", "It grew 31. 8 percent.", id="stop and blank"),
        pytest.param("It has 31.8 million users.", "It has 31. 8 million users.", id="million"),
        pytest.param("It has 100,000 users.", "It has 100k users.", id="k"),
    ],
)
def test_a_number_written_in_pieces_is_the_number(sentence: str, document: str) -> None:
    found = judged(sentence, document)
    assert (found.label, found.numbers_missing, found.replaced) == ("full_support", (), ())


@pytest.mark.parametrize(
    ("sentence", "document"),
    [
        ("It cost 12,500 crowns.", "It cost 12, 600 crowns."),
        ("It grew 31.8 percent.", "It grew 31. 9 percent."),
        ("It has 31.8 million users.", "It has 31. 8 billion users."),
    ],
)
def test_another_number_in_pieces_is_another(sentence: str, document: str) -> None:
    assert judged(sentence, document).label == "no_support"


@pytest.mark.parametrize("opener", ["1. ", "(3) ", "Yes, ", "Okay. ", "Well, ", "No, "])
def test_what_opens_a_sentence_is_none_of_what_it_says(opener: str) -> None:
    sentence = "Choose a peach tree that grows in your climate."
    found = judged(opener + sentence, f"Buy one in spring. {sentence}")
    assert (found.label, found.missing) == ("full_support", ())
    assert not found.negation_differs


def test_what_opens_a_sentence_may_be_what_it_is_about() -> None:
    assert judged("1984 was dry.", "1985 was dry.").label == "no_support"
    assert judged("Yes they toured Japan.", "They toured Japan.").missing == ()


NO_CALIBRATIONS = {
    "no JSON": ("{", "is no calibration"),
    "an array": ("[1]", "is no calibration"),
    "another file": ('{"partial_from": 0.3}', "`judges calibrate --output FILE` wrote"),
    "not said how": (shipped_content(how=None), "KeyError: 'how'"),
    "other features": (shipped_content(features={"luck": {}}), "of other features"),
    "text for a number": (
        shipped_content(intercept={"supported": "1e999", "full": 0}),
        "'1e999' is not a number",
    ),
    "true for a number": (
        shipped_content(intercept={"supported": True, "full": 0}),
        "True is not a number",
    ),
    "huge": (shipped_content(intercept={"supported": 10**400, "full": 0}), "is no calibration"),
    "0": (shipped_content(frequencies=["100", "0 foo"]), "0 of 100 passages have 'foo'"),
    "text as table": (shipped_content(frequencies="100"), "not a list of lines"),
    "too many": (f"[{'[],' * 1_100_000}[]]", "more than 100,000 entries"),
    "nested too deep": ("[" * 100_000, "is no calibration"),
    "no intercepts": (shipped_content(intercept=3), "TypeError"),
    "no table": (shipped_content(frequencies=["x"]), "invalid literal"),
    "half a share": (shipped_content(contradicted={"brief": {"full": 0.2}}), "KeyError"),
    "more than all": (
        shipped_content(
            contradicted={key: {"supported": 1, "full": 1.5} for key in ("brief", "long")}
        ),
        "not from 0 to 1",
    ),
}


@pytest.mark.parametrize(("text", "message"), NO_CALIBRATIONS.values(), ids=NO_CALIBRATIONS)
def test_what_is_no_calibration(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_calibration(path)
