"""Phoenix and OpenInference: spans as OpenTelemetry writes them, and as Phoenix gives them back."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import phoenix
from openinference.instrumentation import Document, TracerProvider, get_retriever_attributes
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from phoenix.client import Client
from phoenix.otel import register

Records = list[dict[str, Any]]


def _trace(records: Records, provider: Any) -> None:
    tracer = provider.get_tracer("ferry")
    for record in records:
        with tracer.start_as_current_span("qa", openinference_span_kind="chain") as root:
            root.set_input(record["question"])
            with tracer.start_as_current_span(
                "search", openinference_span_kind="retriever"
            ) as child:
                child.set_input("it")
                found = [Document(content=text) for text in record["contexts"]]
                child.set_attributes(get_retriever_attributes(documents=found))
            root.set_output(record["answer"])


def _spans(records: Records) -> tuple[ReadableSpan, ...]:
    provider, kept = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    _trace(records, provider)
    return kept.get_finished_spans()


@cache
def _client(text: str) -> Client:
    """Return the client of a server on loopback that was sent the spans."""
    records = json.loads(text)
    session = phoenix.launch_app(host="127.0.0.1")
    provider = register(endpoint=f"{session.url}v1/traces", protocol="http/protobuf", verbose=False)
    _trace(records, provider)
    provider.force_flush()
    client = Client(base_url=session.url)
    deadline = time.monotonic() + 30  # what is sent is stored a little later
    while len(_found(client)) < 2 * len(records) and time.monotonic() < deadline:
        time.sleep(0.2)
    return client


def _found(client: Client) -> Any:
    return client.spans.get_spans(project_identifier="default")


def run_otel(records: Records, folder: Path) -> Path:
    """ReadableSpan.to_json(), a line each"""
    path = folder / "otel.jsonl"
    path.write_text("".join(span.to_json(indent=None) + "\n" for span in _spans(records)))
    return path


def run_spans(records: Records, folder: Path) -> Path:
    """Client.spans.get_spans()"""
    path = folder / "spans.json"
    path.write_text(json.dumps(_found(_client(json.dumps(records)))))
    return path


def _frame(records: Records) -> Any:
    return _client(json.dumps(records)).spans.get_spans_dataframe(project_identifier="default")


def run_frame_csv(records: Records, folder: Path) -> Path:
    """Client.spans.get_spans_dataframe().to_csv"""
    _frame(records).to_csv(path := folder / "spans.csv")
    return path


def run_frame_json(records: Records, folder: Path) -> Path:
    """Client.spans.get_spans_dataframe().to_json(lines=True)"""
    path = folder / "spans-frame.jsonl"
    _frame(records).to_json(path, orient="records", lines=True, default_handler=str)
    return path


def run_frame_parquet(records: Records, folder: Path) -> Path:
    """Client.spans.get_spans_dataframe().to_parquet"""
    _frame(records).to_parquet(path := folder / "spans.parquet")
    return path
