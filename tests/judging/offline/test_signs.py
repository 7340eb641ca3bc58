"""Signs of writing for the judge: each on the ways that it is for, none on honest answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import judgment, response
from trecjudge import read_runs
from trecjudge.evaluation.gaming import WAYS
from trecjudge.findings import ignore
from trecjudge.judging.offline.signs import signs_in
from trecjudge.records import FULL, NONE, Judgment, Response, Sign
from trecjudge.records.signs import SIGN_KINDS
from trecjudge.scores.leaderboard import Coverage

TITLE = "How did the harbour of Lund grow, and which ships use the port today?"
HARBOUR = (
    "The harbour of Lund was dug in 1850 by thirty workers, and a stone mole was built around it. "
    "Its wooden cranes could lift grain and timber out of small sailing ships within one morning. "
    "After the war the city council widened the basin, so that larger steamers could turn there."
)
FERRY = (
    "A ferry crosses the sound every hour and carries commuters, lorries and their drivers. "
    "The company bought its newest vessel second hand from an island in the northern sea. "
    "Tickets are sold on board, but travellers with bicycles must book a place the day before."
)
HONEST = response(
    ("Thirty people dug the port of Lund in the middle of the nineteenth century.", ["h"]),
    ("Cargo such as grain was once unloaded by machines made of wood.", ["h"]),
    ("Later, politicians paid for a wider basin because steamers had outgrown the old one.", ["h"]),
    ("Today people who work across the water travel by boat each hour.", ["f"]),
    ("The ship that they use came from elsewhere and was not new.", ["f"]),
    ("Cyclists should reserve in advance.", ["f"]),
    documents={"h": HARBOUR, "f": FERRY},
)
ATTESTED = judgment(FULL, doc_id="h", attester="lexical")


def shares(
    *answers: Response, title: str = TITLE, said: Sequence[Judgment] = (ATTESTED,)
) -> Coverage:
    """Return what is counted of a run of these answers."""
    coverage = Coverage()
    for answer in answers:
        coverage.add(replace(answer, signs=signs_in(answer, title, said)), [])
    return coverage


def named(coverage: Coverage) -> list[str]:
    """Return the signs for which a run is named."""
    return [sign for sign in SIGN_KINDS if coverage.shows(sign)]


def played(way: str, answer: Response = HONEST) -> Response:
    """Return an answer after a way of writing for the judge."""
    (found,) = (one for one in WAYS if one.name == f"game:{way}")
    return found.make(answer, TITLE)[0]


def test_an_honest_answer_has_no_sign() -> None:
    coverage = shares(HONEST)
    assert named(coverage) == []
    assert {n: (c.sentences, c.of) for n, c in coverage.signs.items()} == {
        "copied": (0, 5),
        "near_copied": (0, 6),
        "scattered": (0, 6),
        "unasserted": (0, 6),
        "repeated": (0, 6),
        "trivial": (1, 6),
        "uncited": (0, 6),
        "any": (1, 6),
    }


@pytest.mark.parametrize(
    ("way", "sign"),
    [
        *((way, "copied") for way in ("copy", "copy-first", "list", "copy-capitals", "weak-copy")),
        *((f"copy-{way}", "near_copied") for way in ("padded", "fillers", "swapped", "nonsense")),
        *((way, "near_copied") for way in ("copy-clauses", "snips", "short-seven")),
        *((way, "near_copied") for way in ("own-copy", "own-quoted", "frame-rumour", "title-copy")),
        *((way, "scattered") for way in ("salad", "salad-all", "key-words", "copy-shuffled")),
        *((way, "scattered") for way in ("long-words", "copy-small-words")),
        *((way, "unasserted") for way in ("frame-false", "frame-unknown", "frame-suppose")),
        *(
            (way, "unasserted")
            for way in ("frame-why", "frame-asked", "weak-question", "weak-code")
        ),
        *((way, "repeated") for way in ("openers", "twenty-copies", "best-repeated", "title")),
        *((way, "repeated") for way in ("copy-five-times", "note")),
        *((way, "trivial") for way in ("title", "title-shuffled", "about-title", "short-words")),
        *((way, "uncited") for way in ("cite-strong", "abstain-around")),
    ],
)
def test_a_way_has_its_sign(way: str, sign: str) -> None:
    assert sign in named(shares(played(way)))


def test_a_sentence_in_pieces_of_a_document_is_a_near_copy() -> None:
    words = HARBOUR.split()
    pieces = " ".join((*words[40:45], *words[0:5], *words[20:25]))
    threes = " ".join((*words[40:43], *words[0:3], *words[20:23], *words[10:13], *words[30:33]))
    found = signs_in(
        response((pieces, ["h"]), (threes, ["h"]), documents={"h": HARBOUR}), TITLE, [ATTESTED]
    )
    assert (found["near_copied"].at, found["scattered"].at) == ((0,), (1,))


def test_the_same_beginning_of_six_words_is_a_repetition() -> None:
    about = "In this part of the world {}."
    texts = [about.format(rest) for rest in ("ships turn", "grain is sold", "nobody cycles")]
    answer = response(*((text, ["h"]) for text in texts), documents={"h": HARBOUR})
    assert signs_in(answer, TITLE, [ATTESTED])["repeated"] == Sign((1, 2), 3)


def test_a_mixture_of_ways_is_named_for_having_some_sign() -> None:
    ways = ("copy", "copy-fillers", "salad")
    made = [played(way).sentences[at] for at, way in enumerate(ways * 2) if at != 2]
    mixed = replace(HONEST, sentences=(*made, HONEST.sentences[5]))
    copied = replace(HONEST, sentences=played("copy").sentences)
    assert named(shares(mixed)) == ["any"]
    assert "any" not in named(shares(copied))


def test_one_word_is_an_answer_and_many_of_one_word_are_none() -> None:
    one = response(("Lund.", ["h"]), documents={"h": HARBOUR})
    many = response(
        *([(f"{word}.", ["h"]) for word in ("Lund", "Grain", "War")]), documents={"h": HARBOUR}
    )
    assert signs_in(one, "Where is it?", [ATTESTED])["trivial"] == Sign((), 1)
    assert signs_in(many, "Where is it?", [ATTESTED])["trivial"] == Sign((0, 1, 2), 3)


def test_a_copy_of_a_document_that_is_not_cited_is_found() -> None:
    sentence = FERRY.split(". ")[0].replace("commuters", "only commuters")
    answer = response((sentence, ["h"]), documents={"h": HARBOUR, "f": FERRY})
    assert signs_in(answer, TITLE, [ATTESTED])["near_copied"].at == (0,)


def graded(grade: str, *labels: str) -> list[Judgment]:
    """Return the judgments of a judge of relevance on an answer and of support on its sentences."""
    support = [judgment(label, sentence_index=at, doc_id="h") for at, label in enumerate(labels)]
    return [judgment(grade, sentence_index=None), *support]


def test_support_without_relevance_needs_both_judges() -> None:
    both = graded("0", FULL, NONE, FULL)
    assert signs_in(HONEST, TITLE, both)["irrelevant"] == Sign((0, 2), 2)
    assert signs_in(HONEST, TITLE, graded("1", FULL, NONE))["irrelevant"] == Sign((), 1)
    for alone in (both[:1], both[1:]):
        assert "irrelevant" not in signs_in(HONEST, TITLE, alone)
    by_sentence = [judgment("0", sentence_index=0), judgment("2", sentence_index=2), *both[1:]]
    assert signs_in(HONEST, TITLE, by_sentence)["irrelevant"] == Sign((0,), 2)


def test_without_text_of_documents_nothing_is_known() -> None:
    assert signs_in(response((HARBOUR, ["h"])), TITLE, [ATTESTED]) == {}
    assert signs_in(response((HARBOUR, ["h"]), documents={"h": " "}), TITLE, [ATTESTED]) == {}


def test_where_nothing_is_attested_only_copies_are_looked_for() -> None:
    assert signs_in(played("copy"), TITLE, []) == {"copied": Sign((0, 1, 2, 3, 4, 5), 6)}


def test_a_response_without_sentences_has_none() -> None:
    found = signs_in(response(documents={"h": HARBOUR}), TITLE, [ATTESTED])
    assert set(found.values()) == {Sign((), 0)}


CHINESE = (
    "隆德港于一八五零年由三十名工人开挖，并在周围修建了石制防波堤。木制起重机可以在一个上午内从小帆船上卸下粮食和木材。"
    "战争结束后，市议会拓宽了港池，以便更大的轮船能够在那里掉头。"
)
ARABIC = (
    "حفر ثلاثون عاملا ميناء لوند عام 1850 وبني حوله رصيف من الحجر. كانت الرافعات الخشبية ترفع"
    " الحبوب والأخشاب من السفن الشراعية الصغيرة في صباح واحد. بعد الحرب وسع مجلس المدينة"
    " الحوض لكي تدور فيه السفن البخارية الكبيرة."
)
RUSSIAN = (
    "Гавань Лунда выкопали в 1850 году тридцать рабочих, и вокруг неё построили каменный мол. "
    "Деревянные краны могли за одно утро поднять зерно и лес из небольших парусных судов. "
    "После войны городской совет расширил бассейн, чтобы там могли разворачиваться пароходы."
)
ELSEWHERE = {
    "chinese": (
        CHINESE,
        ("这个港口是十九世纪中叶挖出来的，参加的有三十个人。", "当时用木头做的机器搬运谷物。",
         "后来政府出钱把水面加宽，因为新船太大了。"),
    ),
    "arabic": (
        ARABIC,
        ("أنشئ المرفأ في منتصف القرن التاسع عشر على يد مجموعة من العمال.",
         "استخدمت آلات من الخشب لتفريغ حمولة القمح قديما.",
         "ثم دفعت البلدية ثمن توسيعه لأن المراكب صارت أكبر."),
    ),
    "russian": (
        RUSSIAN,
        ("Порт появился в середине девятнадцатого века благодаря труду тридцати человек.",
         "Груз, например пшеницу, выгружали машинами из дерева.",
         "Позже власти оплатили расширение, так как корабли стали больше."),
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", ELSEWHERE)
def test_other_languages(language: str) -> None:
    text, sentences = ELSEWHERE[language]
    answer = response(*((one, ["d"]) for one in sentences), documents={"d": text})
    assert named(shares(answer, title="")) == []
    assert "copied" in named(shares(played("copy", answer), title=""))
    assert "near_copied" in named(shares(played("copy-clauses", answer), title=""))


@pytest.mark.parametrize("way", ["salad", "copy-shuffled"])
@pytest.mark.parametrize("language", ["arabic", "russian"])
def test_words_out_of_order_in_other_languages(language: str, way: str) -> None:
    text, sentences = ELSEWHERE[language]
    answer = response(*((one, ["d"]) for one in sentences), documents={"d": text})
    assert "scattered" in named(shares(played(way, answer), title=""))


@pytest.mark.parametrize(
    "text",
    ["harbour " * 100_000, "? " * 100_000, "[" * 100_000, HARBOUR * 2_000, "港" * 100_000],
    ids=["one word", "signs", "brackets", "copies", "no spaces"],
)
def test_hostile_sentences_take_no_time(text: str) -> None:
    answer = response(*[(text, ["h"])] * 3, documents={"h": HARBOUR})
    assert signs_in(answer, TITLE, [ATTESTED])


REAL = Path(__file__).parents[4] / "shared" / "data" / "rag25_support"


@pytest.mark.skipif(not REAL.is_dir(), reason="the runs of TREC RAG 2025 are not there")
def test_of_real_runs_one_is_named() -> None:
    topics = (REAL / "topics.jsonl").read_text(encoding="utf-8").splitlines()
    titles = {one["id"]: one["title"] for one in map(json.loads, topics)}
    found: dict[str, list[str]] = {}
    for path in sorted((REAL / "runs").iterdir()):
        coverage = Coverage()
        for one in read_runs(path, on_finding=ignore):
            signs = signs_in(one, titles[one.topic_id], [ATTESTED])
            coverage.add(replace(one, signs=signs), [])
        if signs_of_run := named(coverage):
            found[path.stem] = signs_of_run
    assert found == {"ag-run-1-JH": ["copied"]}
