"""Claims of a text, by rules: its clauses that can stand alone; what is no claim is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from trecjudge.judging.claims.clauses import clauses, subject_of
from trecjudge.judging.claims.declining import MATERIAL, declines, may_decline
from trecjudge.judging.claims.verbs import PREDICATES
from trecjudge.text.layout import LAYOUT, judged_texts
from trecjudge.text.lead_ins import is_code
from trecjudge.text.sentences import CITATION
from trecjudge.text.tokens import scripts, tokenize

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
# Openers without content: the rest of the sentence may claim something.
_LEAD_IN = re.compile(
    rf"^(?:(?:based\s+on|according\s+to|from|as\s+per)\s+{MATERIAL}\s*,\s*"
    r"|(?:please\s+)?note\s+that\s+|it\s+is\s+(?:important|worth)\s+(?:to\s+note|noting)\s+that\s+"
    r"|(?:certainly|sure|of\s+course|yes|no|sorry|unfortunately|leider|malheureusement|purtroppo|"
    r"lamentablemente|infelizmente|helaas|niestety|maalesef|к\s+сожалению)[,!]\s+)",
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
    """Return the claims of a text in order: sentences, cut where a part can surely stand alone.

    What is no claim is left out (see `no_claim`), and so are citation marks, the signs of layout,
    and openers such as "Please note that". An opinion about a number or a name is a
    claim; so is what stands beside an abstention ("While the texts do not say when, it rose").
    Pronouns stay, except in a clause that is cut off from its subject.
    """
    found = []
    for sentence in [text] if is_code(text) else judged_texts(text):
        kind, plain = no_claim(sentence), _LEAD_IN.sub("", bare(sentence))
        if kind == "abstention":
            opener = bare(sentence).removesuffix(plain)
            found += clauses(_beside_abstention(plain, opener))
        elif kind is None:
            found += clauses(_OPINION.sub("", plain))
    return found


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
    if len(tokenize(plain)) < 2:
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
