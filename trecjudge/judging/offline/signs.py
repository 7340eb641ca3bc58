"""Signs that an answer was written for the judge: what its sentences share with documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from trecjudge.judging.offline.features import frame_of_sentence
from trecjudge.judging.offline.prepared import Prepared, prepared_text
from trecjudge.judging.offline.wording import SHIPPED, Wording, wording_of
from trecjudge.records import FULL, GRADES, Judgment, Response, Sentence
from trecjudge.records.signs import ANY, Sign
from trecjudge.text.forms import is_in_row, join_forms
from trecjudge.text.sentences import states_nothing
from trecjudge.text.tokens import (
    FEWEST_WORDS,
    LETTERS_OF_A_WORD,
    is_copied,
    is_spaceless,
    likely_texts,
)

_MOST_WORDS, _MOST_CITED, _MOST_LIKELY = 300, 20, 3
"""Words of a sentence that count, and documents that it is compared with."""
_MOST_EARLIER, _MOST_PHRASES = 50, 10_000
"""Sentences, and runs of six words, that later sentences are compared with."""
_LEAST_SHARED, _NEARLY_ALL = 0.5, 0.9
"""Shares of a sentence's content: a document with less of it was not copied from."""
_RUN = 4
"""So many words in a row are hardly in a document by chance."""
_MOSTLY_IN_RUNS, _PARTLY_IN_RUNS, _HARDLY_IN_RUNS = 0.75, 0.4, 0.2
_SALAD = 5
"""Fewer content words can hardly be out of order."""
_ALIKE, _PHRASE = 0.7, 6
_LONG, _VARIED = 13, 0.5
"""Words of a sentence from which on, and share of distinct ones up to which, it repeats itself."""
_SHORT, _SEVERAL = 6, 3
_OF_TOPIC, _MOST_NEW = 0.6, 2
_GRADES = frozenset("0123")


BY_WORDS: Final = (
    *("copied", "near_copied", "scattered", "unasserted", "repeated", "trivial", "uncited"),
)
"""The signs that need no judgments."""


def signs_in(response: Response, title: str, judgments: Sequence[Judgment]) -> Mapping[str, Sign]:
    """Return the signs in a response, by name; none where no document of it has text.

    `title` is that of its topic, `judgments` are those of all judges on it. Where none of them
    looked at documents or relevance, only copies are looked for. No score depends on a sign.
    """
    texts = {i: d.full_text for i, d in response.documents.items() if d.has_text}
    if not texts:
        return {}
    answer = _SignSearch(
        texts,
        wording_of(title, SHIPPED).meaningful_forms,
        len(response.sentences),
        cites=any(sentence.citations for sentence in response.sentences),
        attested=any(j.attester or j.exists is not None for j in judgments),
    )
    found: dict[str, list[int]] = {name: [] for name in BY_WORDS if answer.looks_for(name)}
    of = dict.fromkeys(found, 0)
    for sentence in response.sentences:
        for name, is_there in answer.signs_of(sentence):
            of[name] += 1
            if is_there:
                found[name].append(sentence.index)
    made = {name: Sign(tuple(at), of[name]) for name, at in found.items()}
    if answer.attested:
        every = {index for at in found.values() for index in at}
        made[ANY] = Sign(tuple(sorted(every)), of["near_copied"])
    irrelevant = irrelevant_in(judgments)
    return made if irrelevant is None else made | {"irrelevant": irrelevant}


@dataclass(slots=True)
class _SignSearch:
    """What the sentences of an answer are compared with.

    `texts` are those of its documents by id, `topic` is the content of the topic's title, `size`
    counts its sentences; `cites`: one of them has a citation; `attested`: a judge
    attested something in it.
    """

    texts: Mapping[str, str]
    topic: Set[str]
    size: int
    cites: bool
    attested: bool
    earlier: list[Set[str]] = field(default_factory=list)
    """The content of each earlier sentence that repeats none."""
    phrases: set[str] = field(default_factory=set)
    """Runs of six words of the earlier sentences."""

    def looks_for(self, sign: str) -> bool:
        """Return whether a sign is looked for at all."""
        return self.attested or sign == "copied"

    def signs_of(self, sentence: Sentence) -> Iterator[tuple[str, bool]]:
        """Yield each sign that can be looked for in a sentence, and whether it has it."""
        likely = likely_texts(sentence.text, list(self.texts.values()))
        copied = is_copied(sentence.text, likely)
        if copied is not None:
            yield "copied", copied
        if not self.attested or not (wording := wording_of(sentence.text, SHIPPED)).forms:
            return
        content = wording.meaningful_forms
        near = None if copied else _nearest(content, self._read(sentence, likely))
        share = share_in_runs(wording, near) if near else 0.0
        yield "near_copied", near is not None and is_near_copy(wording, near, share)
        yield "scattered", near is not None and is_scattered(content, near, share)
        yield "unasserted", is_unasserted(wording)
        phrases = _phrases(wording)
        repeated = is_repeated(wording, content, self.earlier)
        yield "repeated", repeated or not self.phrases.isdisjoint(phrases)
        if len(self.phrases) < _MOST_PHRASES:
            self.phrases |= phrases
        if not repeated and len(self.earlier) < _MOST_EARLIER:
            self.earlier.append(content)
        yield "trivial", is_trivial(wording, content, self.topic, self.size)
        if self.cites:
            yield "uncited", not sentence.citations

    def _read(self, sentence: Sentence, likely: Sequence[str]) -> Iterator[Prepared]:
        """Yield the documents that a sentence cites, and some that have its longest words."""
        cited = [self.texts[c.doc_id or ""] for c in sentence.citations if c.doc_id in self.texts]
        every = dict.fromkeys([*cited[:_MOST_CITED], *likely[:_MOST_LIKELY]])
        yield from map(prepared_text, every)


