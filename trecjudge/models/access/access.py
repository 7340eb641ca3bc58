"""Access to one endpoint: its headers, query and certificates, its secrets to be hidden."""

from __future__ import annotations

import base64
import ipaddress
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from trecjudge.errors import ModelError
from trecjudge.models.access.addresses import (
    is_azure,
    secrets_in,
    service_url,
    substitute_variables,
    tls_context,
)
from trecjudge.models.settings import LlmSettings
from trecjudge.text.credentials import HIDDEN


# The proxy that the environment names for an address: HTTP(S)_PROXY, ALL_PROXY, NO_PROXY.
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


ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Headers that are sent where these environment variables are set."""


@dataclass(frozen=True, slots=True)
class Access:
    """How one endpoint is reached; `secrets` must be hidden in all output."""

    url: str = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    tls: ssl.SSLContext | None = None
    proxy: Proxy | None = None

    @classmethod
    def of(cls, settings: LlmSettings, base_url: str, environment: Mapping[str, str]) -> Access:
        """Return the access to one of the settings' endpoints. Raises ModelError."""
        taken: list[str] = []
        query = substitute_variables("llm.query", settings.query, environment, taken)
        url = service_url(base_url, query, settings.service.path)
        given = {"Authorization": f"Bearer {settings.api_key}", "Content-Type": "application/json"}
        if is_azure(url):
            given["api-key"] = settings.api_key
        own = {name: environment[v] for v, name in ACCOUNT.items() if environment.get(v)}
        own |= substitute_variables("llm.headers", settings.headers, environment, taken)
        chosen = {name.lower() for name in own}
        headers = {name: value for name, value in given.items() if name.lower() not in chosen} | own
        tls = tls_context(settings.ca_file, settings.cert_file, settings.key_file)
        return cls.at(url, headers, (settings.api_key, *taken), environment, tls)

    @classmethod
    def at(
        cls,
        url: str,
        headers: dict[str, str],
        given: Iterable[str],
        environment: Mapping[str, str],
        tls: ssl.SSLContext | None = None,
    ) -> Access:
        """Return the access to an address, by the proxy that the environment names for it.

        `given` are the secrets beside those of its query and of the proxy. Raises ModelError.
        """
        proxy = Proxy.of(url, environment)
        hidden = [*given, *secrets_in(url), *(proxy.secrets if proxy else ())]
        # Messages quote a URL as it was sent, so encoded too.
        spelled = {form for secret in hidden for form in (secret, quote(secret, safe="")) if form}
        # The longest first: one that holds another must not be masked in part.
        secrets = tuple(sorted(spelled, key=lambda secret: (-len(secret), secret)))
        return cls(url, headers, secrets, tls, proxy)

    def mask(self, text: str) -> str:
        """Return a text without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text


def accesses(settings: LlmSettings, environment: Mapping[str, str]) -> list[Access]:
    """Return the access to every endpoint of the settings. Raises ModelError."""
    return [Access.of(settings, url, environment) for url in settings.base_urls]
