"""Judgments chosen by run, topic, judge, label, document or word, read one response at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trecjudge.errors import InputError, unknown
from trecjudge.records import FULL, NONE, PARTIAL, Judgment, Response
from trecjudge.results.judgments import JudgmentsReader

UNJUDGED, MISSING = "unjudged", "missing_document"
SHORT: Final[Mapping[str, str]] = {"full": FULL, "partial": PARTIAL, "none": NONE}
"""Short names of labels."""


def verdict_of(judgment: Judgment) -> str:
    """Return a judgment's label, `missing_document` or `unjudged`; an empty text without one.

    A citation of no document is kept apart from one without support, although both are labelled so.
    """
    if judgment.failure is not None:
        return UNJUDGED
    if judgment.exists is False and judgment.citation is not None:
        return MISSING
    return judgment.label or ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which judgments are wanted: an empty field takes all, one with several values any of them.

    `text` is looked for in sentence, claim and nugget, in upper and lower case.
    """

    runs: Sequence[str] = ()
    topics: Sequence[str] = ()
    judges: Sequence[str] = ()
    labels: Sequence[str] = ()
    documents: Sequence[str] = ()
    unjudged: bool = False
    text: str = ""

    @property
    def is_of_responses(self) -> bool:
        """Whether whole responses are wanted: by run and topic only."""
        others = (self.judges, self.labels, self.documents, self.unjudged, self.text)
        return not any(others)

    def takes_response(self, response: Response) -> bool:
        """Return whether a response may hold wanted judgments."""
        of_run = not self.runs or response.run_id in self.runs
        return of_run and (not self.topics or response.topic_id in self.topics)

    def takes(self, judgment: Judgment, sentence: str) -> bool:
        """Return whether a judgment on a response that is taken is wanted."""
        if self.judges and judgment.judge not in self.judges:
            return False
        if self.documents and not {judgment.doc_id, judgment.citation} & set(self.documents):
            return False
        # `--unjudged` beside `--label` adds the unjudged items to those with the labels.
        if (self.labels or self.unjudged) and not self._says(verdict_of(judgment)):
            return False
        word = self.text.casefold()
        return word in sentence.casefold() or word in judgment.about.casefold()

    def _says(self, label: str) -> bool:
        if self.unjudged and label == UNJUDGED:
            return True
        wanted = {text.casefold() for text in self.labels}
        return label.casefold() in wanted | {SHORT[text] for text in wanted & SHORT.keys()}


@dataclass(slots=True)
class Selected:
    """The wanted judgments of a file, response by response; labels are counted on the way."""

    reader: JudgmentsReader
    selection: Selection
    judgments: int = 0
    responses: int = 0
    runs: dict[str, None] = field(default_factory=dict)
    topics: dict[str, None] = field(default_factory=dict)
    judges: dict[str, None] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[tuple[Response, list[Judgment]]]:
        """Yield responses with their wanted judgments.

        Raises InputError with what there is, where a name is asked for that is nowhere.
        """
        selection = self.selection
        self.judges |= dict.fromkeys(self.reader.header.judges)
        for response, judgments in self.reader:
            self._note(response, judgments)
            if not selection.takes_response(response):
                continue
            texts = sentence_texts(response)
            wanted = [j for j in judgments if selection.takes(j, text_of(j, texts))]
            if wanted or selection.is_of_responses:
                self.responses += 1
                self.judgments += len(wanted)
                yield response, wanted
        self._check()

    def _note(self, response: Response, judgments: Iterable[Judgment]) -> None:
        self.runs[response.run_id] = self.topics[response.topic_id] = None
        for judgment in judgments:
            self.judges[judgment.judge] = None
            self.labels[verdict_of(judgment)] += 1

    def _check(self) -> None:
        wanted = self.selection
        for what, names, known in (
            ("run", wanted.runs, self.runs),
            ("topic", wanted.topics, self.topics),
            ("judge", wanted.judges, self.judges),
            ("label", wanted.labels, self._known_labels()),
        ):
            for name in names:
                if name not in known:
                    raise InputError(unknown(what, name, known))

    def _known_labels(self) -> dict[str, None]:
        there = [label for label in self.labels if label]
        wanted = self.selection.labels
        cased = [text for text in wanted if text.casefold() in map(str.casefold, there)]
        short = [text for text in wanted if SHORT.get(text.casefold()) in there]
        # A known label is accepted even where no judgment has it.
        return dict.fromkeys([*sorted(there), *cased, *short, UNJUDGED, MISSING])

    @property
    def none_line(self) -> str:
        """A line where nothing fits: the labels that there are, with their counts."""
        labels = ", ".join(f"{label} {n}" for label, n in self.labels.most_common() if label)
        return f"no judgment fits; labels in the job: {labels or 'none'}"


def sentence_texts(response: Response) -> dict[int, str]:
    """Return the sentences of a response by index."""
    return {sentence.index: sentence.shown for sentence in response.sentences}


def text_of(judgment: Judgment, texts: Mapping[int, str]) -> str:
    """Return the sentence of a judgment, no text where it is on the whole response."""
    return texts.get(-1 if judgment.sentence_index is None else judgment.sentence_index, "")
