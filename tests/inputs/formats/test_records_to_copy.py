"""The records that the page about inputs gives to copy are read as what they are said to be."""

from __future__ import annotations

import json
import re

import pytest

from tests.commandline import ROOT, command
from tests.reading import Read, Write
from trecjudge.inputs.formats.registry import all_formats, format_named, format_of

PAGE = (ROOT / "docs" / "inputs.md").read_text(encoding="utf-8")
RECORDS = dict(re.findall(r"<!-- file: records/(\w+)\S* -->\n```json\n(.*?)```", PAGE, re.DOTALL))
NOT_GIVEN = ["documents_not_given", "markers_read"]
"""Most records carry no text of what they cite, and one marks citations in its answer."""


@pytest.mark.parametrize("name", [format_.NAME for format_ in all_formats()])
def test_there_is_a_record_of(name: str, read: Read) -> None:
    taken = format_of(json.loads(RECORDS[name]))
    assert taken is not None
    assert taken[0] is format_named(name)
    found = read(RECORDS[name], f"{name}.jsonl")
    assert found.response.run_id == name
    assert found.citations
    assert None not in found.cited
    assert set(found.kinds) <= set(NOT_GIVEN)


@pytest.mark.parametrize("name", [format_.NAME for format_ in all_formats()])
def test_its_track_would_accept(name: str, write: Write) -> None:
    in_one_line = json.dumps(json.loads(RECORDS[name]))
    assert command("check", write(in_one_line, f"{name}.jsonl")).status == 0


def test_the_record_of_a_pipeline_is_split_and_its_contexts_found(read: Read) -> None:
    response = read(RECORDS["qa"], "mine.jsonl").response
    assert [s.text for s in response.sentences] == [
        "The tram opened in 2021.",
        "It cost 18 million crowns.",
    ]
    assert list(response.documents) == [c.doc_id for c in response.sentences[1].citations]
