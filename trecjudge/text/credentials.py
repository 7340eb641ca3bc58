"""Secrets in texts: found by their form, or because they were typed, and hidden.

Messages, findings, the log's events, the config and reports go through `public`. What runs, topics
and documents say is data: nothing here is for it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import quote, unquote, unquote_plus

HIDDEN = "***"
T = TypeVar("T")

SECRET_NAME = re.compile(
    r"(?:.*(?:key(?:[-_]?id)?|token|secret|passw(?:or)?d|passwd|pwd|passphrase|signature"
    r"|credentials?|authorization|cookie|jwt)|(?:.*[-_.])?(?:sig|sas|auth|pass|bearer))\Z",
    re.IGNORECASE,
)
"""Names of headers, parameters and variables whose value is a secret: `X-Amz-Signature`, `sig`."""
_WEAK = re.compile(r"(?:.*\.)?(?:key|sig|sas|auth|pass|bearer)\Z", re.IGNORECASE)
"""Names that mean a secret in an address only: code sorts by a `key=`."""
_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<![A-Za-z0-9])(?:(?:sk|pk|rk|gsk|nvapi|xox[abeprs]|glpat)-[\w-]{12,}"
    r"|(?:gh[opusr]|github_pat|hf|sk|rk|pk)_\w{14,}|A[KS]IA[0-9A-Z]{12,}|AIza[\w-]{16,}"
    r"|eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?)",
    re.DOTALL,
)
_SCHEMES = re.compile(
    r"((?<![A-Za-z])Bearer(?:\s+|%20|\+))(?![a-z]+\b)[\w.~+/=-]{6,}"
    r"|(\bBasic\s+)(?=[\w+/]*[\dA-Z])[\w+/]{10,}={0,2}",
    re.IGNORECASE,
)
_AT, _COLON = "(?:@|%40)", "(?::|%3[Aa])"
_USER = re.compile(
    # A scheme, or none; one slash is left of two in a path.
    rf"((?:{_COLON}(?:/|%2[Ff]){{1,2}}|(?<![\w:/.])(?://|%2[Ff]%2[Ff])))"
    # A password may hold what ends an authority; a port may not be one.
    rf"(?:[^\s/?#@:%]*{_COLON}(?!\d*(?:[/?#\s,;'\")]|\Z))"
    rf"[^\n@ ][^\n@]{{0,200}}{_AT}(?:[^\s/?#@]*@)*"
    rf"|[^\s/?#'\"]*{_AT})"
    r"(?=[\w.\[%-])"
)
_NO_SCHEME = re.compile(
    rf"(?<!//)(?<![\w.+%~@-])(?!mailto|doi|urn)(?:[\w.+%~-]{{1,100}}{_COLON}(?!\\|/|%2[Ff]|\s)"
    rf"(?:(?!://)[^\s@'\"]){{1,200}}{_AT}|[\w.+~-]+(?=@[\w.-]+:(?:[~/]|[\w.-]+/))@)(?=[\w.\[-])"
)
_PAIR = re.compile(
    r"(\A|[?&#;,=\s{(\[|'\"$]|%3[Ff]|%2[036]|(?<=[/:.]))([\w.%+~$-]{2,80}?)"
    r"(\s?=\s?|%3[Dd]|:\s+|['\"]\s?:\s?)"
    r"(\$\{\w+\}|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
    r"|(?!\{)(?:(?!%26|%23|:(?:\d+:)?\s)[^\s&#'\")\]}])*)"
)
_DSN = re.compile(r"\b(?:host|hostaddr|dbname|user|server|AccountName|Endpoint)\s?=", re.IGNORECASE)
_MARKS = (
    *("@", "=", "%40", "%3d", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "nvapi-", "ghp_", "gho_"),
    *("ghs_", "ghu_", "ghr_", "github_pat_", "hf_", "akia", "asia", "aiza", "xox", "glpat-", "eyj"),
    *("private key", "bearer", "basic ", "key: ", 'key"', "key'", "token", "secret", "passw"),
)
"""One of these stands in every text with a secret, in small letters."""
NEAR = 1000
"""Characters around a secret in which the name of its file is looked for."""
_PLACE = re.compile(r"(?::\d+)?[:,;.)\]]*\Z")
PLACEHOLDERS = ("", HIDDEN, "value", "...", "none", "null", "true", "false")
CHOOSING = frozenset({"--run", "--topic", "--doc", "--document", "--text", "--against"})
"""Flags whose values are ids and texts of runs, which are printed only where they are there."""
LEAST = 5
"""Characters of a typed secret that is looked for by itself, outside of an address."""
_typed: list[str] = []


def learn(words: Iterable[str], environment: Mapping[str, str]) -> None:
    """Keep the secrets of a command line and of the environment, to hide them in whatever form.

    They replace those of the command line before. What flags choose by its name is data.
    """
    found: set[str] = set()
    flag = ""
    for word in words:
        flag = word.partition("=")[0] if word.startswith("-") else flag
        value = word.partition("=")[2] if word.startswith("--") else word
        if flag not in CHOOSING and not _is_path(value):
            found |= _secrets_of(word)
    for name, value in environment.items():
        if SECRET_NAME.match(name) and not _is_path(value) and len(value) >= 2 * LEAST:
            found.add(value)
        elif "@" in value:
            found |= _secrets_of(value)
    found |= {form for text in found for form in (unquote(text), quote(text, safe=""))}
    forms = found | {json.dumps(text, ensure_ascii=False)[1:-1] for text in found}
    # A plain word stands in messages by chance.
    kept = {form for form in forms if not re.fullmatch(r"\d+|[a-z]{1,9}", form)}
    _typed[:] = sorted((form for form in kept if len(form) >= LEAST), key=len, reverse=True)


def without_typed(text: str) -> str:
    """Return a text without the secrets of the command line and of the environment."""
    for secret in _typed:
        if secret in text:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    return text


def public(text: str) -> str:
    """Return a text without secrets: `postgresql://***@host/db`, `https://host/a?key=***`.

    What stands before `@` in an address is hidden, values of names that say secret, and keys of
    known forms. Names of files that are there are kept whole.
    """
    if _typed:
        text = without_typed(text)
    folded = text.casefold()
    if not any(mark in folded for mark in _MARKS) or _is_path(text):
        return text
    text = _SHAPES.sub(HIDDEN, text)
    text = _SCHEMES.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}", text)
    if "@" in text or "%40" in text:
        text = _USER.sub(lambda found: _keep_file_name(found) or f"{found[1]}{HIDDEN}@", text)
        text = _NO_SCHEME.sub(lambda found: _keep_file_name(found) or f"{HIDDEN}@", text)
    return _PAIR.sub(_pair, text)


def is_secret_address(text: str) -> bool:
    """Return whether what should name a file or folder is an address with a secret."""
    return "//" in text and public(text) != text


def shareable(value: T) -> T:
    """Return a value of JSON or YAML with all its texts as `public` gives them, and printable."""
    made: Any = value
    if isinstance(value, str):
        made = public(value).encode(errors="backslashreplace").decode()
    elif isinstance(value, Mapping):
        made = {
            shareable(str(name)): _hide_named(str(name), found) for name, found in value.items()
        }
    elif isinstance(value, list | tuple):
        made = [shareable(entry) for entry in value]
    return cast(T, made)


def clean(error: BaseException | None) -> None:
    """Take the secrets out of an exception, and of those that it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if any(isinstance(given, str) for given in error.args):
            error.args = tuple(public(a) if isinstance(a, str) else a for a in error.args)
        if isinstance(error, OSError) and isinstance(error.filename, str):
            error.filename = public(error.filename)
        error = error.__cause__ or error.__context__


