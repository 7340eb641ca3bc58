"""Topics between tags."""

from __future__ import annotations

import pytest

from tests.reading import Write
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics
from trecjudge.records import Topic

CLASSIC = """\
<top>
<num> Number: 301
<title> International Crime &amp; Law

<desc> Description:
Identify organizations, p < 0.05,
that commit crimes.
<narr> Narrative:
A relevant document names one.
</top>
<top>
<num> Number: 302
<title> Polio
</top>
"""
XML = """\
<?xml version="1.0"?>
<topics task="2025">
 <topic number="301">
  <query>International Crime &amp; Law</query>
  <description>Identify organizations, p &lt; 0.05, that commit crimes.</description>
  <narrative>A relevant document names one.</narrative>
 </topic>
 <topic number="302">Polio</topic>
</topics>
"""
WANTED = [
    Topic(
        "301",
        "International Crime & Law",
        "Identify organizations, p < 0.05, that commit crimes.\n\nA relevant document names one.",
    ),
    Topic("302", "Polio"),
]


@pytest.mark.parametrize("text", [CLASSIC, XML], ids=["SGML", "XML"])
def test_topics_between_tags(text: str, write: Write) -> None:
    findings: list[Finding] = []
    assert list(read_topics(write(text, "topics.txt"), findings.append).values()) == WANTED
    assert findings == []


def test_an_unknown_tag_with_text_is_reported_with_its_line(write: Write) -> None:
    findings: list[Finding] = []
    text = CLASSIC.replace("<title> Polio", "<title> Polio\n<smry> Who had it?")
    assert list(read_topics(write(text), findings.append).values()) == WANTED
    assert [(f.kind, f.value, f.place.line) for f in findings] == [
        ("topic_question_unused", "smry", 11)
    ]


def test_bytes_that_are_not_utf_8_are_reported_and_the_rest_is_read(write: Write) -> None:
    findings: list[Finding] = []
    found = read_topics(
        write(CLASSIC.replace("Polio", "Caf\xe9").encode("latin-1")), findings.append
    )
    assert found["302"].title == "Caf\ufffd"
    assert [(f.kind, f.place.line) for f in findings] == [("bytes_replaced", 13)]
