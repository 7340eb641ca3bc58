"""Good runs of five tracks, and the ways to mutate them that checkers are compared by."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]
LIMIT = 2000
RAG, REPORT = ("rag25", "rag26"), ("ragtime25", "ragtime26", "dragun25")
TRACKS = RAG + REPORT
GONE = object()
"""Stands for a key to take away."""

TITLES = (
    "How did the steam engine change work in Britain, and who gained from it?",
    "Why do coral reefs bleach, and which measures have helped them to recover?",
    "Is congestion pricing a fair way to pay for buses and trains in a large city?",
)
TEXTS = (
    (
        "Watt's separate condenser cut the coal that an engine burned.",
        "Mills no longer needed a river.",
    ),
    (
        "Heat makes corals expel the algae that feed them.",
        "Shading and larval seeding have helped some reefs.",
    ),
    (
        "Drivers at peak hours pay for the room that they take.",
        "London spent the revenue on buses.",
    ),
)
SEGMENTS = tuple(f"msmarco_v2.1_doc_{n:02d}_12747942{n}#{n}_25648473{n:02d}" for n in range(1, 8))
SHARDS = tuple(f"shard_0045{n}_6169{n}" for n in range(1, 8))
PAGES = tuple(f"5f91a162-7a1e-4e5e-af0e-6b1bab77496{n}_37475614{n}" for n in range(1, 8))


@dataclass
class Run:
    """A run of three topics; what a mutation changes in place."""

    track: str
    records: list[Record]
    ids: tuple[str, ...]
    """Documents of the track's collection; the first four are cited."""

    @property
    def key(self) -> str:
        return "answer" if self.track in RAG else "responses"

    @property
    def topic_key(self) -> str:
        return "narrative_id" if self.track in RAG else "topic_id"

    @property
    def cites_by_index(self) -> bool:
        return self.track in RAG

    def sentences(self) -> list[Record]:
        """Return the sentences of the second record: most mutations change only that one."""
        return self.records[1][self.key]

    def lines(self) -> bytes:
        return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in self.records).encode()


def good(track: str) -> Run:
    """Return a run that a track's checker accepts without a warning."""
    ids = {"rag26": SHARDS, "ragtime25": PAGES, "ragtime26": PAGES}.get(track, SEGMENTS)
    run = Run(track, [], ids)
    for topic_id, title, texts in zip(topic_ids(track), TITLES, TEXTS, strict=True):
        meta: Record = {
            "team_id": "coasters",
            "run_id": "bm25-monot5-qwen",
            run.topic_key: topic_id,
        }
        if track in RAG:
            meta["narrative"] = title
        meta |= {
            "rag25": {"type": "automatic", "prompt": "Answer with citations."},
            "rag26": {"run_desc": "BM25 top 100, reranked, then written sentence by sentence."},
            "ragtime25": {"task": "english"},
            "ragtime26": {"run_desc": "BM25 over the English translations."},
            "dragun25": {"type": "automatic", "use_starter_kit": 0},
        }[track]
        cited: list[list[Any]] = [[0, 1], [2]] if track in RAG else [list(ids[:2]), [ids[2]]]
        made = [
            {"text": text, "citations": these} for text, these in zip(texts, cited, strict=True)
        ]
        record: Record = {"metadata": meta, run.key: made}
        if track in RAG or track == "ragtime25":
            record["references"] = list(ids[:3])
        if track == "ragtime25":
            for sentence in made:
                sentence["citations"] = {
                    doc: 1.0 / (1 + n) for n, doc in enumerate(sentence["citations"])
                }
        run.records.append(record)
    return copy.deepcopy(run)


def topic_ids(track: str) -> tuple[str, ...]:
    """Return the ids of the three topics."""
    return {
        "rag25": ("464", "471", "502"),
        "rag26": ("rag2026-0", "rag2026-37", "rag2026-118"),
        "ragtime25": ("1001", "1002", "1003"),
        "ragtime26": ("2000", "2001", "2002"),
        "dragun25": tuple(f"msmarco_v2.1_doc_04_42013266{n}" for n in range(3)),
    }[track]


def requests(track: str) -> str:
    """Return the topics as the organisers' tool reads them."""
    known = zip(topic_ids(track), TITLES, strict=True)
    return "".join(
        json.dumps({"request_id": i, "title": t, "limit": LIMIT}) + "\n" for i, t in known
    )


Mutate = Callable[[Run], bytes | None]
"""Changes a run in place, or returns the bytes of its file."""


def everywhere(key: str, value: Any) -> Mutate:
    """Set a field of the metadata in every record: what a system does wrong, it does each time."""

    def mutate(run: Run) -> None:
        for record in run.records:
            put(record["metadata"], key, value)

    return mutate


