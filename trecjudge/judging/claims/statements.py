"""From a response to its claims, by rules or by a model: clauses that can stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.declining import declines, may_decline, without_lead_in
from trecjudge.judging.offline.wording import wording_of
from trecjudge.models.model import Model, Program, ReplyLength
from trecjudge.records import Claim, Response, Sentence
from trecjudge.text.layout import LAYOUT, judged_texts
from trecjudge.text.sentences import CITATION, is_code
from trecjudge.text.tables import read_words
from trecjudge.text.tokens import read_forms, scripts, tokenize

_VERBS = read_words(Path(__file__).with_name("verbs.txt"))
AUXILIARIES = frozenset(_VERBS["auxiliaries"])
# Forms that are hardly ever a noun or a participle: such a word opens a predicate.
PREDICATES = AUXILIARIES | frozenset(_VERBS["predicates"])
FINITE = PREDICATES | frozenset(_VERBS["finite"])
"""Any word that may be the verb of a clause."""


# The clauses of a sentence that can stand alone: cut only where that is safe.
# Of sentences on one line with single spaces, as `statements.bare` makes them.
_BORDER = re.compile(
    r"(?P<semicolon> ?[;；؛] ?(?:(?:and|but|or) )?)"
    r"|(?P<joined> ?,? (?:and|but|while|whereas|although|though) )"
    r"|(?P<comma> ?, )"
)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_WITHOUT_LATIN = re.compile(r"[^A-Za-z]+")
_STOPS = (".", "!", "。", "！", "．", "۔", "।", "…")
_SEMICOLONS = frozenset(";；؛")
_OPEN, _CLOSED = "([{“«", ")]}”»"
# A clause that such a word opens depends on another one.
_SUBORDINATE = frozenset(
    """
    if when whenever while although though because since unless until after before as whereas
    despite where who which that whose whom how why what whether than
    """.split()  # noqa: SIM905
)
_PRONOUNS = frozenset({"it", "they", "he", "she"})
_RELATIVE = frozenset({"which", "that", "who", "whose"})
_LONGEST_RELATIVE = 6
"""Letters kept of a word that may go on: with more it is none of these anyway."""
_UNRESOLVED = frozenset(
    {"this", "these", "those", "that", "there", "we", "i", "you", "which", "rather", "instead"}
)
_HALVES = (" only", " both", " either", " neither")
_ADVERBS = frozenset({"also", "then", "later", "now", "often", "still", "never", "usually"})
_LONGEST_SUBJECT = 10
"""Words of a subject: a verb later on is more likely one of another clause."""
_LONGEST_WRITTEN = 200
"""Characters of a subject that may be repeated: no sentence becomes many times as long."""
_LONGEST_COPIED = 8
_LONGEST_NAMED = 5
_SHORTEST = 4


def clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence; one without a safe border is returned whole.

    Cut are: semicolons between clauses; a clause after a conjunction that has a subject of its own
    (a pronoun is replaced by the subject before it); predicates in a row, each with their subject.
    """
    (_, first), *rest = _pieces(sentence)
    found = [_Growing(first)]
    listing = False
    for (border, piece), row in zip(rest, _in_rows(rest), strict=True):
        clause = _begin_clause(found[-1], border, piece, row, listing)
        listing = clause is None and border.strip() == ","
        if clause is None:
            found[-1].grow(border + piece)
        else:
            found.append(_Growing(_capitalise(clause)))
    stop = sentence.rstrip()[-1:]  # each clause ends as its sentence did
    texts = (clause.text.strip(" ,;；؛") for clause in found)
    return [_end_clause(_capitalise(text), stop) for text in texts if text]


class _Growing:
    """A clause that pieces are added to; what was read of it is not read again for each."""

    def __init__(self, text: str) -> None:
        self._parts: list[str] = []
        self._words = 0
        self._last = ""
        self._has_relative = False
        self.subject: str | None = None
        self.grow(text)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)

    @property
    def is_nested(self) -> bool:
        """Whether a word of it opens a relative clause."""
        return self._has_relative or self._last in _RELATIVE

    def grow(self, text: str) -> None:
        """Add a piece, with the border before it."""
        self._parts.append(text)
        *whole, self._last = re.split(r"\s+", self._last + text.lower())
        self._has_relative = self._has_relative or not _RELATIVE.isdisjoint(whole)
        self._last = self._last[:_LONGEST_RELATIVE]  # what is longer is none, however it goes on
        # The first words decide what the subject is: more of them, and it may be another.
        if self._words <= _LONGEST_SUBJECT:
            words = sum(1 for _ in islice(_WORD.finditer(text), _LONGEST_SUBJECT + 1))
            if words or len(self._parts) == 1:
                self.subject = subject_of(self.text)
            self._words += words


