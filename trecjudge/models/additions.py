"""What a user may add to requests: no field, header or parameter that the judge itself sets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson

from trecjudge.errors import ModelError

_BASIC = (
    "model messages prompt temperature seed maxtokens maxcompletiontokens responseformat n stream"
)
_MORE = """
models modelname engine deployment deploymentid modelid modellist route router fallbacks
fallbackmodels contextwindowfallbackdict contextwindowfallbacks contentpolicyfallbacks apibase
baseurl apibaseurl customllmprovider endpoint url apikey headers extraheaders defaultheaders
extraquery defaultquery randomseed maxoutputtokens maxnewtokens maxlength npredict numpredict
maxtokenstosample guidedjson guidedregex guidedchoice guidedgrammar guideddecoding
structuredoutputs structuredoutput jsonschema jsonmode grammar format responseschema
responsemimetype ebnf regex prompts input inputs instructions system systemprompt systemmessage
systeminstruction contents context prefix suffix prefill assistantprefill template chattemplate
conversation previousresponseid promptembeds inputids tools toolchoice functions functioncall
documents plugins websearchoptions transforms truncateprompttokens continuefinalmessage
addgenerationprompt query texts topn encodingformat dimensions timeout requesttimeout customid
method body requests bestof numreturnsequences numcompletions candidatecount streaming
streamoptions echo usebeamsearch mockresponse
"""
_OF_CONNECTION = """
host content-length content-type content-encoding transfer-encoding te trailer connection keep-alive
upgrade expect accept-encoding proxy-connection proxy-authorization x-http-method-override
x-http-method x-method-override x-original-url x-rewrite-url x-forwarded-host
"""
_IN_QUERY = frozenset(_BASIC.split())
"""Fields that a server may also take from a query; other names there may be a gateway's."""
_OWN = _IN_QUERY | frozenset(_MORE.split())
"""Fields of a request that the judge sets, or that would replace or add to them, as `_plain`."""
_HEADERS = frozenset(_OF_CONNECTION.split())
"""Headers that the connection sets, or that change what a request is."""
_FREE = frozenset({"metadata", "logitbias", "user"})
"""Fields whose inner names mean nothing to a server."""
_SIGNS = re.compile(r"[\W_]+")


def check_additions(
    section: str,
    extra_body: Mapping[str, Any],
    headers: Iterable[str],
    query: Iterable[str],
    base_urls: Iterable[str],
) -> None:
    """Raise ModelError for what would take the place of what the judge itself sends.

    `headers` and `query` are names; the query of a base URL must not have those again.
    """
    try:
        orjson.dumps(extra_body)
    except TypeError as error:
        raise ModelError(f"{section}.extra_body: cannot be sent as JSON: {error}") from error
    # Servers that hand headers on as variables take `_` for `-`.
    headers, query = [name.lower().replace("_", "-") for name in headers], list(query)
    for where, taken in (
        ("extra_body", list(_taken(extra_body))),
        ("headers", [name for name in headers if name in _HEADERS]),
        ("query", [name for name in query if _plain(name) in _IN_QUERY]),
    ):
        if taken:
            names, what = ", ".join(map(repr, taken)), "nothing may replace what the judge sets"
            raise ModelError(f"{section}.{where}: {names}: {what}")
    if again := sorted({name for name in headers if headers.count(name) > 1}):
        raise ModelError(f"{section}.headers: {', '.join(again)} is given twice")
    known = set(map(str.casefold, query))
    pairs = (pair for url in base_urls for pair in parse_qsl(urlsplit(url).query, True))
    if again := sorted({name for name, _ in pairs if name.casefold() in known}):
        raise ModelError(f"{section}.query: {', '.join(again)} is in base_url already")


def _taken(given: Any, path: str = "") -> Iterator[str]:
    """Yield the names of what the judge itself sets, at any depth."""
    for name, value in given.items() if isinstance(given, Mapping) else (("", e) for e in given):
        plain, here = _plain(str(name)), f"{path}.{name}".strip(".")
        # How many tokens a model may think is not the limit of a reply.
        if plain in _OWN and (path, plain) != ("reasoning", "maxtokens"):
            yield here
        elif isinstance(value, Mapping | list) and plain not in _FREE:
            yield from _taken(value, here)


def _plain(name: str) -> str:
    """Return a name as the most generous server reads it: without case, signs and blanks."""
    return _SIGNS.sub("", unicodedata.normalize("NFKC", name).casefold())
