"""From a response to its claims, by rules or by a model: clauses that can stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.clauses import PREDICATES, subject_of
from trecjudge.judging.claims.declining import declines, may_decline, without_lead_in
from trecjudge.judging.claims.parts import single_statements
from trecjudge.judging.offline.wording import wording_of
from trecjudge.models.model import Model, Program, ReplyLength
from trecjudge.records import Claim, Response, Sentence
from trecjudge.text.layout import LAYOUT, judged_texts
from trecjudge.text.sentences import CITATION, is_code
from trecjudge.text.tokens import read_forms, scripts, tokenize

# Claims of a text, by rules: its clauses that can stand alone; what is no claim is left out.
NoClaim = Literal[
    "question", "heading", "opinion", "about_the_answer", "abstention", "too_short", "code"
]

_MARK = re.compile(rf"\s*{CITATION}")
_EMPHASIS = re.compile(r"\*{1,3}|__|`")
# What is left where citations of another kind were taken out: "], and so on,,."
_LEFT_OVER = re.compile(r"^[\],;:.)\s]+|(?<![\s,])(?:\s*,)+(?=\s*[.,;]|$)")
_HEADING_MARK = re.compile(r"^\s*(?:#{1,6}\s|(\*\*|__)[^*_]+\1\s*:?\s*$)")
_QUESTION = re.compile(r"[?？؟]['\"”’»)\]]*$")
_STOPPED = re.compile(r"[.!。！．۔।…]['\"”’»)\]』」]*$")
# Some runs have a heading and what follows it as one sentence.
_LONGEST_HEADING = 12
_LONGEST_BARE_HEADING = 8
_MINOR = frozenset("a an and as at by for from in into of on or the to vs via with".split())  # noqa: SIM905
_OPINION = re.compile(
    r"^(?:(?:personally|honestly|frankly),?\s+|in\s+(?:my|our)\s+(?:opinion|view),?\s+|"
    r"(?:i|we)\s+(?:(?:would|strongly|personally)\s+)?"
    r"(?:think|believe|feel|hope|guess|suggest|recommend|prefer|wish|doubt|suspect)\b(?:\s+that\b)?\s*)",
    re.IGNORECASE,
)
_ABOUT_THE_ANSWER = re.compile(
    r"^(?:this\s+(?:answer|response|report|summary|overview|essay|section)\s+"
    r"(?:is|was|will|does|has|cannot|may|might|should)\b"
    r"|(?:this|the)\s+(?:answer|response|report|summary|overview|essay|section)\s+"
    r"(?:covers?|provides?|aims?|summari[sz]es|describes|discusses|focuses|examines|explores|outlines)\b"
    r"|(?:here|below|above|following)\s+(?:is|are)\b"
    r"|(?:i\s+hope\s+this|let\s+me|please\s+(?:let|provide|consult|see|refer)|feel\s+free|"
    r"as\s+an\s+(?:ai|language)|thank\s)"
    r"|(?:i|we)\s+(?:will|shall|am\s+going\s+to)\s+"
    r"(?:summari[sz]e|describe|discuss|explain|answer|outline)\b)",
    re.IGNORECASE,
)
_PART = re.compile(r"[,;:—]\s+(?:(?:but|and|however|although|though|while|so|yet),?\s+)?")
_CONCEDING = re.compile(r"^(?:while|although|though|even\s+though|whereas)\s+", re.IGNORECASE)
_SHORTEST_REST = 2
_SHORTEST_CLAUSE = 5
_LONGEST_OPENER = 6
_OPENING = frozenset(
    "about according as at based by due for from given in on regarding to under with".split()  # noqa: SIM905
)
# What such a word opens depends on the part before.
_HANGING = frozenset("or nor who whom whose which what when where why how whether if".split())  # noqa: SIM905


def statements(text: str) -> list[str]:
    """Return the claims of a text in order: single statements, cut where that is safe.

    What is no claim is left out (see `no_claim`), and so are citation marks, the signs of layout,
    and openers such as "Please note that". An opinion about a number or a name is a
    claim; so is what stands beside an abstention ("While the texts do not say when, it rose").
    Pronouns stay, except in a clause that is cut off from its subject.
    """
    found = []
    for sentence in [text] if is_code(text) else judged_texts(text):
        kind, plain = no_claim(sentence), without_lead_in(bare(sentence))
        if kind == "abstention":
            opener = bare(sentence).removesuffix(plain)
            found += single_statements(_beside_abstention(plain, opener))
        elif kind is None:
            found += single_statements(_OPINION.sub("", plain))
    return found


@lru_cache(maxsize=256)
def bare(sentence: str) -> str:
    """Return a sentence without citation marks, emphasis and the mark of a list item."""
    spaced = " ".join(sentence.split())  # first: expressions are slow on long runs of spaces
    plain = _EMPHASIS.sub("", LAYOUT.sub("", _MARK.sub("", spaced)))
    return _LEFT_OVER.sub("", plain).strip()


def no_claim(sentence: str) -> NoClaim | None:
    """Return why a sentence claims nothing that a document could support; None if it does.

    Questions, headings, opinions, code, and statements of the answer about itself or what it lacks.
    """
    if is_code(sentence):
        return "code"
    plain = bare(sentence)
    signed = _HEADING_MARK.match(" ".join(sentence.split())) and not _has_predicate(plain)
    marked = signed or plain.endswith((":", "："))
    if marked and len(plain.split()) <= _LONGEST_HEADING:
        return "heading"
    if _QUESTION.search(plain):
        return "question"
    if declines(plain):
        return "abstention"
    if _ABOUT_THE_ANSWER.search(plain):
        return "about_the_answer"
    if _OPINION.search(plain) and not _is_checkable(_OPINION.sub("", plain)):
        return "opinion"
    if len(read_forms(plain)[1]) < 2:
        return "too_short"
    return "heading" if _is_title(plain) else None


def abstains(text: str, agreed: bool = False) -> bool:
    """Return whether a response declines to answer, and claims nothing else.

    `agreed`: a model found no claim in it either; then a weaker wording is enough.
    """
    sentences = judged_texts(text)
    claiming = [sentence for sentence in sentences if statements(sentence)]
    if agreed and claiming:
        return all(may_decline(bare(sentence)) for sentence in claiming)
    return not claiming and any(no_claim(sentence) == "abstention" for sentence in sentences)


def _beside_abstention(sentence: str, opener: str) -> str:
    """Return what a sentence claims beside its abstention; empty if there is nothing more.

    What it lacks may lean on its opener: "Based on the given texts, it cannot be determined".
    """
    split = _PART.split(sentence)
    parts = [part for part in split if not declines(part) and not declines(f"{opener}{part}")]
    rest = _CONCEDING.sub("", ", ".join(parts))
    words = rest.lower().split()
    hangs = not _HANGING.isdisjoint(words[:2])
    claims_more = bool(scripts(rest) != {"latin"} or subject_of(rest))
    # Only what comes after it may be a list of what is lacking, but for a main clause.
    claims_more = claims_more or (parts[:1] == split[:1] and _may_be_a_clause(words))
    conceded = _CONCEDING.match(split[0]) is not None
    claims_more = claims_more or (conceded and len(words) >= _SHORTEST_CLAUSE)
    return rest if len(words) >= _SHORTEST_REST and claims_more and not hangs else ""


def _may_be_a_clause(words: Sequence[str]) -> bool:
    """Return whether words are enough for a clause: a verb, or many words and no opener."""
    verb = not PREDICATES.isdisjoint(words) or len(words) > _LONGEST_OPENER
    return len(words) >= _SHORTEST_CLAUSE and verb and words[0] not in _OPENING


def _is_checkable(opinion: str) -> bool:
    """Return whether an opinion is about a number or a name: then a document can support it."""
    return any(c.isdigit() for c in opinion) or any(w[:1].isupper() for w in opinion.split())


def _has_predicate(plain: str) -> bool:
    """Return whether a marked heading is a sentence after all: it has a verb, and asks nothing."""
    first, *rest = plain.lower().split() or [""]
    return first not in _HANGING and not PREDICATES.isdisjoint(rest)


def _is_title(plain: str) -> bool:
    """Return whether a text is a heading without marks: a few words with capitals, no stop."""
    words = [word for word in plain.split() if word.lower() not in _MINOR]
    few = 1 < len(words) <= _LONGEST_BARE_HEADING and not _STOPPED.search(plain)
    capitals = all(word[0].isupper() or not word[0].isalpha() for word in words)
    return few and capitals and not any(c.isdigit() for c in plain) and scripts(plain) == {"latin"}


# From a response to its claims: by rules, or by a model.
Extractor = Literal["auto", "rules", "llm"]
SPLIT = Program(
    "claims",
    "trecjudge.judging.claims.program:SplitClaims",
    length=ReplyLength(fixed=15, share=2.2, of="response"),
)
IMPORTANCE = {"vital": 1.0, "detail": 0.5}


def claims_by_rules(response: Response) -> list[Claim]:
    """Return the claims of a response: sentences and clauses that can stand alone, all vital.

    Pronouns stay as they are; a claim made twice is one.
    """
    found = (
        _claim(sentence, text)
        for sentence in response.sentences
        for text in statements(sentence.text)
    )
    return list(_number_claims(found))


async def claims_by_model(response: Response, model: Model) -> list[Claim]:
    """Return the claims that a model finds; one without a word of the response is left out.

    Raises JudgmentFailed where it cannot be asked, or finds none where rules find one in a response
    that does not decline.
    """
    if not response.has_text:
        return []
    numbered = (f"[{s.index}] {bare(s.text)}" for s in response.sentences if s.has_text)
    prediction = await model.predict(SPLIT, response="\n".join(numbered))
    listed = (_claim_of_model(response, entry) for entry in prediction.fields["claims"])
    own_forms = {token.form for token in tokenize(response.text)}
    found = list(_number_claims(claim for claim in listed if _has_something_of(own_forms, claim)))
    # No claims in a text that claims something: the model failed, and the response must not gain.
    by_rules = [] if found or abstains(response.text, True) else claims_by_rules(response)
    if by_rules:
        message = f"the model lists no claim of the response, rules find {len(by_rules)}"
        raise JudgmentFailed("empty", message)
    return found


def _has_something_of(own_forms: Set[str], claim: Claim) -> bool:
    """Return whether a claim shares a content word with its response: a model may invent claims."""
    return any(term.content and term.form in own_forms for term in wording_of(claim.text).terms)


def _claim_of_model(response: Response, entry: Any) -> Claim:
    """Return a claim of the model's reply; a sentence number that does not exist is replaced."""
    given: Mapping[str, Any] = entry if isinstance(entry, Mapping) else entry.model_dump()
    text = " ".join(given["claim"].split())
    named = (s for s in response.sentences if s.index == given["sentence"])
    sentence = next(named, None) or _nearest(response, text)
    return replace(_claim(sentence, text), importance=IMPORTANCE[given["importance"]])


def _nearest(response: Response, text: str) -> Sentence:
    """Return the sentence that shares most words with a claim."""
    forms = {token.form for token in tokenize(text)}
    return max(
        response.sentences,
        key=lambda sentence: len(forms.intersection(t.form for t in tokenize(sentence.text))),
    )


def _claim(sentence: Sentence, text: str) -> Claim:
    # What is not read is a citation all the same, of some document.
    cited = tuple(i for c in sentence.citations if (i := c.doc_id or (c.unread and c.value)))
    return Claim(0, text, sentence.index, cited)


def _number_claims(found: Iterator[Claim]) -> Iterator[Claim]:
    """Number the claims in order, without empty ones; one made twice cites what either cites."""
    by_text: dict[str, Claim] = {}
    for claim in found:
        key = claim.text.casefold()
        if not key:
            continue
        before = by_text.setdefault(key, replace(claim, index=len(by_text)))
        cited = dict.fromkeys((*before.cited, *claim.cited))
        by_text[key] = replace(before, cited=tuple(cited))
    yield from by_text.values()
