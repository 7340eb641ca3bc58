"""The files of a job, read again for its page, and what the page says of the job itself."""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.evaluation.trust.card import JudgeCard
from trecjudge.findings import KINDS, ignore
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.packed import PackedRows
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.inputs.sources.containers import lines
from trecjudge.inputs.sources.paths import was_given_elsewhere
from trecjudge.inputs.topics import read_topics
from trecjudge.models.documents.opening import ServiceUse, open_cited
from trecjudge.records import LEFT_OUT, Document, Place, Response, Topic
from trecjudge.results.config import RecordedInputs
from trecjudge.results.outputs import Outputs
from trecjudge.results.packed import newest_form
from trecjudge.settings.strict_yaml import written_yaml
from trecjudge.show.formats import voter_lines
from trecjudge.show.html.blocks import Blocks
from trecjudge.show.trust import card_rows
from trecjudge.text.credentials import public, shareable


def read_log(path: Path, handlers: Mapping[str, Callable[[dict[str, Any]], None]]) -> bool:
    """Pass each event of a log, packed or not, on to `handlers`; return False where there is none.

    Events of other names, most of a log, are not parsed, which saves most of the time. A line that
    cannot be read, as the last one of a job that broke off, is passed over. Raises InputError for a
    packed log that is cut.
    """
    found = newest_form(path)
    if found is None:
        return False
    heads = {b'{"event":"%s"' % name.encode(): handle for name, handle in handlers.items()}
    length = max(map(len, heads))
    for _, line in lines(found):
        handle = next((h for head, h in heads.items() if line[:length].startswith(head)), None)
        if handle is not None:
            try:
                event = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if not event.get("audit"):  # what was judged to try the judge is no part of the job
                handle(event)
    return True


# Topics and documents, read again from the inputs: the files of a job do not hold them.
@dataclass(slots=True)
class Texts:
    """Topics by id, and where the documents of each response stand in the page's blocks."""

    topics: dict[str, Topic] = field(default_factory=dict)
    given: Mapping[str, Topic] = field(default_factory=dict)
    """Those of the topic file: of others a run says what they ask."""
    places: PackedRows = field(default_factory=PackedRows)
    """(doc_id, position in the topic's block of documents), by (run_id, topic_id)."""

    written_at: dict[str, dict[int | None, tuple[str, str]]] = field(default_factory=dict)
    """Run file -> line -> (run_id, topic_id) of the response there, to place findings."""

    missing: list[str] = field(default_factory=list)
    """What could not be read, each in one line."""

    def documents_of(self, response: Response) -> Mapping[str, int]:
        """Return where the documents of a response stand, by id."""
        return dict(self.places.rows((response.run_id, response.topic_id)))

    def response_at(self, place: str) -> tuple[str, str] | None:
        """Return (run_id, topic_id) of the response at a place, `path:line`, of a run."""
        path, _, line = place.rpartition(":")
        if path in self.written_at and line.isdecimal():
            return self.written_at[path].get(int(line))
        return self.written_at.get(place, {}).get(None)


BlocksOf = Callable[[str], Blocks | None]
"""Returns the blocks of the page that a run is on, by run_id; None where it is on none."""


def read_texts(
    inputs: RecordedInputs, blocks_of: BlocksOf, wanted: PackedRows, strict: bool
) -> Texts:
    """Read topics and the wanted documents, ids by (run_id, topic_id), these into their blocks.

    With `strict`, an input that is not there raises InputError; else it is noted as missing.
    """
    texts = Texts()
    try:
        noted = () if strict else (inputs.topics, *inputs.runs, *inputs.documents)
        if streams := [path for path in noted if path and was_given_elsewhere(path)]:
            raise InputError(f"{streams[0]}: the job read it from a pipe")
        with use_record_keys(inputs.keys):
            _read(inputs, blocks_of, wanted, texts)
    except InputError as error:
        if strict:
            raise
        texts.missing.append(
            f"texts of topics or documents are missing: {error};"
            " give --rag-topics, --rag-responses, --documents"
        )
    return texts


