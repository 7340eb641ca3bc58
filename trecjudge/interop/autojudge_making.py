"""Banks of nuggets made by our maker, for AutoJudge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from trecjudge.evaluation.banks.asking import PROGRAMS, REPLY
from trecjudge.evaluation.banks.making import Kind, Made, Making, make_banks
from trecjudge.evaluation.banks.material import Inputs, read_material
from trecjudge.files import default_folder
from trecjudge.findings import FindingLog, FirstFindings
from trecjudge.interop.autojudge_banks import Banks
from trecjudge.interop.autojudge_settings import Settings
from trecjudge.job.choice import model_options
from trecjudge.models.opening import ModelOptions, open_model
from trecjudge.models.spending import Budget


def made_banks(
    settings: Settings,
    llm: Mapping[str, str],
    topics: Path,
    runs: Sequence[Path],
    documents: Sequence[Path],
) -> tuple[Banks, list[str]]:
    """Return a bank for each topic that one could be made for, and lines for the user.

    Raises InputError for what cannot be made.
    """
    making = Making([cast(Kind, kind) for kind in settings.makes], settings.most_nuggets)
    making.check(settings.use_env_llm)
    budget = Budget(settings.max_calls, settings.max_tokens, settings.max_cost)
    cache = Path(settings.cache_dir) if settings.cache_dir else None
    options = model_options(settings.use_env_llm, budget, cache)
    lines: list[str] = []
    first = FirstFindings()
    findings = FindingLog([lambda found: lines.append(str(found)) if first.take(found) else None])
    inputs = Inputs(topics, runs, documents)
    made = asyncio.run(_made(inputs, making, options, llm, findings))
    found = [one.bank for one in made if one.drafts]
    count = sum(len(bank.nuggets) for bank in found)
    by = "a model" if options.use else "words"
    lines += [*first.rest(), f"{count} nuggets for {len(found)} topics, by {by}"]
    return Banks.of(found), lines


async def _made(
    inputs: Inputs,
    making: Making,
    options: ModelOptions,
    llm: Mapping[str, str],
    findings: FindingLog,
) -> list[Made]:
    async with open_model(options, REPLY | dict(llm), {}, PROGRAMS, lambda message: None) as model:
        materials = read_material(inputs, options.cache_folder or default_folder(), findings)
        return await make_banks(materials, making, model, findings)
