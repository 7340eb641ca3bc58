"""What a user may add to requests: no field, header or parameter that the judge itself sets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson

from trecjudge.errors import ModelError

_OWN = {
    "llm.model": "model models engine deployment deploymentid modelid modellist route router"
    " fallbacks fallbackmodels contextwindowfallbackdict contextwindowfallbacks"
    " contentpolicyfallbacks",
    "llm.base_url": "apibase baseurl apibaseurl customllmprovider endpoint url",
    "llm.key_variable": "apikey",
    "llm.headers": "headers extraheaders defaultheaders",
    "llm.query": "extraquery defaultquery",
    "llm.temperature": "temperature",
    "llm.seed": "seed randomseed",
    "llm.max_tokens": "maxtokens maxcompletiontokens maxoutputtokens maxnewtokens maxlength"
    " npredict numpredict maxtokenstosample",
    "llm.structured": "responseformat guidedjson guidedregex guidedchoice guidedgrammar"
    " guideddecoding structuredoutputs structuredoutput jsonschema jsonmode grammar format"
    " responseschema responsemimetype ebnf regex",
    "prompts": "messages prompt prompts input inputs instructions system systemprompt"
    " systeminstruction contents context prefix suffix template chattemplate conversation"
    " previousresponseid promptembeds inputids tools toolchoice functions functioncall documents"
    " plugins websearchoptions transforms truncateprompttokens"
    " continuefinalmessage addgenerationprompt query texts topn encodingformat dimensions",
    "llm.timeout": "timeout requesttimeout",
    "llm.batch": "customid method body requests",
    "": "n bestof numreturnsequences numcompletions candidatecount stream streaming streamoptions"
    " echo usebeamsearch mockresponse",
}
"""Fields of a request as `_plain` has them, by the setting that is for them; "" where none is."""
_SETTING = {name: setting for setting, names in _OWN.items() for name in names.split()}
_FREE = frozenset({"metadata", "logitbias", "user"})
"""Fields whose inner names mean nothing to a server."""
_INNER = frozenset({("reasoning", "maxtokens")})
"""Names that mean another thing inside a field: how many tokens a model may think."""
_IN_QUERY = frozenset(
    {"model", "messages", "prompt", "temperature", "seed", "maxtokens", "maxcompletiontokens"}
    | {"responseformat", "n", "stream"}
)
"""Those of them that a server may also take from a query; other names may be a gateway's."""
_HEADERS = frozenset(
    {"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "te"}
    | {"trailer", "connection", "keep-alive", "upgrade", "expect", "accept-encoding", "proxy"}
    | {"proxy-connection", "proxy-authorization", "x-http-method-override", "x-http-method"}
    | {"x-method-override", "x-original-url", "x-rewrite-url", "x-forwarded-host"}
)
"""Headers that the connection sets, or that change what a request is."""
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
    headers = [name.lower() for name in headers]
    plain = {name: _plain(name) for name in query}
    try:
        orjson.dumps(extra_body)
    except TypeError as error:
        raise ModelError(f"{section}.extra_body: cannot be sent as JSON: {error}") from error
    _refuse(f"{section}.extra_body", list(_taken(extra_body)))
    _refuse(f"{section}.headers", [(name, "") for name in headers if name in _HEADERS])
    taken = [(name, _SETTING[p]) for name, p in plain.items() if p in _IN_QUERY]
    _refuse(f"{section}.query", taken)
    if again := sorted({name for name in headers if headers.count(name) > 1}):
        raise ModelError(f"{section}.headers: {', '.join(again)} is given twice")
    known = set(map(str.casefold, plain))
    for url in base_urls:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
        if again := sorted({name for name, _ in pairs if name.casefold() in known}):
            raise ModelError(f"{section}.query: {', '.join(again)} is in base_url already")


def _refuse(where: str, taken: list[tuple[str, str]]) -> None:
    if not taken:
        return
    names = ", ".join(repr(name) for name, _ in taken)
    better = list(dict.fromkeys(setting for _, setting in taken if setting))
    hint = f"; set {', '.join(better)} in its place" if better and where.startswith("llm.") else ""
    raise ModelError(f"{where}: {names}: the judge itself sets that, nothing may replace it{hint}")


def _taken(given: Any, path: str = "", within: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, the setting that is for it) of what the judge itself sets, at any depth."""
    entries = given.items() if isinstance(given, Mapping) else ((None, e) for e in given)
    for name, value in entries:
        plain, shown = _plain(str(name)), path
        if name is not None:
            shown = f"{path}.{name}" if path else str(name)
            if plain in _SETTING and (within, plain) not in _INNER:
                yield shown, _SETTING[plain]
                continue
        if isinstance(value, Mapping | list) and plain not in _FREE:
            yield from _taken(value, shown, plain if name is not None else within)


def _plain(name: str) -> str:
    """Return a name as the most generous server reads it: without case, signs and blanks."""
    return _SIGNS.sub("", unicodedata.normalize("NFKC", name).casefold())
