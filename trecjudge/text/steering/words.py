"""Building blocks of the English patterns: words for texts, judges, grades and labels."""

from __future__ import annotations

TEXT = (
    r"(?:texts?|answers?|responses?|reports?|sentences?|passages?|documents?|claims?|messages?|"
    r"outputs?|summar(?:y|ies)|submissions?|runs?|paragraphs?|content|essays?|citations?|"
    r"statements?|items?|repl(?:y|ies)|entr(?:y|ies)|questions?|pairs?)"
)
"""Words for what is judged."""

THIS = (
    r"(?:it|this|these|that|them|my|our|me|us|"
    rf"(?:every|each|all|any|the)(?=\s+(?:\w+\s+){{0,2}}{TEXT}\b))"
)
"""Words that refer to it."""

PERSON = (
    r"(?:graders?|evaluators?|assessors?|annotators?|raters?|judges?|reviewers?|examiners?|"
    r"adjudicators?|scorers?)"
)
MACHINE = (
    r"(?:(?:large\s+)?language\s+models?|llms?(?:-as-a-judge)?|chat\s?bots?|gpt(?:-\w+)?|chatgpt|"
    r"a\.?i\.?s?(?:\s+(?:models?|systems?|assistants?|judges?|agents?))?|assistant|"
    r"(?:grading|judging|evaluation|scoring)\s+(?:models?|systems?|scripts?|bots?))"
)
JUDGE = rf"(?:{PERSON}|{MACHINE})"
"""Words for who judges."""

TOP = (
    r"(?:(?:full|top|maximum|max|maximal|highest|perfect|best|excellent|high|positive|"
    r"favou?rable)\s+(?:possible\s+|available\s+)?"
    r"(?:marks?|scores?|grades?|ratings?|labels?|points|verdicts?|judge?ments?|evaluations?))"
)
NUMBER = (
    r"(?:(?:a\s+)?(?:perfect\s+)?(?:\d+(?:\.\d+)?|three|five|ten)"
    r"(?:\s*/\s*\d+|\s+out\s+of\s+\d+)?"
    r"(?!\s*(?:to|-|–|and|or)\s*\d|[\w%]|[.,]\d|\s+(?:of|in|per)\b))"
)
ALL_OF = r"(?:(?P<most>\d+)(?:\s*/\s*|\s+out\s+of\s+|\s+of\s+)(?P=most)(?![\d/]))"
"""Full marks: "10/10"."""

LABEL = (
    r"(?:(?:full(?:y)?|partial(?:ly)?|no|not|completely|entirely|totally|well)"
    r"[\s_-]?support(?:ed|s)?|(?:un)?supported|(?:un)?attributed|contradicted|ambiguous|"
    r"entail(?:ed|ment|s)|attested|faithful|(?:perfectly|highly)\s+relevant|relevant|grounded)"
)
RIGHT = (
    r"(?:correct|true|accurate|right|valid|perfect|excellent|complete|justified|proven|verified|"
    r"backed)"
)
YES = r"(?:yes|no|true|false|unsure|pass|passed)"
CHOICE = (
    rf"(?:{LABEL}|{YES}|exact|paraphrase|inference|none|vital|detail|supports?|contradicts|partial|"
    r"(?:un)?met|"
    r"(?:not-)?compound|(?:very-)?(?:similar|different))"
)
"""Labels of our own prompts, with which a test compares them."""

QUOTE = r"[\"'`*“”‘«(\[]*"
END = r"[\"'`*”’»)\]]*\s*(?:[.!;,\n]|$)"
NOUN = r"(?:labels?|verdicts?|grades?|scores?|ratings?|judge?ments?)"
"""Words for a judgment."""

JUDGING = r"(?:grad|evaluat|assess|judg|scor|rat)(?:ing|es|e|s)?"


def words(count: int = 3) -> str:
    """Return a pattern of up to so many words, as few as possible."""
    return rf"(?:[\w-]+\s+){{0,{count}}}?"
