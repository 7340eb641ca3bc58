"""TruLens: the events of an app that is traced."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from trulens.apps.app import TruApp
from trulens.core import TruSession
from trulens.core.otel.instrument import instrument
from trulens.otel.semconv.trace import SpanAttributes

Records = list[dict[str, Any]]


class App:
    """Searches and answers."""

    def __init__(self, records: Records) -> None:
        self.known = {r["question"]: r for r in records}

    @instrument(
        span_type=SpanAttributes.SpanType.RETRIEVAL,
        attributes={
            SpanAttributes.RETRIEVAL.QUERY_TEXT: "query",
            SpanAttributes.RETRIEVAL.RETRIEVED_CONTEXTS: "return",
        },
    )
    def search(self, query: str) -> list[str]:
        """Return what there is."""
        return self.known[query]["contexts"]

    @instrument(
        span_type=SpanAttributes.SpanType.RECORD_ROOT,
        attributes={
            SpanAttributes.RECORD_ROOT.INPUT: "query",
            SpanAttributes.RECORD_ROOT.OUTPUT: "return",
        },
    )
    def ask(self, query: str) -> str:
        """Return the answer."""
        self.search(query)
        return self.known[query]["answer"]


@cache
def _session(text: str, folder: Path) -> TruSession:
    session = TruSession(database_url=f"sqlite:///{folder / 'trulens.sqlite'}")
    records = json.loads(text)
    app = App(records)
    traced = TruApp(app, app_name="ferry", app_version="1", main_method=app.ask)
    for record in records:
        with traced:
            app.ask(record["question"])
    session.force_flush()
    return session


def _events(records: Records, folder: Path) -> Any:
    return _session(json.dumps(records), folder).connector.get_events(
        app_name="ferry", app_version="1"
    )


def run_events_csv(records: Records, folder: Path) -> Path:
    """TruSession.get_events().to_csv"""
    _events(records, folder).to_csv(path := folder / "events.csv")
    return path


def run_events_json(records: Records, folder: Path) -> Path:
    """TruSession.get_events().to_json(lines=True)"""
    path = folder / "events.jsonl"
    _events(records, folder).to_json(path, orient="records", lines=True)
    return path
