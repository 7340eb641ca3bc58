"""Judge the output of retrieval-augmented generation systems in batch: what others may import.

The names are in `__init__.pyi`, each imported from its module when it is asked for, so that
`import trecjudge` costs nothing. docs/python.md has what a notebook needs, and docs/extend.md what
judges and plug-ins do.
"""

import importlib
import warnings
from typing import Any

import lazy_loader

_find_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_MOVED = {
    "errors": "NOT_GIVEN PLANNED unknown",
    "judging.attest": "AttesterName Attesting best_or_worst citation_item require_text",
    "judging.judge": "AllResponses GroupingJudge PreparingJudge unjudged",
    "measures": "Sums",
    "records": "ABSTAINED FULL NONE NOTHING_SPENT NOTHING_TO_CHECK PARTIAL AskedNugget Claim"
    " Evidence Fact Failure GoldAnswer Place ProvenanceLine Source Usage",
    "records.nuggets": "OKAY VITAL",
    "settings.fields": "check_range check_ranges ranged",
    "settings.strict_yaml": "read_yaml_file",
    "text.visible": "is_blank",
}
"""Names that a judge could import from here until 0.13 or 0.16, by the module that has them."""


def __getattr__(name: str) -> Any:
    for module, names in _MOVED.items():
        if name in names.split():
            where = f"{__name__}.{module}"
            message = f"import {name} from {where}: trecjudge itself will no longer have it"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return getattr(importlib.import_module(where), name)
    return _find_public(name)
