"""Which runs carry documents: what such a run leaves out of a response is its own doing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.documents.carried import Carried, CarriedReader
from trecjudge.inputs.formats.draft import ABSENT, Draft
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.pipelines.reading import run_records
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place

RunKey = tuple[str, str, str]


@dataclass(slots=True)
class Carriers:
    """Knows whether a run carries documents in any response; reads all files when first asked."""

    files: Iterable[Path] = ()
    dataset: str = "auto"
    found: dict[RunKey, bool] | None = field(default=None)
    """Whether the ids of its documents are known somewhere, by run."""

    def has(self, draft: Draft, place: Place) -> bool:
        """Return whether the run of this draft carries a document somewhere."""
        return _run_of(draft, place.path) in self._found()

    def names(self, draft: Draft, place: Place) -> bool:
        """Return whether the run of this draft carries a document of a known id somewhere."""
        return self._found().get(_run_of(draft, place.path), False)

    def _found(self) -> dict[RunKey, bool]:
        if self.found is None:
            self.found = {}
            for file in self.files:
                for run, named in self._in(file):
                    self.found[run] = named or self.found.get(run, False)
        return self.found

    def _in(self, file: Path) -> Iterator[tuple[RunKey, bool]]:
        """Yield (run, whether ids are known) of every record with documents."""
        path = Place(str(file)).path
        with suppress(InputError):  # a finding where its responses are read
            for _, record in run_records(file, _ignore_finding):
                if claimed := format_of(record, self.dataset):
                    draft = claimed[0].draft(record)
                    if draft.documents and (carried := _carried(draft)).documents:
                        yield _run_of(draft, path), carried.named


def _carried(draft: Draft) -> Carried:
    """Return the documents that a draft carries."""
    given = draft.references
    ids = tuple(map(as_id, given)) if isinstance(given, list | dict) else ()
    reader = CarriedReader(ids, frozenset(filter(None, ids)), frozenset, _ignore_problem)
    return reader.read(None if draft.documents is ABSENT else draft.documents)


def _run_of(draft: Draft, path: str) -> RunKey:
    """Return the key of a run: team and run_id and, where one of them is missing, the file."""
    team, run = as_id(draft.team_id) or "", as_id(draft.run_id) or ""
    return team, run, "" if team and run else path


def _ignore_problem(kind: str, message: str, value: object) -> None:
    """Do nothing: problems are reported where the responses are read."""


def _ignore_finding(finding: Finding) -> None:
    """Do nothing: findings are reported where the responses are read."""
