"""Judge the output of retrieval-augmented generation systems in batch: what others may import.

Names are imported from their modules when they are asked for: `import trecjudge` costs nothing.
See docs/python.md for what a notebook needs; the rest is for judges and plug-ins.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trecjudge.api.judging import Progress as Progress
    from trecjudge.api.judging import ajudge as ajudge
    from trecjudge.api.judging import judge as judge
    from trecjudge.api.reading import FindingWarning as FindingWarning
    from trecjudge.api.reading import read_documents as read_documents
    from trecjudge.api.reading import read_runs as read_runs
    from trecjudge.api.reading import read_topics as read_topics
    from trecjudge.api.result import Result as Result
    from trecjudge.api.result import TopicScore as TopicScore
    from trecjudge.api.statistics import MetaEvaluation as MetaEvaluation
    from trecjudge.api.statistics import agree as agree
    from trecjudge.api.statistics import compare as compare
    from trecjudge.api.statistics import meta_evaluate as meta_evaluate
    from trecjudge.errors import PLANNED as PLANNED
    from trecjudge.errors import InputError as InputError
    from trecjudge.errors import JudgmentFailed as JudgmentFailed
    from trecjudge.errors import ModelError as ModelError
    from trecjudge.errors import OutputError as OutputError
    from trecjudge.errors import PluginError as PluginError
    from trecjudge.errors import TrecJudgeError as TrecJudgeError
    from trecjudge.errors import WorkflowError as WorkflowError
    from trecjudge.evaluation.agreement import Agreement as Agreement
    from trecjudge.evaluation.comparing import Comparison as Comparison
    from trecjudge.findings import Finding as Finding
    from trecjudge.judging.attest.attesters import HOLLOW as HOLLOW
    from trecjudge.judging.attest.attesters import NO_TEXT as NO_TEXT
    from trecjudge.judging.attest.attesters import AttesterName as AttesterName
    from trecjudge.judging.attest.attesters import require_shared_script as require_shared_script
    from trecjudge.judging.attest.attesters import require_text as require_text
    from trecjudge.judging.attest.attesters import text_missing as text_missing
    from trecjudge.judging.attest.citations import Attesting as Attesting
    from trecjudge.judging.attest.citations import best_or_worst as best_or_worst
    from trecjudge.judging.attest.citations import citation_item as citation_item
    from trecjudge.judging.claims.by_model import NOT_FOUND as NOT_FOUND
    from trecjudge.judging.claims.by_model import first_sure as first_sure
    from trecjudge.judging.claims.by_model import in_parts as in_parts
    from trecjudge.judging.claims.by_model import no_evidence as no_evidence
    from trecjudge.judging.claims.by_model import with_note as with_note
    from trecjudge.judging.claims.by_words import LexicalDetector as LexicalDetector
    from trecjudge.judging.claims.by_words import missing as missing
    from trecjudge.judging.claims.extraction import SPLIT as SPLIT
    from trecjudge.judging.claims.facts import facts_found as facts_found
    from trecjudge.judging.claims.facts import facts_of as facts_of
    from trecjudge.judging.claims.judge import ANSWERED as ANSWERED
    from trecjudge.judging.claims.judge import NO_CLAIMS as NO_CLAIMS
    from trecjudge.judging.claims.judge import ClaimJudging as ClaimJudging
    from trecjudge.judging.claims.judge import judgment_on as judgment_on
    from trecjudge.judging.claims.judge import on_claim as on_claim
    from trecjudge.judging.claims.judge import without_text as without_text
    from trecjudge.judging.claims.measures import UNKNOWN as UNKNOWN
    from trecjudge.judging.claims.measures import filling as filling
    from trecjudge.judging.claims.measures import rate as rate
    from trecjudge.judging.claims.search import Library as Library
    from trecjudge.judging.claims.search import Passage as Passage
    from trecjudge.judging.claims.verdicts import AMBIGUOUS as AMBIGUOUS
    from trecjudge.judging.claims.verdicts import ATTRIBUTED as ATTRIBUTED
    from trecjudge.judging.claims.verdicts import CONTRADICTED as CONTRADICTED
    from trecjudge.judging.claims.verdicts import UNATTRIBUTED as UNATTRIBUTED
    from trecjudge.judging.judge import GroupingJudge as GroupingJudge
    from trecjudge.judging.judge import Judge as Judge
    from trecjudge.judging.judge import unjudged as unjudged
    from trecjudge.judging.offline.prepared import scripts_of as scripts_of
    from trecjudge.judging.offline.relevance import Parts as Parts
    from trecjudge.judging.offline.relevance import Unit as Unit
    from trecjudge.judging.offline.relevance import relevance as relevance
    from trecjudge.judging.offline.similarity import Vector as Vector
    from trecjudge.judging.offline.similarity import mean_cosine as mean_cosine
    from trecjudge.judging.offline.similarity import vector_of as vector_of
    from trecjudge.judging.offline.similarity import weighed_forms as weighed_forms
    from trecjudge.judging.offline.wording import Term as Term
    from trecjudge.judging.offline.wording import wording_of as wording_of
    from trecjudge.measures import LeaderboardSpec as LeaderboardSpec
    from trecjudge.measures import MeasureSpec as MeasureSpec
    from trecjudge.models.model import Model as Model
    from trecjudge.models.model import Prediction as Prediction
    from trecjudge.models.model import Program as Program
    from trecjudge.models.model import ReplyLength as ReplyLength
    from trecjudge.records import ABSTAINED as ABSTAINED
    from trecjudge.records import FULL as FULL
    from trecjudge.records import NONE as NONE
    from trecjudge.records import NOTHING_SPENT as NOTHING_SPENT
    from trecjudge.records import PARTIAL as PARTIAL
    from trecjudge.records import Citation as Citation
    from trecjudge.records import Claim as Claim
    from trecjudge.records import Document as Document
    from trecjudge.records import Evidence as Evidence
    from trecjudge.records import Fact as Fact
    from trecjudge.records import Failure as Failure
    from trecjudge.records import Item as Item
    from trecjudge.records import Judgment as Judgment
    from trecjudge.records import Place as Place
    from trecjudge.records import Response as Response
    from trecjudge.records import Sentence as Sentence
    from trecjudge.records import Source as Source
    from trecjudge.records import Topic as Topic
    from trecjudge.records import Usage as Usage
    from trecjudge.records import WholeResponse as WholeResponse
    from trecjudge.records import is_blank as is_blank
    from trecjudge.records import judgment_of as judgment_of
    from trecjudge.settings.fields import check_range as check_range
    from trecjudge.text.numbers import other_writings as other_writings
    from trecjudge.text.tokens import comparable as comparable
    from trecjudge.text.tokens import read_forms as read_forms
    from trecjudge.text.tokens import scripts as scripts

__version__ = "0.1.0"

_NAMES: Mapping[str, tuple[str, ...]] = {
    "trecjudge.api.judging": (
        "Progress",
        "ajudge",
        "judge",
    ),
    "trecjudge.api.reading": (
        "FindingWarning",
        "read_documents",
        "read_runs",
        "read_topics",
    ),
    "trecjudge.api.result": (
        "Result",
        "TopicScore",
    ),
    "trecjudge.api.statistics": (
        "MetaEvaluation",
        "agree",
        "compare",
        "meta_evaluate",
    ),
    "trecjudge.judging.attest.attesters": (
        "AttesterName",
        "HOLLOW",
        "NO_TEXT",
        "require_shared_script",
        "require_text",
        "text_missing",
    ),
    "trecjudge.judging.attest.citations": (
        "Attesting",
        "best_or_worst",
        "citation_item",
    ),
    "trecjudge.judging.claims.by_model": (
        "NOT_FOUND",
        "first_sure",
        "in_parts",
        "no_evidence",
        "with_note",
    ),
    "trecjudge.judging.claims.extraction": ("SPLIT",),
    "trecjudge.judging.claims.facts": (
        "facts_found",
        "facts_of",
    ),
    "trecjudge.judging.claims.judge": (
        "ANSWERED",
        "ClaimJudging",
        "NO_CLAIMS",
        "judgment_on",
        "on_claim",
        "without_text",
    ),
    "trecjudge.judging.claims.measures": (
        "UNKNOWN",
        "filling",
        "rate",
    ),
    "trecjudge.judging.claims.by_words": (
        "LexicalDetector",
        "missing",
    ),
    "trecjudge.judging.claims.search": (
        "Library",
        "Passage",
    ),
    "trecjudge.judging.claims.verdicts": (
        "AMBIGUOUS",
        "ATTRIBUTED",
        "CONTRADICTED",
        "UNATTRIBUTED",
    ),
    "trecjudge.errors": (
        "InputError",
        "JudgmentFailed",
        "ModelError",
        "OutputError",
        "PLANNED",
        "PluginError",
        "TrecJudgeError",
        "WorkflowError",
    ),
    "trecjudge.evaluation.agreement": ("Agreement",),
    "trecjudge.evaluation.comparing": ("Comparison",),
    "trecjudge.findings": ("Finding",),
    "trecjudge.judging.judge": (
        "GroupingJudge",
        "Judge",
        "unjudged",
    ),
    "trecjudge.judging.offline.prepared": ("scripts_of",),
    "trecjudge.judging.offline.relevance": (
        "Parts",
        "Unit",
        "relevance",
    ),
    "trecjudge.judging.offline.similarity": (
        "Vector",
        "mean_cosine",
        "vector_of",
        "weighed_forms",
    ),
    "trecjudge.judging.offline.wording": (
        "Term",
        "wording_of",
    ),
    "trecjudge.models.model": (
        "Model",
        "Prediction",
        "Program",
        "ReplyLength",
    ),
    "trecjudge.measures": (
        "LeaderboardSpec",
        "MeasureSpec",
    ),
    "trecjudge.records": (
        "ABSTAINED",
        "Citation",
        "Claim",
        "Document",
        "Evidence",
        "FULL",
        "Fact",
        "Failure",
        "Item",
        "Judgment",
        "NONE",
        "NOTHING_SPENT",
        "PARTIAL",
        "Place",
        "Response",
        "Sentence",
        "Source",
        "Topic",
        "Usage",
        "WholeResponse",
        "is_blank",
        "judgment_of",
    ),
    "trecjudge.text.numbers": ("other_writings",),
    "trecjudge.text.tokens": (
        "comparable",
        "read_forms",
        "scripts",
    ),
    "trecjudge.settings.fields": ("check_range",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Return an exported name, its module imported now."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_MODULES[name]), name)
    return found


def __dir__() -> list[str]:
    """Return what is here, imported or not."""
    return sorted({*globals(), *_MODULES})
