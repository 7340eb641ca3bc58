"""Writes where each sentence of a run is from, to `NAME.provenance.jsonl` beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import BinaryIO

import orjson

from trecjudge.baseline.generate.records import Answer, Support
from trecjudge.baseline.index.opening import is_address
from trecjudge.records import ProvenanceLine


@dataclass(frozen=True, slots=True)
class Origin:
    """What all lines of a run have in common: the run, the index, and when it was made (UTC).

    Without a `time` the lines name none, so that two equal jobs write equal bytes.
    """

    run_id: str
    index: str
    time: str


def index_name(where: str) -> str:
    """Return how an index is named in a file: its path, or its address without user and secret."""
    if not is_address(where):
        return where
    scheme = where.partition("://")[0]
    address, _, query = where.partition("://")[2].partition("?")
    # A question mark may be a part of the secret: then no part is known to be none.
    unclear = "@" in query and "@" not in address
    return f"{scheme}://{'' if unclear else address.rpartition('@')[2]}"


def provenance_lines(answer: Answer, origin: Origin) -> Iterator[ProvenanceLine]:
    """Yield a line for each citation of each sentence; none for an answer that abstained."""
    method = answer.retrieved[-1].method if answer.retrieved else ""
    version = answer.retrieved[-1].index_version if answer.retrieved else ""
    for number, sentence in enumerate(answer.sentences):
        for support in sentence.support:
            yield _line(answer.topic.topic_id, number, support, origin, method, version)


def _line(
    topic_id: str, number: int, support: Support, origin: Origin, method: str, version: str
) -> ProvenanceLine:
    chunk = support.passage.chunk
    return ProvenanceLine(
        run_id=origin.run_id,
        topic_id=topic_id,
        sentence_index=number,
        doc_id=chunk.doc_id,
        start=support.start,
        end=support.end,
        quote=support.quote,
        score=support.passage.score,
        rank=support.passage.rank,
        retriever=method,
        document_version=chunk.document.version,
        document_digest=chunk.digest,
        index=origin.index,
        index_version=version,
        time=origin.time,
    )


def write_provenance(file: BinaryIO, answer: Answer, origin: Origin) -> None:
    """Write the lines of an answer to an open file, a JSON object each."""
    for line in provenance_lines(answer, origin):
        record = asdict(line)
        if not line.time:
            del record["time"]
        file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
