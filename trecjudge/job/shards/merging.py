"""The files of shards put together, byte for byte what one process would have written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import orjson

from trecjudge.errors import InputError
from trecjudge.inputs.sources.containers import chunks, lines
from trecjudge.job.shards.shard import ShardDone, ShardSetup, digest_of_ids
from trecjudge.judging.panel import Panel
from trecjudge.results.judgments import Header, JudgmentsWriter, end_line
from trecjudge.results.outputs import Outputs
from trecjudge.results.packed import DigestingFile
from trecjudge.scores.scoring import JobScoring, Scored

RESPONSE = b'{"record":"response",'
"""How the line of a response begins."""


@dataclass(frozen=True, slots=True)
class JudgmentsPart:
    """A judgments file of a part, and what must be in it.

    `sha256` and `ids` are empty where they are not known: an older version wrote none. `ids` are a
    digest of the runs and topics of its responses.
    """

    path: Path
    responses: int
    judgments: int
    sha256: str = ""
    ids: str = ""

    def lines(self) -> Iterator[bytes]:
        """Yield the lines but the last one. Raises InputError where the file is another one."""
        found, ids, last = sha256(), [], b""
        for _, line in lines(self.path):
            if last:
                found.update(b"%b\n" % last)
                if self.ids and last.startswith(RESPONSE):
                    ids.append(_ids(last))
                yield last
            last = line
        end = end_line(self.responses, self.judgments, self.sha256)
        if last != end:
            was = f"its last line is not {end.decode()}"
            raise InputError(f"{self.path}: is cut or was changed: {was}")
        if self.sha256 and found.hexdigest() != self.sha256:
            raise self._edited_error(
                "its records are not those that were judged: their SHA-256 differs"
            )
        if self.ids and digest_of_ids(ids) != self.ids:
            raise self._edited_error("its responses are not those of this part")

    def _edited_error(self, why: str) -> InputError:
        return InputError(f"{self.path}: {why}; judge the part again")


def _ids(line: bytes) -> tuple[str, str]:
    try:
        record = orjson.loads(line)
        return str(record["run_id"]), str(record["topic_id"])
    except (orjson.JSONDecodeError, KeyError):
        return "", ""


def merge_judgments(file: BinaryIO, parts: Iterable[JudgmentsPart]) -> None:
    """Write a judgments file of the judgments of parts, in this order. Raises InputError."""
    writer = JudgmentsWriter(file)
    for number, part in enumerate(parts):
        body = part.lines()
        # All parts have the same header.
        writer.lines(islice(body, 1, None) if number else body)
        writer.responses += part.responses
        writer.judgments += part.judgments
    writer.end()


def append_files(paths: Iterable[Path], target: BinaryIO) -> str:
    """Append files, unpacked, to an open one; return the digest of what was added."""
    added = DigestingFile(target)
    for piece in (piece for path in paths for piece in chunks(path)):
        added.write(piece)
    target.flush()
    return added.sha256


def merge_scores(
    header: Header, panel: Panel, outputs: Outputs, setup: ShardSetup, done: Sequence[ShardDone]
) -> Scored:
    """Write the numbers of a job whose shards are scored, in the order of its responses."""
    scoring = JobScoring(header, panel, outputs.judgments)
    with scoring.files(outputs) as files:
        for shard in done:
            scoring.take(shard.scores)
            for place, qrels in enumerate(files.qrels):
                append_files([setup.part(shard.number, f"qrels.{place}")], qrels)
            if files.review is not None:
                append_files([setup.part(shard.number, "review")], files.review)
        standings = scoring.finish(files)
    return Scored(scoring.summary(outputs, standings), scoring.board, standings)
