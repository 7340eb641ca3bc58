"""What a judgment on a claim holds: the claim, and the passages that it was compared with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage of a document: character offsets into `Document.full_text`, and the passage."""

    start: int
    end: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """An atomic statement of a response; `index` counts the response's claims from 0.

    `cited` are the ids of the documents that its sentence cites. `importance` is 1 for what is
    vital to the answer, 0.5 for a detail.
    """

    index: int
    text: str
    sentence_index: int
    cited: tuple[str, ...] = ()
    importance: float = 1.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where something comes from: a passage of a document, and what is known of the document.

    `start` and `end` are character offsets into `Document.full_text`, `excerpt` the passage.
    `similarity` is how similar passage and claim are, 0 to 1, as the detector measures it.
    """

    doc_id: str
    start: int
    end: int
    excerpt: str = ""
    similarity: float | None = None
    title: str = ""
    url: str = ""
    date: str = ""
    version: str = ""

    @property
    def evidence(self) -> Evidence:
        """Only the passage."""
        return Evidence(self.start, self.end, self.excerpt)


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of a document: character offsets into `Document.full_text`, and its text.

    `found` is whether the response states it too; None where that was not asked.
    """

    text: str
    start: int
    end: int
    found: bool | None = None
