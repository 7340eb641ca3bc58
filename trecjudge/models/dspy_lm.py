"""A `dspy.LM` over a model: DSPy modules and optimisers use its cache, retries and pace.

With the adapter of `judging_adapter` a module asks as judging asks: in the form that the endpoint
takes, with texts fenced, and again where a reply does not parse.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from trecjudge.errors import JudgmentFailed, ModelError, PluginError
from trecjudge.findings import brief
from trecjudge.models.adapters import dspy_module
from trecjudge.models.model import Model, Prediction, Program, Recorder
from trecjudge.models.modules import is_async
from trecjudge.models.prompt import MESSAGES, Prompt, program_of
from trecjudge.models.reading import Unparsed
from trecjudge.models.request_state import chain_calls
from trecjudge.records import ModelCall, sum_usage
from trecjudge.text.chat_tokens import TOKENS, neutralize

NAME = "openai/model"
"""The name that DSPy knows any model by."""
PASSED_ON = ("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty")
_ROLLOUT: ContextVar[int | None] = ContextVar("rollout", default=None)
"""The `rollout_id` of the call under way: DSPy leaves it out of the request."""
Heard = Callable[[JudgmentFailed | ModelError | None], None]
"""Is told of each request how it failed, or None where there is a reply."""


def _unheard(failed: JudgmentFailed | ModelError | None) -> None:
    """Tell nobody."""


def dspy_lm(
    model: Model, before: Callable[[], None] = lambda: None, heard: Heard = _unheard
) -> Any:
    """Return a `dspy.LM` that asks through `model`; to be made in the model's event loop.

    Modules may be awaited in that loop, or called in another thread. Each `rollout_id` is a call of
    its own, and is kept. `before` is called before each request, and may raise; `heard` after it.
    """
    return _lm_over(Engine(model, asyncio.get_running_loop(), before, heard))


def judging_lm(model: Model) -> Any:
    """Return the `dspy.LM` of a judge. Raises PluginError where no adapter fences its texts."""
    if dspy_module().settings.adapter is None:
        message = "DSPy was imported after the model was opened, so that nothing fences its texts"
        raise PluginError(f"{message}: import dspy at the top of the judge's file")
    return dspy_lm(model)


async def run_module(recorder: Recorder, prompt: Prompt, inputs: Mapping[str, Any]) -> Prediction:
    """Return what the DSPy module of a prompt predicts; its calls are asked through `recorder`.

    Raises JudgmentFailed where a call has no usable reply, or an output is not of its type;
    PluginError where an output is missing.
    """
    dspy, module = dspy_module(), prompt.worded.module
    run = module.acall if is_async(module) else dspy.asyncify(module)
    lm = dspy_lm(recorder)
    lm.kwargs |= {name: prompt.sampling[name] for name in PASSED_ON if name in prompt.sampling}
    if prompt.rollout is not None:
        lm.kwargs["rollout_id"] = prompt.rollout
    asking = dspy.context(lm=lm, adapter=judging_adapter(), async_max_workers=recorder.in_flight)
    try:
        with asking:
            outputs = await run(**inputs)
        fields = _outputs_of(prompt, outputs, inputs)
    except JudgmentFailed as failed:
        await recorder.wait_until_idle()
        failed.call = chain_calls(recorder.calls)
        raise
    name, calls = prompt.program.name, recorder.calls
    whole = ModelCall(name, [], "", sum_usage([call.usage for call in calls], name))
    return Prediction(fields, whole, tuple(calls))


def _outputs_of(prompt: Prompt, outputs: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the program that a module's prediction has."""
    if not isinstance(outputs, dspy_module().Prediction):
        message = f"gives {brief(outputs)}, must give a dspy.Prediction"
        raise PluginError(f"prompts.{prompt.program.name}: {prompt.worded.origin} {message}")
    aligned = inputs.get(prompt.program.aligned_with)
    try:
        return prompt.parse_values(dict(outputs), None if aligned is None else len(aligned))
    except Unparsed as error:
        raise JudgmentFailed("parse", f"{prompt.worded.origin}: {error}") from error


def _lm_over(engine: Engine) -> Any:
    # Neither name nor limits are sent: the model has its own, where a module says nothing.
    return _lm_class()(
        NAME,
        engine=engine,
        async_engine=AsyncEngine(engine),
        num_retries=0,
        cache=False,
        temperature=None,
        max_tokens=None,
    )


