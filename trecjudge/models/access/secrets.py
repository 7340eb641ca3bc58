"""Secrets in headers and URLs: recognised by name and form, read from the environment, hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from trecjudge.errors import ModelError
from trecjudge.text.credentials import HIDDEN, SECRET_NAME

VARIABLE = re.compile(r"\$\{(\w+)\}")
"""The name of an environment variable in a setting: `${MY_KEY}`."""
NAMED: set[str] = set()
"""Variables that workflows have named: code of others is given none of them."""

# By value: the prefixes that providers give their keys, a JSON web token (`eyJ`), or 32 and more
# letters with digits.
_SECRET_VALUE = re.compile(
    r"(?:bearer|basic|token)\s+\S+|(?:sk|pk|rk|gsk|hf|xai|ghp|nvapi|key)[-_]\S{16,}"
    r"|AIza\S{16,}|eyJ\S{16,}|(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9+/=]{32,}",
    re.IGNORECASE,
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def is_secret(name: str, value: str) -> bool:
    """Return whether a header or a parameter of a query looks like a secret, by name or value."""
    if VARIABLE.search(value):
        return False
    return bool(SECRET_NAME.match(name) or _SECRET_VALUE.fullmatch(value.strip()))


def secrets_in(url: str) -> list[str]:
    """Return the secrets in the query of an address, as written there and decoded."""
    found = []
    for pair in _query_of(url):
        name, _, value = pair.partition("=")
        decoded = dict(parse_qsl(pair)).get(name, "")
        if decoded and is_secret(name, decoded):
            found += [value, decoded]
    return found


def stored_address(url: str) -> str:
    """Return an address without the secrets of its query: replies are kept under it."""
    shown = []
    for pair in _query_of(url):
        name, equals, value = pair.partition("=")
        decoded = dict(parse_qsl(pair)).get(name, "")
        hides = VARIABLE.search(decoded) or is_secret(name, decoded)
        shown.append(f"{name}{equals}{HIDDEN if decoded and hides else value}")
    head, question, _ = url.partition("?")
    return f"{head}{question}{'&'.join(shown)}"


def _query_of(url: str) -> list[str]:
    query = url.partition("#")[0].partition("?")[2]
    return query.split("&") if query else []


def substitute_variables(
    where: str, given: Mapping[str, Any], environment: Mapping[str, str], taken: list[str]
) -> dict[str, str]:
    """Return values with `${NAME}` replaced from the environment; `taken` gets the values.

    `where` names them, and ends in `headers` if they are. Raises ModelError for one that is not
    set, or that cannot be sent.
    """

    def value_of(found: re.Match[str]) -> str:
        value = environment.get(found[1], "").strip()
        if not value:
            raise ModelError(f"{where}: the environment has no {found[1]}")
        taken.append(value)
        return value

    values = {name: VARIABLE.sub(value_of, str(value)) for name, value in given.items()}
    for name, value in values.items():
        if not (value.isascii() and value.isprintable()):
            raise ModelError(f"{where}: {name} holds characters that cannot be sent")
        if where.endswith("headers") and not _HEADER_NAME.fullmatch(name):
            raise ModelError(f"{where}: {name!r} is not the name of a header")
    return values


def check_named(where: str, values: Mapping[Any, Any], file: str) -> None:
    """Raise ModelError for a secret among the values of a `file`; what they name is in NAMED."""
    for name, value in values.items():
        NAMED.update(VARIABLE.findall(str(value)))
        if is_secret(str(name), str(value)):
            variable = "MY_" + re.sub(r"\W+", "_", str(name)).upper()
            raise ModelError(
                f"{where}: {name} looks like a secret: keys do not belong in {file};"
                f" name a variable of the environment, {name}: ${{{variable}}}"
            )


def check_in_clear(workflow: Mapping[str, Any]) -> None:
    """Raise ModelError for a secret in a workflow: it would be written to the job's records.

    The variables that it names are kept in NAMED.
    """
    for where in ("headers", "query"):
        values = workflow.get(where)
        check_named(f"llm.{where}", values if isinstance(values, Mapping) else {}, "a workflow")
    addresses = workflow.get("base_url") or ()
    texts = [addresses] if isinstance(addresses, str) else addresses
    for text in texts if isinstance(texts, list | tuple) else ():
        if isinstance(text, str) and secrets_in(text):
            raise ModelError(
                "llm.base_url: its query holds what looks like a secret: keys do not belong in a"
                " workflow; set OPENAI_BASE_URL, or llm.query with ${MY_KEY}"
            )
