"""Control tokens of chat templates in a text: found in any disguise, and broken."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from trecjudge.text.reasoning import THOUGHTS
from trecjudge.text.steering.disguise import LOOK_ALIKES, MIXED
from trecjudge.text.visible import (
    CONTROLS,
    UNSEEN,
    UNSEEN_BEYOND,
    has_controls,
    reaches_beyond,
    without_hidden,
)

_GAP = r"[^\S\n]{0,3}"
_BARRED = (
    r"(?:\w+[_▁]\w+|endof\w+|startof\w+|endofturn|user|assistant|system|developer|tool|human|bot"
    r"|end|eot|eom|eos|bos|bom|pad|sep|sop|channel|message|start|return|call|constrain|observation"
    r"|separator|content|think|/think|refusal|python_tag|eod)"
)
_ANGLED = (
    r"(?:bos|eos|unk|pad|sep|cls|mask|sop|eop|eoh|eoa|eot|eom|[gs]mask|im_\w+|endoftext"
    r"|(?:start|end|begin|stop)_of_\w+|(?:bos|eos|pad|unk|eop|cls|sep|mask|eot)_token"
    r"|tools|(?:tool|function)_(?:calls?|responses?|results?|declaration)|arg_(?:key|value)"
    r"|system|assistant|fim_(?:prefix|suffix|middle|pad)|file_sep|repo_name"
    r"|unused_?\d+|reserved_\w+|extra_id_\d+|special_\d+|tokens_unused_\d+|begin▁of▁sentence"
    rf"|(?:seed|minimax|antml):\w+|用户|{THOUGHTS})"
)
_SQUARED = (
    r"(?:inst|sys|available_tools|tool_calls|tool_results|tool_content|system_prompt|call_id"
    r"|begin_audio|img_break|img_end|model_settings|transcribe|[gs]?mask|bos|eos|eot|pad|unk"
    r"|(?:start|end)_header_id|extra_id_\d+|think|thinking)"
)
_NAMES = r"(?:human|assistant|user|system|developer)"
_HEADINGS = rf"(?:{_NAMES}|instruction|input|response)"

# What the fields of our own prompts begin with, and what DSPy takes for an address to fetch.
_FIELD = r"\[\s{0,3}\[\s*#\s{0,3}#|<\s{0,3}<\s{0,3}CUSTOM-TYPE-"

TOKEN = re.compile(
    r"<\|[^|<>\n]{1,64}\|>"
    rf"|<{_GAP}\|{_GAP}{_BARRED}{_GAP}\|{_GAP}>"
    r'|<\|(?:/?[a-z][\w:]{1,40}|")>|</?[a-z][\w:]{1,40}\|>'
    r"|\[\|/?[a-z]\w{1,40}\|\]"
    rf"|<{_GAP}/?{_GAP}{_ANGLED}{_GAP}/?>|<s/?>|<{_GAP}/{_GAP}s{_GAP}>|<(?:human|bot)>(?={_GAP}:)"
    rf"|<<{_GAP}/?{_GAP}SYS{_GAP}>>"
    rf"|\[{_GAP}/?{_GAP}{_SQUARED}{_GAP}\]|\[/(?:{THOUGHTS})\s*\]"
    rf"|\[{_GAP}/?(?-i:IMG|PREFIX|SUFFIX|MIDDLE|ARGS|AUDIO){_GAP}\]"
    rf"|◁{_GAP}/?[\w:]+{_GAP}▷|\]~!?b[\[\]]|\[e~\[",
    re.IGNORECASE,
)
"""A control token: of ChatML, Llama, Mistral, Gemma, Phi, Qwen, DeepSeek, Command, GLM and more."""


@dataclass(frozen=True, slots=True, eq=False)
class Fence:
    """What a text must not hold: it breaks out of its place in a prompt.

    A group `closing` is a part of a line of the frame, which begins with `word`, in small letters.
    """

    tokens: re.Pattern[str]
    word: str = ""


TOKENS = Fence(TOKEN)
"""Control tokens only: for texts in which the fields of a prompt are our own."""
TOKENS_AND_FIELDS = Fence(re.compile(f"{_FIELD}|{TOKEN.pattern}", re.IGNORECASE))
"""Control tokens, and the start of a field in our own prompts."""
# A named token with blanks inside its name, or a line that ends there.
_CUT = re.compile(r"[<\[◁]\s{0,3}<?[\s|/]{0,5}\w[\w\s:▁]{0,60}[\s|/]{0,4}[>\]▷](?:\s{0,3}>)?")
_NAMED = re.compile(
    rf"<\|(?:{_BARRED}|\w+(?:▁\w+)+)\|>|<\|/?[a-z]\w+>|</?[a-z]\w+\|>|<<?/?(?:SYS|{_ANGLED})/?>>?"
    rf"|\[/?{_SQUARED}\]|\[\|/?[a-z]\w+\|\]|◁/?[\w:]+▷",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"\s+")
_BARE = re.compile(r"<[^\W_]+>")
"""A word that honest text may have in brackets of another kind."""
_TURN = re.compile(
    rf"\n[^\S\n]*(?P<role>#{{2,}}{_GAP}{_HEADINGS}s?|(?:GPT4 Correct )?{_NAMES})"
    rf"(?P<colon>{_GAP}[:：﹕︓])",
    re.IGNORECASE,
)
# As Vicuna has them, in the middle of a line too.
_CAPITALS = re.compile(r"(?<![A-Z])[^\S\n](?P<role>USER|ASSISTANT)(?P<colon>[:：])")

_OPENINGS = ("<", "[", "◁", "]~")
_ROUND = str.maketrans("<>[]◁▷｜", "()()()|")
_OTHERS = dict(
    zip(
        "‹⟨〈❮˂᚜ᐸ⧼❬≺›⟩〉❯˃᚛ᐳ⧽❭≻∣ǀ│┃❘⎮ꟾ¦∥‖【〔❲】〕❳⁄∕╱⧸∶꞉˸ː",
        "<<<<<<<<<<>>>>>>>>>>||||||||||[[[]]]////::::",
        strict=True,
    )
) | {"⟪": "<<", "⟫": ">>", "⟦": "[[", "⟧": "]]"}
"""Signs that look like those of a token, beyond those that NFKC makes equal to them."""
_SIGNS = str.maketrans(_OTHERS)
# Characters that a server may drop, or take for those of a token, where it makes Unicode uniform:
# controls, invisible ones, full-width and small brackets and letters, letters in other styles.
_ODD_CLASS = (
    f"\x0b\x0c\x1c-\x1f\x85{CONTROLS}{''.join(_OTHERS)}\xaa\xba\u017f\u02b0-\u02b8\u02e1-\u02e3\u1d2c-\u1d6a\u2028\u2029"
    f"\u2071\u207f\u2090-\u209c\u2100-\u2149\u2160-\u217f\u249c-\u24e9{UNSEEN}\ufb00-\ufb06"
    "\ufe33\ufe34\ufe47\ufe48\ufe4d-\ufe4f\ufe5f\ufe64\ufe65\uff03\uff0f\uff1c\uff1e\uff21-\uff3b"
    "\uff3d\uff3f\uff41-\uff5a\uff5c"
)
_ODD = re.compile(f"[{_ODD_CLASS}]")
# These too, beside Latin letters. One search for all is enough for most texts.
_ODD_OR_LETTER = re.compile(f"[{_ODD_CLASS}\u0250-\u02af\u0370-\u052f\u1d00-\u1d7f\ua730-\ua7ff]")
_ODD_BEYOND = re.compile(f"[{UNSEEN_BEYOND}\U0001d400-\U0001d6a3\U0001f110-\U0001f149]")
_DROPPED = re.compile(f"[{CONTROLS}{UNSEEN}]+")
_DROPPED_BEYOND = re.compile(f"[{UNSEEN_BEYOND}]+")
_CONTROL_LINE_END = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_LINE_END = re.compile("[\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")


class Span(NamedTuple):
    """A control token in a text, and its replacement; `speaks`: it is a role's name."""

    start: int
    end: int
    instead: str
    speaks: bool = False