def _read(inputs: RecordedInputs, blocks_of: BlocksOf, wanted: PackedRows, texts: Texts) -> None:
    if inputs.topics is not None:
        texts.topics = read_topics(inputs.topics, ignore)
        texts.given = dict(texts.topics)
    if not inputs.runs:
        return
    files = find_runs(inputs.runs)

    def read(store: DocumentStore | None) -> RunReader:
        return RunReader(
            files,
            ignore,
            known=texts.topics,
            store=store,
            own_documents=inputs.own_documents,
            dataset=inputs.dataset,
        )

    shown = inputs.documents if inputs.document_text else ()
    # What the job has fetched is kept: a report asks no service.
    store = open_cited(shown, read, ignore, ServiceUse(offline=True))
    for topic, response in read(store):
        # One name for all responses: these two are kept of each.
        topic_id = texts.topics.setdefault(topic.topic_id, topic).topic_id
        group = sys.intern(response.run_id), topic_id
        texts.written_at.setdefault(response.place.path, {})[response.place.line] = group
        blocks = blocks_of(response.run_id)
        if inputs.document_text and blocks is not None:
            ids = wanted.rows(group)
            known = (document for doc_id in ids if (document := response.documents.get(doc_id)))
            places = [
                (document.doc_id, _place(blocks, response.topic_id, document))
                for document in known
                if document.has_text
            ]
            texts.places.put(group, places)
    answered = {topic_id for file in texts.written_at.values() for _, topic_id in file.values()}
    if not answered:
        raise InputError(f"{', '.join(map(str, inputs.runs))}: no response could be read")
    if texts.given and answered.isdisjoint(texts.given):
        raise InputError(f"{inputs.topics}: has no topic that these runs answer")


def _place(blocks: Blocks, topic_id: str, document: Document) -> int:
    """Return the position of a document in the block of the topic, where it stands once.

    Two runs may carry different texts under one id: each keeps its own.
    """

    def entry() -> dict[str, str]:
        named = {"id": document.doc_id, "title": document.title, "text": document.full_text}
        return named | {"url": document.url, "date": document.date, "version": document.version}

    # By content, not by id: a digest takes 16 bytes, the text itself may take megabytes.
    content = f"{document.doc_id}\0{document.full_text}".encode(errors="surrogatepass")
    digest = hashlib.blake2b(content, digest_size=16).digest()
    return blocks.add_once("documents", topic_id, digest, entry)


def topics_for_page(
    topics: Mapping[str, Topic], topic_ids: Collection[str]
) -> list[dict[str, str]]:
    """Return the topics for the page, as far as they are known."""
    known = [topics.get(topic_id, Topic(topic_id)) for topic_id in topic_ids]
    return [
        {
            "id": topic.topic_id,
            "title": topic.title,
            "problem": topic.problem_statement,
            "background": topic.background,
            "body": topic.body,
        }
        for topic in known
    ]


# Findings, prompts as sent and gate reviews of a job, for its report.
OF_A_CALL = (
    *("sentence_index", "citation_id", "program", "messages", "reply", "cached"),
    *("tokens", "seconds", "try", "shared", "error"),
)
OF_A_FINDING = ("kind", "severity", "place", "message", "sentence", "run_id", "topic_id")
QUOTED = ", which says "
"""Text before the words of a document in the message of a finding."""

AMONG_RUNS = "run_id_conflict", "run_id_alike", "run_repeated"
"""Kinds of findings that name another run."""

FINDINGS, CALLS, REVIEWS = "findings", "calls", "reviews"


@dataclass(slots=True)
class Trail:
    """The blocks of a page, and counts of what a log had on its runs.

    `logged` is False where there was no log.
    """

    blocks: Blocks
    of_team: bool = False
    """Whether only one team reads it: nothing in it names another run."""
    logged: bool = False
    findings: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    prompts: dict[str, str] = field(default_factory=dict)
    """The instructions that the first call of each program gave the model."""


