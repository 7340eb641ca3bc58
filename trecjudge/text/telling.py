"""Words that change a statement when they are added to it: world, former, nearly, never."""

from __future__ import annotations

from trecjudge.text.forms import word_form

_CHANGING_WORDS = """
world federal supreme royal imperial sole former ex deputy vice honorary
permanently permanent temporarily temporary secretly secret illegally illegal unlawful
mandatory compulsory voluntary optional exclusively exclusive solely entirely completely
nearly almost hardly barely scarcely never twice thrice double triple half
stolen fake counterfeit forged defective faulty contaminated banned experimental failed attempted
unsuccessful proposed cancelled postponed abandoned
endangered extinct invasive domesticated hereditary congenital pregnant elderly adopted disabled
blind deaf homeless nuclear quantum amphibious unarmed anonymous solo unanimous unanimously
red blue green yellow orange purple pink brown black white grey gray golden
wooden marble bronze
"""
QUALIFIERS = frozenset(map(word_form, _CHANGING_WORDS.split()))
"""The forms of these words."""
