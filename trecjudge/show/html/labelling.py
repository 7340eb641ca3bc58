"""The page that people label on: some items of a job with their texts, in one file.

Everything else happens in the browser: labels stay there until they are downloaded, as a file of
labels that `--labels`, `labels agree` and `judges calibrate` read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from markupsafe import Markup

from trecjudge.errors import InputError
from trecjudge.files import open_target, read_text
from trecjudge.inputs.labels import takes_labels
from trecjudge.inputs.labels.workbooks import is_workbook
from trecjudge.inputs.packed import PackedRows
from trecjudge.judging.judge import Judge, programs_of
from trecjudge.models.adapters import load_signature
from trecjudge.models.overrides import named_prompts
from trecjudge.records import Judgment, Response
from trecjudge.records.battles import LOSS, REVERSED, TIE, WIN
from trecjudge.results.config import Config, RecordedInputs, read_config
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.scores.corrections import can_be_labelled, labels_taken
from trecjudge.scores.scoring import panel_of
from trecjudge.show.html.blocks import Blocks, Packed
from trecjudge.show.html.job import Texts, read_texts, topics_for_page
from trecjudge.show.html.page import policy
from trecjudge.show.templates import asset, render
from trecjudge.show.tones import GROUPS, tone, word
from trecjudge.show.workbook import LabelWorkbook, write_workbook
from trecjudge.stats.labelling import LabelCandidate
from trecjudge.stats.pairings import draw
from trecjudge.stats.resampling import SEED

SCRIPTS = ("dom", "data", "export", "labels", "passages", "label")
"""The scripts of the page in order: the first four are the report's."""
BETTER = {WIN: "A is better", TIE: "tie", LOSS: "B is better"}
"""The outcomes of a battle as a person sees them, who is not told whose answers A and B are."""
WHICH = "Which answer is better?"
ASKED = "Which label fits?"
"""The question where the judge's prompt has none."""


@dataclass(frozen=True, slots=True)
class LabelPages:
    """The request for pages to label on, or for workbooks where `path` ends in .xlsx.

    `inputs` are where topics, runs and documents lie, where the config's paths are not right any
    more. `guideline` is a file of text, its paragraphs apart by empty lines, which may have `#`
    headings and `-` lists. `people` get a page each, of which a share of `overlap` is for all.
    `verdict` puts what the judge says behind the person's decision; else it is not in the file.
    """

    outputs: Outputs
    path: Path
    inputs: RecordedInputs | None = None
    guideline: Path | None = None
    people: int = 1
    overlap: float = 0.2
    verdict: bool = False
    trust: bool = False


def share_out(items: int, people: int, overlap: float, seed: int = SEED) -> list[list[int]]:
    """Return which items, by their places, each person gets, in an order of their own.

    A share of `overlap`, 0 to 1, drawn at random, goes to all of them. The others go to one each.
    """
    drawn = np.random.default_rng(seed).permutation(items).tolist()
    common = round(items * overlap) if people > 1 else 0
    shared, others = drawn[:common], drawn[common:]
    return [
        np.random.default_rng([seed, person]).permutation([*shared, *others[person::people]])
        .astype(int).tolist()
        for person in range(people)
    ]  # fmt: skip


def write_label_pages(
    wanted: LabelPages, items: Sequence[LabelCandidate]
) -> tuple[list[tuple[Path, int]], list[str]]:
    """Write a page for each person; return them with their numbers of items, and what they lack.

    Raises InputError for texts that are not where `inputs` say, and OutputError.
    """
    if is_workbook(wanted.path) and any(one.against for one in items):
        raise InputError(f"{wanted.path}: two answers do not fit in a row: give a page, .html")
    made = _Material.read(wanted, items)
    guideline = list(guideline_blocks(read_text(wanted.guideline))) if wanted.guideline else []
    pages = []
    for number, places in enumerate(share_out(len(items), wanted.people, wanted.overlap), 1):
        path, who = wanted.path, ""
        if wanted.people > 1:
            path, who = path.with_name(f"{path.stem}-{number}{path.suffix}"), f"person {number}"
        own = [made.items[place] for place in places]
        if is_workbook(path):
            write_workbook(path, made.workbook(own, guideline, who))
        else:
            head = made.head(wanted.outputs.name, own) | {"labeller": who}
            _write(path, head, own, made, guideline)
        pages.append((path, len(own)))
    return pages, made.texts.missing


