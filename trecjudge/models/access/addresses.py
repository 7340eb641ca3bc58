"""Base URLs, certificates and secrets: every spelling of an address, and what is hidden of it."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from trecjudge.errors import ModelError
from trecjudge.text.credentials import HIDDEN, SECRET_NAME

# Secrets in headers and URLs: recognised by name and form, read from the environment, hidden.
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


# TLS certificates: whom to trust, and the client's own.
def tls_context(
    ca_file: str | None, cert_file: str | None, key_file: str | None
) -> ssl.SSLContext | None:
    """Return the TLS context of the certificate files, None where none is given.

    Raises ModelError, which names the file that cannot be used.
    """
    files = {"ca_file": ca_file, "cert_file": cert_file, "key_file": key_file}
    if key_file is not None and cert_file is None:
        raise ModelError("llm.key_file: needs llm.cert_file beside it")
    for name, path in files.items():
        if path is not None and not Path(path).is_file():
            raise ModelError(f"llm.{name} {path!r}: no such file")
    if ca_file is None and cert_file is None:
        return None
    name = "ca_file"
    try:
        context = ssl.create_default_context(cafile=ca_file)
        if cert_file is not None:
            name = "cert_file"
            # No password: OpenSSL would ask the terminal for that of a key which has one.
            context.load_cert_chain(cert_file, key_file, password="")
    except (OSError, ValueError) as error:
        raise ModelError(f"llm.{name} {files[name]!r}: {error}") from error
    return context


# Base URLs in every spelling, and the address that requests are posted to.
COMPLETIONS = "/chat/completions"


def split_addresses(given: str | Sequence[str]) -> list[str]:
    """Return the different base URLs of a setting: a list, or text with commas or blanks."""
    texts = [given] if isinstance(given, str) else given
    found = [address for text in texts for address in re.split(r"[\s,]+", text) if address]
    return list(dict.fromkeys(found))


def check_address(address: str) -> None:
    """Raise ModelError for a base URL that cannot be one."""
    if not address.startswith(("http://", "https://")):
        raise ModelError(
            f"base_url {stored_address(address)!r}: must begin with http:// or https://"
        )
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and (parts.port or 0) >= 0
        address.encode()
    except ValueError:
        usable = False
    if not usable:
        raise ModelError(f"base_url {stored_address(address)!r}: is not a valid address")
    if "@" in parts.netloc:
        raise ModelError("base_url: give no name and password in it; set OPENAI_API_KEY")


def service_url(
    base_url: str, query: Mapping[str, str] | None = None, service: str = COMPLETIONS
) -> str:
    """Return where requests are posted to.

    `/v1` is added to a host without a path, `service` to a path that does not end in it: that of
    completions, unless another is given. The base URL's own query follows the path, and `query` is
    added to it.
    """
    parts = urlsplit(base_url.strip())
    path = parts.path.rstrip("/") or "/v1"
    path = path if path.endswith(service) else path.removesuffix(COMPLETIONS) + service
    pairs = urlencode(query or {}, quote_via=quote)
    joined = "&".join(filter(None, (parts.query, pairs)))
    return urlunsplit(parts._replace(path=path, query=joined, fragment=""))


def is_azure(url: str) -> bool:
    """Return whether an endpoint takes its key as Azure does, in a header `api-key`."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return host.endswith(".azure.com") or "api-version" in dict(parse_qsl(parts.query))


def same_origin(url: str, other: str) -> bool:
    """Return whether the key may follow a redirect: to the same origin, or from http to https."""
    try:
        here, there = urlsplit(url), urlsplit(other)
        same_host = here.hostname == there.hostname
        # The ports differ then; the host must not.
        if (here.scheme, there.scheme) == ("http", "https"):
            return same_host
        return same_host and here.scheme == there.scheme and _port(here) == _port(there)
    except ValueError:
        return False


def _port(parts: SplitResult) -> int:
    return parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
