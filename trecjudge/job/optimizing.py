"""Optimises a prompt of a judge by labels of people: inputs, models, steps, and what is written."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError, OutputError, WorkflowError
from trecjudge.evaluation.label_sets import LabelSet, Row, label_set_at
from trecjudge.evaluation.optimize import script
from trecjudge.evaluation.optimize.optimize import (
    OptimizeResult,
    diff_instructions,
    optimize_prompt,
    plain,
    saved_form,
)
from trecjudge.evaluation.optimize.questions import (
    GoldLabels,
    TrainDevSplit,
    answer_all,
    find_program,
    questions_on,
    select_asked,
    sibling_of,
    split_topics,
)
from trecjudge.evaluation.optimize.search import MINIBATCH, Target, check_installed
from trecjudge.evaluation.pairs.reading import (
    WEIGHTS,
    BarePair,
    bare_pairs,
    majority_weights,
    pair_as_response,
    require_pairs,
)
from trecjudge.files import check_place, open_target
from trecjudge.findings import OnFinding
from trecjudge.inputs.labels import labels_of
from trecjudge.inputs.labels.vocabulary import Words
from trecjudge.job.judges import make_job_panel
from trecjudge.job.pairs import RUN
from trecjudge.job.request import Job
from trecjudge.job.session import Session, open_session, run_session
from trecjudge.judging.judge import asked_singly
from trecjudge.models.client import Client
from trecjudge.models.compiled import SUFFIX
from trecjudge.models.model import Model
from trecjudge.models.opening import open_model
from trecjudge.models.prompt import Prompts, program_of
from trecjudge.records import Response, Topic

REFLECTION = "REFLECTION_"
"""How variables of a model begin that proposes prompts, in place of OPENAI_."""
MOST_QUESTIONS = 200
"""Questions to learn from, and as many to choose by, unless more are asked for."""


@dataclass(frozen=True, slots=True)
class FoundPrompt:
    """What came of it: the prompts, the topics of each part, and what each model spent.

    `models` are the names of the judge's and of the proposing one. `record` is where all of it is
    written, and `written` says whether the prompt was.
    """

    result: OptimizeResult
    parts: TrainDevSplit
    program: str
    spent: dict[str, Any]
    reflection: dict[str, Any]
    diff: list[str]
    models: tuple[str, str] = ("", "")
    written: bool = False
    record: Path = Path()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        result = self.result
        return {
            "program": self.program,
            "outcome": result.improvement.outcome if result.is_new else "no_better",
            "written": self.written,
            "topics": self.parts.topics(),
            "questions": [
                len(part)
                for part in (self.parts.training, self.parts.validation, self.parts.held_out)
            ],
            "chosen_by": {
                "tried": result.tried,
                "before": result.scores[0],
                "after": result.scores[1],
            },
            "held_out": result.improvement.as_dict(),
            "stopped": result.bounds.why,
            "proposals": {"came": result.bounds.proposed, "failed": result.bounds.unproposed},
            "model": self.models[0],
            "reflection_model": self.models[1],
            "calls": self.spent,
            "reflection_calls": self.reflection,
            "diff": self.diff,
            "instructions": result.best.signature.instructions,
            "demonstrations": [plain(demo) for demo in result.best.demos],
        }


@dataclass(frozen=True, slots=True)
class PromptJob:
    """A request to optimise one prompt; `job` has the inputs, the judge and how to use a model."""

    job: Job
    truth: Path
    program: str
    optimizer: str
    hold_out: str
    candidates: int
    seed: int
    most_questions: int
    reflection_model: str
    out: Path
    keep_anyway: bool
    notify: Callable[[str], None]

    def run(self, report: OnFinding) -> FoundPrompt:
        """Return what was found, written where it is better.

        Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
        """
        return run_session(self.job, self._run(report))

    def export(self, report: OnFinding) -> Path:
        """Write a script for DSPy's own optimisers to `out`; return the file of its items."""
        return run_session(self.job, self._export(report))

    @property
    def is_export(self) -> bool:
        """Whether a script is wanted, and no prompt."""
        return self.out.suffix == script.SUFFIX

    def plan(self, report: OnFinding) -> dict[str, Any]:
        """Return about what it would ask, without asking: calls, tokens and cost."""
        return run_session(self.job, self._plan(report))

    async def _run(self, report: OnFinding) -> FoundPrompt:
        self._check_out()
        async with self._open(report) as session, self._reflection(session.model) as reflection:
            model = session.model
            assert isinstance(model, Client) and isinstance(reflection, Client)
            gold, parts = self._read(session)
            target = await self._target(session, parts)
            budget = self.job.model.command.budget
            result = await optimize_prompt(target, parts, gold, model, reflection, budget)
            before, best = result.before.signature, result.best.signature
            found = FoundPrompt(
                result,
                parts,
                program=target.program.name,
                spent=model.spent(),
                reflection={} if reflection is model else reflection.spent(),
                diff=diff_instructions(target.program.name, before.instructions, best.instructions),
                models=(model.settings.model, reflection.settings.model),
            )
            found = self._write(found)
            if found.written:
                self._check_read(target, model, result)
        return found

    async def _export(self, report: OnFinding) -> Path:
        check_place(self.out)
        async with self._open(report) as session:
            gold, parts = self._read(session)
            target = await self._target(session, parts)
            overrides = self.job.workflow.prompts
            prompts = Prompts({name: str(text) for name, text in overrides.items()})
            signature = prompts.get(target.program, "schema").signature
            return await script.write_script(self.out, target, parts, gold, signature)

    async def _plan(self, report: OnFinding) -> dict[str, Any]:
        async with self._open(report) as session:
            _, parts = self._read(session)
            target = await self._target(session, parts)
            await answer_all(target.judge, parts.held_out, session.model)
            plan: dict[str, Any] = session.model.spent()
        # Replies that a cache has are not paid for, but the prompts tried have none there.
        asked = plan["calls"] + plan["cached"] + plan["saved"]
        each = asked / max(1, len(parts.held_out))
        tried = _count_tried(self.optimizer, self.candidates, parts)
        more = round(each * (tried + len(parts.held_out)))
        fresh = await self._spent_anew(report, target, parts)
        for name in ("prompt_tokens", "completion_tokens", "cost"):
            if plan[name] is not None:
                further = more * fresh[name] / max(1, fresh["calls"])
                plan[name] = round(plan[name] + further, 6 if name == "cost" else None)
        plan["calls"] += more
        return {"name": target.program.name} | plan | {"items": len(parts.held_out)}

    async def _spent_anew(
        self, report: OnFinding, target: Target, parts: TrainDevSplit
    ) -> dict[str, Any]:
        """Return what the calls for the questions held out would take if no reply were kept."""
        command = replace(self.job.model.command, asked=set())
        anew = replace(self.job.model, refresh=True, command=command)
        job = replace(self, job=replace(self.job, model=anew))
        async with job._open(report) as session:
            await answer_all(target.judge, parts.held_out, session.model)
            spent: dict[str, Any] = session.model.spent()
        return spent

    def _check_out(self) -> None:
        """Raise OutputError where the prompt could not be written, before anything is paid."""
        if self.out.suffix.lower() != SUFFIX:
            raise OutputError(
                f"--output {self.out}: must be a {SUFFIX} file, as DSPy saves a program"
            )
        check_place(self.out)

    def _open(self, report: OnFinding) -> AbstractAsyncContextManager[Session]:
        """Open the session of the one judge; nothing is read or asked yet."""
        if not self.job.model.use and not self.is_export:
            raise WorkflowError("a prompt is optimised by asking a model: add --use-env-llm")
        check_installed(self.optimizer)
        panel = make_job_panel(self.job)
        if len(panel) != 1:
            raise WorkflowError("--judge: give one judge; each prompt is optimised on its own")
        find_program(panel[0].judge, self.program)
        alone = replace(self.job.workflow, voters={}, vote="")
        return open_session(replace(self.job, workflow=alone), report, self.notify, panel)

    async def _target(self, session: Session, parts: TrainDevSplit) -> Target:
        """Return what is optimised, by default the program that is asked about these items."""
        judge = session.panel[0].judge
        program = find_program(judge, self.program)
        other = sibling_of(judge, program)
        if not self.program and other is not None:
            is_asked = await select_asked(judge, parts.training, other.name)
            program = program if is_asked else other
        return Target(judge, program, self.optimizer, self.candidates, self.seed)

    def _read(self, session: Session) -> tuple[GoldLabels, TrainDevSplit]:
        """Return what people say, and the questions; nothing is asked yet."""
        if self.job.workflow.voters:
            self.notify("voters are left out: the prompt of the judge itself is optimised")
        judge = session.panel[0].judge
        pairs, side = self._material(session, labels_of([judge]))
        gold = GoldLabels.of(side)
        singly = asked_singly(judge, session.model)
        singly = singly or ("each is an example of its own" if self.is_export else "")
        questions = list(questions_on(judge, pairs, gold, singly))
        if not questions:
            raise InputError(f"{self.truth}: no label on an item that the judge decides on")
        return gold, split_topics(questions, self.hold_out, self.seed, self.most_questions)

    def _check_read(self, target: Target, model: Client, result: OptimizeResult) -> None:
        """Warn where the file that was written is read as another prompt than was measured."""
        program, best = target.program, result.best
        form = model.replies.form_of(program) or "schema"
        read = Prompts({program.name: str(self.out)}, model.prompts.adapter).get(program, form)
        varied = program_of(best.signature, best.demos, base=program)
        if read.digest != model.prompts.get(varied, form).digest:
            self.notify(f"{self.out}: is read as another prompt than the one that was measured")

    def _material(
        self, session: Session, target: Sequence[str]
    ) -> tuple[list[tuple[Topic, Response]], LabelSet]:
        """Return responses and labels: of runs, or of pairs that bring their text along."""
        report = session.report
        if not self.job.runs:
            pairs = list(require_pairs(bare_pairs([self.truth], report), str(self.truth)))
            responses = [pair_as_response(pair, RUN) for pair in pairs]
            return responses, _labels_of_pairs(self.truth, pairs, report, self.job.words)
        side = label_set_at(self.truth, report, self.job.words, target)
        session.inputs.check_documents(report)
        return list(session.inputs.reader(report)), side

    @asynccontextmanager
    async def _reflection(self, own: Model) -> AsyncIterator[Model]:
        """Yield the model that proposes prompts: the judge's own, unless another is named."""
        given = dict(self.job.workflow.reflection)
        if self.reflection_model:
            given["model"] = self.reflection_model
        environment = reflection_environment(os.environ)
        named = any(os.environ.get(f"{REFLECTION}{n}") for n in ("MODEL", "BASE_URL", "API_KEY"))
        if not (given or named):
            yield own
            return
        opened = open_model(self.job.model, given, {}, (), self.notify, environment=environment)
        async with opened as model:
            yield model

    def _write(self, found: FoundPrompt) -> FoundPrompt:
        """Write the prompt where it is better, and always the record beside it."""
        result = found.result
        better = result.is_new and result.improvement.outcome == "better"
        written = better or (result.is_new and self.keep_anyway)
        if written:
            with open_target(self.out) as file:
                file.write(saved_form(result.best.signature, result.best.demos))
        record = self.out.with_name(f"{self.out.name.removesuffix('.json')}.optimize.json")
        found = replace(found, written=written, record=record)
        settings = {
            "judge": list(self.job.judges),
            "truth": str(self.truth),
            "with": self.optimizer,
            "hold_out": self.hold_out,
            "candidates": self.candidates,
            "seed": self.seed,
        }
        with open_target(record) as file:
            text = orjson.dumps(settings | found.as_dict(), option=orjson.OPT_INDENT_2)
            file.write(text + b"\n")
        return found


