"""What a failed call means, by cause: the item, the moment, the account, the configuration, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from trecjudge.settings.limits import limits

PENALTY = "frequency_penalty"
"""The parameter that keeps a model from repeating itself."""
NOT_READ = "reply_not_read"
"""The code of a reply of a batch that is beyond a limit."""
# An endpoint may ask for no longer wait: some headers hold a time of day, or nonsense.
LONGEST_WAIT = 120.0
LONGEST_MESSAGE = 300
LONGEST_WORDS = 4000
LONGEST_PAGE = 8000
"""Characters of a web page that are looked at: from each `<` on, all the rest may be searched."""
OF_THE_FORM = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses that may go away where no reply by JSON schema is asked for."""


class Fault(Exception):
    """A request that got no usable reply; `kind` as in JudgmentFailed, `status` of HTTP, or 0.

    A fault of this class itself may go away: the request is tried again.
    """

    def __init__(self, kind: str, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.tokens = (0, 0)
        """The tokens that a useless reply took, in and out."""

    def after_paying(self, prompt_tokens: int, completion_tokens: int) -> Fault:
        """Return the fault as one of a reply that took so many tokens."""
        self.tokens = (prompt_tokens, completion_tokens)
        return self


class Unreachable(Fault):
    """There is no connection to the endpoint."""


class Busy(Fault):
    """The endpoint cannot answer at the moment.

    `after` are the seconds to wait: what it asked for, but not more than LONGEST_WAIT.
    """

    def __init__(self, message: str, status: int, asked: float = 0.0) -> None:
        wish = f" (it asks to wait {asked:.6g} s)" if asked else ""
        super().__init__("transport", f"{message}{wish}", status)
        self.after = min(LONGEST_WAIT, asked)


class ItemFault(Fault):
    """The endpoint or the model refuses this very item: asking again would not help."""


class TooLong(ItemFault):
    """A prompt and the limit of a reply are too long together; `room` is what the prompt leaves."""

    def __init__(self, message: str, status: int, room: int) -> None:
        super().__init__("too_long", message, status)
        self.room = room


class ParameterFault(Fault):
    """The endpoint does not take a parameter; `most` is the largest limit of tokens it takes."""

    def __init__(self, parameter: str, message: str, status: int, most: int | None = None) -> None:
        super().__init__("refused", message, status)
        self.parameter = parameter
        self.most = most


class AccountFault(Fault):
    """The account may not ask any more: no money, no quota."""


class ConfigurationFault(Fault):
    """Address, key or model are wrong: every other item would fail too."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The error that an endpoint reports: its words on one line, its codes in lower case."""

    status: int
    words: str
    codes: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.words[:LONGEST_MESSAGE]}"

    @property
    def all(self) -> str:
        """Codes and words, in lower case."""
        return " ".join([*sorted(self.codes), self.words.lower()])


_STATUS_OF = (
    (402, r"insufficient_quota|billing|payment|insufficient_credits"),
    (429, r"rate.?limit|too.many.requests|resource.?exhausted|throttl"),
    (503, r"overload|unavailable|loading|capacity|busy|starting"),
    (401, r"authentication|unauthorized|invalid.api.key"),
    (404, r"not.found"),
    (400, r"invalid.request|bad.?request|content.filter|context.length"),
)
"""The status that an error inside an answer of status 200 stands for, by its codes and words."""

