"""Finds the reply in an endpoint's answer, in any form that endpoints are known to send."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from trecjudge.models.faults import Fault, ItemFault
from trecjudge.records import TokenChances
from trecjudge.settings.limits import limits

# More tokens than this in one reply are a broken counter, and would empty a budget.
MOST_TOKENS = 1 << 40
MOST_CHARACTERS = 500_000
"""Characters in which an answer is looked for: many times as many as `most_tokens` have."""
BOM = b"\xef\xbb\xbf"
CUT = frozenset({"length", "max_tokens", "model_length", "token_limit", "max_output_tokens"})
"""Finish reasons of a reply that reached the limit of tokens, in lower case."""

FILTERED = frozenset({"content_filter", "safety", "prohibited_content", "blocklist", "recitation"})
"""Finish reasons of a reply that a filter stopped, in lower case."""
REASONING = ("reasoning_content", "reasoning", "thinking")
"""Where servers put what a model thought, beside the content."""


SERVED = ("model", "system_fingerprint")
"""Where endpoints say which model answered."""
NOT_KNOWN = -9999.0
"""The log-probability that endpoints give of a token whose own they do not know."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a completion, how it ended, its cost, and what the model thought beside it."""

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning: str = ""
    cached_tokens: int = 0
    """Tokens of the prompt that the endpoint had in a cache of its own."""
    logprobs: TokenChances = ()
    """The log-probabilities of the text's tokens, where they were asked for and given."""
    served: str = ""
    """What the endpoint calls the model that answered, with its fingerprint where it gives one."""

    @property
    def cut(self) -> bool:
        """Whether it is known to have reached the limit of tokens."""
        return self.finish_reason.lower() in CUT


def answer_in(payload: bytes) -> Any:
    """Return the JSON value of an answer; None where it is not JSON.

    A byte order mark and comment lines before it are passed over. If the answer came as a stream,
    though none was asked for, its events are put together. Raises ItemFault where it is nested too
    deep.
    """
    payload = payload.removeprefix(BOM).strip()
    if payload[:1] in (b":", b"d", b"e"):  # ": comment", "data: ...", "event: ..."
        events = [_json(line[5:]) for line in payload.splitlines() if line.startswith(b"data:")]
        chunks = [event for event in events if isinstance(event, Mapping)]
        if chunks:
            return _put_together(chunks)
        lines = payload.splitlines()
        payload = b"\n".join(line for line in lines if not line.startswith((b":", b"event:")))
    return _json(payload)


def reply_in(answer: Any) -> Reply | None:
    """Return the reply of a completion, None where the answer is none.

    Raises ItemFault where the model or a filter refuses, Fault where the reply is empty.
    """
    try:
        choice = answer["choices"][0]
        if choice.get("error"):
            return None
        message = choice.get("message") or {"content": choice["text"]}
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    text, thought = _parts(content)
    # Some send `error: null`, or an error beside a reply that is whole.
    if answer.get("error") and not text.strip():
        return None
    finish = str(choice.get("finish_reason") or "")
    usage = answer.get("usage")
    counts = [token_count(usage, f"{what}_tokens") for what in ("prompt", "completion")]
    if finish.lower() in FILTERED:
        fault: Fault = ItemFault("filtered", f"the reply was filtered ({finish})")
        raise fault.after_paying(*counts)
    if isinstance(refusal, str) and refusal.strip() and not text.strip():
        fault = ItemFault("refused", f"the model refuses: {_short(refusal)}")
        raise fault.after_paying(*counts)
    thought += "".join(found for key in REASONING if isinstance(found := message.get(key), str))
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    cached = token_count(details, "cached_tokens")
    logprobs = token_chances(choice.get("logprobs"), text)
    served = " ".join(_short(v) for key in SERVED if isinstance(v := answer.get(key), str) and v)
    reply = Reply(text, finish, counts[0], counts[1], thought, cached, logprobs, served)
    # Empty because it was cut: reasoning took all tokens, and more of them will help.
    if not text.strip() and not reply.cut:
        raise Fault("empty", "the reply is empty").after_paying(*counts)
    if len(text) > MOST_CHARACTERS:
        message = f"the reply has more than {MOST_CHARACTERS:,} characters"
        raise ItemFault("too_large", message).after_paying(*counts)
    return reply


