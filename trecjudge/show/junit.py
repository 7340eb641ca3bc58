"""JUnit XML of a gate's checks, for the CI servers that read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from trecjudge.findings import Finding, visible
from trecjudge.stats.release_gate import Check

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(name: str, checks: Sequence[Check], left_out: Sequence[Finding] = ()) -> bytes:
    """Return a test suite with a case for each check; a broken rule is a failure.

    Each part of the input that could not be read is a case with an error.
    """
    broken = sum(bool(check.broken) for check in checks)
    counts = {
        "tests": str(len(checks) + len(left_out)),
        "failures": str(broken),
        "errors": str(len(left_out)),
    }
    suite = Xml.Element("testsuite", {"name": _clean(name)} | counts)
    for check in checks:
        named = {"classname": _clean(check.run_id), "name": _clean(str(check.rule))}
        # CI servers group cases by class name: one group for each run.
        case = Xml.SubElement(suite, "testcase", named)
        if check.broken:
            failure = Xml.SubElement(case, "failure", {"message": _clean(check.broken)})
            failure.text = _clean(str(check))
    for finding in left_out:
        named = {"classname": "input", "name": _clean(str(finding.place))}
        case = Xml.SubElement(suite, "testcase", named)
        Xml.SubElement(case, "error", {"message": _clean(finding.message)})
    Xml.indent(suite)
    text: bytes = Xml.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _clean(text: str) -> str:
    """Return a text without what XML cannot hold, not even escaped."""
    return NOT_XML.sub("\ufffd", visible(text))
