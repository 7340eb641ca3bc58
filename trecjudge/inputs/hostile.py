"""Hostile text of runs and topics: chat tokens, lines like turns, hidden characters; by run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.records import Place, Response, Topic
from trecjudge.text.chat_tokens import chat_tokens
from trecjudge.text.visible import HIDDEN_KINDS, hidden_in

OF_HOSTILE_TEXT = frozenset({"chat_tokens", "chat_turns", "hidden_characters"})
"""The kinds of findings on hostile text."""

# A message shows only a token that is one word: a longer one may hold words of a document.
_NAME = re.compile(r"\W{0,4}[\w:]*\W{0,4}")


@dataclass(slots=True)
class HostileTally:
    """One kind of hostile text in a run: what was found, in which texts, and where first."""

    first: Finding
    """A finding at the first text; its message is what the text is called."""
    counts: Counter[str] = field(default_factory=Counter)
    texts: dict[str, set[str]] = field(default_factory=dict)
    """The texts by kind, such as `sentence` or `document`."""

    def finding(self) -> Finding:
        """Return the finding on all of it."""
        total, (example, _) = self.counts.total(), self.counts.most_common(1)[0]
        example = example if _NAME.fullmatch(example) else "<|…|>"
        of_each = (_many(len(texts), noun) for noun, texts in sorted(self.texts.items()))
        where = f"in {' and '.join(of_each)}, first in {self.first.message}"
        if self.first.kind == "chat_tokens":
            what = f"holds {_many(total, 'control token')} of chat templates"
        elif self.first.kind == "chat_turns":
            what = f"begins {_many(total, 'line')} like a turn of a chat"
        else:
            counts = self.counts.most_common()
            example = ", ".join(f"{count:,} {HIDDEN_KINDS[of]}" for of, count in counts)
            message = f"holds characters that no reader sees ({example}) {where}"
            return replace(self.first, message=message, value=example)
        message = f"{what}, such as {brief(example)}, {where}"
        return replace(self.first, message=message, value=example)


@dataclass(slots=True)
class HostileText:
    """Searches the texts of runs and topics, and reports each kind of hostile text once a run."""

    report: OnFinding
    _tallies: dict[tuple[str, str], HostileTally] = field(default_factory=dict)

    def look_at_response(self, response: Response, topic: Topic | None = None) -> None:
        """Search all texts of a response, and those of `topic` where the run brings its own."""
        run, place, topic_id = response.run_id, response.place, response.topic_id

        def at(name: str, sentence: int | None = None) -> Finding:
            return Finding("", place, name, "", sentence, run, topic_id)

        for sentence in response.sentences:
            index, name = sentence.index, f"sentence {sentence.index + 1}"
            self._look(sentence.text, at(name, index), "sentence")
            for citation in (*sentence.citations, *sentence.contradicting):
                self._look(citation.value, at(f"a citation of {name}", index), "citation")
        for document in response.documents.values():
            whole = at(f"document {brief(document.doc_id)}")
            for text in (document.full_text, document.doc_id, document.url):
                self._look(text, whole, "document")
        for text in dict.fromkeys((run, topic_id, *response.references)):
            self._look(text, at(f"the id {brief(text)}"), "id")
        if topic is not None:
            self.look_at_topic(topic, place, run)

    def look_at_topic(self, topic: Topic, place: Place, run: str = "") -> None:
        """Search the texts of a topic: of the topic file, or of a run that brings its own."""
        name = f"topic {brief(topic.topic_id)}"
        at = Finding("", place, name, run_id=run, topic_id=topic.topic_id)
        parts = (topic.title, topic.problem_statement, topic.background, topic.body, topic.url)
        for text in (topic.topic_id, *parts):
            self._look(text, at, "topic")

    def finish(self) -> None:
        """Report what was found."""
        for tally in self._tallies.values():
            self.report(tally.finding())

    def _look(self, text: str, at: Finding, noun: str) -> None:
        for kind, what, count in _find_hostile(text):
            first = replace(at, kind=kind)
            tally = self._tallies.setdefault((at.run_id, kind), HostileTally(first))
            tally.counts[what] += count
            # A document counts once, however often it is cited.
            key = at.message if noun == "document" else f"{at.place} {at.message}"
            tally.texts.setdefault(noun, set()).add(key)


def _find_hostile(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield (kind of finding, what, how often) for a text."""
    for token, speaks in chat_tokens(text):
        yield "chat_turns" if speaks else "chat_tokens", token, 1
    for hidden, count in hidden_in(text):
        yield "hidden_characters", hidden, count


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