def read_trail(
    outputs: Outputs,
    trail_of: Callable[[str], Trail | None],
    written: Callable[[str], tuple[str, str] | None],
    inputs: RecordedInputs,
) -> bool:
    """Read findings and model calls of a job's log into the blocks of their runs.

    Returns False where there is no log. What is on no run is of the run ``.

    A finding on a line of a run is given the run and topic of the response `written` there; its
    place has only the name of the file. Without the inputs' `document_text` no call is kept, since
    prompts and replies hold text of documents, and no words that were found in a document.
    """

    def finding(event: Mapping[str, Any]) -> None:
        entry = {name: event.get(name) for name in OF_A_FINDING}
        if not entry["run_id"]:
            found = written(str(event.get("place")))
            entry["run_id"], entry["topic_id"] = found or ("", entry["topic_id"])
        if (trail := trail_of(str(entry["run_id"]))) is None:
            return
        # Counted from the log: the config has counts, but only the log has places.
        trail.findings[str(event.get("kind"))] += 1
        entry["place"] = str(entry["place"]).rpartition("/")[2]
        entry["message"] = inputs.without_folders(str(entry["message"]))
        if not inputs.document_text and _is_on_a_document(event):
            kept, _, _ = str(entry["message"]).partition(QUOTED)
            entry["message"] = f"{kept}{QUOTED}{LEFT_OUT}"
        if trail.of_team and event.get("kind") in AMONG_RUNS:
            entry["message"] = "is about another run too: left out"
        trail.blocks.add(FINDINGS, None, entry)

    def call(event: Mapping[str, Any]) -> None:
        if (trail := trail_of(str(event.get("run_id") or ""))) is None:
            return
        trail.calls += 1
        if event.get("program") not in trail.prompts:
            trail.prompts[str(event.get("program"))] = _instructions(event.get("messages"))
        entry = {name: event.get(name) for name in OF_A_CALL} | {"run": event.get("run_id")}
        trail.blocks.add(CALLS, str(event.get("topic_id")), entry)

    handlers = {"FINDING": finding} | ({"MODEL_CALL": call} if inputs.document_text else {})
    return read_log(outputs.log, handlers)


def _instructions(messages: object) -> str:
    """Return the text of a call's system messages, which hold no text of a document."""
    sent = messages if isinstance(messages, list) else []
    roles = [m for m in sent if isinstance(m, dict) and m.get("role") == "system"]
    return "\n\n".join(str(message.get("content")) for message in roles)


def _is_on_a_document(event: Mapping[str, Any]) -> bool:
    return event.get("kind") == "instruction_like_text" and event.get("sentence") is None


def read_reviews(path: Path, blocks_of: BlocksOf) -> None:
    """Read the responses that a gate marked, with their rules, into the blocks of their runs.

    Raises InputError with file and line for a line that is no such record.
    """
    if not path.is_file():
        return
    for number, line in lines(path):
        try:
            record = orjson.loads(line)
            entry = {"run": record["run_id"], "topic": record["topic_id"]}
            rules = [f"{rule['rule']}: {rule['outcome']}" for rule in record["rules"]]
            if blocks := blocks_of(entry["run"]):
                blocks.add(REVIEWS, None, entry | {"status": record["status"], "rules": rules})
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            place = Place(str(path), number)
            raise InputError(f"{place}: is not a response to review: {error}") from error


