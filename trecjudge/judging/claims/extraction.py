"""From a response to its claims: by rules, or by a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import Any, Literal

from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.statements import abstains, bare, statements
from trecjudge.judging.offline.wording import wording_of
from trecjudge.models.model import Model, Program, ReplyLength
from trecjudge.records import Claim, Response, Sentence
from trecjudge.text.tokens import tokenize

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
