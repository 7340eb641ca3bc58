"""The proxy that the environment names for an address: HTTP(S)_PROXY, ALL_PROXY, NO_PROXY."""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from trecjudge.errors import ModelError


# By hand, since aiohttp's `trust_env` knows neither ALL_PROXY nor networks in NO_PROXY, and its
# errors show the password.
@dataclass(frozen=True, slots=True)
class Proxy:
    """The address of a proxy, and the name and password that it needs."""

    url: str
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must be hidden."""
        return (self.password, self.authorization) if self.password else ()

    @property
    def authorization(self) -> str:
        """The value of its header Proxy-Authorization, "" where it needs none."""
        if not self.user:
            return ""
        return f"Basic {base64.b64encode(f'{self.user}:{self.password}'.encode()).decode()}"

    @classmethod
    def of(cls, url: str, environment: Mapping[str, str]) -> Proxy | None:
        """Return the proxy for an address, None where there is none for it. Raises ModelError."""
        scheme = urlsplit(url).scheme
        found = _variable(environment, f"{scheme}_proxy") or _variable(environment, "all_proxy")
        if not found or _is_excepted(url, _variable(environment, "no_proxy")):
            return None
        parts = urlsplit(found if "://" in found else f"http://{found}")
        is_host = re.fullmatch(r"[\w.:%-]+", parts.hostname or "")  # else each call would fail anew
        if parts.scheme not in ("http", "https") or not is_host:
            raise ModelError(f"{scheme.upper()}_PROXY: a proxy must be http:// or https://")
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        return cls(urlunsplit(bare), unquote(parts.username or ""), unquote(parts.password or ""))


def _variable(environment: Mapping[str, str], name: str) -> str:
    return (environment.get(name) or environment.get(name.upper()) or "").strip()


def _is_excepted(url: str, exceptions: str) -> bool:
    """Return whether NO_PROXY names the host: `*`, a domain, with its port, or a network."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    for entry in exceptions.replace(",", " ").lower().split():
        name = entry.removeprefix("*").removeprefix(".")
        if entry == "*" or _is_within(host, entry):
            return True
        for known in (host, f"{host}:{parts.port}"):
            if known == name or known.endswith(f".{name}"):
                return True
    return False


def _is_within(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
