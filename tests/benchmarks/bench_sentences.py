"""Compare sentence splitters on texts that none of them was made for: ours beside packages.

    python tests/benchmarks/bench_sentences.py

Exact: all sentences of a text as a reader would cut it ("|" marks the cuts). Packages that are not
installed (pysbd, blingfire, syntok) are passed over and said. Speed is on the same texts, repeated.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

from trecjudge.text.sentences import split_sentences

Split = Callable[[str], list[str]]
TEXTS = """
The drug was approved in 2019.[4]| It failed in trials.[5, 6]| Sales fell.
Costs rose 3.5 percent (Fig. 2).| Nobody knew why.
She met Dr. A. B. Weiss of St. Mary's on Mt. Hood.| They talked.
The U.N. and the E.U. signed it at 9 a.m. on Jan. 3.| It held.
"Is it safe?" he asked.| "No," said Prof. Lin.
See https://a.example/b.html?c=d.e for v2.0.1 of it.| It works.
He works at Yahoo! and likes it.| She does not.
Apples, pears, etc. are fruit.| So are plums.
Smith et al. (2021, p. 14) disagree.| Others, e.g. Lee, do not.
It ended...| Then it began again!
The ruling in Roe v. Wade stood.| It fell in 2022.
Weights are approx. 3 kg, i.e. 6.6 lb.| Lengths vary.
First point.| 2. Second point.| 3. Third point.
It was (as noted earlier. See above) red.| It is blue.
人口约有三百万。|城市很大！|真的吗？
他说：“我不去。”|她走了。
该药于2019年获批。[4]|销量下降。
Он родился в 1950 г. в Москве.| Умер там же.
Население — 3,5 млн чел.| Площадь — 500 кв. км.
Книга вышла в изд. «Наука».| Её читали.
بلغ عدد السكان ثلاثة ملايين نسمة.| المدينة كبيرة!
هل هذا صحيح؟| نعم، قال د. أحمد ذلك.
La loi date de 1905.| M. Dupont l'a dit.
Das gilt z. B. für Bonn.| Am 3. Mai war es so.
""".strip().splitlines()
ROUNDS = 200


def installed() -> dict[str, Split]:
    """Return the splitters that there are, ours first."""
    found: dict[str, Split] = {"ours": split_sentences}
    for name in ("pysbd", "blingfire", "syntok"):
        try:
            found[name] = _of_package(name)
        except ImportError as error:
            print(f"{name}: passed over, {error}")
    return found


def _of_package(name: str) -> Split:
    if name == "pysbd":
        return importlib.import_module("pysbd").Segmenter(language="en", clean=False).segment
    if name == "blingfire":
        cut = importlib.import_module("blingfire").text_to_sentences
        return lambda text: cut(text).split("\n")
    segmenter = importlib.import_module("syntok.segmenter")

    def by_syntok(text: str) -> list[str]:
        sentences = [s for paragraph in segmenter.process(text) for s in paragraph]
        return ["".join(t.spacing + t.value for t in tokens) for tokens in sentences]

    return by_syntok


def main() -> None:
    """Measure and print."""
    wanted = [[part.strip() for part in text.split("|")] for text in TEXTS]
    plain = [text.replace("|", "") for text in TEXTS]
    for name, split in installed().items():
        right = [
            [s.strip() for s in split(text)] == parts
            for text, parts in zip(plain, wanted, strict=True)
        ]
        started = time.process_time()
        for _ in range(ROUNDS):
            for text in plain:
                split(text)
        each = 1e6 * (time.process_time() - started) / (ROUNDS * len(plain))
        wrong = ", ".join(str(n) for n, ok in enumerate(right, 1) if not ok)
        print(
            f"{name:10} {sum(right)} of {len(right)} exact, {each:6.0f} us a text; wrong: {wrong}"
        )


if __name__ == "__main__":
    main()
