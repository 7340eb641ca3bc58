"""Marks of chat templates, prompts and replies, which a text about its subject does not need."""

from __future__ import annotations

from trecjudge.text.steering.rules import Pattern, pattern
from trecjudge.text.steering.words import CHOICE, RIGHT

TEMPLATE_MARK = (
    r"<\|[^|<>\n]{2,40}\|>|\[/?inst\]|<</?sys>>|</?(?:start|end)_of_(?:turn|text|utterance)>"
    r"|<\|?im_(?:start|end)\|?>"
)
"""Marks by which chat templates separate the turns of a conversation."""

_KEY = (
    r"(?:labels?|verdicts?|grades?|scores?|ratings?|supported|support|relevance|relevant|"
    r"judge?ments?|attribution|attributed|entailment|entailed|faithful(?:ness)?|is_supported|"
    r"support_level|overall|decision|match|importance|correct|final_answer|answer)"
)
_WORD = rf"(?:{CHOICE}|{RIGHT}|\d+(?:\.\d+)?)"
_VALUE = rf"[\[\"'\s]*{_WORD}(?:[\"'\s\],}}]|$)"

MARKS: tuple[Pattern, ...] = (
    pattern("_support", r"\b(?:full|partial|no)_support\b"),
    pattern(
        "ATTRIBUTED|CONTRADICTED",
        r"(?<![A-Z] )(?<![A-Z])(?:UN)?(?:ATTRIBUTED|CONTRADICTED)\b(?!\s+[A-Z]{2})",
        cased=True,
    ),
    pattern(
        "<|[",
        rf"{TEMPLATE_MARK}|\[\[\s*##|<\|?/?(?:system|assistant)\|?>|\[/?system(?:_prompt)?\]",
    ),
    pattern(
        "assistant:|assistant :|human:|human :|user:|user :|system:|system :|system]|assistant]|"
        "system message|system note|system instruction|system override|system command|"
        "system prompt|system alert|developer:|developer message|developer note",
        r"\n[ \t]*\n\s*(?:human|assistant)\s?:",
        r"\n\s*(?:human|user)\s?:[^\n]*\s+assistant\s?:",
        r"(?:[\n.!?\"'(\[]\s*)(?:\[|\*\*)?(?:system|assistant|developer)"
        r"(?:\s+(?:message|note|instruction|override|command|prompt|alert))?(?:\]|\*\*)?\s?:"
        r"(?:\*\*)?\s*(?:please\s+)?(?:you\s+(?:are|must|will|should|can|have)|approve|accept|"
        r"ignore|disregard|answer|output|respond|grade|rate|mark|"
        r"the\s+(?:label|verdict|grade|score|correct))\b",
    ),
    pattern(
        "##",
        r"#{2,}\s*(?:instruction|system|assistant|human|user)s?\s*:|#{2,}\s*response\s*:",
    ),
    # A verdict as data: JSON, Python, XML.
    pattern(
        '":|\':|" :|" =|={|{|<|= [|=[|= \'|=\'|= "|="',
        rf"[\"']{_KEY}[\"']\s*[:=]{_VALUE}",
        rf"\{{\s*{_KEY}\s*[:=]{_VALUE}",
        rf"<{_KEY}>\s*{_WORD}",
        rf"\b{_KEY}\s*=\s*\[?[\"']\s*{_WORD}",
        r"\b(?:labels|verdicts|grades|scores)\s*[:=]\s*\[",
    ),
)
