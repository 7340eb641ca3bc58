"""A model for tests that answers from a script and keeps what it was asked; small records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trecjudge.models.model import Prediction, Program
from trecjudge.records import (
    Citation,
    Document,
    Item,
    Judgment,
    ModelCall,
    Response,
    Sentence,
    Topic,
    Usage,
)

Answer = Callable[[Mapping[str, str]], Mapping[str, Any]]


@dataclass
class ScriptedModel:
    """A Model that answers with what `answer` returns for the inputs, or fails as it does."""

    answer: Answer
    available: bool = True
    in_flight: int = 4
    asked: list[Mapping[str, str]] = field(default_factory=list)

    async def predict(self, program: Program, **inputs: str) -> Prediction:
        self.asked.append(inputs)
        call = ModelCall(program.name, [], "", Usage(False, 7, 3, 0.5))
        return Prediction(self.answer(inputs), call)

    def spent(self) -> dict[str, int]:
        return {"calls": len(self.asked)}

    def record(self) -> dict[str, Any] | None:
        return {"model": "scripted"}


def always(label: str, evidence: str = "") -> ScriptedModel:
    """Return a model that gives every pair the same label."""
    return ScriptedModel(lambda inputs: {"label": label, "evidence": evidence})


def response(
    *sentences: tuple[str, list[str]],
    run_id: str = "r",
    topic_id: str = "t1",
    documents: Mapping[str, str] | None = None,
    carried: Mapping[str, str] | None = None,
) -> Response:
    """Return a response of (text, cited ids) pairs.

    `documents` gives text by id, `carried` that of documents which the run itself carries.
    """
    given = {i: Document(i, text) for i, text in (documents or {}).items()}
    given |= {i: Document(i, text, own=True) for i, text in (carried or {}).items()}
    built = tuple(
        Sentence(index, text, tuple(Citation(doc_id, doc_id) for doc_id in cited))
        for index, (text, cited) in enumerate(sentences)
    )
    return Response(run_id, topic_id, built, documents=given)


def item(text: str = "A claim.", document: str | None = None, exists: bool | None = True) -> Item:
    """Return an item of run `r` on topic `t1` that cites `d`."""
    found = Document("d", document) if document is not None else None
    return Item(Topic("t1"), "r", text, 0, Citation("d", "d"), found, exists)


def judgment(label: str | None = None, **fields: Any) -> Judgment:
    """Return a judgment of run `r` on topic `t1`."""
    fields.setdefault("sentence_index", 0)
    return Judgment(fields.pop("run_id", "r"), fields.pop("topic_id", "t1"), label=label, **fields)