def once(key: str, value: Any) -> Mutate:
    """Set a field of the metadata in the second record; `topic` is the topic's own."""

    def mutate(run: Run) -> None:
        put(run.records[1]["metadata"], run.topic_key if key == "topic" else key, value)

    return mutate


def root(key: str, value: Any) -> Mutate:
    """Set a field of the second record itself; `key` is the one of the sentences."""

    def mutate(run: Run) -> None:
        put(run.records[1], run.key if key == "key" else key, value)

    return mutate


def sentence(key: str, value: Any) -> Mutate:
    """Set a field of one sentence; a function is given the run."""

    def mutate(run: Run) -> None:
        put(run.sentences()[0], key, value(run) if callable(value) else value)

    return mutate


def all_cite(cited: Callable[[Run, int], Any]) -> Mutate:
    """Give every sentence of the run other citations, by its place in the response."""

    def mutate(run: Run) -> None:
        for record in run.records:
            for place, entry in enumerate(record[run.key]):
                entry["citations"] = cited(run, place)

    return mutate


def references(change: Callable[[list[Any], Run], Any]) -> Mutate:
    """Change the references of the second record."""

    def mutate(run: Run) -> None:
        listed = list(run.records[1].get("references", run.ids[:3]))
        run.records[1]["references"] = change(listed, run)

    return mutate


def text(change: Callable[[bytes], bytes]) -> Mutate:
    """Change the bytes of the file."""
    return lambda run: change(run.lines())


def put(owner: Record, key: str, value: Any) -> None:
    """Set a key, or take it away."""
    if value is GONE:
        owner.pop(key, None)
    else:
        owner[key] = value


def say(words: int, character: str = "a") -> Mutate:
    """Make one sentence as long as the track allows and `words` more."""

    def mutate(run: Run) -> None:
        rest = sum(len(entry["text"].split()) for entry in run.sentences()[1:])
        most = {"rag25": 400, "rag26": 1024, "dragun25": 250}.get(run.track)
        if most is None:
            rest = sum(1 + len(entry["text"]) for entry in run.sentences()[1:])
            run.sentences()[0]["text"] = character * (LIMIT - rest + words)
        else:
            run.sentences()[0]["text"] = " ".join([character] * (most - rest + words))

    return mutate


def own(run: Run, *places: int) -> Any:
    """Return citations as the run has them: positions, ids of documents, or ids with scores."""
    if run.cites_by_index:
        return list(places)
    return in_shape(run, [run.ids[place] for place in places])


def in_shape(run: Run, ids: list[Any]) -> Any:
    """Return ids in the shape of the run's citations."""
    return dict.fromkeys(ids, 0.5) if run.track == "ragtime25" else ids


def cite_by_id(run: Run) -> None:
    """Make every citation of the run an id, in the run's shape."""
    for record in run.records:
        for entry in record[run.key]:
            cited = [c if isinstance(c, str) else run.ids[c] for c in entry["citations"]]
            entry["citations"] = in_shape(run, cited)


def first_id(change: Callable[[str], str]) -> Mutate:
    """Change the first id that a run cites; its other citations are ids too."""

    def mutate(run: Run) -> None:
        cite_by_id(run)
        run.sentences()[0]["citations"] = in_shape(run, [change(run.ids[0]), run.ids[1]])

    return mutate


def four_citations(run: Run) -> None:
    run.sentences()[0]["citations"] = own(run, 0, 1, 2, 3)
    if "references" in run.records[1]:
        run.records[1]["references"].append(run.ids[3])


def cite_twice(run: Run) -> None:
    for record in run.records:
        for entry in record[run.key]:
            entry["citations"] = list(entry["citations"])
    run.sentences()[0]["citations"].append(run.sentences()[0]["citations"][0])


def cite_unlisted(run: Run) -> None:
    cite_by_id(run)
    run.sentences()[0]["citations"] = in_shape(run, [*run.ids[:2], run.ids[5]])


def duplicate(run: Run) -> None:
    run.records.append(copy.deepcopy(run.records[1]))


def answer_again(run: Run) -> None:
    duplicate(run)
    run.records[-1][run.key][0]["text"] = "Another answer to the same topic."


def swap_key(run: Run) -> None:
    other = "responses" if run.key == "answer" else "answer"
    for record in run.records:
        record[other] = record.pop(run.key)


def both_keys(differ: bool) -> Mutate:
    def mutate(run: Run) -> None:
        other = "responses" if run.key == "answer" else "answer"
        for record in run.records:
            record[other] = copy.deepcopy(record[run.key])
            if differ:
                record[other][0]["text"] = "Something else."

    return mutate


