"""JUnit XML of a gate's checks, for the CI servers that read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from trecjudge.findings import Finding, visible
from trecjudge.show.failing import Failing, FailingResponses
from trecjudge.stats.release_gate import RuleCheck

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""Attribute of a suite -> the element that it counts."""


def junit(
    name: str,
    checks: Sequence[RuleCheck],
    left_out: Sequence[Finding] = (),
    failing: FailingResponses | None = None,
) -> bytes:
    """Return a test suite with a case for each check; a broken rule is a failure.

    A case follows for each response that falls short: a failure where its run breaks the rule, and
    else skipped, since the gate lets it pass. Each part of the input that could not be read is a
    case with an error.
    """
    suite = Xml.Element("testsuite", {"name": _clean(name)})
    for check in checks:
        # CI servers group cases by class name: one group for each run.
        case = _case(suite, check.run_id, str(check.rule))
        if check.broken or check.no_rule:
            tag = "failure" if check.broken else "skipped"
            _add_text(case, tag, check.rule.kind, check.broken or check.no_rule, str(check))
    for _, one in sorted(failing.shown.items()) if failing else ():
        _add_response(suite, one)
    if failing and failing.more:
        more = f"{failing.more} more responses fall short of a rule"
        _add_text(_case(suite, "gate", "further responses"), "skipped", "response", more, more)
    for finding in left_out:
        case = _case(suite, "input", str(finding.place))
        _add_text(case, "error", "input", finding.message, str(finding))
    _add_counts(suite, failing)
    Xml.indent(suite)
    text: bytes = Xml.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_response(suite: Xml.Element, one: Failing) -> None:
    case = _case(suite, one.run_id, f"topic {one.topic_id}")
    if one.seconds is not None:
        case.set("time", f"{one.seconds:.3f}")
    # Some servers show the message only, some the text: the first item is in both.
    message = ". ".join([*one.why, *one.items[:1]])
    text = "\n".join([*one.why, *one.items])
    _add_text(case, "failure" if one.fails else "skipped", "response", message, text)


def _case(suite: Xml.Element, group: str, name: str) -> Xml.Element:
    return Xml.SubElement(suite, "testcase", {"classname": _clean(group), "name": _clean(name)})


def _add_text(case: Xml.Element, tag: str, kind: str, message: str, text: str) -> None:
    told = Xml.SubElement(case, tag, {"message": _clean(message), "type": kind})
    told.text = _clean(text)


def _add_counts(suite: Xml.Element, failing: FailingResponses | None) -> None:
    suite.set("tests", str(len(suite)))
    for attribute, tag in COUNTED.items():
        count = sum(1 for _ in suite.iter(tag))
        if count or tag != "skipped":
            suite.set(attribute, str(count))
    if failing and failing.seconds is not None:
        suite.set("time", f"{failing.seconds:.3f}")


def _clean(text: str) -> str:
    """Return a text without what XML cannot hold, not even escaped."""
    return NOT_XML.sub("\ufffd", visible(text))