def _json(payload: bytes) -> Any:
    try:
        found = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        if "ecursion" not in str(error):
            return None
        excess = limits().too_deep
    else:
        excess = limits().excess(found)
    if excess:
        raise ItemFault("too_large", f"the reply {excess}")
    return found


def _put_together(chunks: list[Mapping[str, Any]]) -> Any:
    """Return the completion that the chunks of a stream make; a whole one as it is."""
    whole = next((chunk for chunk in chunks if chunk.get("error") or reply_like(chunk)), None)
    if whole is not None:
        return whole
    choices = [choice for chunk in chunks for choice in _choices(chunk)]
    deltas = [delta for c in choices if isinstance(delta := c.get("delta"), Mapping)]
    message = {
        key: "".join(found for delta in deltas if isinstance(found := delta.get(key), str))
        for key in ("content", "refusal", *REASONING)
    }
    finish = next((c["finish_reason"] for c in choices if c.get("finish_reason")), None)
    usage = next((chunk["usage"] for chunk in chunks if chunk.get("usage")), None)
    listed = [
        lp["content"]
        for c in choices
        if isinstance(lp := c.get("logprobs"), Mapping) and isinstance(lp.get("content"), list)
    ]
    tokens = {"content": [token for each in listed for token in each]} if listed else None
    choice = {"message": message, "finish_reason": finish, "logprobs": tokens}
    served = {key: next((c[key] for c in chunks if c.get(key)), None) for key in SERVED}
    return {"choices": [choice], "usage": usage} | served


def reply_like(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer has a whole message."""
    return any(isinstance(choice.get("message"), Mapping) for choice in _choices(answer))


def _choices(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    choices = answer.get("choices")
    return [c for c in choices if isinstance(c, Mapping)] if isinstance(choices, list) else []


def _parts(content: Any) -> tuple[str, str]:
    """Return the text of a content, and what of it was thought: it may be a list of parts."""
    if isinstance(content, str):
        return content, ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            kind = str(part.get("type") or "text")
            found = "".join(_texts(part.get("text") or part.get("thinking") or part.get("content")))
            (texts if kind in ("text", "output_text") else thoughts).append(found)
    return "".join(texts), "".join(thoughts)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(value.get("text") or value.get("value"))
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)


def token_count(usage: Any, name: str) -> int:
    """Return a number of tokens, 0 where it cannot be one."""
    count = usage.get(name) if isinstance(usage, dict) else None
    if count is None:
        return 0
    try:
        number = int(count) if isinstance(count, int | float | str) else 0
    except (ValueError, OverflowError):
        return 0
    return number if 0 <= number < MOST_TOKENS else 0


def token_chances(given: Any, text: str) -> TokenChances:
    """Return where each token of a text ends, and its log-probability; empty where not given.

    `given` is the `logprobs` of a choice. It may have tokens before and behind the text, such as
    reasoning. Of what cannot be read nothing is used.
    """
    try:
        tokens = [(_bytes_of(one), float(one["logprob"])) for one in given["content"]]
        whole, wanted = b"".join(token for token, _ in tokens), text.encode()
    except (LookupError, TypeError, ValueError):
        return ()
    end, found = -whole.rfind(wanted), []
    if end > 0 or not wanted or not all(NOT_KNOWN < chance < math.inf for _, chance in tokens):
        return ()
    for token, chance in tokens:
        end += len(token)
        if 0 < end < len(wanted) + len(token):
            found.append((min(end, len(wanted)), min(chance, 0.0)))
    return tuple(found)


def _bytes_of(token: Mapping[str, Any]) -> bytes:
    """Return the bytes of a token: one may be a part of a character."""
    given = token.get("bytes")
    return bytes(given) if given and isinstance(given, list) else str(token["token"]).encode()


def mean_chance(logprobs: TokenChances, start: int, end: int) -> float | None:
    """Return exp of the mean log-probability of the tokens that touch bytes of a reply, 0 to 1.

    The length-normalised probability of Malinin and Gales (ICLR 2021). None without tokens.
    """
    begin, found = 0, []
    for stop, chance in logprobs:
        if begin < end and stop > start:
            found.append(chance)
        begin = stop
    return math.exp(math.fsum(found) / len(found)) if found else None


def _short(text: str) -> str:
    return " ".join(text.split())[:300]