def to_other_field(run: Run) -> None:
    other = "topic_id" if run.topic_key == "narrative_id" else "narrative_id"
    for record in run.records:
        record["metadata"][other] = record["metadata"].pop(run.topic_key)


def to_request_id(run: Run) -> None:
    for record in run.records:
        record["metadata"]["request_id"] = record["metadata"].pop(run.topic_key)


def both_topic_fields(value: str) -> Mutate:
    def mutate(run: Run) -> None:
        other = "topic_id" if run.topic_key == "narrative_id" else "narrative_id"
        run.records[1]["metadata"][other] = value or run.records[1]["metadata"][run.topic_key]

    return mutate


def integer_topic(run: Run) -> None:
    for number, record in enumerate(run.records):
        written = record["metadata"][run.topic_key]
        record["metadata"][run.topic_key] = int(written) if written.isdigit() else number


def flatten(run: Run) -> None:
    for record in run.records:
        record |= record.pop("metadata")


def two_runs(run: Run) -> None:
    run.records += copy.deepcopy(run.records)
    for record in run.records[3:]:
        record["metadata"]["run_id"] = "another-run"


def strings_for_sentences(run: Run) -> None:
    run.records[1][run.key] = [entry["text"] for entry in run.sentences()]


def blank_all(run: Run) -> None:
    for entry in run.sentences():
        entry["text"] = " "


def misname_citations(run: Run) -> None:
    run.sentences()[0]["citation"] = run.sentences()[0].pop("citations")


def mixed_shapes(run: Run) -> None:
    """One sentence with a list of ids, the other with scores by id."""
    run.sentences()[0]["citations"] = dict.fromkeys(run.ids[:2], 0.5)
    run.sentences()[1]["citations"] = [run.ids[2]]


def by_id_in_one_record(run: Run) -> None:
    record = copy.deepcopy(run.records[1])
    cite_by_id(Run(run.track, [record], run.ids))
    run.records[1] = record


def drop_topic(run: Run) -> None:
    del run.records[1]


def answer_nothing(run: Run) -> None:
    for record in run.records:
        record[run.key] = []


