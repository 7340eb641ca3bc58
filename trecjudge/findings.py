"""Findings: input problems that are counted and reported, and do not stop a job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from trecjudge.records import Place

Severity = Literal["error", "warning", "note"]
PREFIX: dict[Severity, str] = {"error": "not judged", "warning": "warning", "note": "note"}
"""The prefix of a printed finding, by severity."""


@dataclass(frozen=True, slots=True)
class FindingKind:
    """How bad a kind of finding is, and what it does to the scores.

    `error`: something could not be judged because of it. `warning`: it changes a score. `note`: no
    score changes.
    """

    severity: Severity
    effect: str


STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
    r"|(?<!\S):(?=:\w)|#(?=#(vso|teamcity)?\[)"
)
"""Control characters, characters that turn the direction of text or are invisible, and marks by
which CI servers know a command in what is printed: `::` at the beginning, `##[`, `##vso[`."""

IN_ALL = "marks_in_all"
"""The kind of the one finding that sums up those on the marks of each run."""
RULE = FindingKind("note", "none: judged as it is, against a rule of the track")
"""The kind of all findings on broken rules of the tracks."""

KINDS: dict[str, FindingKind] = {
    "file_unreadable": FindingKind("error", "what cannot be read is not judged"),
    "file_not_a_run": FindingKind("note", "none: the file is passed over"),
    "file_backup": FindingKind("note", "none: the file is passed over"),
    "own_output": FindingKind("note", "none: the file is passed over"),
    "file_without_responses": FindingKind("error", "nothing of the file is judged"),
    "file_other_dataset": FindingKind("note", "none: read in its own format"),
    "bad_utf8": FindingKind("error", "the line is not judged"),
    "encoding_assumed": FindingKind("warning", "its letters beyond ASCII may be others"),
    "line_not_json": FindingKind("error", "the line is not judged"),
    "record_not_an_object": FindingKind("error", "the line is not judged"),
    "record_unknown_shape": FindingKind("error", "the line is not judged"),
    "record_too_large": FindingKind("error", "the record is not read"),
    "trace_unused": FindingKind("note", "none: no judge uses it"),
    "key_not_there": FindingKind("warning", "the part is looked for where it usually is"),
    "topic_id_missing": FindingKind("error", "the response is not judged"),
    "topic_id_conflict": FindingKind("warning", "the first id given counts"),
    "topic_duplicate": FindingKind("warning", "the first record counts"),
    "topic_unreadable": FindingKind("error", "the topic is left out"),
    "topic_text_unused": FindingKind("note", "none: no judge sees it"),
    "topic_question_unused": FindingKind("warning", "judged by another text of the topic"),
    "topic_by_text": FindingKind("note", "none: judged under the topic's id"),
    "bytes_replaced": FindingKind("warning", "read without these bytes"),
    "topic_unknown": FindingKind("warning", "stays out of every mean"),
    "run_not_there": FindingKind("warning", "no such run is judged"),
    "topic_not_there": FindingKind("warning", "no such topic is judged"),
    "file_name_differs": FindingKind("note", "none: the run_id counts"),
    "run_id_missing": FindingKind("warning", "the file's name is used as run_id"),
    "run_id_conflict": FindingKind("warning", "the later run gets a name of its own"),
    "run_id_alike": FindingKind("note", "none: they count as two runs"),
    "run_repeated": FindingKind("note", "counts once"),
    "team_id_missing": FindingKind("note", "none: the run has no team"),
    "response_duplicate": FindingKind(
        "warning",
        "the first record counts; another answer of a run of no track is a sample",
    ),
    "response_missing": FindingKind(
        "warning", "counts with the measure's default, unless `on_missing` is set otherwise"
    ),
    "response_empty": FindingKind(
        "warning", "judged as one with no text, or as an abstention if it says so"
    ),
    "response_not_a_list": FindingKind(
        "warning", "split into sentences, with only the citations that its text marks"
    ),
    "reasoning_cut": FindingKind("warning", "cut: it is no part of the answer"),
    "answer_differs": FindingKind("warning", "one of the two counts"),
    "sentence_unusable": FindingKind("warning", "read as a sentence with no text"),
    "citations_unusable": FindingKind("warning", "all count as one citation that supports nothing"),
    "citation_unusable": FindingKind("warning", "counts as a citation that supports nothing"),
    "citation_out_of_range": FindingKind("warning", "counts as a citation that supports nothing"),
    "citation_index_as_text": FindingKind("note", "read as an index"),
    "citation_by_position": FindingKind("warning", "read as a position in its list of documents"),
    "citations_misnamed": FindingKind("note", "read as `citations`"),
    "markers_read": FindingKind("note", "read as citations and cut from the text"),
    "citation_not_read": FindingKind("warning", "this citation is unjudged"),
    "marks_counted": FindingKind("note", "none: an inventory of a run"),
    IN_ALL: FindingKind("note", "none: an inventory of all runs"),
    "own_sources_read": FindingKind("note", "is no sentence, and may say what numbers mean"),
    "citation_duplicate": FindingKind("warning", "counts once"),
    "citation_score_unusable": FindingKind("note", "the score is dropped"),
    "references_unusable": FindingKind("warning", "citations by index cannot resolve"),
    "reference_unusable": FindingKind("warning", "citations of it do not exist"),
    "documents_unusable": FindingKind(
        "warning", "left out; a cited document that is found nowhere may be it"
    ),
    "documents_by_position": FindingKind("note", "taken in the references' order, or in their own"),
    "documents_position_unsure": FindingKind("warning", "may be mistaken for one another"),
    "documents_elsewhere": FindingKind(
        "warning", "citations may count as missing: is --documents their collection?"
    ),
    "documents_not_fetched": FindingKind(
        "error", "what depends on their text is unjudged; the same command asks again"
    ),
    "documents_not_packed": FindingKind("note", "unjudged, unless another source knows"),
    "documents_lacked": FindingKind("note", "packed: a text that one job has is there for all"),
    "input_changed": FindingKind("warning", "what is packed may be another than the job read"),
    "collection_unreadable": FindingKind("error", "cited documents found nowhere are unjudged"),
    "address_differs": FindingKind("note", "none: the file is read through for these documents"),
    "files_not_given": FindingKind(
        "warning", "what depends on their documents is unjudged, unless these are elsewhere"
    ),
    "file_not_documents": FindingKind("note", "none: the file is passed over"),
    "document_duplicate": FindingKind("warning", "the first record counts"),
    "document_edited": FindingKind("warning", "judged by the text as it stands"),
    "documents_differ": FindingKind("warning", "the first source counts"),
    "document_chunks": FindingKind("note", "all are its text: support by any of them counts"),
    "text_field_guessed": FindingKind("note", "the one long field of its record is its text"),
    "id_field_guessed": FindingKind("note", "the texts of that column are its ids"),
    "document_not_read": FindingKind("warning", "what depends on its text cannot be judged"),
    "excerpt_cut": FindingKind("warning", "judged where it says enough; else unjudged"),
    "number_not_json": FindingKind("note", "read as null"),
    "document_empty": FindingKind("warning", "citations of it cannot be judged"),
    "own_document_empty": FindingKind("warning", "it supports nothing: the run left its text out"),
    "document_differs": FindingKind(
        "warning", "the text of --documents is judged, unless --own-documents"
    ),
    "documents_beside": FindingKind("warning", "judged by the text that the run carries"),
    "document_varies": FindingKind("warning", "each is judged by the text that it carries"),
    "documents_withheld": FindingKind("warning", "citations do not exist: the run left these out"),
    "document_unknown": FindingKind("warning", "citations of it cannot be judged"),
    "document_missing": FindingKind("warning", "counts as a citation that supports nothing"),
    "provenance_unusable": FindingKind("warning", "nothing is said of where its sentence is from"),
    "retrieved_unusable": FindingKind("warning", "what was retrieved for its topic is not known"),
    "quote_missing": FindingKind("warning", "the run names an origin that its document lacks"),
    "label_unusable": FindingKind("error", "left out"),
    "label_duplicate": FindingKind("warning", "the first label counts"),
    "label_contradicted": FindingKind("warning", "this person's labels of it are left out"),
    "labels_called": FindingKind("note", "none: other words for the judge's labels"),
    "labels_tied": FindingKind("warning", "it has no label: no majority"),
    "people_unnamed": FindingKind("note", "the majority of its labels counts"),
    "claim_weight_unused": FindingKind("warning", "it weighs no claim of the job"),
    "row_unreadable": FindingKind("error", "left out"),
    "grade_missing": FindingKind("error", "unjudged"),
    "layout_assumed": FindingKind("warning", "read so, unless `--format` names another"),
    "row_repeated": FindingKind("note", "counts once"),
    "row_duplicate": FindingKind(
        "warning", "the first value counts, as set by `--rows duplicates=`"
    ),
    "all_row_differs": FindingKind("warning", "its topics' values count, as set by `--rows all=`"),
    "statistics_differ": FindingKind("warning", "they are of another job, and not used"),
    "items_unjudged": FindingKind("warning", "in no mean: the order of runs could change"),
    "judgments_edited": FindingKind("note", "none: its judgments count as they stand"),
    "grade_duplicate": FindingKind("warning", "the highest grade counts"),
    "grade_conflict": FindingKind("warning", "of pooled qrels the highest grade counts"),
    "run_id_shared": FindingKind("warning", "the files' names are used instead"),
    "topics_unseen": FindingKind("note", "they count as the leaderboard counts them"),
    "run_one_sided": FindingKind("warning", "treated as set by `--rows missing=`"),
    "topic_one_sided": FindingKind(
        "warning", "means include topics of one side only, as set by `--rows all=`"
    ),
    "run_not_compared": FindingKind("warning", "left out"),
    "measure_one_sided": FindingKind("warning", "left out"),
    "measure_undefined": FindingKind("warning", "left out"),
    "value_one_sided": FindingKind("warning", "left out"),
    "unjudged_unseen": FindingKind("warning", "a rule may be kept only because of them"),
    "nothing_judged": FindingKind("warning", "a rule on it holds nothing"),
    "direction_assumed": FindingKind("warning", "higher is taken to be better"),
    "ranking_unknown": FindingKind("warning", "all measures are held, good or not"),
    "baseline_empty": FindingKind("warning", "no drop is found: there is nothing to compare with"),
    "rule_left_out": FindingKind("note", "none: there is nothing that it could find"),
    "scores_constant": FindingKind("warning", "no correlation is defined"),
    "scores_tied": FindingKind("note", "each coefficient treats ties by its definition"),
    "assessment_missing": FindingKind("error", "written without a label"),
    "nuggets_not_asked": FindingKind("error", "the bank is made without it"),
    "nuggets_not_found": FindingKind("error", "its bank is empty"),
    "nugget_field_lost": FindingKind("warning", "this format of banks does not keep it"),
    "answer_failed": FindingKind("error", "the run has no record of this topic"),
    "answer_cut": FindingKind("warning", "whole sentences are left out, from the end"),
    "passage_unknown": FindingKind("warning", "the citation is left out"),
    "quote_elsewhere": FindingKind("warning", "the citation is left out"),
    "quote_not_found": FindingKind("warning", "the sentence is left out"),
    "table_row_unusable": FindingKind("error", "the bank keeps its entry"),
    "table_rows_differ": FindingKind("warning", "the first row counts"),
    "nugget_bank_unknown": FindingKind("error", "left out"),
    "nugget_bank_topicless": FindingKind("error", "left out"),
    "nugget_bank_missing": FindingKind("warning", "responses to this topic are unjudged"),
    "nugget_bank_empty": FindingKind("warning", "nothing to look for on this topic"),
    "nugget_bank_repeated": FindingKind("warning", "the first bank counts"),
    "nugget_topic_unknown": FindingKind("note", "none: passed over"),
    "nugget_unusable": FindingKind("warning", "left out"),
    "nugget_repeated": FindingKind("note", "as the message says"),
    "nugget_unanswerable": FindingKind("note", "read as a question that nobody can answer"),
    "nugget_answer_undocumented": FindingKind("note", "no citation is linked to it"),
    "nugget_aggregator_unknown": FindingKind("warning", "read as OR: one answer will do"),
    "nugget_single_and": FindingKind("note", "read as it is"),
    "nugget_importance_unknown": FindingKind("warning", "read as without importance"),
    "nugget_importance_missing": FindingKind(
        "note", "none is vital; of a topic all weigh the same"
    ),
    "nugget_documents_uncited": FindingKind(
        "warning", "measures that look for them in citations have no value"
    ),
    "criterion_weight_unusable": FindingKind("error", "the criterion is left out"),
    "nugget_id_number": FindingKind("note", "read as text"),
    "nugget_reference_unusable": FindingKind("warning", "left out"),
    "instruction_like_text": FindingKind("note", "judged like other text; look at its judgments"),
    "chat_tokens": FindingKind("note", "broken up in what a model is sent, else kept"),
    "chat_turns": FindingKind("note", "bracketed in what a model is sent, else kept"),
    "hidden_characters": FindingKind("note", "left out of what a model is sent, else kept"),
    "input_lacking": FindingKind("warning", "what depends on it is unjudged"),
    "documents_not_given": FindingKind(
        "warning", "citations cannot be judged without document text"
    ),
    "citation_by_id": RULE,
    "citation_given": RULE,
    "citation_kind": RULE,
    "citation_malformed": RULE,
    "citation_unreferenced": RULE,
    "citations_mixed": RULE,
    "field_extra": RULE,
    "field_missing": RULE,
    "field_reserved": RULE,
    "field_value": RULE,
    "field_varies": RULE,
    "file_not_jsonl": RULE,
    "file_of_several_runs": RULE,
    "format_of_other_track": RULE,
    "reference_duplicate": RULE,
    "reference_malformed": RULE,
    "reference_uncited": RULE,
    "references_missing": RULE,
    "response_length_differs": RULE,
    "run_id_too_long": RULE,
    "sentence_empty": RULE,
    "too_long": RULE,
    "too_many_citations": RULE,
    "too_many_references": RULE,
    "topic_id_malformed": RULE,
    "topic_text_differs": RULE,
    "topic_text_missing": RULE,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of the input: its kind, its place and the value found there."""

    kind: str
    place: Place
    message: str
    value: str = ""
    sentence: int | None = None
    run_id: str = ""
    topic_id: str = ""

    @property
    def severity(self) -> Severity:
        """`error`, `warning` or `note`, by kind."""
        return KINDS[self.kind].severity

    def __str__(self) -> str:
        where = "" if self.sentence is None else f"sentence {self.sentence + 1} "
        return f"{self.place}: {where}{self.message}"