def _nearest(content: Set[str], documents: Iterator[Prepared]) -> Prepared | None:
    """Return the first document that has most of a sentence's content; None if all have little."""
    best, most = None, _LEAST_SHARED * len(content) or 1
    for document in documents:
        if (count := len(content & document.segments_of.keys())) >= most:
            best, most = document, count + 1
    return best


def _forms_of(words: int, wording: Wording) -> int:
    """Return how many forms so many words have: a word is two where there are no spaces."""
    return words * LETTERS_OF_A_WORD if is_spaceless(wording.text) else words


def _phrases(wording: Wording) -> set[str]:
    size = _forms_of(_PHRASE, wording)
    forms = wording.forms[:_MOST_WORDS]
    return {" ".join(forms[at : at + size]) for at in range(len(forms) - size + 1)}


def share_in_runs(wording: Wording, document: Prepared) -> float:
    """Return the share of a sentence's words that stand in runs of four in a document, 0 to 1.

    A shorter sentence is one run. Where a script has no spaces, runs are of eight pairs of letters.
    Only the first 300 words count.
    """
    forms = wording.forms[:_MOST_WORDS]
    size = min(_forms_of(_RUN, wording), len(forms))
    covered = end = 0
    for start in range(len(forms) - size + 1):
        if is_in_row(document.row, forms[start : start + size]):
            covered += start + size - max(start, end)
            end = start + size
    return covered / len(forms)


def is_near_copy(wording: Wording, document: Prepared, share: float) -> bool:
    """Return whether a sentence is a copy with changes, made of pieces, or with more around it.

    Three quarters of its words are in runs of four in the document (`share_in_runs`), or two fifths
    and all words are there; or it has a whole sentence of the document, of eight words and more.
    """
    if share >= _MOSTLY_IN_RUNS or (share > 0 and _has_sentence_of(document, wording)):
        return True
    return share >= _PARTLY_IN_RUNS and document.segments_of.keys() >= set(wording.forms)


def _has_sentence_of(document: Prepared, wording: Wording) -> bool:
    least = _forms_of(FEWEST_WORDS, wording)
    forms = wording.forms[:_MOST_WORDS]
    known = set(forms)
    row = join_forms([forms])
    return any(
        len(segment) >= least
        and segment[0] in known
        and segment[-1] in known
        and is_in_row(row, segment)
        for segment in document.forms
    )


def is_scattered(content: Set[str], document: Prepared, share: float) -> bool:
    """Return whether a sentence is made of the words of a document, in another order than there.

    Nine in ten of its content words, of which there are five or more, are in the document, and no
    more than a fifth of all its words in runs of four (`share_in_runs`).
    """
    if len(content) < _SALAD or share > _HARDLY_IN_RUNS:
        return False
    return len(content & document.segments_of.keys()) >= _NEARLY_ALL * len(content)


def is_unasserted(wording: Wording) -> bool:
    """Return whether a sentence asserts nothing: it denies, doubts, supposes, asks or announces.

    A heading and code assert nothing, nor does what ends in a colon.
    """
    text = wording.text
    if text.rstrip().endswith((":", "：")) or frame_of_sentence(text, wording.forms):
        return True
    return states_nothing(text)


def is_repeated(wording: Wording, content: Set[str], earlier: Sequence[Set[str]]) -> bool:
    """Return whether a sentence repeats itself, or one of the earlier ones of its answer.

    Of 13 words or more no more than half are distinct; or 70 % of the content words of both
    sentences are in both. `earlier` has the content words of each earlier sentence.
    """
    forms = wording.forms
    if len(forms) >= _LONG and len(wording.terms) <= _VARIED * len(forms):
        return True
    size, share = len(content), _ALIKE / (1 + _ALIKE)  # of both sizes, what is in both
    return any(len(content & one) >= share * (size + len(one)) for one in earlier if one)


def is_trivial(wording: Wording, content: Set[str], topic: Set[str], sentences: int) -> bool:
    """Return whether a sentence has fewer than six words, or few that are not the topic's.

    Few are two, and 40 % of its content words. A short sentence counts in an answer of three
    `sentences` and more, since the whole answer may be one word.
    """
    if sentences >= _SEVERAL and len(wording.forms) < _forms_of(_SHORT, wording):
        return True
    new = len(content - topic)
    return bool(content) and new <= min(_MOST_NEW, (1 - _OF_TOPIC) * len(content))


def irrelevant_in(judgments: Sequence[Judgment]) -> Sign | None:
    """Return the supported sentences that have grade 0 for relevance, or whose whole answer has.

    `of` counts the supported sentences. None unless judges of support and of relevance both judged.
    """
    graded = {
        j.sentence_index: j.label
        for j in judgments
        if j.label in _GRADES and j.doc_id is None and j.nugget is None
    }
    labels = [(j.sentence_index, j.label) for j in judgments if j.label in GRADES]
    if not (graded and labels):
        return None
    supported = sorted({at for at, label in labels if label == FULL and at is not None})
    irrelevant = [at for at in supported if "0" in (graded.get(at), graded.get(None))]
    return Sign(tuple(irrelevant), len(supported))