MUTATIONS: dict[str, Mutate] = {
    "none": lambda run: None,
    # fields
    **{f"{key} missing": everywhere(key, GONE) for key in ("team_id", "run_id")},
    **{f"{key} null": everywhere(key, None) for key in ("team_id", "run_id")},
    **{f"{key} empty": everywhere(key, "") for key in ("team_id", "run_id")},
    **{f"{key} blank": everywhere(key, " ") for key in ("team_id", "run_id")},
    **{f"{key} an integer": everywhere(key, 7) for key in ("team_id", "run_id")},
    "team_id of one record differs": once("team_id", "others"),
    "run_id of one record differs": once("run_id", "another-run"),
    "two runs in a file": two_runs,
    **{f"run_id of {n} characters": everywhere("run_id", "r" * n) for n in (20, 21, 25, 26)},
    "run_id with a space": everywhere("run_id", "my run"),
    "run_id begins with a period": everywhere("run_id", ".run"),
    "one more field in metadata": everywhere("retrieval_depth", 100),
    "creator as text": everywhere("creator", "the coasters"),
    "limit in words": everywhere("limit", "as given"),
    "description an integer": everywhere("description", 7),
    "evaldata a list": root("evaldata", []),
    "documents without a cited one": root(
        "documents", {"elsewhere": {"id": "elsewhere", "text": "It is so."}}
    ),
    "topic beside the metadata differs": root("topic_id", "99999"),
    "one more field in the record": root("latency", 1.5),
    "one more field in a sentence": sentence("score", 0.5),
    "metadata missing": root("metadata", GONE),
    "metadata null": root("metadata", None),
    "metadata beside the record's fields": flatten,
    # topics
    "topic missing": once("topic", GONE),
    "topic null": once("topic", None),
    "topic empty": once("topic", ""),
    "topic as an integer": integer_topic,
    "topic with a space after it": lambda run: put(
        run.records[1]["metadata"], run.topic_key, topic_ids(run.track)[1] + " "
    ),
    "topic that is not in the topic file": once("topic", "99999"),
    "topic under another field": to_other_field,
    "topic as request_id": to_request_id,
    "topic in two fields": both_topic_fields(""),
    "topic in two fields, different": both_topic_fields("99999"),
    "a topic without a record": drop_topic,
    "a record twice": duplicate,
    "two answers to a topic": answer_again,
    # sentences
    "no sentences field": root("key", GONE),
    "sentences null": root("key", None),
    "no sentences": root("key", []),
    "no sentences in any record": answer_nothing,
    "sentences as one text": root("key", "It is so."),
    "sentences as an object": root("key", {"0": {"text": "It is so.", "citations": []}}),
    "sentences as empty text": root("key", ""),
    "sentences false": root("key", False),
    "sentences as texts": strings_for_sentences,
    "sentences under the other field": swap_key,
    "sentences in both fields": both_keys(False),
    "sentences in both fields, different": both_keys(True),
    "text missing": sentence("text", GONE),
    "text null": sentence("text", None),
    "text an integer": sentence("text", 7),
    "text empty": sentence("text", ""),
    "text of white space": sentence("text", " \n"),
    "all texts of white space": blank_all,
    "Markdown heading as a sentence": sentence("text", "## Background"),
    # length
    "as long as allowed": say(0),
    "longer than allowed by one": say(1),
    "twice as long as allowed": say(3000),
    "one ligature more than fits": say(0, "\ufdfa"),
    # citations
    "citations missing": sentence("citations", GONE),
    "citations null": sentence("citations", None),
    "citations under another name": misname_citations,
    "citations empty": sentence("citations", []),
    "no citations at all": all_cite(lambda run, place: []),
    "citation as a bare value": sentence(
        "citations", lambda run: 0 if run.cites_by_index else run.ids[0]
    ),
    "three citations": sentence("citations", lambda run: own(run, 0, 1, 2)),
    "four citations": four_citations,
    "a citation twice": cite_twice,
    "citations by id": all_cite(lambda run, place: [list(run.ids[:2]), [run.ids[2]]][place]),
    "citations by index": all_cite(lambda run, place: [[0, 1], [2]][place]),
    "citations by id in one sentence": sentence(
        "citations", lambda run: in_shape(run, list(run.ids[:2]))
    ),
    "citations by id in one record": by_id_in_one_record,
    "index and id in one sentence": sentence("citations", lambda run: [run.ids[0], 1]),
    "scores by id": all_cite(
        lambda run, place: dict.fromkeys([run.ids[:2], run.ids[2:3]][place], 0.5)
    ),
    "list and scores in one response": mixed_shapes,
    "score that is text": sentence("citations", lambda run: {run.ids[0]: "high", run.ids[1]: 0.5}),
    "score that is a number as text": sentence(
        "citations", lambda run: {run.ids[0]: "0.5", run.ids[1]: 0.5}
    ),
    "score that is true": sentence("citations", lambda run: {run.ids[0]: True, run.ids[1]: 0.5}),
    "score that is null": sentence("citations", lambda run: {run.ids[0]: None, run.ids[1]: 0.5}),
    "index written as text": sentence("citations", ["0", "1"]),
    "indices written as text everywhere": all_cite(lambda run, place: [["0", "1"], ["2"]][place]),
    "index 0.0": sentence("citations", [0.0, 1]),
    "index 99.0": sentence("citations", [0, 99.0]),
    "index written with a sign": sentence("citations", [0, "+1"]),
    "index written with a point": sentence("citations", [0, "1.0"]),
    "index 0.5": sentence("citations", [0.5, 1]),
    "index true": sentence("citations", [True, 0]),
    "index past the end": sentence("citations", [0, 1, 3]),
    "index counted from one": all_cite(lambda run, place: [[1, 2], [3]][place]),
    "index below zero": sentence("citations", [-1, 0, 1]),
    "index null": sentence("citations", [None, 0, 1]),
    "list in the list": sentence("citations", [[0, 1]]),
    "citation as an object": sentence("citations", lambda run: [{"doc_id": run.ids[0]}]),
    "id that is not in references": cite_unlisted,
    "id of another collection": first_id(lambda doc: "clueweb22-en0001-02-00003"),
    "id with more behind it": first_id(lambda doc: doc + "-x"),
    "id in capitals": first_id(str.upper),
    "id with a space before it": first_id(lambda doc: " " + doc),
    "id cut short": first_id(lambda doc: doc.rpartition("_")[0]),
    "id that is empty": first_id(lambda doc: ""),
    # references
    "references missing": root("references", GONE),
    "references null": root("references", None),
    "references empty": root("references", []),
    "references as text": references(lambda listed, run: listed[0]),
    "references with scores": references(lambda listed, run: dict.fromkeys(listed, 0.5)),
    "a reference that is not cited": references(lambda listed, run: [*listed, run.ids[5]]),
    "a reference that is left out": references(lambda listed, run: listed[:2]),
    "a reference twice": references(lambda listed, run: [*listed, listed[0]]),
    "a reference that is an integer": references(lambda listed, run: [*listed, 7]),
    "a reference that is null": references(lambda listed, run: [*listed, None]),
    "a reference of another collection": references(
        lambda listed, run: [*listed[:2], "clueweb22-en0001-02-00003"]
    ),
    "a reference with more behind it": references(
        lambda listed, run: [*listed[:2], listed[2] + "-x"]
    ),
    "a reference with a space after it": references(
        lambda listed, run: [*listed[:2], listed[2] + " "]
    ),
    "a reference that is empty": references(lambda listed, run: [*listed, ""]),
    "101 references": references(
        lambda listed, run: [*listed, *(listed[0][:-1] + str(n) for n in range(200, 298))]
    ),
    # the file
    "a blank line": text(lambda data: data.replace(b"\n", b"\n\n", 1)),
    "a byte order mark": text(lambda data: b"\xef\xbb\xbf" + data),
    "lines that end in CR LF": text(lambda data: data.replace(b"\n", b"\r\n")),
    "lines that end in CR": text(lambda data: data.replace(b"\n", b"\r")),
    "UTF-16": text(lambda data: data.decode().encode("utf-16")),
    "packed, and not called so": text(lambda data: gzip.compress(data, mtime=0)),
    "a line that is an empty list": text(lambda data: data + b"[]\n"),
    "a line that breaks off": text(lambda data: data[:-40]),
    "a line that is not JSON": text(lambda data: data + b"end of run\n"),
    "a line that is a number": text(lambda data: data + b"7\n"),
    "a line that is null": text(lambda data: data + b"null\n"),
    "an empty object": text(lambda data: data + b"{}\n"),
    "a comma after each record": text(lambda data: data.replace(b"\n", b",\n")),
    "one JSON array": text(lambda data: b"[" + b",".join(data.splitlines()) + b"]\n"),
    "all records in one line": text(lambda data: data.replace(b"\n", b" ")),
    "records over several lines": lambda run: "\n".join(
        json.dumps(record, indent=1) for record in run.records
    ).encode(),
    "an empty file": text(lambda data: b""),
    "a byte that is not UTF-8": text(lambda data: data.replace(b"a", b"\xe9", 1)),
    "a key twice": text(lambda data: data.replace(b'{"metadata"', b'{"metadata": {}, "metadata"')),
    "a number that is NaN": text(lambda data: data.replace(b'"text"', b'"score": NaN, "text"', 1)),
    "a lone surrogate": text(lambda data: data.replace(b'"text": "', b'"text": "\\ud800', 1)),
}

