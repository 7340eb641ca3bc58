"""Banks made, topic by topic: found, merged, weighed, cut, and traced to where they are from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from trecjudge.errors import InputError
from trecjudge.evaluation.banks import extracting
from trecjudge.evaluation.banks.asking import BankModel
from trecjudge.evaluation.banks.material import Material
from trecjudge.evaluation.banks.merging import NuggetDraft, by_importance, merge_drafts
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.bank_files import bank_of, record_of
from trecjudge.inputs.nuggets.bank_formats import BankFormat
from trecjudge.models.model import Model
from trecjudge.records import LEFT_OUT, Place, Topic

Kind = Literal["documents", "runs", "topic"]


@dataclass(frozen=True, slots=True)
class BankSettings:
    """How banks are made: from what, and how large.

    `most` nuggets are kept of a topic, of its `most_documents` documents that most runs cite. A
    model is asked about `window` documents or nuggets at a time.
    """

    kinds: Sequence[Kind]
    most: int = 20
    most_documents: int = 50
    window: int = 10

    def check(self, with_model: bool) -> None:
        """Raise InputError for what cannot be made."""
        if not self.kinds:
            raise InputError("from what? give --from documents, runs or topic")
        if "topic" in self.kinds and not with_model:
            raise InputError("--from topic needs a model: add --use-env-llm")


@dataclass(frozen=True, slots=True)
class DraftBank:
    """The bank of a topic, and how it was made: `llm` or `words`."""

    topic: Topic
    drafts: Sequence[NuggetDraft] = field(repr=False)
    by: str

    @property
    def bank(self) -> Bank:
        """The bank; its nuggets are numbered."""
        nuggets = tuple(draft.nugget(str(n)) for n, draft in enumerate(self.drafts, 1))
        return Bank(self.topic.topic_id, nuggets, self.topic.title)


async def make_banks(
    materials: Sequence[Material],
    making: BankSettings,
    model: Model,
    report: OnFinding,
    planned: bool = False,
) -> list[DraftBank]:
    """Return a bank for each topic; what could not be asked or found is reported.

    `planned`: the model only counts what would be asked. Raises InputError for what cannot be made.
    """
    making.check(model.available)

    async def one(material: Material) -> DraftBank:
        made = await _make_bank(material, making, model, report)
        if not (made.drafts or planned):
            message = (
                f"topic {made.topic.topic_id!r}: no nuggets were found{_why(material, making)}"
            )
            place = Place(f"topic {made.topic.topic_id}")
            report(Finding("nuggets_not_found", place, message, topic_id=made.topic.topic_id))
        return made

    if model.available:
        return list(await asyncio.gather(*map(one, materials)))
    return [await one(material) for material in materials]


def _why(material: Material, making: BankSettings) -> str:
    """Return why there may be no nuggets, as far as the inputs show it."""
    if "documents" in making.kinds and not material.documents:
        return ": there is no document with text; give --documents"
    if "runs" in making.kinds and not material.responses:
        return ": no run responds to it"
    return ""


async def _make_bank(
    material: Material, making: BankSettings, model: Model, report: OnFinding
) -> DraftBank:
    topic = material.topic
    if not model.available:
        drafts = merge_drafts(chain.from_iterable(_by_words(material, making)))
        if len(making.kinds) > 1:
            drafts.sort(key=lambda draft: -len(draft.runs))
            drafts = extracting.by_runs(drafts, making.most)
        return DraftBank(topic, drafts, "words")

    def note(topic: Topic, message: str) -> None:
        place = Place(f"topic {topic.topic_id}")
        report(Finding("nuggets_not_asked", place, message, topic_id=topic.topic_id))

    asker = BankModel(topic, model, making.window, note)
    found: list[NuggetDraft] = []
    for kind in making.kinds:
        found += await _ask_for(asker, kind, material, making)
    matched = await asker.match(merge_drafts(found))
    if "runs" in making.kinds:
        matched.sort(key=lambda draft: -len(draft.runs))
    # Twice as many as are kept are weighed: what is vital may stand further down.
    weighed = await asker.weigh(matched[: 2 * making.most])
    kept = by_importance(weighed)[: making.most]
    return DraftBank(topic, [_trace_draft(draft, material) for draft in kept], "llm")


def _by_words(material: Material, making: BankSettings) -> list[list[NuggetDraft]]:
    found = []
    if "documents" in making.kinds:
        most = making.most_documents
        found.append(extracting.from_documents(material, most, making.most))
    if "runs" in making.kinds:
        found.append(extracting.from_runs(material, making.most))
    return found


async def _ask_for(
    asker: BankModel, kind: Kind, material: Material, making: BankSettings
) -> list[NuggetDraft]:
    if kind == "documents":
        return await asker.from_documents(material.most_cited(making.most_documents))
    if kind == "runs":
        return await asker.from_runs(material)
    return await asker.from_topic()


def _trace_draft(draft: NuggetDraft, material: Material) -> NuggetDraft:
    """Return a nugget that runs state with the passages of what they cite for it."""
    return extracting.attest_draft(draft, material) if draft.said else draft


def trail(made: DraftBank, format_: BankFormat, with_text: bool = True) -> list[dict[str, Any]]:
    """Return where each nugget of a bank is from, under the id that the written bank gives it.

    Without `with_text` no text of documents is in it.
    """
    record = record_of(made.bank, format_)
    read = bank_of(format_, record, Place(""), ignore)
    ids = {nugget.text: nugget.nugget_id for nugget in read.nuggets} if read else {}
    return [
        {
            "record": "nugget",
            "topic_id": made.topic.topic_id,
            "nugget_id": ids.get(draft.text, str(number)),
            "text": draft.text,
            "importance": draft.importance,
            "by": made.by,
            "runs": draft.runs,
            "passages": [
                {
                    "doc_id": p.doc_id,
                    "start": p.start,
                    "end": p.end,
                    "excerpt": p.excerpt if with_text else LEFT_OUT,
                }
                for p in draft.passages
            ],
            "documents_unread": draft.documents,
            "said": draft.said,
            "also": draft.also,
        }
        for number, draft in enumerate(made.drafts, 1)
    ]


def trail_of(target: Path) -> Path:
    """Return the file of the trail: beside the bank, never inside its folder."""
    name = target.name
    for ending in (".gz", ".jsonl"):
        name = name.removesuffix(ending)
    return target.with_name(f"{name}.trail.jsonl")
