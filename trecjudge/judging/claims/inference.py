"""Inference: two passages of two documents that only together hold a claim."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import combinations

from trecjudge.judging.claims.search import Library, Passage
from trecjudge.judging.offline.wording import Term, term_forms, wording_of
from trecjudge.text.forms import word_form
from trecjudge.text.qualifiers import denials, has_negation
from trecjudge.text.sentences import split_sentences
from trecjudge.text.tokens import Token, tokenize

DOUBT = frozenset(
    map(
        word_form,
        """myth false wrong incorrect untrue claim claims allege alleged allegedly rumour rumor
        supposed supposedly believe believed think thought hypothesis question whether if could
        might may""".split(),  # noqa: SIM905
    )
)
"""Words by which a passage doubts or supposes what it says."""

# Two documents make an inference only where each adds something, and they hang together.
_INFERENCE_FROM = 0.85
_EACH_ADDS = 0.2
_ROUNDING = 1e-6
_MOST_COMBINED = 6
_FEWEST_COMBINED = 2


def infer_from_two(claim: str, passages: Sequence[Passage]) -> tuple[Passage, Passage] | None:
    """Return two passages of two documents that together hold a claim, and hang together.

    Each has a part that the other lacks; they share a name or a rare word that is no part of the
    claim, by which the one leads to the other: what one says around it stands there in the claim
    around what the other has. Neither may deny or doubt what the claim does not.
    """
    near = [p for p in passages[:_MOST_COMBINED] if p.overlap >= _EACH_ADDS]
    if len(near) < _FEWEST_COMBINED:
        return None
    terms = {term.form: term for term in wording_of(claim).terms}
    total = sum(term.weight for term in terms.values()) or 1.0
    needed = {form for form, term in terms.items() if term.named or term.number}
    read = [(p, term_forms(p.text)) for p in near]
    for (one, ours), (other, theirs) in combinations(read, 2):
        # Names and numbers first: they are few, and rule most pairs out.
        both = terms.keys() & (ours | theirs)
        if not needed <= both:
            continue
        if sum(terms[form].weight for form in both) < _INFERENCE_FROM * total:
            continue
        adds = min(sum(terms[form].weight for form in both - mine) for mine in (ours, theirs))
        if adds < _EACH_ADDS * total:
            continue
        own, others = both - theirs, both - ours
        for link in _links(one.text, ours & theirs - terms.keys()):
            first = _beside_link(one.text, own, link)
            second = _beside_link(other.text, others, link)
            if not _denied_or_doubted(claim, [*first, *second]) and (
                _in_place_of(link, wording_of(claim).forms, own, others, first)
                or _in_place_of(link, wording_of(claim).forms, others, own, second)
            ):
                return one, other
    return None


def _beside_link(text: str, own: Set[str], link: str) -> list[Sequence[Token]]:
    """Return the sentences of a passage that have some of these forms, or the link."""
    read = (tokenize(sentence) for sentence in split_sentences(text))
    return [tokens for tokens in read if any(t.form in own or t.form == link for t in tokens)]


def _denied_or_doubted(claim: str, sentences: Sequence[Sequence[Token]]) -> bool:
    """Return whether the sentences deny or doubt, and the claim does not, or it alone denies."""
    ours = tokenize(claim)
    doubt = {token.form for tokens in sentences for token in tokens} & DOUBT
    denied = any(denies(tokens) for tokens in sentences)
    return denied != denies(ours) or not doubt <= {token.form for token in ours}


def _in_place_of(
    link: str,
    claim: Sequence[str],
    own: Set[str],
    others: Set[str],
    sentences: Sequence[Sequence[Token]],
) -> bool:
    """Return whether the claim has `others` where a sentence with all of `own` has the link.

    "A stew uses lassard" and "lassard is fish" say "a stew uses fish", not "fish uses a stew".
    """
    places = [place for place, form in enumerate(claim) if form in others]
    for tokens in sentences:
        forms = [token.form for token in tokens]
        if link not in forms or not own <= set(forms):
            continue
        at = forms.index(link)
        before = [claim.index(form) < places[0] for form in own if forms.index(form) < at]
        after = [claim.index(form) > places[0] for form in own if forms.index(form) > at]
        return all((*before, *after))
    return all(link not in [token.form for token in tokens] for tokens in sentences) or not any(
        own <= {token.form for token in tokens} for tokens in sentences
    )


def may_infer(claim: str, library: Library) -> bool:
    """Return whether all documents together have what two need for an inference: a fast test."""
    held = library.forms_of(claim)
    terms = wording_of(claim).terms
    if any((term.named or term.number) and term.form not in held for term in terms):
        return False
    shared = sum(term.weight for term in terms if term.form in held)
    return shared >= (_INFERENCE_FROM - _ROUNDING) * sum(term.weight for term in terms)


def _links(text: str, shared: Set[str]) -> list[str]:
    """Return those of the forms of a text that could lead from it to another that has them."""
    terms = wording_of(text).terms if shared else ()
    return [t.form for t in terms if t.form in shared and (t.named or _is_telling(t))]


def _is_telling(term: Term) -> bool:
    return term.content and term.weight > 0.6


def denies(tokens: Sequence[Token]) -> bool:
    """Return whether a sentence has a word of denial."""
    return has_negation(tokens) or bool(denials({token.form for token in tokens}))
