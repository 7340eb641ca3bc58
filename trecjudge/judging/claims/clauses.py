"""From a sentence to its clauses that can stand alone, each with its subject."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path

from trecjudge.text.tables import read_words

_VERBS = read_words(Path(__file__).with_name("verbs.txt"))
AUXILIARIES = frozenset(_VERBS["auxiliaries"])
# Forms that are hardly ever a noun or a participle: such a word opens a predicate.
PREDICATES = AUXILIARIES | frozenset(_VERBS["predicates"])
FINITE = PREDICATES | frozenset(_VERBS["finite"])
"""Any word that may be the verb of a clause."""
WORDS = {
    name: frozenset(words)
    for name, words in read_words(Path(__file__).with_name("parts.txt")).items()
}
"""Words that are no verbs, by what they say of the words beside them."""
_LAST_ADVERB = re.compile(r"(?<=\w) [a-z]+ly$")
_BEING = re.compile(r" (is|are|was|were)(?: (?:first|also|once|\w+ly))? (\w+)")


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
_NESTING = _RELATIVE | {"because", "if", "when", "although", "though", "whether", "how"}
_LONGEST_NESTING = 8
"""Letters kept of a word that may go on: with more it is none of these anyway."""
_UNRESOLVED = frozenset(
    {"this", "these", "those", "that", "there", "we", "i", "you", "which", "rather", "instead"}
)
_PLAIN = frozenset(_VERBS["plain"])
_SEVERAL = frozenset({"we", "you", "they", "people", "men", "women", "children"})
_HALVES = (" only", " both", " either", " neither")
_ADVERBS = frozenset(
    {"first", "also", "then", "later", "now", "often", "still", "never", "usually"}
)
_LONGEST_SUBJECT = 10
"""Words of a subject: a verb later on is more likely one of another clause."""
_LONGEST_WRITTEN = 200
"""Characters of a subject that may be repeated: no sentence becomes many times as long."""
_LONGEST_COPIED = 8
_LONGEST_OPENING = 160
"""Characters of a clause, from its beginning, that show its first verb and what follows it."""
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
            found.append(_Growing(capitalise(clause)))
    stop = sentence.rstrip()[-1:]  # each clause ends as its sentence did
    texts = (clause.text.strip(" ,;；؛") for clause in found)
    return [end_clause(capitalise(text), stop) for text in texts if text]


class _Growing:
    """A clause that pieces are added to; what was read of it is not read again for each."""

    def __init__(self, text: str) -> None:
        self._parts: list[str] = []
        self._words = 0
        self._last = ""
        self.opening = ""
        self._nested = False
        self.subject: str | None = None
        self.grow(text)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)

    @property
    def ends_in_that(self) -> bool:
        """Whether what follows is what somebody says: "notes that while"."""
        return self._last == "that"

    @property
    def is_nested(self) -> bool:
        """Whether a word of it opens a clause within it."""
        return self._nested or self._last in _NESTING

    def grow(self, text: str) -> None:
        """Add a piece, with the border before it."""
        self._parts.append(text)
        self.opening += text[: _LONGEST_OPENING - len(self.opening)]
        *whole, self._last = re.split(r"\s+", self._last + text.lower())
        nests = text.startswith(", as ") or not _NESTING.isdisjoint(whole)
        self._nested = self._nested or nests
        self._last = self._last[:_LONGEST_NESTING]  # what is longer is none, however it goes on
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
    subject = None if before.ends_in_that else before.subject
    if subject is None or len(subject) > _LONGEST_WRITTEN or len(piece.split(maxsplit=1)) < 2:
        return None
    predicate = before.opening[len(subject) :].lstrip(",")
    subject = _LAST_ADVERB.sub("", subject)
    if "and" in border and not (apart or listing or before.is_nested):
        being = _being_of_both(predicate, piece)
        if being is not None:
            return f"{subject} {being}{piece}"
    verb, *said = predicate.split(maxsplit=1) or [""]
    # "Bought and sold the house" has one object, and so has "makes, builds, and sells the boats".
    one_object = not said and (verb in _PLAIN or takes_object(*(*piece.split()[:2], "")[:2]))
    if one_object or (listing and verb.endswith(",")):
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


def _being_of_both(predicate: str, piece: str) -> str | None:
    """Return the form of "be" that a predicate lends to a participle after it, with a space.

    "Was built in 1874 and restored in 1950" lends "was"; "and served until 1910" needs none: "".
    None where the piece opens with neither.
    """
    words = piece.split()[:3]
    adverb = [word for word in words[:1] if word in _ADVERBS or word.endswith("ly")]
    first, after = (*words[len(adverb) :], "", "")[:2]
    being = _BEING.match(predicate)
    if not (being and is_participle(being[2]) and after in WORDS["prepositions"]):
        return None
    if first in WORDS["active"] and after != "by":
        return ""
    # "Was built and opened in 1900": the place in time is that of both.
    before = predicate.split()
    whole = len(being[0].split()) < len(before) <= _LONGEST_COPIED and "to" not in before
    return f"{being[1]} " if whole and is_participle(first) else None


def is_participle(word: str) -> bool:
    """Return whether a word may be a past participle."""
    return word in WORDS["participles"] or (len(word) > 3 and word.endswith("ed"))


def takes_object(word: str, after: str) -> bool:
    """Return whether a word is surely a verb, by its form and the word after it: "praises the"."""
    ending = word.endswith(("s", "ed")) and not word.endswith(("ss", "us", "is", "eed"))
    known = word in WORDS["prepositions"] or word in WORDS["openers"] or word in WORDS["naming"]
    own = after == "no" or after in WORDS["determiners"] or after[:1].isdigit()
    ending = (ending and len(word) > 3) or word in WORDS["past"]
    return own and ending and word.isalpha() and word.islower() and not known


def _is_predicate(piece: str) -> bool:
    """Return whether a piece opens with a verb; "also" and the like may stand before it."""
    words = piece.split()[:3]
    first, *after = words[1:] if len(words) > 1 and words[0] in _ADVERBS else words or [""]
    return first in PREDICATES or takes_object(first, "".join(after[:1]))


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
        if verbs is FINITE and (subject := _subject_by_object(clause, words)):
            return subject
        for word in words[1:]:
            before = clause[: word.start()].rstrip()
            # A participle after a comma is no verb of the subject: "Parabens, used in soap, harm".
            apart = before.endswith(",") and word[0] not in AUXILIARIES
            if word[0] in verbs and not (
                apart or before.endswith(_HALVES) or _is_open(before, word[0])
            ):
                return before.rstrip(",") if _is_subject(before) else None
    return _subject_by_number(clause, words)


def _subject_by_number(clause: str, words: Sequence[re.Match[str]]) -> str | None:
    """Return what stands before a verb without ending, if it is of several: "the stews contain"."""
    for before, word in pairwise(words):
        several = before[0].lower() in _SEVERAL or re.search("[a-z]s$", before[0])
        if word[0] in _PLAIN and several and before[0].lower() not in WORDS["determiners"]:
            subject = clause[: word.start()].rstrip()
            return subject if _is_subject(subject) else None
    return None


def _subject_by_object(clause: str, words: Sequence[re.Match[str]]) -> str | None:
    """Return what stands before a word that is a verb since an object follows: "praises the"."""
    first = words[0][0].lower()
    if first in WORDS["prepositions"] or first in WORDS["openers"]:
        return None
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        beside = after.start() - word.end() == 1
        if beside and takes_object(word[0], after[0].lower()):
            subject = clause[: word.start()].rstrip()
            noun = before[0].lower() not in WORDS["determiners"] | WORDS["adjectives"]
            return subject if noun and before[0].isalpha() and _is_subject(subject) else None
    return None


def _is_open(before: str, verb: str) -> bool:
    """Return whether a verb may be a participle of a noun after it: "the provided texts"."""
    alone = before.lower() in WORDS["determiners"] or (before.endswith("ing") and " " not in before)
    return alone and verb not in PREDICATES and is_participle(verb)


def _is_subject(text: str) -> bool:
    """Return whether what stands before a verb is its subject: no clause of its own in it."""
    first, *rest = [word.strip(",").lower() for word in text.split()]
    if not rest and first.endswith("ly"):
        return False
    pronoun_with_verb = first in _PRONOUNS and bool(set(rest) - _ADVERBS)
    return _RELATIVE.isdisjoint(rest) and not pronoun_with_verb


def capitalise(text: str) -> str:
    """Return a text with its first letter as a capital."""
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


def end_clause(text: str, stop: str) -> str:
    """Return a clause with the stop that its sentence has."""
    return text + stop if stop in _STOPS and not text.endswith(_STOPS) else text
