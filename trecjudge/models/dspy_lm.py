"""A `dspy.LM` over the client: DSPy modules and optimisers use its cache, retries and pace.

With the adapter of `judging_adapter` a module asks as judging asks: in the same form, with the same
messages, so that the replies of one are the other's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.models.adapters import dspy_module
from trecjudge.models.client import Client
from trecjudge.models.envelope import Reply
from trecjudge.models.model import Program
from trecjudge.models.prompt import PlainPrompt
from trecjudge.text.chat_tokens import TOKENS, neutralize

PASSED_ON = ("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty")
_ROLLOUT: ContextVar[int | None] = ContextVar("rollout", default=None)
"""The `rollout_id` of the call under way: DSPy leaves it out of the request."""
Heard = Callable[[JudgmentFailed | ModelError | None], None]
"""Is told of each request how it failed, or None where there is a reply."""


def _unheard(failed: JudgmentFailed | ModelError | None) -> None:
    """Tell nobody."""


def dspy_lm(
    client: Client, before: Callable[[], None] = lambda: None, heard: Heard = _unheard
) -> Any:
    """Return a `dspy.LM` that asks through `client`; to be made in the client's event loop.

    Modules may be awaited in that loop, or called in another thread. Each `rollout_id` is a call of
    its own, and is kept. `before` is called before each request, and may raise; `heard` after it.
    """
    engine = Engine(client, asyncio.get_running_loop(), before, heard)
    return _lm_class()(
        f"openai/{client.settings.model}",
        engine=engine,
        async_engine=AsyncEngine(engine),
        num_retries=0,
        cache=False,
        temperature=None if client.settings.reasoning else client.settings.temperature,
        max_tokens=client.settings.max_tokens,
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

    return RolloutLM


def judging_adapter(program: Program) -> Any:
    """Return a DSPy adapter by which a module asks `program` as judging does.

    The signature, its instructions and demonstrations are those of the module. The form is that
    which the endpoint takes, malformed replies are asked for again, and a reply that judging has is
    not asked for. It serves modules whose `dspy.LM` is one of `dspy_lm`. A module raises
    JudgmentFailed where there is no usable reply.
    """
    return _adapter_class()(program)


@cache
def _adapter_class() -> Any:
    class JudgingAdapter(dspy_module().ChatAdapter):  # type: ignore[misc]
        """Asks through `Client.predict`."""

        def __init__(self, program: Program) -> None:
            super().__init__(use_json_adapter_fallback=False)
            self.program = program

        def __call__(
            self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
        ) -> list[dict[str, Any]]:
            asked = _vary_program(self.program, lm, lm_kwargs, signature, demos)
            prediction = lm.engine.wait(lm.engine.client.predict(asked, **inputs))
            return [dict(prediction.fields)]

        async def acall(
            self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
        ) -> list[dict[str, Any]]:
            asked = _vary_program(self.program, lm, lm_kwargs, signature, demos)
            prediction = await lm.engine.client.predict(asked, **inputs)
            return [dict(prediction.fields)]

    return JudgingAdapter


def _vary_program(
    program: Program, lm: Any, given: Mapping[str, Any], signature: Any, demos: Any
) -> Any:
    """Return the program with what a module changed: wording, demonstrations and sampling."""
    client: Client = lm.engine.client
    settings = {**lm.kwargs, **given}
    named = (name for name in PASSED_ON if settings.get(name) is not None)
    sampling = {name: settings[name] for name in named}
    if client.settings.reasoning:  # such a model refuses them
        sampling = {}
    examples = [dict(demo) for demo in demos]
    return client.prompts.variant(
        program, signature, examples, sampling, settings.get("rollout_id")
    )


@dataclass(frozen=True, slots=True)
class Engine:
    """DSPy's synchronous engine interface over a client whose event loop runs in another thread."""

    client: Client
    loop: asyncio.AbstractEventLoop
    before: Callable[[], None]
    heard: Heard

    def complete(self, request: Any) -> Any:
        """Return the response. Raises ModelError in the client's thread, which it would block."""
        return self.wait(self.ask(request))

    def ask(self, request: Any) -> Coroutine[Any, Any, Any]:
        """Return what comes to a `dspy.lm15.Response` for a `dspy.lm15.Request`."""
        self.before()
        return _complete_request(self.client, request, _ROLLOUT.get(), self.heard)

    def wait(self, asked: Any) -> Any:
        """Return what a coroutine of the client's loop returns. Raises ModelError in that loop."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self.loop:
            asked.close()
            message = "a DSPy module was called in the event loop: await its acall instead"
            raise _let_through(ModelError)(message)
        return asyncio.run_coroutine_threadsafe(asked, self.loop).result()


@dataclass(frozen=True, slots=True)
class AsyncEngine:
    """DSPy's asynchronous engine interface over the same client."""

    engine: Engine

    async def complete(self, request: Any) -> Any:
        """Return the response."""
        return await self.engine.ask(request)


async def _complete_request(client: Client, request: Any, rollout: int | None, heard: Heard) -> Any:
    config = request.config
    more = {name: value for name in PASSED_ON if (value := getattr(config, name)) is not None}
    if config.stop:
        more["stop"] = list(config.stop)
    if config.response_format is not None:
        more["response_format"] = config.response_format
    prompt = PlainPrompt(more, rollout=rollout)
    try:
        reply = await client.complete(_messages(request), prompt, config.max_tokens)
    except ModelError as error:
        heard(error)
        raise _let_through(ModelError)(str(error)) from error
    except JudgmentFailed as failed:
        heard(failed)
        raise
    heard(None)
    return _response(client.settings.model, reply)


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


def _response(model: str, reply: Reply) -> Any:
    lm15 = dspy_module().lm15
    usage = lm15.Usage(
        input_tokens=reply.prompt_tokens,
        output_tokens=reply.completion_tokens,
        total_tokens=reply.prompt_tokens + reply.completion_tokens,
    )
    message = lm15.Message.assistant(reply.text)
    return lm15.Response(
        id=None, model=model, message=message, finish_reason=reply.finish_reason, usage=usage
    )
