"""Whether a citation is an index or an id, decided by the resolver that judging uses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trecjudge.check.parts import is_index
from trecjudge.inputs.formats.citations import References, Resolver
from trecjudge.inputs.formats.registry import format_named

Kind = Literal["index", "id", "neither"]


def _ignore(*_: object) -> None:
    """Leave a complaint to the reader."""


@dataclass(slots=True)
class Meanings:
    """The citations of one record; `documents` are the ids of those that the reader found."""

    record: Mapping[str, Any]
    format_name: str
    documents: Collection[str] = ()
    _resolver: Resolver | None = field(default=None, init=False)

    def kind(self, value: Any) -> Kind:
        """Return whether a citation is read as an index or as an id; `true` is neither."""
        if isinstance(value, str):
            return "index" if self._is_written_index(value) else "id"
        if not is_index(value):
            return "neither"
        # Most citations are plain indices; resolving each would be slow.
        resolver = self._read()
        if 0 <= value < len(resolver.references.ids) and not resolver.integers_are_ids:
            return "index"
        found = resolver.resolve([value], _ignore)
        return "id" if found and found[0].doc_id == str(value) else "index"

    def integers_are_ids(self) -> bool:
        """Return whether an integer is an id in this format."""
        return self._read().integers_are_ids

    def _is_written_index(self, value: str) -> bool:
        text = value.strip()
        if not (text.isascii() and text.isdigit()):
            return False
        kinds: list[str] = []
        self._read().resolve([value], lambda kind, *_: kinds.append(kind))
        return "citation_index_as_text" in kinds

    def _read(self) -> Resolver:
        # Built on demand: many records break no rule that asks for it.
        if self._resolver is None:
            draft = format_named(self.format_name).draft(self.record)
            references = References.read(draft.references, _ignore)
            found = self.documents
            self._resolver = Resolver(references, lambda d: d in found, draft.integers_are_ids)
        return self._resolver
