"""Judge the output of retrieval-augmented generation systems in batch: what others may import.

Names are imported from their modules when they are asked for: `import trecjudge` costs nothing.
See docs/python.md for what a notebook needs; the rest is for judges and plug-ins.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
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
    from trecjudge.attest import HOLLOW as HOLLOW
    from trecjudge.attest import NO_TEXT as NO_TEXT
    from trecjudge.attest import AttesterName as AttesterName
    from trecjudge.attest import require_shared_script as require_shared_script
    from trecjudge.attest import require_text as require_text
    from trecjudge.attestation import Attesting as Attesting
    from trecjudge.attestation import citation_item as citation_item
    from trecjudge.attestation import filled as filled
    from trecjudge.claims.asking import NOT_FOUND as NOT_FOUND
    from trecjudge.claims.asking import first_sure as first_sure
    from trecjudge.claims.asking import in_parts as in_parts
    from trecjudge.claims.asking import no_evidence as no_evidence
    from trecjudge.claims.asking import with_note as with_note
    from trecjudge.claims.extraction import SPLIT as SPLIT
    from trecjudge.claims.facts import facts_found as facts_found
    from trecjudge.claims.facts import facts_of as facts_of
    from trecjudge.claims.judging import ANSWERED as ANSWERED
    from trecjudge.claims.judging import NO_CLAIMS as NO_CLAIMS
    from trecjudge.claims.judging import ClaimJudging as ClaimJudging
    from trecjudge.claims.judging import judgment_on as judgment_on
    from trecjudge.claims.judging import on_claim as on_claim
    from trecjudge.claims.judging import without_text as without_text
    from trecjudge.claims.measures import UNKNOWN as UNKNOWN
    from trecjudge.claims.measures import filling as filling
    from trecjudge.claims.measures import rate as rate
    from trecjudge.claims.offline import LexicalDetector as LexicalDetector
    from trecjudge.claims.offline import missing as missing
    from trecjudge.claims.search import Library as Library
    from trecjudge.claims.search import Passage as Passage
    from trecjudge.claims.verdicts import AMBIGUOUS as AMBIGUOUS
    from trecjudge.claims.verdicts import ATTRIBUTED as ATTRIBUTED
    from trecjudge.claims.verdicts import CONTRADICTED as CONTRADICTED
    from trecjudge.claims.verdicts import UNATTRIBUTED as UNATTRIBUTED
    from trecjudge.errors import PLANNED as PLANNED
    from trecjudge.errors import InputError as InputError
    from trecjudge.errors import JudgmentFailed as JudgmentFailed
    from trecjudge.errors import ModelError as ModelError
    from trecjudge.errors import OutputError as OutputError
    from trecjudge.errors import PluginError as PluginError
    from trecjudge.errors import TrecJudgeError as TrecJudgeError
    from trecjudge.errors import WorkflowError as WorkflowError
    from trecjudge.evaluation.agreeing import Agreement as Agreement
    from trecjudge.evaluation.comparing import Comparison as Comparison
    from trecjudge.findings import Finding as Finding
    from trecjudge.judge import GroupingJudge as GroupingJudge
    from trecjudge.judge import Judge as Judge
    from trecjudge.judge import unjudged as unjudged
    from trecjudge.lexical.prepared import scripts_of as scripts_of
    from trecjudge.lexical.relevance import Parts as Parts
    from trecjudge.lexical.relevance import Unit as Unit
    from trecjudge.lexical.relevance import relevance as relevance
    from trecjudge.lexical.similarity import Vector as Vector
    from trecjudge.lexical.similarity import mean_cosine as mean_cosine
    from trecjudge.lexical.similarity import vector_of as vector_of
    from trecjudge.lexical.similarity import weighed_forms as weighed_forms
    from trecjudge.lexical.wording import Term as Term
    from trecjudge.lexical.wording import wording_of as wording_of
    from trecjudge.llm.model import Model as Model
    from trecjudge.llm.model import Prediction as Prediction
    from trecjudge.llm.model import Program as Program
    from trecjudge.llm.model import ReplyLength as ReplyLength
    from trecjudge.measures import LeaderboardSpec as LeaderboardSpec
    from trecjudge.measures import MeasureSpec as MeasureSpec
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
    from trecjudge.records import judgment_of as judgment_of
    from trecjudge.text.numbers import other_writings as other_writings
    from trecjudge.text.tokens import comparable as comparable
    from trecjudge.text.tokens import read_forms as read_forms
    from trecjudge.text.tokens import scripts as scripts
    from trecjudge.typed import check_range as check_range

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
    "trecjudge.attest": (
        "AttesterName",
        "HOLLOW",
        "NO_TEXT",
        "require_shared_script",
        "require_text",
    ),
    "trecjudge.attestation": (
        "Attesting",
        "citation_item",
        "filled",
    ),
    "trecjudge.claims.asking": (
        "NOT_FOUND",
        "first_sure",
        "in_parts",
        "no_evidence",
        "with_note",
    ),
    "trecjudge.claims.extraction": ("SPLIT",),
    "trecjudge.claims.facts": (
        "facts_found",
        "facts_of",
    ),
    "trecjudge.claims.judging": (
        "ANSWERED",
        "ClaimJudging",
        "NO_CLAIMS",
        "judgment_on",
        "on_claim",
        "without_text",
    ),
    "trecjudge.claims.measures": (
        "UNKNOWN",
        "filling",
        "rate",
    ),
    "trecjudge.claims.offline": (
        "LexicalDetector",
        "missing",
    ),
    "trecjudge.claims.search": (
        "Library",
        "Passage",
    ),
    "trecjudge.claims.verdicts": (
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
    "trecjudge.evaluation.agreeing": ("Agreement",),
    "trecjudge.evaluation.comparing": ("Comparison",),
    "trecjudge.findings": ("Finding",),
    "trecjudge.judge": (
        "GroupingJudge",
        "Judge",
        "unjudged",
    ),
    "trecjudge.lexical.prepared": ("scripts_of",),
    "trecjudge.lexical.relevance": (
        "Parts",
        "Unit",
        "relevance",
    ),
    "trecjudge.lexical.similarity": (
        "Vector",
        "mean_cosine",
        "vector_of",
        "weighed_forms",
    ),
    "trecjudge.lexical.wording": (
        "Term",
        "wording_of",
    ),
    "trecjudge.llm.model": (
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
        "judgment_of",
    ),
    "trecjudge.text.numbers": ("other_writings",),
    "trecjudge.text.tokens": (
        "comparable",
        "read_forms",
        "scripts",
    ),
    "trecjudge.typed": ("check_range",),
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


class _Package(ModuleType):
    """This package: a module of it that has an exported name does not take its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _MODULES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
