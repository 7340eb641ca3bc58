"""Recognises and cuts off the reasoning of a model before its answer."""

from __future__ import annotations

import re

from trecjudge.text.chat_tokens import THOUGHTS

# <think>, [THINK], <|begin_of_thought|>, and the same closed; servers may eat the opening one.
_OPENING = re.compile(rf"(?:<\|?|\[|◁)(?!end)(?:{THOUGHTS})\s*(?:\|?>|\]|▷)", re.IGNORECASE)
_CLOSING = re.compile(
    rf"(?:(?:</|\[/|◁/)(?:{THOUGHTS})\s*(?:>|\]|▷)|<\|end_(?:of_thought|thinking)\|>)",
    re.IGNORECASE,
)
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]*<\|message\|>|\Aanalysis\b.*assistantfinal", re.S)
_CHANNEL = "<|channel|>"
_END = re.compile(r"<\|(?:end|return|start|call)\|>")


def without_reasoning(reply: str) -> str | None:
    """Return the answer of a reply without the reasoning in it; None where it is nothing else.

    Reasoning is the text between tags such as <think> and </think>, before a closing tag without an
    opening one, and after an opening tag that is never closed. In a reply with channels it is all
    but the final one.
    """
    finals = list(_FINAL.finditer(reply))
    if finals:
        reply = _END.split(reply[finals[-1].end() :], maxsplit=1)[0]
    elif _CHANNEL in reply:
        return None
    answer = _outside_tags(reply)
    return answer if answer.strip() else None


def _outside_tags(reply: str) -> str:
    """Return the text in no pair of tags, nor before a lone closing or after a lone opening one."""
    kept, at, open_at = [""], 0, None
    marks = [(m.start(), m.end(), True) for m in _OPENING.finditer(reply)]
    marks += [(m.start(), m.end(), False) for m in _CLOSING.finditer(reply)]
    for start, end, opens in sorted(marks):
        if opens:
            if open_at is None:
                kept.append(reply[at:start])
                open_at = start
        elif open_at is None:
            kept = [""]  # all before it was reasoning
        if not opens:
            at, open_at = end, None
    return "".join(kept) if open_at is not None else "".join([*kept, reply[at:]])
