"""A service that gives documents by id: its address, and what each request carries."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from trecjudge.errors import InputError
from trecjudge.inputs.documents.index_file import index_address
from trecjudge.inputs.documents.store import address_in
from trecjudge.models.access.addresses import NAMED as VARIABLES
from trecjudge.models.access.addresses import VARIABLE, check_named, is_secret
from trecjudge.models.settings import HeaderValue
from trecjudge.settings.fields import ranged, typed_fields
from trecjudge.settings.strict_yaml import read_yaml_file
from trecjudge.text.credentials import public

PLACE = "{docid}"
"""What stands in an address for the id of a document."""
HEADERS = "TRECJUDGE_DOCUMENTS_HEADERS"
"""The variable with the headers for an address that is given without a file."""
NAMED = "HEADER=VARIABLE"
"""What it holds, for a message; `HEADER=VARIABLE@HOST` is for one host."""
FORM = f"https://HOST/v1/INDEX/doc/{PLACE}"
LONGEST_ID = 2000
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


@dataclass(frozen=True)
class DocumentApi:
    """A service of documents.

    `url` is the address of one document, with `{docid}` in the place of its id. `headers` are sent
    with every request; `${NAME}` in both is a variable of the environment. `text` is the dotted
    path to the text in a reply; empty: it is found as in any document. At most `at_once` requests
    are under way. With `only_cited`, references that no sentence cites are not fetched. A request
    may take `timeout` seconds; a service that is out of order is waited for `patience` seconds.
    """

    url: str = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    text: str = ""
    at_once: int = ranged(8, 1, 64)
    only_cited: bool = False
    timeout: float = ranged(60.0, 1.0)
    patience: float = ranged(600.0, 0.0)

    @property
    def name(self) -> str:
        """What messages and files may show of it: no secrets."""
        return f"{public(self.url)} ({self.text})" if self.text else public(self.url)

    @property
    def key(self) -> str:
        """What its documents are kept under: another user, query or header may get others.

        What a variable holds does not count, nor a password, nor how one is let in: they change,
        and a report is made where no token is set.
        """
        address = re.sub(r"(//[^/?#:@]*):[^/?#]*@", r"\1@", self.url)
        others = sorted(h for h in self.headers.items() if h[0].lower() != "authorization")
        written = repr((address, self.text, others))
        return f"service {hashlib.sha256(written.encode()).hexdigest()}"

    def public_address(self, doc_id: str) -> str:
        """Return the address of a document without secrets."""
        return address_of(public(self.url), doc_id)


def address_of(url: str, doc_id: str) -> str:
    """Return where a document is asked for, by the address of a service."""
    return url.replace(PLACE, quote(doc_id, safe=""))


def can_be_asked(doc_id: str) -> bool:
    """Return whether an id can stand in an address: `..` would be another address."""
    return 0 < len(doc_id) <= LONGEST_ID and doc_id not in (".", "..")


def service_of(path: Path) -> DocumentApi | None:
    """Return the service that an address with `{docid}`, or a YAML file with its `url`, names.

    None for any other path. The headers for an address are those that the variable
    TRECJUDGE_DOCUMENTS_HEADERS names for it, or for all. Raises InputError for an address without
    `{docid}`, WorkflowError or ModelError for a file that cannot be used.
    """
    if (url := address_in(path)) and not index_address(path):
        service = _check_service(DocumentApi(url), "--documents")
        headers = _read_headers(os.environ.get(HEADERS, ""), urlsplit(url).netloc)
        return _check_service(replace(service, headers=headers), "--documents")
    if path.suffix.lower() not in (".yml", ".yaml") or not path.is_file():
        return None
    given = read_yaml_file(path, "description of a service").value
    if not isinstance(given, Mapping) or DocumentApi.__dataclass_fields__.keys().isdisjoint(given):
        return None
    headers = _check_headers(f"{path}: headers", given.get("headers", {}))
    if not isinstance(given.get("url"), str):
        raise InputError(f"{path}: has no url; give url: {FORM}")
    values = typed_fields(DocumentApi, {**given, "headers": headers}, str(path))
    service = _check_service(DocumentApi(**values), f"{path}: url")
    parts = urlsplit(service.url)
    in_clear = dict(parse_qsl(parts.query)) | {"password": parts.password}
    check_named(f"{path}: url", {k: v for k, v in in_clear.items() if v}, "a file")
    return service


def _check_service(service: DocumentApi, where: str) -> DocumentApi:
    """Return the service. Raises InputError where its address cannot be used."""
    url, shown = service.url, public(service.url)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not (usable and url.isascii() and url.isprintable()):
        raise InputError(f"{where}: {shown!r} is no address of a service; give {FORM}")
    # In the name of the host, an id could lead the token anywhere.
    if PLACE in parts.netloc or PLACE not in parts.path + parts.query:
        message = f"{shown!r} needs {PLACE} in its path, for the id of a document"
        raise InputError(f"{where}: {message}; give {FORM}")
    if "@" in parts.netloc and "authorization" in map(str.lower, service.headers):
        raise InputError(f"{where}: give a name and password, or the header Authorization")
    VARIABLES.update(VARIABLE.findall(url))
    return service


def _check_headers(where: str, headers: Any) -> dict[str, str]:
    """Return headers as text. Raises InputError or ModelError: no message quotes a value."""
    if not isinstance(headers, Mapping):
        raise InputError(f"{where}: give a mapping, such as Authorization: Bearer ${{MY_TOKEN}}")
    for name, value in headers.items():
        if isinstance(value, bool) or not isinstance(value, HeaderValue):
            raise InputError(f"{where}: {name!r} is not text; put its value in quotes")
    check_named(where, headers, "a file")
    return {str(name): str(value) for name, value in headers.items()}


def _read_headers(written: str, host: str) -> dict[str, str]:
    """Return the headers of `Authorization=MY_TOKEN,X-Key=MY_KEY@HOST`: the names of variables.

    Those with another host are left out. A token for `Authorization` is sent as `Bearer`. Raises
    InputError that quotes no value: it may be the token itself.
    """
    found: dict[str, str] = {}
    here = host.rpartition("@")[2].lower()
    # Those for this very host come last, and count.
    for entry in sorted(filter(None, map(str.strip, written.split(","))), key=lambda e: "@" in e):
        name, _, variable = (part.strip() for part in entry.partition("="))
        variable, at, only = (part.strip() for part in variable.partition("@"))
        if not name or not _VARIABLE.fullmatch(variable) or is_secret("", variable):
            hint = "a header, and the variable that has its value, in capital letters"
            raise InputError(f"{HEADERS}: give {NAMED}: {hint}")
        VARIABLES.add(variable)
        if at and only.lower() not in (here, re.sub(r":\d+\Z", "", here)):
            continue
        scheme = "Bearer " if name.lower() == "authorization" else ""
        found[name] = f"{scheme}${{{variable}}}"
    check_named(HEADERS, found, "the environment")
    return found
