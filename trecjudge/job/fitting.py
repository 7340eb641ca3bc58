"""Judges fitted to the banks of a job, before it judges: what is measured depends on them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import islice

from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.job.job import JobInputs
from trecjudge.judging.judge import FittingJudge
from trecjudge.judging.panel import NamedJudge, Panel
from trecjudge.records import Place

FEW = 3
"""Ids of each side that a message shows."""


def fitted_panel(panel: Panel, inputs: JobInputs, report: OnFinding) -> Panel:
    """Return the judges of a job with what they have to know of its banks among their settings."""
    banks = inputs.banks
    if banks is None:
        return panel
    nuggets = [nugget for bank in banks.values() for nugget in bank.nuggets]
    cited = cache(lambda: _is_cited(banks, inputs, report))  # read once, and said once
    return [
        NamedJudge(n.name, n.judge.fitted(nuggets, cited))
        if isinstance(n.judge, FittingJudge)
        else n
        for n in panel
    ]


def _is_cited(banks: Mapping[str, Bank], inputs: JobInputs, report: OnFinding) -> bool:
    """Return whether a run cites a document of the banks, or no run cites anything; else report."""
    every = {doc_id: None for bank in banks.values() for doc_id in bank.documents}
    cited: dict[str, None] = {}
    for _, response in inputs.responses() if every else ():
        for doc_id in response.cited_ids():
            if doc_id in every:
                return True
            cited.setdefault(doc_id)
    if every and not cited:
        return True
    message = "the banks name no documents"
    if every:
        theirs, ours = (", ".join(map(shown, islice(side, FEW))) for side in (every, cited))
        message = f"no document of the banks ({theirs}, …) is cited by any run; they cite {ours}, …"
    report(Finding("nugget_documents_uncited", Place("--nuggets"), message))
    return False
