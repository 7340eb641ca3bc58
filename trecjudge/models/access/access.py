"""Access to one endpoint: its headers, query and certificates, its secrets to be hidden."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from trecjudge.models.access.addresses import is_azure, service_url
from trecjudge.models.access.certificates import tls_context
from trecjudge.models.access.proxies import Proxy
from trecjudge.models.access.secrets import secrets_in, substitute_variables
from trecjudge.models.settings import LlmSettings
from trecjudge.text.credentials import HIDDEN

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