OF_A_TRACK: dict[str, dict[str, Mutate]] = {
    track: {
        **{f"{key} missing": everywhere(key, GONE) for key in keys},
        **{f"{key} null": everywhere(key, None) for key in keys},
        **{f"{key} blank": everywhere(key, " ") for key in keys},
        **{f"{key} an integer": everywhere(key, 7) for key in keys},
    }
    for track, keys in {
        "rag25": ("type", "narrative", "prompt"),
        "rag26": ("run_desc", "narrative"),
        "ragtime25": ("task",),
        "ragtime26": ("run_desc",),
        "dragun25": ("type", "use_starter_kit"),
    }.items()
}
NARRATIVES: dict[str, Mutate] = {
    "narrative that differs": once("narrative", "Another question?"),
    "narrative with a space after it": once("narrative", TITLES[1] + " "),
    "narrative in capitals": once("narrative", TITLES[1].upper()),
}
for _track in RAG:
    OF_A_TRACK[_track] |= NARRATIVES
OF_A_TRACK["rag25"] |= {
    "type of another word": everywhere("type", "auto"),
    "type of one record differs": once("type", "manual"),
}
OF_A_TRACK["dragun25"] |= {
    "type of another word": everywhere("type", "auto"),
    "type of one record differs": once("type", "manual"),
    "use_starter_kit 2": everywhere("use_starter_kit", 2),
    "use_starter_kit true": everywhere("use_starter_kit", True),
    "use_starter_kit as text": everywhere("use_starter_kit", "0"),
}
OF_A_TRACK["ragtime25"] |= {
    "task of another word": everywhere("task", "German"),
    "task in capitals": everywhere("task", "English"),
}


def mutations(track: str) -> dict[str, Mutate]:
    """Return the mutations of a track by name."""
    return MUTATIONS | OF_A_TRACK[track]


def mutated(track: str, name: str) -> bytes:
    """Return the file of a mutated run."""
    run = good(track)
    data = mutations(track)[name](run)
    return run.lines() if data is None else data