def _hide_named(name: str, value: Any) -> Any:
    """Return a value without what its name says is a secret; `${NAME}` is none."""
    is_secret = isinstance(value, str) and SECRET_NAME.match(name) and not _WEAK.match(name)
    return HIDDEN if is_secret and value and "${" not in value else shareable(value)


def _pair(found: re.Match[str]) -> str:
    """Return `name=value` without the value of a name that says secret."""
    before, name, equals, value = found.groups()
    plain = unquote(unquote(name)).lstrip("$")
    hides: object = SECRET_NAME.match(plain) and value.strip("'\"").lower() not in PLACEHOLDERS
    if hides and "=" not in equals and equals[0] != "%":  # prose, or a line of YAML or JSON
        hides = not _WEAK.match(plain) and re.match(r"['\"]|(?=\S*\d)\S{6}", value)
    elif hides and _WEAK.match(plain):
        in_address = before in ("", "=", "?", "&", "#", ";") or before[0] == "%"
        hides = in_address or _DSN.search(found.string)
    if not hides or value.startswith("${") or _keep_file_name(found):
        start = value[:1] if value[:1] in {"'", '"'} else ""
        return f"{before}{name}{equals}{start}{_PAIR.sub(_pair, value[len(start) :])}"
    return f"{before}{name}{equals}{HIDDEN}"


def _keep_file_name(found: re.Match[str]) -> str:
    """Return what was found where it is in the name of a file that is there, else nothing."""
    first = max(0, found.start() - NEAR)
    before, after = found.string[first : found.start() + 1], found.string[found.end() :][:NEAR]
    start = first + 1 + max(before.rfind(mark) for mark in " \n\t'\"(")
    word = found.string[start : found.end()] + re.split("[ \n\t'\")]", after, maxsplit=1)[0]
    for name in (word, found.string[: 4 * NEAR].partition(": ")[0]):
        if _is_path(name) or _is_path(name[:-9] + _PLACE.sub("", name[-9:])):
            return found[0]
    return ""


def _secrets_of(word: str) -> set[str]:
    """Return the secrets in a word of a command line: all of it is one address, blanks too."""
    found = {match[0] for match in _SHAPES.finditer(word)}
    found |= {match[0].split()[-1] for match in _SCHEMES.finditer(word)}
    for match in re.finditer(rf"{_COLON}//?|\A//|\A|=", word):
        user, at, _ = re.split("[?#]", word[match.end() :])[0].rpartition("@")
        _, colon, password = user.partition(":")
        if colon and "//" not in user and not re.match(r"\d+/", password):  # no port
            found.add(password)
        elif at and not colon and match[0].endswith("/"):
            found |= {user} if re.search(r"\d|[A-Z]", user) else set()
    for match in re.finditer(r"([\w.%+~-]+)(?:\s?=\s?|:\s+)(?=('[^']*'|\"[^\"]*\"|[^&#]*))", word):
        plain, value = unquote(match[1]), match[2].strip("'\"")
        is_weak = _WEAK.match(plain) and "/" not in word and not _DSN.search(word)
        if SECRET_NAME.match(plain) and not is_weak:
            found |= {value, value.split(" ")[0], unquote_plus(value)}
    return found


def _is_path(text: str) -> bool:
    try:
        return 0 < len(text) < 4096 and os.path.lexists(text)
    except ValueError:  # a character that no name can have
        return False
