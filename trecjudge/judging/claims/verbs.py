"""Finite verbs of English, as far as rules need to know them."""

from __future__ import annotations

AUXILIARIES = frozenset(
    """
    is are was were has have had will would can could may might must shall should does do did
    isn't aren't wasn't weren't hasn't haven't hadn't won't wouldn't can't cannot couldn't
    doesn't don't didn't
    """.split()  # noqa: SIM905
)
# Forms that are hardly ever a noun or a participle: such a word opens a predicate.
PREDICATES = AUXILIARIES | frozenset(
    """
    allows appears applies argues asserts attracts became becomes began begins believes belongs
    brings buys came carries chose comes concludes confirms consists contains contributes
    creates defines demonstrates denies depends derives describes determines develops died
    differs drew drove eats enables encourages ensures enters exhibits exists explains faces
    fell flows follows gave generates gets gives goes got grew grows happens helps holds
    identifies illustrates includes indicates involves keeps knew knows lacks lies lives
    maintains makes manages means meets occurs offers opens operates owns performs possesses
    predicts prevents produces promotes proposes protects proves provides publishes puts ranks
    receives recommends reflects relates relies remains represents requires resembles sees sells
    serves shares sits speaks specialises specializes spoke stands stood succeeded suffers
    suggests takes teaches tells tends thinks took transforms treats turns understands varies
    wants went wins won writes wrote
    """.split()  # noqa: SIM905
)
FINITE = PREDICATES | frozenset(
    """
    accounts acts adds affects aims asks attacks attempts benefits blocks bore bought broke
    brought built calls causes changes claims controls costs covers damages decreases demands
    died drives drops ended ends established estimates exports falls features focuses forms
    found functions heard hosts hurts impacts improves increases introduced involved kept killed
    lasts leads led left links lists lost made marks met moves needs notes opened paid plans
    plays points ran ranges reaches reads received reduces replaces reports results rises rose
    runs said says scores seeks sent served set shapes showed shows signals sold sounds spread
    stages started starts stated stayed stops stores struck studies supports targets tests
    thought told trains used uses values views visits voted worked works
    """.split()  # noqa: SIM905
)
"""Any word that may be the verb of a clause."""