@cache
def _lm_class() -> Any:
    class RolloutLM(dspy_module().LM):  # type: ignore[misc]
        """A `dspy.LM` whose engine learns of the `rollout_id`."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            _ROLLOUT.set(kwargs.get("rollout_id", self.kwargs.get("rollout_id")))
            return super().__call__(*args, **kwargs)

        async def acall(self, *args: Any, **kwargs: Any) -> Any:
            _ROLLOUT.set(kwargs.get("rollout_id", self.kwargs.get("rollout_id")))
            return await super().acall(*args, **kwargs)

        def through(self, model: Model) -> Any:
            """Return one that asks through a wrapper of its model."""
            return _lm_over(replace(self.engine, model=model))

    return RolloutLM


@contextmanager
def fencing_modules() -> Iterator[None]:
    """Have modules ask as judging does, where their `dspy.LM` is one of `dspy_lm`."""
    with dspy_module().context(adapter=judging_adapter()):
        yield


def judging_adapter(program: Program = MESSAGES) -> Any:
    """Return a DSPy adapter by which a module asks `program`, or what it will, as judging does.

    The signature, its instructions and demonstrations are those of the module. The form is that
    which the endpoint takes, malformed replies are asked for again, and a reply that judging has is
    not asked for. It serves modules whose `dspy.LM` is one of `dspy_lm`; others are asked as by
    DSPy's ChatAdapter. A module raises JudgmentFailed where there is no usable reply.
    """
    return _adapter_class()(program)


@cache
def _adapter_class() -> Any:
    class JudgingAdapter(dspy_module().ChatAdapter):  # type: ignore[misc]
        """Asks through `predict` of a model."""

        def __init__(self, program: Program) -> None:
            super().__init__()
            self.program = program

        def __call__(
            self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
        ) -> list[dict[str, Any]]:
            if not isinstance(lm, _lm_class()):
                found: list[dict[str, Any]] = super().__call__(
                    lm, lm_kwargs, signature, demos, inputs
                )
                return found
            asked = _vary_program(self.program, lm, lm_kwargs, signature, demos)
            predict, given = lm.engine.model.predict, _given(signature, inputs)
            return [dict(lm.engine.wait(predict(one, **given)).fields) for one in asked]

        async def acall(
            self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
        ) -> list[dict[str, Any]]:
            if not isinstance(lm, _lm_class()):
                found: list[dict[str, Any]] = await super().acall(
                    lm, lm_kwargs, signature, demos, inputs
                )
                return found
            asked = _vary_program(self.program, lm, lm_kwargs, signature, demos)
            predict, given = lm.engine.model.predict, _given(signature, inputs)
            return [dict((await predict(one, **given)).fields) for one in asked]

    return JudgingAdapter


def _vary_program(
    program: Program, lm: Any, given: Mapping[str, Any], signature: Any, demos: Any
) -> list[Program]:
    """Return the program with what a module changed: wording, demonstrations and sampling.

    Of a module that wants several replies (`n`), each is a program of its own.
    """
    settings = {**lm.kwargs, **given}
    named = (name for name in PASSED_ON if settings.get(name) is not None)
    sampling = {name: settings[name] for name in named}
    known = getattr(lm.engine.model, "settings", None)
    if known is not None and known.reasoning:  # such a model refuses them
        sampling = {}
    rollout, several = settings.get("rollout_id"), settings.get("n") or 1
    first = several * (rollout or 0)
    rollouts = [rollout] if several == 1 else range(first, first + several)
    return [program_of(signature, demos, sampling, number, program) for number in rollouts]


def _given(signature: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a signature, None where a module gives none.

    Raises PluginError for a field whose name `predict` needs itself.
    """
    if taken := {"self", "program"}.intersection(signature.input_fields):
        raise PluginError(f"an input of a module cannot be called {min(taken)!r}: rename the field")
    return {name: inputs.get(name) for name in signature.input_fields}


@dataclass(frozen=True, slots=True)
class Engine:
    """DSPy's synchronous engine interface over a model whose event loop runs in another thread."""

    model: Model
    loop: asyncio.AbstractEventLoop
    before: Callable[[], None]
    heard: Heard

    def complete(self, request: Any) -> Any:
        """Return the response. Raises ModelError in the model's thread, which it would block."""
        return self.wait(self.ask(request))

    def ask(self, request: Any) -> Coroutine[Any, Any, Any]:
        """Return what comes to a `dspy.lm15.Response` for a `dspy.lm15.Request`."""
        self.before()
        return _complete_request(self.model, request, _ROLLOUT.get(), self.heard)

    def wait(self, asked: Any) -> Any:
        """Return what a coroutine of the model's loop returns. Raises ModelError in that loop."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self.loop:
            asked.close()
            message = (
                "a DSPy module was called in the event loop: await its acall, or dspy.asyncify"
            )
            raise _let_through(ModelError)(message)
        return asyncio.run_coroutine_threadsafe(asked, self.loop).result()


@dataclass(frozen=True, slots=True)
class AsyncEngine:
    """DSPy's asynchronous engine interface over the same model."""

    engine: Engine

    async def complete(self, request: Any) -> Any:
        """Return the response."""
        return await self.engine.ask(request)


async def _complete_request(model: Model, request: Any, rollout: int | None, heard: Heard) -> Any:
    config = request.config
    more = {name: value for name in PASSED_ON if (value := getattr(config, name)) is not None}
    if config.stop:
        more["stop"] = list(config.stop)
    if config.response_format is not None:
        more["response_format"] = config.response_format
    asked = {"messages": _messages(request), "sampling": more}
    try:
        prediction = await model.predict(
            MESSAGES, **asked, max_tokens=config.max_tokens, rollout=rollout
        )
    except ModelError as error:
        heard(error)
        raise _let_through(ModelError)(str(error)) from error
    except JudgmentFailed as failed:
        heard(failed)
        raise
    heard(None)
    return _response(prediction.call)


@cache
def _let_through(kind: type[ModelError]) -> type[ModelError]:
    """Return a kind of error that DSPy, which wraps all others, lets through as it is."""
    return type(kind.__name__, (kind, dspy_module().LMError), {})


def _messages(request: Any) -> list[dict[str, Any]]:
    """Return a request's system text and messages as chat messages, control tokens broken.

    They may hold texts of documents, labelled examples and earlier replies.
    """
    messages = []
    if request.system is not None:
        messages.append({"role": "system", "content": _text(request.system)})
    for message in request.messages:
        messages.append({"role": message.role, "content": _text(message.parts)})
    return messages


def _text(parts: Any) -> str:
    if not isinstance(parts, str):
        parts = "".join(part.text for part in parts if hasattr(part, "text"))
    return neutralize(parts, TOKENS)


def _response(call: ModelCall) -> Any:
    lm15, tokens = dspy_module().lm15, (call.usage.prompt_tokens, call.usage.completion_tokens)
    usage = lm15.Usage(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
    message = lm15.Message.assistant(call.reply)
    return lm15.Response(id=None, model=NAME, message=message, finish_reason="stop", usage=usage)
