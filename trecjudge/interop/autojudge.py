"""Our judges for `auto-judge run`: `judge_class: trecjudge.interop.autojudge:Judge`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import click
import orjson
from autojudge_base import Leaderboard as TheirLeaderboard
from autojudge_base import Qrels, Report, Request

from trecjudge.api.inputs import InputFiles, TempFolder
from trecjudge.api.judging import judge
from trecjudge.api.result import Result
from trecjudge.errors import TrecJudgeError, WorkflowError
from trecjudge.files import whole
from trecjudge.interop.autojudge_records import (
    Banks,
    Settings,
    leaderboard_of,
    llm_given,
    make_their_banks,
    qrels_of,
    run_record,
    tell,
    topic_record,
    written_banks,
)
from trecjudge.records import Judgment
from trecjudge.results.outputs import SAFE_NAME

FOLDER = "trecjudge"
"""Where our files lie, in the output folder of theirs."""
UNNAMED = "default"


@dataclass(frozen=True, slots=True)
class _JudgeCall:
    """What one call of theirs asks for."""

    reports: Sequence[Report]
    topics: Sequence[Request]
    banks: Any
    corpus: str | None
    settings: Settings
    folder: Path
    name: str
    llm: Mapping[str, str]

    @property
    def key(self) -> str:
        """A digest of all that can change a judgment: equal calls are judged once."""
        digest = hashlib.blake2b(repr((self.settings, self.corpus, self.llm)).encode())
        digest.update(str(self.folder.absolute()).encode())
        for record in (*map(topic_record, self.topics), *map(run_record, self.reports)):
            digest.update(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        for record in written_banks(self.banks):
            digest.update(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        return digest.hexdigest()


class Judge:
    """One of our judges, or several in one panel, by AutoJudge's protocol.

    Settings are those of `Settings`. Our own files lie in `trecjudge/` of the output folder.
    """

    nugget_banks_type = Banks
    _kept: ClassVar[dict[str, Result]] = {}
    """The last job by its key: `create_qrels` and `judge` are asked with equal inputs."""

    def create_nuggets(
        self,
        rag_responses: Iterable[Report] | None,
        rag_topics: Sequence[Request],
        llm_config: Any,
        nugget_banks: Any = None,
        corpus: str | None = None,
        **settings: Any,
    ) -> Any:
        """Return banks that our maker makes, where `make_nuggets` asks for it, else those given."""
        with _errors_of_click():
            call = _call(rag_responses, rag_topics, llm_config, nugget_banks, corpus, settings)
            if not call.settings.makes:
                return nugget_banks
            folder = TempFolder()
            given = InputFiles(Path(folder.name))
            runs = given.runs(map(run_record, call.reports)) if call.reports else []
            topics = given.topics(map(topic_record, call.topics))
            assert topics is not None
            made, lines = make_their_banks(call.settings, call.llm, topics, runs, _documents(call))
            tell(lines)
            return made

    def create_qrels(
        self,
        rag_responses: Iterable[Report],
        rag_topics: Sequence[Request],
        llm_config: Any,
        nugget_banks: Any = None,
        corpus: str | None = None,
        **settings: Any,
    ) -> Qrels | None:
        """Return the grades of documents, pooled over the runs; None where no judge grades any."""
        with _errors_of_click():
            call = _call(rag_responses, rag_topics, llm_config, nugget_banks, corpus, settings)
            return qrels_of(self._result_of(call))

    def judge(
        self,
        rag_responses: Iterable[Report],
        rag_topics: Sequence[Request],
        llm_config: Any,
        nugget_banks: Any = None,
        qrels: Qrels | None = None,
        corpus: str | None = None,
        **settings: Any,
    ) -> TheirLeaderboard:
        """Return our leaderboard, with our own `all` rows."""
        with _errors_of_click():
            call = _call(rag_responses, rag_topics, llm_config, nugget_banks, corpus, settings)
            return leaderboard_of(self._result_of(call))

    def _result_of(self, call: _JudgeCall) -> Result:
        """Return the result of a call, that of the last one where nothing differs."""
        key = call.key
        result = self._kept.get(key)
        if result is None or not _is_whole(result):
            self._kept.clear()
            result = self._kept[key] = _judge(call)
        elif result.name != call.name:
            result.write(call.folder, call.name)
        tell(_report(call, result))
        return result


def _call(
    reports: Iterable[Report] | None,
    topics: Iterable[Request],
    llm_config: Any,
    banks: Any,
    corpus: str | None,
    given: Mapping[str, Any],
) -> _JudgeCall:
    """Return a call with its settings checked. Raises WorkflowError."""
    others = dict(given)
    folder = Path(others.pop("outdir", None) or ".") / FOLDER
    name = Path(str(others.pop("filebase", None) or UNNAMED)).name
    settings = Settings.of(others)
    return _JudgeCall(
        reports=list(reports or ()),
        topics=list(topics),
        banks=banks,
        corpus=corpus,
        settings=settings,
        folder=folder,
        name=name if SAFE_NAME.fullmatch(name) else UNNAMED,
        llm=llm_given(llm_config) if settings.use_env_llm else {},
    )


def _judge(call: _JudgeCall) -> Result:
    """Judge by our own job; its files are written into the folder of the call."""
    if not call.reports:
        raise WorkflowError("there are no responses to judge")
    own = call.settings
    nuggets = own.paths(own.nuggets)
    if call.banks is not None and not nuggets:
        call.folder.mkdir(parents=True, exist_ok=True)
        nuggets = [call.folder / f"{call.name}.nuggets.jsonl"]
        _write(nuggets[0], written_banks(call.banks))
    section = {"llm": dict(call.llm)} if call.llm else {}
    return judge(
        map(run_record, call.reports),
        own.judges,
        topics=map(topic_record, call.topics),
        documents=_documents(call),
        workflow=own.workflow or None,
        variant=own.variant or None,
        settings=own.set | section,
        own_documents=own.own_documents,
        qrels=own.qrels or None,
        nuggets=nuggets,
        check=False,  # the rules of a track are for the file as it was submitted
        use_env_llm=own.use_env_llm,
        cache_dir=own.cache_dir or None,
        max_calls=own.max_calls,
        max_tokens=own.max_tokens,
        max_cost=own.max_cost,
        out_dir=call.folder,
        name=call.name,
        qrels_pool=True,
    )


def _documents(call: _JudgeCall) -> list[Path]:
    """Return the files of documents: those of the settings, else the corpus where it is a path."""
    given = call.settings.paths(call.settings.documents)
    if given or not call.corpus:
        return given
    if Path(call.corpus).exists():
        return [Path(call.corpus)]
    tell([f"corpus {call.corpus!r} is no file here, and is not read; set `documents`"])
    return []


def _report(call: _JudgeCall, result: Result) -> Iterator[str]:
    """Yield what the user has to know, and write the items that are unjudged to a file."""
    path = call.folder / f"{call.name}.unjudged.jsonl"
    _write(path, (_unjudged_record(j) for j in result.judgments() if j.failure is not None))
    yield f"{', '.join(result.judges)}: our own files are {call.folder / call.name}.*"
    for kind, count in result.failures.items():
        yield f"unjudged: {count} items, {kind}, in no numerator and no denominator; see {path}"
    if result.lost:
        yield f"lost: {result.lost} findings by which something was not judged; see the log"


def _unjudged_record(judgment: Judgment) -> dict[str, Any]:
    assert judgment.failure is not None
    names = ("run_id", "topic_id", "sentence_index", "doc_id", "judge")
    why = {"failure": judgment.failure.kind, "message": judgment.failure.message}
    return {name: getattr(judgment, name) for name in names} | why


def _write(path: Path, records: Iterable[Any]) -> None:
    with whole(path) as file:
        file.writelines(orjson.dumps(r, option=orjson.OPT_APPEND_NEWLINE) for r in records)


def _is_whole(result: Result) -> bool:
    return all(path.exists() for path in result.files.values())


@contextmanager
def _errors_of_click() -> Iterator[None]:
    """Make our errors theirs: `auto-judge run` then prints one line and no traceback."""
    try:
        yield
    except TrecJudgeError as error:
        raise click.ClickException(f"trecjudge: {error}") from error
