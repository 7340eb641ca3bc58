"""Hostile text of runs and topics: chat tokens, lines like turns, hidden characters; by run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.records import Place, Response, Topic
from trecjudge.text.chat_tokens import chat_tokens
from trecjudge.text.visible import HIDDEN_KINDS, hidden_in

OF_HOSTILE_TEXT = frozenset({"chat_tokens", "chat_turns", "hidden_characters"})
"""The kinds of findings on hostile text."""

# A message shows only a token that is one word: a longer one may hold words of a document.
_NAME = re.compile(r"\W{0,4}[\w:]*\W{0,4}")


@dataclass(frozen=True, slots=True)
class HostilePlace:
    """A text's place; `name` is what it is called in messages, such as `document 'd1'`."""

    noun: str
    name: str
    place: Place
    sentence: int | None = None
    topic_id: str = ""

    @property
    def key(self) -> str:
        """What identifies the text: a document counts once, however often it is cited."""
        return self.name if self.noun == "document" else f"{self.place} {self.name}"


@dataclass(slots=True)
class HostileTally:
    """The counts of one kind of finding: by what was found, in which texts, and where first."""

    first: HostilePlace
    counts: Counter[str] = field(default_factory=Counter)
    texts: dict[str, set[str]] = field(default_factory=dict)

    def add(self, what: str, count: int, where: HostilePlace) -> None:
        """Count what was found in a text."""
        self.counts[what] += count
        self.texts.setdefault(where.noun, set()).add(where.key)

    @property
    def where(self) -> str:
        """In how many texts of each kind it was found, and where first, in words."""
        of_each = (_many(len(texts), noun) for noun, texts in sorted(self.texts.items()))
        return f"in {' and '.join(of_each)}, first in {self.first.name}"


@dataclass(slots=True)
class HostileText:
    """Searches the texts of runs and topics, and reports each kind of hostile text once a run."""

    report: OnFinding
    _tallies: dict[tuple[str, str], HostileTally] = field(default_factory=dict)

    def look_at_response(self, response: Response, topic: Topic | None = None) -> None:
        """Search all texts of a response, and those of `topic` where the run brings its own."""
        run, place, topic_id = response.run_id, response.place, response.topic_id
        for sentence in response.sentences:
            at = HostilePlace(
                "sentence", f"sentence {sentence.index + 1}", place, sentence.index, topic_id
            )
            self._look(run, sentence.text, at)
            for citation in sentence.citations:
                cited = HostilePlace(
                    "citation", f"a citation of {at.name}", place, at.sentence, topic_id
                )
                self._look(run, citation.value, cited)
        for document in response.documents.values():
            name = f"document {shown(document.doc_id)}"
            at = HostilePlace("document", name, place, None, topic_id)
            for text in (document.full_text, document.doc_id, document.url):
                self._look(run, text, at)
        ids = (run, topic_id, *response.references)
        for text in dict.fromkeys(ids):
            self._look(
                run, text, HostilePlace("id", f"the id {shown(text)}", place, None, topic_id)
            )
        if topic is not None:
            self.look_at_topic(topic, place, run)

    def look_at_topic(self, topic: Topic, place: Place, run: str = "") -> None:
        """Search the texts of a topic: of the topic file, or of a run that brings its own."""
        at = HostilePlace("topic", f"topic {shown(topic.topic_id)}", place, None, topic.topic_id)
        parts = (topic.title, topic.problem_statement, topic.background, topic.body, topic.url)
        for text in (topic.topic_id, *parts):
            self._look(run, text, at)

    def finish(self) -> None:
        """Report what was found."""
        for (run, kind), tally in self._tallies.items():
            self.report(_finding(kind, run, tally))

    def _look(self, run: str, text: str, at: HostilePlace) -> None:
        for kind, what, count in _find_hostile(text):
            self._tallies.setdefault((run, kind), HostileTally(at)).add(what, count, at)


def _find_hostile(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield (kind of finding, what, how often) for a text."""
    for token, speaks in chat_tokens(text):
        yield "chat_turns" if speaks else "chat_tokens", token, 1
    for hidden, count in hidden_in(text):
        yield "hidden_characters", hidden, count


def _finding(kind: str, run: str, tally: HostileTally) -> Finding:
    first, total = tally.first, tally.counts.total()
    about = (first.sentence, run, first.topic_id)
    (example, _), *_ = tally.counts.most_common(1)
    example = example if _NAME.fullmatch(example) else "<|…|>"
    if kind == "chat_tokens":
        what = f"holds {_many(total, 'control token')} of chat templates, such as {shown(example)}"
        return Finding("chat_tokens", first.place, f"{what}, {tally.where}", example, *about)
    if kind == "chat_turns":
        what = f"begins {_many(total, 'line')} like a turn of a chat, such as {shown(example)}"
        return Finding("chat_turns", first.place, f"{what}, {tally.where}", example, *about)
    counts = ", ".join(f"{count:,} {HIDDEN_KINDS[of]}" for of, count in tally.counts.most_common())
    message = f"holds characters that no reader sees ({counts}) {tally.where}"
    return Finding("hidden_characters", first.place, message, counts, *about)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