_ACCOUNT = re.compile(
    r"insufficient[_ ](?:quota|funds|balance|credits?)|exceeded your current quota|billing"
    r"|credit balance|out of credits|more credits|payment required"
    r"|account.{0,20}(?:deactivat|suspend)"
)
_LIMIT = re.compile(r"max_(?:completion_)?tokens|max_new_tokens|maxoutputtokens|completion tokens")
_LARGEST = re.compile(
    r"(?:at most|<=|less than or equal to|up to|maximum(?: value| allowed)?(?: is| of)?"
    r"|limit(?: is)?|\[\d+,|\(inclusive\) to)[\s`'\"]*(\d+)|> (\d+), which is the maximum"
)
_OF_LIMIT = re.compile(r"tokens[`'\"]? must be|range of max|which is the maximum allowed")
_ROOM = (
    re.compile(
        r"context length (?:is|of) (?P<all>\d+) tokens.*?\b(?P<prompt>\d+) (?:input tokens"
        r"|in (?:the|your) (?:messages|prompt)|of text input|tokens from the input)"
    ),
    re.compile(r"max_new_tokens`? must be <= (?P<all>\d+)\. given: (?P<prompt>\d+) `?inputs"),
    re.compile(r"context limit: (?P<prompt>\d+) \+ \d+ > (?P<all>\d+)"),
)
"""How endpoints report the length of a prompt, and the most for it and its reply together."""
_NOT_TAKEN = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|invalid"
    r"|deprecated|only the default|is not available|not enabled|must alternate"
)
_SYSTEM = re.compile(
    r"system.{0,20}(?:role|message|prompt|instruction)|developer instruction"
    r"|role.{0,20}['\"`]?system|roles must alternate|only user and assistant"
)
_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|max_model_len|exceeds?_context|n_ctx"
    r"|string_above_max_length|too many (?:input |prompt )?tokens|reduce the (?:length|size)"
    r"|(?:prompt|input|request|message)s?(?: \w+)? (?:is|are|was) too (?:long|large)|input length"
    r"|(?:input|prompt)(?: token)? (?:count|length|tokens?).{0,60}exceed|exceeds? the (?:maximum )?"
    r"(?:number of |allowed )?(?:input |prompt )?tokens|longer than the (?:model|maximum|max)"
    r"|payload too large|entity too large|content too large|maximum prompt length"
    r"|inputs` must have less than|max_tokens must be at least 1, got -"
)
_NOT_IN_A_MINUTE = re.compile(r"request too large|tokens must be reduced")
_FILTERED = re.compile(
    r"content.?(?:management|filter|polic)|responsibleai|safety|flagged|prohibited.content"
    r"|violat\w+ .{0,40}polic|polic\w+.{0,40}violat|sensitive (?:content|words)|data_inspection"
)
_MODERATED = re.compile(r"moderation")
_OF_ITEMS = (("too_long", _TOO_LONG), ("filtered", _FILTERED), ("refused", _MODERATED))
_FORM = re.compile(r"response_format|json_?schema|structured|guided|grammar|json mode|schema")
_MODEL = re.compile(
    r"model_not_found|(?:unknown|invalid|no such) model|model\b.{0,80}"
    r"(?:not (?:found|exist|available)|does not exist|is not (?:a valid|loaded))"
)


_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]*>", re.S | re.IGNORECASE)


def problem_in(status: int, payload: bytes, mask: Any = str) -> Problem:
    """Return the problem that an answer reports; `mask` hides the key in its words.

    The many shapes of `error`, `detail` and `message` are known; anything else is quoted.
    """
    try:
        answer = orjson.loads(payload)
    except orjson.JSONDecodeError:
        answer = None
    if limits().excess(answer):
        answer = None
    if isinstance(answer, list) and answer:
        answer = answer[0]
    error = _error_in(answer) if isinstance(answer, Mapping) else answer
    words = " ".join(dict.fromkeys(_words(error))) if error is not None else ""
    words = " ".join(mask(words or plain(payload.decode(errors="replace"))).split())
    codes = frozenset(_codes(error)) if isinstance(error, Mapping) else frozenset()
    return Problem(status, words[:LONGEST_WORDS], codes)


def status_of(problem: Problem) -> int:
    """Return the status that an error inside an answer of status 200 stands for, 500 if none."""
    numbers = [
        int(c) for c in problem.codes if c.isdecimal() and len(c) == 3 and "400" <= c < "600"
    ]
    if numbers:
        return numbers[0]
    return next((status for status, known in _STATUS_OF if re.search(known, problem.all)), 500)


