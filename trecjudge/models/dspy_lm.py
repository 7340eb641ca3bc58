"""A `dspy.LM` over the client: DSPy modules and optimisers use its cache, retries and pace."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache
from typing import Any

from trecjudge.errors import ModelError
from trecjudge.models.client import Client
from trecjudge.models.envelope import Reply
from trecjudge.models.signatures import dspy_module
from trecjudge.text.chat_tokens import TOKEN, broken

PASSED_ON = ("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty")


def dspy_lm(client: Client) -> Any:
    """Return a `dspy.LM` that asks through `client`; to be made in the client's event loop.

    Modules may be awaited in that loop, or called in another thread. No command uses it: it is
    there to optimise prompts.
    """
    loop = asyncio.get_running_loop()
    return dspy_module().LM(
        f"openai/{client.settings.model}",
        engine=Engine(client, loop),
        async_engine=AsyncEngine(client),
        num_retries=0,
        cache=False,
        temperature=None if client.settings.reasoning else client.settings.temperature,
        max_tokens=client.settings.max_tokens,
    )


@dataclass(frozen=True, slots=True)
class AsyncEngine:
    """DSPy's asynchronous engine interface over a client."""

    client: Client

    async def complete(self, request: Any) -> Any:
        """Return the `dspy.lm15.Response` to a `dspy.lm15.Request`."""
        config = request.config
        more = {name: value for name in PASSED_ON if (value := getattr(config, name)) is not None}
        if config.stop:
            more["stop"] = list(config.stop)
        if config.response_format is not None:
            more["response_format"] = config.response_format
        try:
            reply = await self.client.complete(_messages(request), more, config.max_tokens)
        except ModelError as error:
            raise _let_through(ModelError)(str(error)) from error
        return _response(self.client.settings.model, reply)


@dataclass(frozen=True, slots=True)
class Engine:
    """DSPy's synchronous engine interface over a client whose event loop runs in another thread."""

    client: Client
    loop: asyncio.AbstractEventLoop

    def complete(self, request: Any) -> Any:
        """Return the response. Raises ModelError in the client's thread, which it would block."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self.loop:
            message = "a DSPy module was called in the event loop: await its acall instead"
            raise _let_through(ModelError)(message)
        asked = AsyncEngine(self.client).complete(request)
        return asyncio.run_coroutine_threadsafe(asked, self.loop).result()


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
    return broken(parts, TOKEN)


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
