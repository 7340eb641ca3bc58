"""Recognises and cuts off the reasoning of a model before its answer, in a reply or in a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import compress
from typing import Any, Final

THOUGHTS = (
    "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think"
    "|begin_of_thought|end_of_thought|start_thinking|end_thinking"
)
"""Tags between which models think aloud."""

CUT: Final = {"text": "", "citations": []}
"""Stands in a list of sentences for one that is reasoning: to be recognised by its identity."""

# <think>, [THINK], <|begin_of_thought|>, and the same closed; servers may eat the opening one.
_OPENING = re.compile(
    rf"(?:<\|?|\[|◁)(?!end)(?:{THOUGHTS})\s*(?:\|?>|\]|▷)|<\|channel>\s*thought", re.IGNORECASE
)
_CLOSING = re.compile(
    rf"(?:(?:</|\[/|◁/)(?:{THOUGHTS})\s*(?:>|\]|▷)|<\|end_(?:of_thought|thinking)\|>|<channel\|>)",
    re.IGNORECASE,
)
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]*<\|message\|>|\Aanalysis.*assistantfinal", re.S)
_CHANNEL = "<|channel|>"
_CHANNELS = re.compile(r"<\|channel\|>\s*\w+[^<]*<\|message\|>")
_END = re.compile(r"<\|(?:end|return|start|call)\|>")
_ANSWER_TAG = re.compile(r"</?(?:final_)?answer\s*>", re.IGNORECASE)
_CODE = re.compile(r"```.*?```|``[^`\n]+``|`[^`\n]+`", re.S)
# A tag in the midst of a sentence, or in quotation marks, is spoken of.
_BEFORE_MENTION = re.compile(r"[\w,;:] $|[(\"“‘'«]$")
_AFTER_MENTION = re.compile(r" [a-zß-ÿа-я]|[\"”’'».,;:)?]")
_SIGNS = ("<", "◁", "[/")

Tag = tuple[int, int, bool]
"""Where a tag is, and whether it opens."""


def without_reasoning(reply: str) -> str | None:
    """Return the answer of a reply without the reasoning in it; None where it is nothing else.

    Reasoning is the text between tags such as <think> and </think>, before a closing tag without an
    opening one, and after an opening tag that is never closed. In a reply with channels it is all
    but the final one.
    """
    answer = "".join(reply[start:end] for start, end in _spans_outside(reply, _tags(reply)))
    return answer if answer.strip() else None


def answer_without_reasoning(value: Any) -> tuple[Any, int]:
    """Return the answer of a run, a text or a list of sentences, and how many characters were cut.

    As in a reply, but tags in code and tags that are only spoken of are text. Of a list, a sentence
    that is nothing but reasoning becomes `CUT`; tags may stand in different sentences.
    """
    entries = value if isinstance(value, list) else [value]
    if not any(map(_may_reason, map(text_of, entries))):
        return value, 0
    texts = [text_of(entry) for entry in entries]
    whole = "\n".join(texts)
    if (kept := _kept_of_answer(whole)) is None:
        return value, 0
    mask = bytearray(len(whole))
    for start, end in kept:
        mask[start:end] = b"\1" * (end - start)
    rest = list(_rest(entries, texts, mask))
    cut = len(whole) - sum(mask)
    if isinstance(value, list):
        return rest, cut
    return "" if rest[0] is CUT else rest[0], cut


def _may_reason(text: str) -> bool:
    return any(sign in text for sign in _SIGNS) or text.startswith("analysis")


def text_of(entry: Any) -> str:
    """Return the text of an entry of a sentence list, none where it has none."""
    text = entry.get("text") if isinstance(entry, dict) else entry
    return text if isinstance(text, str) else ""


def _rest(entries: list[Any], texts: list[str], mask: bytearray) -> Iterator[Any]:
    """Yield the entries with what is kept of each; `mask` has a 1 for every character kept."""
    begin = 0
    for entry, text in zip(entries, texts, strict=True):
        kept = "".join(compress(text, mask[begin : begin + len(text)]))
        begin += len(text) + 1
        rest = _ANSWER_TAG.sub("", kept).strip()
        if rest == text.strip():
            yield entry
        elif not rest:
            yield CUT
        else:
            yield {**entry, "text": rest} if isinstance(entry, dict) else rest


def _kept_of_answer(text: str) -> list[tuple[int, int]] | None:
    """Return the spans of an answer that are no reasoning; None where it has none."""
    tags = list(_tags_of_answer(text))
    # Of the same length, so that places stay what they are.
    seen = _CODE.sub(lambda code: " " * len(code[0]), text) if _CHANNEL in text else text
    if not tags and not _CHANNELS.search(seen) and not text.startswith("analysis"):
        return None
    kept = _spans_outside(
        seen if _CHANNELS.search(seen) else seen.replace(_CHANNEL, " " * 11), tags
    )
    return None if kept == [(0, len(text))] else kept


def _tags(text: str) -> list[Tag]:
    """Return the tags of a text in order: where they are, and whether they open."""
    marks = [(m.start(), m.end(), True) for m in _OPENING.finditer(text)]
    return sorted(marks + [(m.start(), m.end(), False) for m in _CLOSING.finditer(text)])


def _tags_of_answer(text: str) -> Iterator[Tag]:
    """Yield the tags that stand outside of code and are not only spoken of."""
    tags = _tags(text)
    code = [match.span() for match in _CODE.finditer(text)] if tags and "`" in text else []
    at, inside, last_squared = 0, False, text.rfind("[/")
    for start, end, opens in tags:
        while at < len(code) and code[at][1] <= start:
            at += 1
        # Reasoning may have half a block of code: within it a tag is a tag.
        in_code = not inside and at < len(code) and code[at][0] < start
        spoken_of = _BEFORE_MENTION.search(text, max(0, start - 2), start) is not None
        # "[Analysis]" may be a title; as a tag it is closed.
        untagged = opens and text[start] == "[" and start > last_squared
        if in_code or untagged or (spoken_of and _AFTER_MENTION.match(text, end)):
            continue
        yield start, end, opens
        inside = opens


def _spans_outside(text: str, tags: list[Tag]) -> list[tuple[int, int]]:
    """Return the spans in no pair of tags, nor before a lone closing or after a lone opening one.

    Of a text with channels: of these only such as are in the final one.
    """
    begin, stop = 0, len(text)
    if finals := list(_FINAL.finditer(text)):
        begin = finals[-1].end()
        if ending := _END.search(text, begin):
            stop = ending.start()
    elif _CHANNEL in text:
        return []
    kept: list[tuple[int, int]] = []
    at, inside = begin, False
    for start, end, opens in tags:
        if start < begin or end > stop:
            continue
        if opens and not inside:
            kept.append((at, start))
        elif not opens and not inside:
            kept = []  # all before it was reasoning
        at, inside = end, opens
    return kept if inside else [*kept, (at, stop)]