def kinds_of(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the kinds of findings with severity, effect and count, the worst first."""
    order = {"error": 0, "warning": 1, "note": 2}
    found = [
        {
            "kind": kind,
            "severity": KINDS[kind].severity if kind in KINDS else "note",
            "effect": KINDS[kind].effect if kind in KINDS else "",
            "count": count,
        }
        for kind, count in counts.items()
    ]
    return sorted(found, key=lambda kind: (order[kind["severity"]], -kind["count"], kind["kind"]))


FOLDERS = re.compile(r"(?<![\w:/.~])(?:~|[A-Za-z]:)?[/\\](?:[^/\\,]+[/\\])+")
"""The folders of an absolute path: a report goes to others."""

Rows = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Section:
    """Names with their values under a title; `folded` where most readers want none of them."""

    title: str
    rows: Rows
    folded: bool = False


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A prompt of the job: its program, the sha256 of it, and its words where the log has them."""

    program: str
    digest: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class JobShown:
    """All that the page says of its job; nothing where there was no config."""

    sections: Sequence[Section] = ()
    prompts: Sequence[SentPrompt] = ()


NOTHING_KNOWN = JobShown()


OF_NO_RUN = "written", "judges", "model", "versions"
"""The parts of a config that say nothing of the runs: all that one team is told of it."""


def job_shown(
    config: Mapping[str, Any],
    prompts: Mapping[str, str],
    runs_known: bool = True,
    card: JudgeCard | None = None,
) -> JobShown:
    """Return what a job's config says, as text, without keys and without folders of this machine.

    `prompts` are the words of each program's prompt, from the log, `card` is that of its judge.
    Without `runs_known` it is only what names no run and no file.
    """
    if not runs_known:
        config = {name: config[name] for name in OF_NO_RUN if name in config}
    if not config:
        return NOTHING_KNOWN
    config = shareable(config)
    sections = [section for section in _sections(config) if section.rows]
    if card is not None and card.judge in _mapping(config.get("judges")):
        rows = [(name, without_folders(value)) for name, value in card_rows(card)]
        sections.insert(1, Section(f"Card of the judge {card.judge}", rows, folded=True))
    digests = _digests(config)
    names = dict.fromkeys([*map(str, digests), *prompts])
    found = [SentPrompt(n, str(digests.get(n, "")), prompts.get(n, "")) for n in names]
    return JobShown(sections, found)


def _digests(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of each prompt; those of voters have the voter's name."""
    model = _mapping(config.get("model"))
    found = dict(_mapping(model.get("prompts_sha256")))
    for voter, own in _mapping(model.get("voters")).items():
        digests = _mapping(_mapping(own).get("prompts_sha256"))
        found |= {f"{program} ({voter})": digest for program, digest in digests.items()}
    return found


def _of_model(config: Mapping[str, Any]) -> Iterator[Section]:
    """Yield what the model was or, of several voters, what each was."""
    model = _mapping(config.get("model"))
    voters = _mapping(model.get("voters"))
    named = {f"Voter {name}": own for name, own in voters.items()} or {"Model": model}
    none = "none: it judges by words" if voters else "none: no model was asked"
    for title, own in named.items():
        rows = {name: v for name, v in _mapping(own).items() if name != "prompts_sha256"}
        # Only where each is from: demonstrations hold texts of documents.
        prompts = _mapping(rows.pop("prompts", None))
        rows["prompts"] = {name: str(_mapping(one).get("from")) for name, one in prompts.items()}
        yield Section(title, _rows(rows) or (("model", none),))


def _sections(config: Mapping[str, Any]) -> Iterator[Section]:
    counts = dict(_mapping(config.get("counts")))
    calls, voters = _mapping(counts.pop("model", None)), counts.pop("voters", None)
    written = moment(str(config.get("written") or ""))
    command = config.get("command_line") or []
    words = [without_folders(str(word)) for word in command] if isinstance(command, list) else []
    when = _rows({"written": written, "seconds": counts.pop("seconds", None)})
    how = [("command line", shlex.join(words))] if words else []
    yield Section("When and how", [*when, *how])
    for name, settings in _mapping(config.get("judges")).items():
        yield Section(f"Judge {name}", _rows(settings) or (("settings", "none"),))
    yield from _of_model(config)
    if isinstance(voters, list):
        lines = (line.strip().partition(": ") for line in voter_lines(voters))
        yield Section("Agreement of voters", [(who, what) for who, _, what in lines])
    yield Section("Calls and cost", _in_words(calls))
    yield Section("Counts", _in_words(counts))
    yield Section("Audit: the judge on labelled items", _rows(config.get("audit")))
    yield Section("Workflow", _rows(config.get("workflow")))
    yield Section("Versions", _rows(config.get("versions")))
    yield Section("Inputs", _rows(config.get("inputs")))
    digests = _mapping(config.get("inputs_sha256"))
    title = f"Files of the inputs with their sha256 ({len(digests)})"
    # A list: two folders may have a file of one name.
    files = [(without_folders(str(path)), str(digest)) for path, digest in digests.items()]
    yield Section(title, files, folded=True)


def without_folders(text: str) -> str:
    """Return a text with only the last name of each absolute path, and no secret."""
    return FOLDERS.sub(".../", public(text))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(values: object) -> Rows:
    """Return settings with their values as text; what is empty is left out."""
    return [
        (str(name), _show_value(value))
        for name, value in _mapping(values).items()
        if value not in (None, "", [], {})
    ]


def _in_words(counts: Mapping[str, Any]) -> Rows:
    return [(name.replace("_", " "), text) for name, text in _rows(counts)]


def moment(written: str) -> str:
    """Return a time as people read it: 2026-01-31 12:30:00 UTC."""
    return written.replace("T", " ").replace("+00:00", " UTC")


def _show_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return without_folders(written_yaml(value).rstrip())
    if isinstance(value, list):
        return "\n".join(map(_show_value, value))
    return without_folders(str(value))
