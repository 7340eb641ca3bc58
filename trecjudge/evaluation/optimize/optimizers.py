"""DSPy's optimisers by name, seeded, each with as many candidates as are asked for."""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

from trecjudge.errors import PluginError
from trecjudge.evaluation.optimize.questions import Question
from trecjudge.evaluation.optimize.student import metric
from trecjudge.models.signatures import dspy_module

MOST_DEMOS = 4
"""Demonstrations in a prompt."""
MINIBATCH = 3
"""Questions that GEPA reflects on at a time."""
NOISY = ("dspy", "optuna", "gepa", "LiteLLM", "httpx")
"""Loggers of libraries that tell of their progress."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard an optimiser tries: candidates beside the prompt as it is, threads, and the seed."""

    candidates: int
    threads: int
    seed: int


@dataclass(frozen=True, slots=True)
class Lessons:
    """Questions to learn from, and to choose by, as DSPy's examples."""

    training: list[Any]
    validation: list[Any]

    @classmethod
    def of(cls, training: Sequence[Question], validation: Sequence[Question]) -> Lessons:
        """Return the examples of questions."""
        example = dspy_module().Example
        parts = [
            [example(question=question).with_inputs("question") for question in part]
            for part in (training, validation)
        ]
        return cls(*parts)


Optimizer = Callable[[Any, Lessons, Effort, Any], None]
"""(module, lessons, effort, the `dspy.LM` that proposes instructions): compiles the module"""


def bootstrap(module: Any, lessons: Lessons, effort: Effort, reflection: Any) -> None:
    """Try demonstrations that the judge itself had right (BootstrapFewShotWithRandomSearch)."""
    dspy_module().BootstrapFewShotWithRandomSearch(
        metric,
        max_bootstrapped_demos=MOST_DEMOS,
        max_labeled_demos=0,
        num_candidate_programs=effort.candidates,
        num_threads=effort.threads,
        max_errors=len(lessons.training) + len(lessons.validation),
    ).compile(module, trainset=_shuffled(lessons, effort), valset=lessons.validation)


def gepa(module: Any, lessons: Lessons, effort: Effort, reflection: Any) -> None:
    """Let a model reflect on what was wrong, and word the instructions anew (GEPA)."""
    each = len(lessons.validation) + 2 * MINIBATCH
    dspy_module().GEPA(
        metric,
        max_metric_calls=len(lessons.validation) + effort.candidates * each,
        reflection_minibatch_size=min(MINIBATCH, len(lessons.training)),
        reflection_lm=reflection,
        num_threads=effort.threads,
        use_merge=False,
        warn_on_score_mismatch=False,
        seed=effort.seed,
    ).compile(module, trainset=lessons.training, valset=lessons.validation)


def mipro(module: Any, lessons: Lessons, effort: Effort, reflection: Any) -> None:
    """Try proposed instructions together with demonstrations (MIPROv2)."""
    # The proposer would read our own code as the program, and objects as the data.
    dspy_module().MIPROv2(
        metric,
        prompt_model=reflection,
        auto=None,
        num_candidates=max(2, effort.candidates),
        max_bootstrapped_demos=MOST_DEMOS,
        max_labeled_demos=0,
        num_threads=effort.threads,
        max_errors=len(lessons.training) + len(lessons.validation),
        seed=effort.seed,
    ).compile(
        module,
        trainset=lessons.training,
        valset=lessons.validation,
        num_trials=2 * max(2, effort.candidates),
        minibatch=False,
        program_aware_proposer=False,
        data_aware_proposer=False,
    )


def score_all(module: Any, lessons: Lessons, effort: Effort) -> None:
    """Ask a module all questions to choose by."""
    dspy_module().Evaluate(
        devset=lessons.validation,
        metric=metric,
        num_threads=effort.threads,
        max_errors=len(lessons.validation),
        display_progress=False,
    )(module)


def check_installed(optimizer: str) -> None:
    """Raise PluginError where a package is missing that an optimiser needs."""
    if optimizer == "mipro" and importlib.util.find_spec("optuna") is None:
        raise PluginError("--with mipro needs optuna: pip install 'trecjudge[optimize]'")


OPTIMIZERS: Mapping[str, Optimizer] = {"bootstrap": bootstrap, "gepa": gepa, "mipro": mipro}


def _shuffled(lessons: Lessons, effort: Effort) -> list[Any]:
    """Return the training examples, begun at a place that the seed decides."""
    start = effort.seed % len(lessons.training)
    return [*lessons.training[start:], *lessons.training[:start]]


class _OfOneThread:
    """A stream that writes what one thread writes, and drops what others do.

    Once it is `over` it drops all: what still holds it is a progress bar that was never closed.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._thread = stream, threading.current_thread()
        self.over = False

    def write(self, text: str) -> int:
        """Write a text, if it is of that thread."""
        if threading.current_thread() is self._thread and not self.over:
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def hushed() -> Iterator[None]:
    """Within it, what libraries print, log or warn of in other threads is not shown."""
    loggers = [logging.getLogger(name) for name in NOISY]
    levels = [logger.level for logger in loggers]
    streams = sys.stdout, sys.stderr
    quiet: Any = [_OfOneThread(stream) for stream in streams]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        sys.stdout, sys.stderr = quiet
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout, sys.stderr = streams
        for stream in quiet:
            stream.over = True
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
