"""Base URLs in every spelling, and the address that requests are posted to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from trecjudge.errors import ModelError
from trecjudge.models.access.secrets import stored_address

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