OnFinding = Callable[[Finding], None]
"""Called with each finding, as it is made."""


def ignore(_: object) -> None:
    """Do nothing with a finding or a message: it is told elsewhere, or says nothing here."""


_TOLD: ContextVar[OnFinding] = ContextVar("told", default=ignore)


@contextmanager
def telling(report: OnFinding) -> Iterator[None]:
    """Have findings go to `report` meanwhile that are made where nobody listens to others."""
    token = _TOLD.set(report)
    try:
        yield
    finally:
        _TOLD.reset(token)


def tell(finding: Finding) -> None:
    """Report a finding to whoever listens by `telling`."""
    _TOLD.get()(finding)


UNREAD = frozenset(
    {
        *("line_not_json", "bad_utf8", "record_not_an_object", "record_too_large"),
        *("record_unknown_shape", "topic_unreadable", "documents_unusable"),
    }
)
"""Kinds that a file given as the wrong input would have on every line."""
MOST_UNREAD = 10_000
"""How many findings of each of these kinds are passed on; more are only counted."""


@dataclass(slots=True)
class FindingLog:
    """Counts findings by kind and passes them to listeners; of kinds in UNREAD only the first."""

    listeners: list[OnFinding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    by_run: dict[str, Counter[str]] = field(default_factory=dict)
    """Counts by run_id of the findings that name a run, by kind."""
    inventory: str = ""
    """What marks of citations all runs have in their texts; known once they are read."""

    def __call__(self, finding: Finding) -> None:
        if finding.kind == IN_ALL:  # a total of findings that were passed on, no further one
            self.inventory = finding.message
            return
        self.counts[finding.kind] += 1
        # Findings on topics and documents have no run.
        if finding.run_id:
            self.by_run.setdefault(finding.kind, Counter())[finding.run_id] += 1
        if finding.kind in UNREAD and self.counts[finding.kind] > MOST_UNREAD:
            return
        for listen in self.listeners:
            listen(finding)

    def of_severity(self, *severities: Severity) -> int:
        """Return the number of findings of the given severities."""
        return sum(n for kind, n in self.counts.items() if KINDS[kind].severity in severities)


FEW_OF_A_KIND, FEW, FEWEST = 3, 9, 14
"""Findings that are printed: of a kind, of all kinds until each gets only one more, and in all."""


@dataclass(slots=True)
class FirstFindings:
    """Chooses the findings that are printed: a file given as the wrong input has one on each line.

    Of each kind the first few, of all kinds not many; the others are counted.
    """

    hidden: Counter[str] = field(default_factory=Counter)
    _taken: Counter[str] = field(default_factory=Counter)

    def take(self, finding: Finding) -> bool:
        """Return whether to print a finding."""
        printed = self._taken.total()
        most = FEW_OF_A_KIND if printed < FEW else 1
        chosen = printed < FEWEST and self._taken[finding.kind] < most
        (self._taken if chosen else self.hidden)[finding.kind] += 1
        return chosen

    def rest(self, advice: str = "") -> Iterator[str]:
        """Yield a line with the number of each kind that was not printed, if there are any."""
        if self.hidden:
            counts = ", ".join(f"{n} more of {kind}" for kind, n in self.hidden.most_common())
            yield f"… {counts}{advice}"


def visible(text: str) -> str:
    """Return a text with its control characters escaped: none may steer a terminal or a server."""
    return STEERING.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def visible_line(text: str) -> str:
    """Return a text as one line, as `visible`: none may look like a line of ours."""
    return visible(text).replace("\n", "\\x0a")


def brief(value: object, limit: int = 80) -> str:
    """Return `repr(value)`, cut to `limit` characters, for a message."""
    if isinstance(value, str | bytes):
        value = value[: limit + 1]
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deep; an integer of too many digits
        text = f"<{type(value).__name__} too large to show>"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def brief_line(text: str, limit: int = 160) -> str:
    """Return a message on one line, cut to `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def plural(number: int, noun: str, plural: str = "") -> str:
    """Return `1 run`, `2 runs`; `plural` where that is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
