"""Text that talks to the judge instead of about its subject."""

from __future__ import annotations

import re
from functools import lru_cache

_ADDRESSES = re.compile(
    r"""
    \[\[\s*\#\#                                             # a field marker of a prompt
    | <\|?(?:im_start|im_end|system|assistant|endoftext)\|?>  # a chat template's marks
    | \b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+|these\s+)*
      (?:previous|prior|above|earlier|preceding)\s+(?:instructions?|prompts?|rules?|text)\b
    | \bignore\s+(?:all\s+)?(?:your|these|those)\s+(?:instructions?|rules?)\b
    | \b(?:answer|reply|respond|return|output|say|label|rate|mark|judge|grade)\s+
      (?:\w+\s+){0,4}["'`]?(?:full_support|partial_support|no_support|fully\s+supported)\b
    | \byou\s+are\s+(?:now\s+)?(?:an?\s+)?(?:ai|llm|language\s+model|assistant|judge|grader)\b
    | \b(?:system|developer)\s+prompt\s*:
    """,
    re.IGNORECASE | re.VERBOSE,
)
# No match is possible without one of these; looking for plain text is many times faster.
_HINTS = (
    *("[[", "_support", "im_start", "im_end", "system>", "assistant", "endoftext", "ignore"),
    *("disregard", "forget", "you are", "prompt", "fully supported"),
)


@lru_cache(maxsize=4096)
def instruction_like(text: str) -> str | None:
    """Return the first passage of `text` that reads like an instruction to the judge, or None.

    It finds what is plain; its silence proves nothing.
    """
    plain = " ".join(text.casefold().split())
    for hint in _HINTS:
        if hint in plain:
            found = _ADDRESSES.search(text)
            return found[0] if found else None
    return None