def reflection_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which REFLECTION_* stand for OPENAI_*, where they are set."""
    own = {
        f"OPENAI_{name.removeprefix(REFLECTION)}": value
        for name, value in environment.items()
        if name.startswith(REFLECTION) and value
    }
    return dict(environment) | own


def _count_tried(optimizer: str, candidates: int, parts: TrainDevSplit) -> int:
    chosen_by, learnt = len(parts.validation), len(parts.training)
    if optimizer == "gepa":
        return chosen_by + candidates * (chosen_by + 2 * MINIBATCH)
    if optimizer == "mipro":
        return learnt + (2 * max(2, candidates) + 1) * chosen_by
    return learnt + (candidates + 2) * chosen_by


def _labels_of_pairs(
    path: Path, pairs: Sequence[BarePair], report: OnFinding, words: Words
) -> LabelSet:
    """Return the labels of pairs, of each what most people say."""
    names = {weight: label for label, weight in WEIGHTS.items()}
    rows: dict[str, list[Row]] = {}
    for pair, weight in majority_weights(pairs, report, words):
        row = ((0, pair.pair_id), names[weight], pair.place.line, None)
        rows.setdefault(pair.group or RUN, []).append(row)
    side = LabelSet(str(path), "labels")
    for topic_id, labelled in rows.items():
        side.put((topic_id, RUN), labelled)
    return side
