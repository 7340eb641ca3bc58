"""What a run shows in all of its responses: whether it carries documents, and how it counts them.

If such a run leaves documents out of a response, that is its own fault; and one run counts one way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.findings import unreported
from trecjudge.inputs.documents.carried import Carried, CarriedReader
from trecjudge.inputs.formats.citations import lists_citations, written_text
from trecjudge.inputs.formats.draft import ABSENT, Draft
from trecjudge.inputs.formats.markers import Evidence, candidates, evidence
from trecjudge.inputs.formats.own_sources import own_sources
from trecjudge.inputs.formats.pointers import Targets
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.pipelines.reading import run_records
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import Place
from trecjudge.text.reasoning import answer_without_reasoning

RunKey = tuple[str, str, str]


@dataclass(slots=True)
class Survey:
    """Knows what runs show in any response; reads all files when first asked."""

    files: Iterable[Path] = ()
    dataset: str = "auto"
    carrying: dict[RunKey, bool] | None = field(default=None)
    """Whether the ids of its documents are known somewhere, by run that carries some."""
    counting: dict[RunKey, Evidence] | None = field(default=None)
    """What shows how it counts, by run."""

    def has(self, draft: Draft, place: Place) -> bool:
        """Return whether the run of this draft carries a document somewhere."""
        return _run_of(draft, place.path) in self._carrying()

    def names(self, draft: Draft, place: Place) -> bool:
        """Return whether the run of this draft carries a document of a known id somewhere."""
        return self._carrying().get(_run_of(draft, place.path), False)

    def base(self, draft: Draft, place: Place) -> int | None:
        """Return the number of the first document in the marks of a run's texts, 0 or 1.

        None where that cannot be decided: some of its answers show the one, and some the other.
        """
        found = self._counting().get(_run_of(draft, place.path)) or _evidence(draft)
        return found.base

    def _carrying(self) -> dict[RunKey, bool]:
        if self.carrying is None:
            self.carrying = {}
            for run, draft in self._drafts():
                if draft.documents and (carried := _carried(draft)).documents:
                    self.carrying[run] = carried.named or self.carrying.get(run, False)
        return self.carrying

    def _counting(self) -> dict[RunKey, Evidence]:
        if self.counting is None:
            self.counting = {}
            for run, draft in self._drafts():
                self.counting[run] = self.counting.get(run, Evidence()) | _evidence(draft)
        return self.counting

    def _drafts(self) -> Iterator[tuple[RunKey, Draft]]:
        """Yield (run, draft) of every record; problems are reported where responses are read."""
        for file in self.files:
            path = Place(str(file)).path
            with suppress(InputError):
                for _, record in run_records(file, unreported):
                    if claimed := format_of(record, self.dataset):
                        draft = claimed[0].draft(record)
                        yield _run_of(draft, path), draft


def _evidence(draft: Draft) -> Evidence:
    """Return what the marks of an answer show of how they count."""
    answer, _ = answer_without_reasoning(draft.sentences)
    entries = answer if isinstance(answer, list) else [answer]
    if draft.spans is not None or any(map(lists_citations, entries)):
        return Evidence()
    ids = _ids(draft) or tuple(_carried(draft).order)
    listed = frozenset(filter(None, ids))
    targets = Targets(ids, listed, listed.__contains__)
    texts = [as_text(written_text(entry)) for entry in entries]
    own = own_sources(texts, targets)
    if own.sources or draft.sources:
        return Evidence()
    return evidence(candidates(own.without(texts), targets), len(ids))


def _ids(draft: Draft) -> tuple[str | None, ...]:
    given = draft.references
    return tuple(map(as_id, given)) if isinstance(given, list | dict) else ()


def _carried(draft: Draft) -> Carried:
    """Return the documents that a draft carries."""
    ids = _ids(draft)
    reader = CarriedReader(ids, frozenset(filter(None, ids)), frozenset, _ignore_problem)
    return reader.read(None if draft.documents is ABSENT else draft.documents)


def _run_of(draft: Draft, path: str) -> RunKey:
    """Return the key of a run: team and run_id and, where one of them is missing, the file."""
    team, run = as_id(draft.team_id) or "", as_id(draft.run_id) or ""
    return team, run, "" if team and run else path


def _ignore_problem(kind: str, message: str, value: object) -> None:
    """Ignore a problem: it is reported where the responses are read."""
