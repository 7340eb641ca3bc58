"""Findings: input problems that are counted and reported, and do not stop a job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from trecjudge.records import Place

Severity = Literal["error", "warning", "note"]
PREFIX: dict[Severity, str] = {"error": "not judged", "warning": "warning", "note": "note"}
"""The prefix of a printed finding, by severity."""


@dataclass(frozen=True, slots=True)
class FindingKind:
    """How bad a kind of finding is, and what it does to the scores.

    `error`: something could not be judged because of it. `warning`: it changes a score. `note`: it
    changes none.
    """

    severity: Severity
    effect: str


STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
"""Control characters, and characters that turn the direction of text or are invisible."""

RULE = FindingKind("note", "against a rule of the track; judged as it is")

KINDS: dict[str, FindingKind] = {
    "file_unreadable": FindingKind("error", "what cannot be read is not judged"),
    "file_not_a_run": FindingKind("note", "passed over"),
    "file_backup": FindingKind("note", "passed over"),
    "own_output": FindingKind("note", "passed over"),
    "file_without_responses": FindingKind("error", "nothing to judge in it"),
    "file_other_dataset": FindingKind("note", "read for what it is"),
    "bad_utf8": FindingKind("error", "the line is not judged"),
    "line_not_json": FindingKind("error", "the line is not judged"),
    "record_not_an_object": FindingKind("error", "the line is not judged"),
    "record_unknown_shape": FindingKind("error", "the line is not judged"),
    "record_too_large": FindingKind("error", "what is too large is not read"),
    "topic_id_missing": FindingKind("error", "the response is not judged"),
    "topic_id_conflict": FindingKind("warning", "the first id given counts"),
    "topic_duplicate": FindingKind("warning", "the first record counts"),
    "topic_unreadable": FindingKind("error", "the topic is left out"),
    "topic_text_unused": FindingKind("note", "no judge sees it"),
    "bytes_replaced": FindingKind("warning", "read without these bytes"),
    "topic_unknown": FindingKind("warning", "stays out of every mean"),
    "run_not_there": FindingKind("warning", "none"),
    "file_name_differs": FindingKind("note", "the run_id counts"),
    "run_id_missing": FindingKind("warning", "the file's name is taken"),
    "run_id_conflict": FindingKind("warning", "the later run gets a name of its own"),
    "run_id_alike": FindingKind("note", "two runs all the same"),
    "run_repeated": FindingKind("note", "counts once"),
    "team_id_missing": FindingKind("note", "none"),
    "response_duplicate": FindingKind("warning", "the first record counts"),
    "response_missing": FindingKind("warning", "as `on_missing` says"),
    "response_empty": FindingKind("warning", "judged as a response with no text"),
    "response_not_a_list": FindingKind(
        "warning", "split into sentences, with no citations but those that its text marks"
    ),
    "answer_differs": FindingKind("warning", "one of the two counts"),
    "sentence_unusable": FindingKind("warning", "read as a sentence with no text"),
    "citations_unusable": FindingKind("warning", "one citation that does not exist"),
    "citation_unusable": FindingKind("warning", "a citation that does not exist"),
    "citation_out_of_range": FindingKind("warning", "a citation that does not exist"),
    "citation_index_as_text": FindingKind("note", "read as an index"),
    "citation_by_position": FindingKind("warning", "read as a position in its list of documents"),
    "citations_misnamed": FindingKind("note", "read as `citations`"),
    "markers_read": FindingKind("warning", "read as citations and cut from the text"),
    "markers_unread": FindingKind("warning", "left in the text, as no citation"),
    "citation_duplicate": FindingKind("warning", "counts once"),
    "citation_score_unusable": FindingKind("note", "the score is dropped"),
    "references_unusable": FindingKind("warning", "citations by index cannot resolve"),
    "reference_unusable": FindingKind("warning", "citations of it do not exist"),
    "documents_unusable": FindingKind(
        "warning", "not there; what is cited and found nowhere may be it"
    ),
    "documents_by_position": FindingKind("note", "taken in the order of the references, or theirs"),
    "documents_position_unsure": FindingKind("warning", "may be taken for others"),
    "documents_elsewhere": FindingKind("warning", "is --documents the collection of these runs?"),
    "collection_unreadable": FindingKind("error", "what is cited and found nowhere is unjudged"),
    "file_not_documents": FindingKind("note", "passed over"),
    "document_duplicate": FindingKind("warning", "the first record counts"),
    "document_empty": FindingKind("warning", "citations of it cannot be judged"),
    "own_document_empty": FindingKind("warning", "the run's doing: it supports nothing"),
    "document_differs": FindingKind(
        "warning", "the text of --documents is judged, unless --own-documents"
    ),
    "documents_beside": FindingKind("warning", "judged by the text that the run carries"),
    "document_varies": FindingKind("warning", "each is judged by the text that it carries"),
    "documents_withheld": FindingKind("warning", "the run's doing: its citations do not exist"),
    "document_unknown": FindingKind("warning", "citations of it cannot be judged"),
    "document_missing": FindingKind("warning", "a citation that does not exist"),
    "label_unusable": FindingKind("error", "left out"),
    "label_duplicate": FindingKind("warning", "the first label counts"),
    "row_unreadable": FindingKind("error", "left out"),
    "grade_missing": FindingKind("error", "unjudged"),
    "row_repeated": FindingKind("note", "counts once"),
    "row_duplicate": FindingKind("warning", "as `--duplicates` says: the first value counts"),
    "all_row_differs": FindingKind("warning", "as `--all-rows` says: what its topics give counts"),
    "statistics_differ": FindingKind("warning", "they are of another job, and not used"),
    "items_unjudged": FindingKind("warning", "in no mean: a run may stand otherwise"),
    "grade_duplicate": FindingKind("warning", "the highest grade counts"),
    "grade_conflict": FindingKind("warning", "of pooled qrels the highest grade counts"),
    "run_id_shared": FindingKind("warning", "the files' names are taken"),
    "topics_unseen": FindingKind("note", "they count as the leaderboard counts them"),
    "run_one_sided": FindingKind("warning", "as `--on-missing` says"),
    "topic_one_sided": FindingKind(
        "warning", "means over topics of one side, as `--all-rows` says"
    ),
    "run_not_compared": FindingKind("warning", "left out"),
    "measure_one_sided": FindingKind("warning", "left out"),
    "value_one_sided": FindingKind("warning", "left out"),
    "unjudged_unseen": FindingKind("warning", "a rule may be kept only because of them"),
    "direction_assumed": FindingKind("warning", "higher is taken to be better"),
    "scores_constant": FindingKind("warning", "no correlation is defined"),
    "scores_tied": FindingKind("note", "each coefficient treats ties by its definition"),
    "assessment_missing": FindingKind("error", "written without a label"),
    "nuggets_not_asked": FindingKind("error", "the bank is made without it"),
    "nuggets_not_found": FindingKind("error", "its bank is empty"),
    "nugget_field_lost": FindingKind("warning", "this format of banks does not keep it"),
    "table_row_unusable": FindingKind("error", "what the bank has stays"),
    "table_rows_differ": FindingKind("warning", "the first row counts"),
    "nugget_bank_unknown": FindingKind("error", "left out"),
    "nugget_bank_topicless": FindingKind("error", "left out"),
    "nugget_bank_missing": FindingKind("warning", "responses to this topic are unjudged"),
    "nugget_bank_empty": FindingKind("warning", "nothing to look for on this topic"),
    "nugget_bank_repeated": FindingKind("warning", "the first bank counts"),
    "nugget_topic_unknown": FindingKind("note", "passed over"),
    "nugget_unusable": FindingKind("warning", "left out"),
    "nugget_repeated": FindingKind("note", "as the message says"),
    "nugget_unanswerable": FindingKind("note", "read as a question that nobody can answer"),
    "nugget_answer_undocumented": FindingKind("note", "no citation is linked to it"),
    "nugget_aggregator_unknown": FindingKind("warning", "read as OR: one answer will do"),
    "nugget_single_and": FindingKind("note", "read as it is"),
    "nugget_importance_unknown": FindingKind("warning", "read as without importance"),
    "nugget_id_number": FindingKind("note", "read as text"),
    "nugget_reference_unusable": FindingKind("warning", "left out"),
    "instruction_like_text": FindingKind("note", "judged all the same; look at its judgments"),
    "chat_tokens": FindingKind("note", "broken where a model is asked, else as they are"),
    "chat_turns": FindingKind("note", "bracketed where a model is asked, else as they are"),
    "hidden_characters": FindingKind("note", "no model sees them, else as they are"),
    "documents_not_given": FindingKind(
        "warning", "citations cannot be judged without document text"
    ),
    "citation_kind": RULE,
    "citation_malformed": RULE,
    "citation_unreferenced": RULE,
    "citations_mixed": RULE,
    "field_extra": RULE,
    "field_missing": RULE,
    "field_value": RULE,
    "field_varies": RULE,
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
        where = "" if self.sentence is None else f"sentence {self.sentence} "
        return f"{self.place}: {where}{self.message}"


OnFinding = Callable[[Finding], None]
"""Called with each finding, as it is made."""


UNREAD = frozenset(
    {
        *("line_not_json", "bad_utf8", "record_not_an_object", "record_too_large"),
        *("record_unknown_shape", "topic_unreadable", "documents_unusable"),
    }
)
"""Kinds of which a file that is no such file has one a line."""
MOST_UNREAD = 10_000
"""How many of each of these are passed on, with their lines; more are only counted."""


@dataclass(slots=True)
class FindingLog:
    """Counts findings by kind and passes each on to its listeners, of `UNREAD` the first."""

    listeners: list[OnFinding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    by_run: dict[str, Counter[str]] = field(default_factory=dict)
    """Counts by run_id of the findings that name a run, by kind."""

    def __call__(self, finding: Finding) -> None:
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


def visible(text: str) -> str:
    """Return a text with its control characters escaped: none may steer a terminal."""
    return STEERING.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def shown(value: object, limit: int = 80) -> str:
    """Return `repr(value)`, cut to `limit` characters, for a message."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deep; an integer of too many digits
        text = f"<{type(value).__name__} too large to show>"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shown_line(text: str, limit: int = 160) -> str:
    """Return a message on one line, cut to `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