def neutralize(text: str, fence: Fence = TOKENS_AND_FIELDS) -> str:
    """Return a text as it may enter a prompt: it ends no turn, and hides nothing.

    The brackets of a control token become round ones, `(|im_end|)`. A role that opens a line is put
    in round brackets, `(Human):`. Round brackets survive servers that drop invisible characters,
    join spaces or make Unicode uniform, which an invisible joiner or a space would not. Controls
    that end a line become line feeds. All other text stays as it is, but for `without_hidden`.
    """
    find = _plain_spans
    if _may_be_disguised(text):
        text, find = without_hidden(_CONTROL_LINE_END.sub("\n", text)), _spans
    # A token may have stood within another, which shows only now.
    while spans := find(text, fence):
        text = _replace_spans(text, spans)
    return text


def chat_tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Yield what `broken` breaks, without disguise: (token, whether it is a role that speaks)."""
    text = without_hidden(text)
    find = _spans if _may_be_disguised(text) else _plain_spans
    for span in find(text, TOKENS_AND_FIELDS):
        yield _fold_with_offsets(text[span.start : span.end])[0].strip(), span.speaks


def _spans(text: str, fence: Fence) -> list[Span]:
    """Return the places of control tokens in a text, in their order."""
    # Most such texts have no token. To know that is cheap; to place each character is not.
    if not _plain_spans(_uniform(text), fence):
        return []
    plain, places = _fold_with_offsets(text)
    return [
        span._replace(start=places[span.start], end=places[span.end - 1] + 1)
        for span in _plain_spans(plain, fence)
        if text[places[span.start]] not in _OTHERS or not _BARE.fullmatch(plain, *span[:2])
    ]


def _may_be_disguised(text: str) -> bool:
    """Return whether a text has characters that a server may drop, or take for others."""
    if text.isascii():
        return has_controls(text)
    if _ODD_OR_LETTER.search(text) and (_ODD.search(text) or MIXED.search(text)):
        return True
    return reaches_beyond(text) and _ODD_BEYOND.search(text) is not None


def _plain_spans(text: str, fence: Fence) -> list[Span]:
    found: list[Span] = []
    is_open = any(opening in text for opening in _OPENINGS)
    if is_open or (fence.word and fence.word in text.lower()):
        found += [Span(*match.span(), _round(match)) for match in fence.tokens.finditer(text)]
    if is_open:
        found += _cut(text)
    # A text may begin with what opens a line.
    found += [_turn(match, shift=1) for match in _TURN.finditer(f"\n{text}")]
    if "USER" in text or "ASSISTANT" in text:
        found += [_turn(match) for match in _CAPITALS.finditer(text)]
    return _apart(found) if len(found) > 1 else found


def _cut(text: str) -> list[Span]:
    """Return the places of tokens whose names are cut by blanks."""
    return [
        Span(*match.span(), _round(match))
        for match in _CUT.finditer(text)
        if _BLANKS.search(match[0]) and _NAMED.fullmatch(_BLANKS.sub("", match[0]))
    ]


def _apart(spans: list[Span]) -> list[Span]:
    """Return the spans in order; of two that overlap only the first."""
    kept: list[Span] = []
    for span in sorted(spans):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _round(match: re.Match[str]) -> str:
    return f"({match[0]})" if match.lastgroup == "closing" else match[0].translate(_ROUND)


def _turn(match: re.Match[str], shift: int = 0) -> Span:
    """Return the place of a role only, without the text before it."""
    start = match.start("role") - shift
    return Span(start, match.end() - shift, f"({match['role']}){match['colon']}", speaks=True)


def _replace_spans(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], span.instead)
        at = span.end
    return "".join((*parts, text[at:]))


def _fold_with_offsets(text: str) -> tuple[str, list[int]]:
    """Return a text as a server may make it, and where each of its characters comes from."""
    plain: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        kept = _uniform(character)
        plain.append(kept)
        places += [place] * len(kept)
    return "".join(plain), places


def _uniform(text: str) -> str:
    """Return a text without invisible characters, and look-alikes as what they look like."""
    text = unicodedata.normalize("NFKC", _DROPPED_BEYOND.sub("", _DROPPED.sub("", text)))
    # NFKC turns a filler of Hangul only into another filler.
    text = _DROPPED.sub("", text).translate(_SIGNS).translate(LOOK_ALIKES)
    return _LINE_END.sub("\n", text)
