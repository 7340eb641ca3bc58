"""The responses behind the rules of a gate, with what was judged; also as JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from trecjudge.evaluation.gating import Gate
from trecjudge.files import fixed_time, open_target
from trecjudge.findings import Finding, visible
from trecjudge.records import Judgment, Response
from trecjudge.results.jobs import JobFiles
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.outputs import SUFFIXES
from trecjudge.show.html.job import read_log
from trecjudge.show.judgments import sentence_texts, text_of
from trecjudge.show.tables import cut
from trecjudge.show.tones import Tone, tone, word
from trecjudge.stats.comparison import System, values_by_topic
from trecjudge.stats.flips import ItemKey, item_key, verdict_changes
from trecjudge.stats.release_gate import TINY, RuleCheck, same_runs
from trecjudge.stats.scores import Scores

# The responses behind the rules of a gate: those that fall short, with what was judged of them.
MOST_RESPONSES = 500
"""Responses that are shown; of more, those that fall shortest, and a count of the rest."""
MOST_ITEMS = 5
MOST_CHARACTERS = 300
"""Of a sentence, a reason or a passage."""
WORSE: Mapping[Tone, int] = {"good": 0, "part": 1, "bad": 2, "missing": 2, "against": 2}
Before = Mapping[ItemKey, Judgment]
"""The judgments of the baseline on a response."""


@dataclass(slots=True)
class Failing:
    """A response that falls short of rules: by `amount` at most, in units of the measure.

    `fails` is whether its run breaks one of them; else the run keeps them all the same. `why` has a
    line for each rule, `items` one for each judgment behind it, of `judges` (an empty name is all).
    `seconds` is how long models were asked, None where none was.
    """

    run_id: str
    topic_id: str
    fails: bool = False
    amount: float = 0.0
    why: list[str] = field(default_factory=list)
    judges: set[str] = field(default_factory=set)
    items: list[str] = field(default_factory=list)
    seconds: float | None = None

    def add(self, check: RuleCheck, why: str, amount: float = 0.0) -> None:
        """Add that it falls short of the rule of a check."""
        self.fails = self.fails or bool(check.broken)
        self.amount = max(self.amount, amount)
        self.why.append(f"{check.rule.full_name} {why}")
        self.judges.add(check.rule.judge)


@dataclass(slots=True)
class FailingResponses:
    """Responses that fall short, by (run_id, topic_id), and how many `more` there are.

    `seconds` is how long the job took, None where it has no log.
    """

    shown: dict[tuple[str, str], Failing]
    more: int = 0
    seconds: float | None = None


def failing_responses(
    checks: Sequence[RuleCheck], tables: Sequence[Scores], jobs: Sequence[JobFiles]
) -> FailingResponses:
    """Return the responses that fall short of rules, as far as values by topic are known.

    `tables` and `jobs` are those of the leaderboard and of its baseline, if any. Where unjudged
    items break a rule, the responses that have them fall short too.
    """
    runs = {new: old for old, new in same_runs(*tables).items()} if tables[1:] else {}
    asked, every = set(tables[-1].topics), dict[tuple[str, str], Failing]()
    for check in (c for c in checks if c.rule.measure in tables[0].measures):
        values = _by_topic(tables[0], check.run_id, check.rule.measure)
        before = _by_topic(tables[-1], runs.get(check.run_id), check.rule.measure)
        if check.rule.kind == "drop":  # a topic that the baseline was not asked did not get worse
            values = {t: value for t, value in values.items() if t in asked}
        for topic_id, why, amount in _short(check, values, before):
            key = (check.run_id, topic_id)
            every.setdefault(key, Failing(*key)).add(check, why, amount)
    for judgment in _worse_judgments([job.judgments for job in jobs]) if runs else ():
        key = (judgment.run_id, judgment.topic_id)
        of_run = (c for c in checks if c.rule.kind == "drop" and c.run_id == judgment.run_id)
        for check in of_run if key not in every else ():
            if check.rule.judge in ("", judgment.judge):
                every.setdefault(key, Failing(*key)).add(check, "is no worse, but a verdict is")
    ordered = sorted(every, key=lambda key: (not every[key].fails, -every[key].amount, key))
    found = FailingResponses({key: every[key] for key in ordered[:MOST_RESPONSES]})
    found.more = len(every) - len(found.shown)
    if jobs[0].judgments is not None:
        _add_items(found, checks, tables[0], jobs[0].judgments, _earlier(found, runs, jobs[1:]))
        log = f"{jobs[0].place.name}{SUFFIXES['log']}"
        _add_times(found, jobs[0].judgments.with_name(log))
    return found


def _worse_judgments(paths: Sequence[Path | None]) -> Iterator[Judgment]:
    now, old = (None if path is None else JudgmentsReader(path) for path in paths)
    if now is not None and old is not None:
        flips = verdict_changes(old, now).flips
        yield from (flip.after for flip in flips if _is_worse(flip.after, flip.before))


def _by_topic(scores: Scores, run_id: str | None, measure: str) -> dict[str, float]:
    if run_id is None or run_id not in scores.runs or measure not in scores.measures:
        return {}
    return values_by_topic(System(scores, run_id), measure)


def _short(
    check: RuleCheck, values: Mapping[str, float], before: Mapping[str, float]
) -> Iterator[tuple[str, str, float]]:
    """Yield (topic, why, by how much) of responses that fall short of a rule."""
    rule = check.rule
    if rule.kind != "drop":
        words, sign = ("at least", -1) if rule.kind == "min" else ("at most", 1)
        for topic_id, value in values.items():
            if (short := sign * (value - rule.limit)) > TINY:
                yield topic_id, f"is {value:.4g}, must be {words} {rule.limit:g}", short
        return
    mean = sum(before.values()) / max(len(before), 1)
    for topic_id in {**before, **values} if before else ():
        old, new = before.get(topic_id), values.get(topic_id)
        # As the rule counts them: what is lost as the worst, what is new against the mean before.
        fall = (mean if old is None else old) - (rule.worst if new is None else new)
        fall *= -1 if rule.lower_is_better else 1
        if fall > TINY:
            shown = ("no value" if value is None else f"{value:.4g}" for value in (old, new))
            yield topic_id, f"got worse: from {' to '.join(shown)}", fall


def _earlier(
    found: FailingResponses, runs: Mapping[str, str], baseline: Sequence[JobFiles]
) -> dict[tuple[str, str], Before]:
    wanted = {(runs.get(run_id, run_id), topic): (run_id, topic) for run_id, topic in found.shown}
    return {
        wanted[r.run_id, r.topic_id]: {item_key(judgment): judgment for judgment in judgments}
        for job in baseline
        if job.judgments is not None
        for r, judgments in JudgmentsReader(job.judgments)
        if (r.run_id, r.topic_id) in wanted
    }


def _add_items(
    found: FailingResponses,
    checks: Sequence[RuleCheck],
    scores: Scores,
    path: Path,
    earlier: Mapping[tuple[str, str], Before],
) -> None:
    """Add what was judged of each response, and the responses whose unjudged items break a rule."""
    shown, missing = found.shown, set(found.shown)
    gaps = {key for key, one in scores.unjudged.items() if one.items}
    is_open = [c for c in checks if c.broken and (c.run_id, c.rule.measure) in gaps]
    for response, judgments in JudgmentsReader(path):
        key = (response.run_id, response.topic_id)
        missing.discard(key)
        for check in is_open if any(not judgment.judged for judgment in judgments) else ():
            own = [j.judged for j in judgments if check.rule.judge in ("", j.judge)]
            if check.run_id != response.run_id or all(own):
                continue
            if key in shown or len(shown) < MOST_RESPONSES:
                why = f"has {own.count(False)} of {len(own)} items unjudged"
                shown.setdefault(key, Failing(*key)).add(check, why)
            else:
                found.more += 1
        if key in shown:
            of_judges = [j for j in judgments if shown[key].judges & {"", j.judge}]
            shown[key].items = list(_item_lines(response, of_judges, earlier.get(key, {})))
    for key in missing:
        shown[key].items = ["the run has no response on this topic"]


def _item_lines(response: Response, judgments: Sequence[Judgment], before: Before) -> Iterator[str]:
    got_worse = {id(j) for j in judgments if _is_worse(j, before.get(item_key(j)))}
    bad = [j for j in judgments if WORSE.get(tone(j), not j.judged) or id(j) in got_worse]
    telling = [j for j in bad if item_key(j) not in before or id(j) in got_worse] or bad
    texts = sentence_texts(response)
    for judgment in telling[:MOST_ITEMS]:
        yield _line(judgment, judgment.about or text_of(judgment, texts), before)
    if len(telling) > MOST_ITEMS:
        yield f"and {len(telling) - MOST_ITEMS} more of {len(judgments)} judgments"
    if not telling:
        yield f"response {_quote(response.shown)}"


def _is_worse(judgment: Judgment, earlier: Judgment | None) -> bool:
    if earlier is None or not (earlier.judged and judgment.judged):
        return earlier is not None and earlier.judged
    if judgment.grade is not None and earlier.grade is not None:
        return judgment.grade < earlier.grade
    return WORSE.get(tone(judgment), 0) > WORSE.get(tone(earlier), 0)


def _line(judgment: Judgment, text: str, before: Before) -> str:
    index, document = judgment.sentence_index, judgment.doc_id or judgment.citation
    where = "response" if index is None else f"sentence {index + 1}"
    earlier = before.get(item_key(judgment))
    parts = [
        f"{where} {_quote(text)}" if text else where,
        word(judgment) + (f" (before: {word(earlier)})" if earlier else ""),
        f"document {cut(document, MOST_CHARACTERS)}" if document else "",
        cut(judgment.failure.message if judgment.failure else judgment.reason, MOST_CHARACTERS),
    ]
    nearest = next((source for source in judgment.sources if source.excerpt), None)
    if judgment.evidence is not None and judgment.evidence.quote:
        parts.append(f"evidence: {_quote(judgment.evidence.quote)}")
    elif nearest is not None:
        document = cut(nearest.doc_id, MOST_CHARACTERS)
        parts.append(f"nearest passage, in {document}: {_quote(nearest.excerpt)}")
    return "; ".join(part for part in parts if part)


def _quote(text: str) -> str:
    return f'"{cut(text, MOST_CHARACTERS)}"'


def _add_times(found: FailingResponses, log: Path) -> None:
    """Add how long the job took, and how long models were asked about each response.

    Nothing is added where the time of files is fixed.
    """

    def add(event: dict[str, Any]) -> None:
        of_job = found if event["event"] == "session_end" else None
        one = found.shown.get((event.get("run_id", ""), event.get("topic_id", "")), of_job)
        if one is not None and not event.get("cached"):
            one.seconds = (one.seconds or 0.0) + event.get("seconds", 0.0)

    if not fixed_time():
        read_log(log, {"MODEL_CALL": add, "session_end": add})


# JUnit XML of a gate's checks, for the CI servers that read it.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""Attribute of a suite -> the element that it counts."""


def write_junit(path: Path, gate: Gate) -> None:
    """Write the checks of a gate as JUnit XML. Raises OutputError."""
    with open_target(path) as file:
        failing = failing_responses(gate.checks, gate.tables, gate.jobs)
        file.write(junit(str(gate.jobs[0].place), gate.checks, gate.left_out, failing))


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