def _begin_clause(
    before: _Growing, border: str, piece: str, row: bool, listing: bool
) -> str | None:
    """Return the clause that a piece begins, or None if it goes on with the clause before.

    `row`: it is one of several predicates; `listing`: at the comma before, nothing was cut.
    """
    apart = not _SEMICOLONS.isdisjoint(border)
    if apart and _WITHOUT_LATIN.fullmatch(piece):
        return piece if len(piece.strip()) >= _SHORTEST else None
    subject = before.subject
    if subject is None or len(subject) > _LONGEST_WRITTEN or len(piece.split(maxsplit=1)) < 2:
        return None
    if _is_predicate(piece) and not apart:
        # "Prices rose, fell and rose": after a comma only in a row of predicates.
        comma_only = border.strip() == "," and not row
        short = len(subject.split()) <= _LONGEST_COPIED
        # "It says that prices rose and are high": the subject of "are high" is open.
        return f"{subject} {piece}" if short and not comma_only and not before.is_nested else None
    # "Bread and wine are cheap" and "bread, cheese, and wine are cheap" have one subject.
    joined = border.strip() not in (",", "and") and not (listing and border.strip() == ", and")
    return _independent(subject, piece) if joined else None


def _is_predicate(piece: str) -> bool:
    """Return whether a piece opens with a verb; "also" and the like may stand before it."""
    first, *rest = piece.split(maxsplit=2) or [""]
    return (rest[0] if first in _ADVERBS and rest else first) in PREDICATES


def _in_rows(pieces: Sequence[tuple[str, str]]) -> list[bool]:
    """Return for each piece whether predicates follow it, up to one after an "and"."""
    found: list[bool] = []
    goes_on = False
    # From the end: whether a piece is in a row depends on those after it.
    for border, piece in reversed(pieces):
        found.append(goes_on)
        goes_on = _is_predicate(piece) and (goes_on or border.strip() != ",")
    return found[::-1]


def _independent(subject: str, piece: str) -> str | None:
    """Return a piece as a clause if it has a subject of its own; a pronoun is replaced by ours."""
    own = subject_of(piece)
    first = piece.split(maxsplit=1)[0].lower()
    if own is None or first in _UNRESOLVED or first.endswith("ing") or own.count(",") > 1:
        return None
    if not _RELATIVE.isdisjoint(own.lower().split()):  # the verb is that of a relative clause
        return None
    if first not in _PRONOUNS:
        return piece
    named = [] if "," in subject else subject.split()  # which part of it is meant is open
    fits = len(own.split()) == 1 and 0 < len(named) <= _LONGEST_NAMED
    if not fits or named[0].lower() in _UNRESOLVED:
        return None
    return " ".join(named) + piece[len(own) :]


def subject_of(clause: str) -> str | None:
    """Return all that stands before the verb of a clause; None where that is open."""
    words = list(islice(_WORD.finditer(clause), _LONGEST_SUBJECT + 1))
    if not words or words[0][0].lower() in _SUBORDINATE:
        return None
    # "The costs are high": what may be a noun is a verb only where there is no other.
    for verbs in (PREDICATES, FINITE):
        for word in words[1:]:
            before = clause[: word.start()].rstrip()
            # A participle after a comma is no verb of the subject: "Parabens, used in soap, harm".
            apart = before.endswith(",") and word[0] not in AUXILIARIES
            if word[0] in verbs and not apart and not before.endswith(_HALVES):
                return before.rstrip(",") if _is_subject(before) else None
    return None


def _is_subject(text: str) -> bool:
    """Return whether what stands before a verb is its subject: no clause of its own in it."""
    first, *rest = [word.strip(",").lower() for word in text.split()]
    pronoun_with_verb = first in _PRONOUNS and bool(set(rest) - _ADVERBS)
    return _RELATIVE.isdisjoint(rest) and not pronoun_with_verb


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _pieces(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield (border before it, piece): cut at every border outside brackets and quotes."""
    start, before = 0, ""
    seen, opened, quoted = 0, 0, False
    for match in _BORDER.finditer(sentence):
        passed = sentence[seen : match.start()]
        opened += sum(map(passed.count, _OPEN)) - sum(map(passed.count, _CLOSED))
        quoted ^= passed.count('"') % 2 == 1
        seen = match.start()
        if seen and opened <= 0 and not quoted:
            yield before, sentence[start:seen]
            start, before = match.end(), match[0]
    yield before, sentence[start:]


def _end_clause(text: str, stop: str) -> str:
    """Return a clause with the stop that its sentence has."""
    return text + stop if stop in _STOPS and not text.endswith(_STOPS) else text


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
    """Return the claims of a text in order: sentences, cut where a part can surely stand alone.

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
            found += clauses(_beside_abstention(plain, opener))
        elif kind is None:
            found += clauses(_OPINION.sub("", plain))
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