def fault_of(problem: Problem, after: float = 0.0) -> Fault:
    """Return the fault that an answer of a status other than 200 makes.

    `after` are the seconds to wait that its headers ask for.
    """
    status, text, message = problem.status, problem.all, str(problem)
    if NOT_READ in problem.codes:
        return ItemFault("too_large", problem.words)
    if _is_of_the_account(problem, after):
        return AccountFault("account", message, status)
    # Some send 429 for one request that is larger than a whole minute's quota: no wait helps.
    if status == 413 or (status == 429 and _NOT_IN_A_MINUTE.search(text)):
        return ItemFault("too_long", message, status)
    if status in (429, 503, 529):
        return Busy(message, status, after)
    # The most specific first: many messages fit several of these.
    if status in (400, 422) and (room := _room(problem.words.lower())) is not None:
        return TooLong(message, status, room)
    # Some forbid log-probabilities only, by 403.
    is_asked = status in (400, 422) or (status == 403 and "logprobs" in text)
    if is_asked and (found := _parameter(problem.words.lower())):
        return ParameterFault(found[0], message, status, found[1])
    if status in (400, 403, 413, 422, 451, 500):
        for kind, known in _OF_ITEMS:
            if known.search(text):
                return ItemFault(kind, message, status)
    if status in (401, 403, 404, 405, 410) or (status == 400 and _MODEL.search(text)):
        return ConfigurationFault("refused", message, status)
    # 408 timeout, 409 conflict, 424 dependency, 425 too early, 499 closed: all may pass.
    if status >= 500 or status in (408, 409, 424, 425, 499):
        return Fault("transport", message, status)
    return ItemFault("refused", message, status)


def _is_of_the_account(problem: Problem, after: float) -> bool:
    """Return whether there is no money or quota left.

    Many messages speak of billing where only a minute's quota is used up: they give a time to wait.
    """
    if problem.status == 402 or "insufficient_quota" in problem.codes:
        return True
    return problem.status in (400, 403, 429) and not after and bool(_ACCOUNT.search(problem.all))


def _room(text: str) -> int | None:
    """Return how many tokens a prompt leaves to its reply, where an endpoint reports that."""
    found = next((match for known in _ROOM if (match := known.search(text))), None)
    return found and int(found["all"]) - int(found["prompt"])


def names_the_form(message: str) -> bool:
    """Return whether an endpoint's message is about the form of the reply."""
    return _FORM.search(message.lower()) is not None


def _parameter(text: str) -> tuple[str, int | None] | None:
    """Return the parameter that is not taken, and the largest limit where that is reported."""
    if _LIMIT.search(text):
        is_of_limit = _OF_LIMIT.search(text) or not _TOO_LONG.search(text)
        if is_of_limit and (largest := _LARGEST.search(text)):
            return "limit", int(largest[1] or largest[2])
        # `max_tokens is too large` is about its value; the parameter itself is taken.
        if _NOT_TAKEN.search(text) and "too large" not in text:
            return "max_tokens", None
    if _NOT_TAKEN.search(text) or "support" in text:
        if _SYSTEM.search(text):
            return "system", None
        if "penalty" in text:  # Google's says "Penalty is not enabled for this model"
            return PENALTY, None
        known = ("temperature", "seed", "logprobs")
        return next(((name, None) for name in known if name in text), None)
    return None


def is_error(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer of status 200 is an error all the same."""
    return "choices" not in answer or _error_in(answer) is not answer


def _error_in(answer: Mapping[str, Any]) -> Any:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    for where in (answer, choice):
        for key in ("error", "errors", "detail"):
            if isinstance(where, Mapping) and where.get(key):
                return where[key]
    return answer


def _words(problem: Any) -> Iterator[str]:
    """Yield the texts of an error of any shape."""
    if isinstance(problem, str):
        yield problem
    elif isinstance(problem, list):
        for entry in problem:
            yield from _words(entry)
    elif isinstance(problem, Mapping):
        if isinstance(where := problem.get("loc"), list):
            yield ".".join(map(str, where)) + ":"
        for key in ("message", "msg", "detail", "error", "error_description", "title"):
            yield from _words(problem.get(key))
        details = problem.get("details")
        for entry in details if isinstance(details, list) else ():
            if isinstance(entry, Mapping) and "retryDelay" in entry:  # of Google
                yield f"retry in {entry['retryDelay']}"
        metadata = problem.get("metadata")
        if isinstance(metadata, Mapping):  # of OpenRouter: the provider's own error
            yield from _words(metadata.get("raw"))
            yield from _words(metadata.get("reasons"))


def _codes(problem: Mapping[str, Any]) -> Iterator[str]:
    for key in ("code", "type", "status", "param", "reason"):
        value = problem.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield str(value).lower()
    inner = problem.get("innererror")
    if isinstance(inner, Mapping):
        yield from _codes(inner)


def plain(text: str) -> str:
    """Return the text of a web page; any other text as it is."""
    is_page = text.lstrip().startswith("<")
    return _MARKUP.sub(" ", text.lstrip()[:LONGEST_PAGE]) if is_page else text