@dataclass(slots=True)
class _Material:
    """What the pages are made of: items as the page takes them, and the texts that they name."""

    config: Config
    verdict: bool
    items: list[dict[str, Any]]
    texts: Texts
    topics: list[str]
    blocks: dict[str, Packed]
    """The documents by topic, for all pages: each of them is packed once."""
    responses: list[list[str]] = field(default_factory=list)
    """The sentences of each."""
    sets: list[dict[str, Any]] = field(default_factory=list)
    """The sets of labels: their question, and each label with what it means."""
    _known: dict[tuple[str, ...], int] = field(default_factory=dict)

    @classmethod
    def read(cls, wanted: LabelPages, items: Sequence[LabelCandidate]) -> _Material:
        """Read the items' judgments and texts again."""
        config = read_config(wanted.outputs.config)
        documents = PackedRows()
        for one in items:
            if one.doc_id is not None:
                documents.add((one.run_id, one.topic_id), one.doc_id)
        topics = list(dict.fromkeys(one.topic_id for one in items))
        blocks = Blocks(topics)
        inputs, strict = config.inputs.moved_to(wanted.inputs), wanted.inputs is not None
        texts = read_texts(inputs, lambda _: blocks, documents, strict)
        made = cls(config, wanted.verdict, [{}] * len(items), texts, topics, blocks.pack())
        made.read_judgments(wanted, items)
        return made

    def read_judgments(self, wanted: LabelPages, items: Sequence[LabelCandidate]) -> None:
        """Read the judgment on each item, with the response that it is on."""
        reader = JudgmentsReader(wanted.outputs.judgments)
        judges = {named.name: named.judge for named in panel_of(reader, wanted.trust)}
        places: dict[tuple[str, str], list[int]] = {}
        for place, one in enumerate(items):
            places.setdefault((one.run_id, one.topic_id), []).append(place)
            if one.against:  # the answer that it was compared with
                places.setdefault((one.against, one.topic_id), [])
        at: dict[tuple[str, str], int] = {}
        for response, judgments in reader:
            group = response.run_id, response.topic_id
            own = places.get(group, ())
            known = self.texts.documents_of(response) if own else {}
            for place in own:
                judgment = judgments[items[place].place]
                judge = judges[judgment.judge]
                item = self.item(response, judgment, known) | _key_of(items[place])
                item["set"] = self.set_of(judge, judgment, wanted.outputs.judgments)
                self.items[place] = item
            if group in places:
                at[group] = len(self.responses)
                # Marks of citations may tell whose an answer is.
                blind = any(one.against for one in items)
                texts = (one.text if blind else one.shown for one in response.sentences)
                self.responses.append(list(texts))
        for item, one in zip(self.items, items, strict=True):
            if one.against:
                _set_sides(item, one, at.get((one.against, one.topic_id)))

    def item(
        self, response: Response, judgment: Judgment, documents: Mapping[str, int]
    ) -> dict[str, Any]:
        """Return an item as the page takes it."""
        places = [sentence.index for sentence in response.sentences]
        at, evidence = judgment.sentence_index, judgment.evidence
        looked = evidence and judgment.doc_id and judgment.nugget is None
        found = {
            "topic": response.topic_id,
            "response": len(self.responses),
            "at": places.index(at) if at in places else None,
            "document": documents.get(judgment.doc_id or ""),
            "about": judgment.about,
            "looked": [evidence.start, evidence.end] if evidence and looked else None,
        }
        if self.verdict and judgment.judged:
            found["verdict"] = [word(judgment), judgment.reason]
        return found

    def set_of(self, judge: Judge, judgment: Judgment, path: Path) -> int:
        """Return the place of the labels that people may give an item. Raises InputError."""
        labels = tuple(labels_taken(judge, judgment))
        if not labels:
            raise InputError(f"{path}: judge {judgment.judge}: nobody knows what labels it takes")
        kind = (judgment.judge, *labels)
        if kind not in self._known:
            self._known[kind] = len(self.sets)
            self.sets.append(_label_set(labels, judgment, self._prompts(judge)))
        return self._known[kind]

    def _prompts(self, judge: Judge) -> Iterator[str]:
        """Yield the instructions of a judge's prompts, of those in their place the named ones."""
        model = self.config.record.get("model") or {}
        others = model.get("prompts") or {}
        for name, program in programs_of(judge).items():
            if name not in others:
                yield str(load_signature(program.reference).instructions)
            elif named := named_prompts(program).get(others[name].get("from")):
                yield named.instructions

    def workbook(
        self,
        items: Sequence[Mapping[str, Any]],
        guideline: Sequence[tuple[str, list[str]]],
        labeller: str,
    ) -> LabelWorkbook:
        """Return a workbook of some of the items."""
        documents = {
            topic: self.blocks[name].entries()
            for number, topic in enumerate(self.topics)
            if (name := f"documents-{number}") in self.blocks
        }
        known = topics_for_page(self.texts.topics, self.topics)
        asked = {one["id"]: one["title"] or one["problem"] or one["id"] for one in known}
        return LabelWorkbook(
            items, self.responses, documents, asked, self.sets, guideline, labeller
        )

    def head(self, name: str, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the head block of a page on some of the items."""
        known = orjson.dumps([name, *([one["key"], one["set"], one.get("votes")] for one in items)])
        return {
            "name": name,
            "digest": hashlib.blake2b(known, digest_size=8).hexdigest(),
            "topics": topics_for_page(self.texts.topics, self.topics),
            "sets": self.sets,
            "runs": (),
            "shown": {},
            "scripts": {},
        }


def _key_of(one: LabelCandidate) -> dict[str, Any]:
    """Return what the label of an item is written with."""
    fields = ("topic_id", "run_id", "sentence_index", "doc_id", "nugget", "against")
    key = {name: value for name in fields if (value := getattr(one, name)) not in (None, "")}
    found: dict[str, Any] = {"key": key, "sampled": one.sampled}
    if one.votes:
        found["votes"] = [{"annotator": who, "label": label} for who, label in one.votes]
    return found


def _set_sides(item: dict[str, Any], one: LabelCandidate, other: int | None) -> None:
    """Give an item both answers of a battle, by chance the one or the other first."""
    item["other"] = other
    label = item["verdict"][0] if "verdict" in item else ""
    names = sorted((one.run_id, one.against))
    if draw(SEED, "page", one.topic_id, *names) % 2:
        item["response"], item["other"] = other, item["response"]
        item["key"] |= {"run_id": one.against, "against": one.run_id}
        label = REVERSED.get(label, label)
    if label:
        item["verdict"][0] = BETTER.get(label, label)


def _label_set(labels: Sequence[str], judgment: Judgment, prompts: Iterator[str]) -> dict[str, Any]:
    """Return labels with words, meanings and keys, the best first; grades by their own keys."""
    question, defined, example = _definitions(labels, prompts)
    shown = as_labelled(labels, judgment)
    if judgment.opponent is not None:
        question = WHICH
    return {
        "question": question or ASKED,
        "example": example,
        "labels": [
            {
                "label": one.label,
                "word": BETTER.get(one.label or "", "") if one.opponent else word(one),
                "means": defined.get(one.label or "", ""),
                "key": one.label if labels_are_grades(labels) else str(number),
            }
            for number, one in enumerate(shown, 1)
        ],
    }


def labels_are_grades(labels: Sequence[str]) -> bool:
    """Return whether labels are grades, which stand in their own order and have their own keys."""
    return all(label.isdecimal() for label in labels)


def as_labelled(labels: Sequence[str], judgment: Judgment) -> list[Judgment]:
    """Return a judgment with each of the labels, the best first; grades in their own order."""
    made = [replace(judgment, label=label, failure=None, exists=None) for label in labels]
    order = list(GROUPS)
    graded = labels_are_grades(labels)
    return made if graded else sorted(made, key=lambda one: order.index(tone(one)))


@dataclass(slots=True)
class LabelKinds:
    """The kinds of judgments of a report, for what people may say of each: its labels.

    A judge takes other labels on a nugget than on a sentence, and some only on citations.
    """

    first: dict[str, Judgment] = field(default_factory=dict)
    """A judgment of each kind, which `kindOf` of the page names too."""

    def add(self, judgments: Iterable[Judgment]) -> None:
        """Take the judgments on a response; labels are on no claim, and on no lost citation."""
        for one in judgments:
            if one.claim is None and one.exists is not False and one.opponent is None:
                cited = one.doc_id is not None or one.citation is not None
                of_nugget = 0 if one.nugget is None else 1 if one.nugget.weight is None else 2
                self.first.setdefault(f"{of_nugget}{cited:d}{one.judge}", one)

    def labels(self, judges: Mapping[str, Judge]) -> dict[str, list[tuple[str, str]]]:
        """Return (label, word) of each label by kind; a kind that takes none is not there."""
        return {
            kind: [(made.label or "", word(made)) for made in as_labelled(labels, one)]
            for kind, one in self.first.items()
            if takes_labels(judge := judges[one.judge])
            and can_be_labelled(judge, one)
            and (labels := labels_taken(judge, one))
        }


def _definitions(
    labels: Sequence[str], prompts: Iterator[str]
) -> tuple[str, Mapping[str, str], str]:
    """Return the question of the first prompt that defines all labels, these, and its example.

    A label is defined on a line that begins with it and a colon, up to the next one.
    """
    starts = re.compile(rf"^\s*({'|'.join(map(re.escape, labels))}):\s+", re.MULTILINE)
    for prompt in prompts:
        paragraphs = [part.strip() for part in re.split(r"\n\s*\n", prompt)]
        for paragraph in paragraphs:
            parts = starts.split(paragraph)
            found = dict(zip(parts[1::2], map(_one_line, parts[2::2]), strict=True))
            if found.keys() == set(labels):
                example = next((p for p in paragraphs if p.startswith("Example")), "")
                question = _one_line(paragraphs[0]).partition(". ")[0].replace("`", "")
                return question, found, _one_line(example)
    return "", {}, ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def guideline_blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a guideline: (heading, paragraph or list, its lines or entries)."""
    for part in re.split(r"\n\s*\n", text.strip()):
        heads, rest = [], part.strip().splitlines()
        while rest and rest[0].startswith("#"):
            heads.append(rest.pop(0).lstrip("# "))
        yield from (("heading", [head]) for head in heads)
        entries = re.split(r"^\s*(?:[-*]|\d+[.)])\s+", "\n".join(rest), flags=re.MULTILINE)
        if _one_line(entries[0]):
            yield "paragraph", [_one_line(entries[0])]
        if len(entries) > 1:
            yield "list", [_one_line(entry) for entry in entries[1:]]


def _write(
    path: Path,
    head: Mapping[str, Any],
    items: Sequence[Mapping[str, Any]],
    made: _Material,
    guideline: Sequence[tuple[str, list[str]]],
) -> None:
    style = Markup("").join(asset(f"{name}.css") for name in ("style", "label"))
    scripts = Markup("\n").join(asset(f"{name}.js") for name in SCRIPTS)
    script = Markup('(() => {\n"use strict";\n') + scripts + Markup("})();")
    with open_target(path) as file:
        shell = render(
            "label.html",
            name=head["name"],
            style=style,
            policy=policy(style, (script,), beside=False),
            guideline=guideline,
        )
        file.write(shell.encode())
        entries = {"head": [head], "items": items, "responses": made.responses}
        blocks = Blocks(())
        for kind, one in ((kind, one) for kind, own in entries.items() for one in own):
            blocks.add(kind, None, one)
        for name, block in (blocks.pack() | made.blocks).items():
            file.write(b'<script type="text/plain" id="%s">' % name.encode())
            file.writelines(block)
            file.write(b"</script>\n")
        file.write(f"<script>{script}</script>\n</body>\n</html>\n".encode())
