"""Sentences as single statements: what is cut, and what must stay whole."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.fakes import response
from trecjudge.judging.claims.by_words import LexicalDetector
from trecjudge.judging.claims.search import Library, Verdict
from trecjudge.judging.claims.statements import claims_by_rules, statements
from trecjudge.records import Document

# "|" stands between the statements of the sentence above.
CUT = """
The Ode of Tarn, written around 1210, has 14 cantos and praises the sea.
=> The Ode of Tarn has 14 cantos.|\
The Ode of Tarn praises the sea.|The Ode of Tarn was written around 1210.
Marn stew contains beans, smoked eel, wine, and thyme.
=> Marn stew contains beans.|\
Marn stew contains smoked eel.|Marn stew contains wine.|Marn stew contains thyme.
The dish was first cooked in 1931 by the ship's cook Ilse Brandt.
=> The dish was first cooked in 1931.|\
The dish was first cooked by the ship's cook Ilse Brandt.
The lighthouse at Orm was built in 1874 and does not use gas.
=> The lighthouse at Orm was built in 1874.|\
The lighthouse at Orm does not use gas.
Orm, a town of 4,000 people, has a harbour.
=> Orm has a harbour.|Orm is a town of 4,000 people.
The Vell Museum, founded in 1900 by Ada Holt, holds 300 maps.
=> The Vell Museum holds 300 maps.|\
The Vell Museum was founded in 1900.|The Vell Museum was founded by Ada Holt.
The Orm Bridge, which opened in 1931, spans the Tarn.
=> The Orm Bridge spans the Tarn.|\
The Orm Bridge opened in 1931.
The twins, born in 1900, wrote songs.
=> The twins wrote songs.|The twins were born in 1900.
Founded in 1931, the Vell Museum has 300 maps.
=> The Vell Museum has 300 maps.|\
The Vell Museum was founded in 1931.
The Treaty of Orm, signed on May 3, 1922, ended the war.
=> The Treaty of Orm ended the war.|\
The Treaty of Orm was signed on May 3, 1922.
Marn stew was invented by Ilse Brandt, a ship's cook.
=> Marn stew was invented by Ilse Brandt.|\
Ilse Brandt is a ship's cook.
Orm, a town in Tarn, attracts tourists.
=> Orm attracts tourists.|Orm is a town in Tarn.
The house has a tower and a bell.
=> The house has a tower.|The house has a bell.
The city has 1,200 shops and 3 ports.
=> The city has 1,200 shops.|The city has 3 ports.
The farm grows apples, pears and plums.
=> The farm grows apples.|The farm grows pears.|\
The farm grows plums.
The soup is made of beans, wine, and salt.
=> The soup is made of beans.|The soup is made of wine.|\
The soup is made of salt.
You need eggs, flour, and milk.
=> You need eggs.|You need flour.|You need milk.
The stone is red, round, and heavy.
=> The stone is red.|The stone is round.|The stone is heavy.
Ada Holt was a singer, writer, and actor.
=> Ada Holt was a singer.|Ada Holt was a writer.|\
Ada Holt was an actor.
Climate change affects farming, fishing, and forestry.
=> Climate change affects farming.|\
Climate change affects fishing.|Climate change affects forestry.
It can injure vessels, nerves, and eyes.
=> It can injure vessels.|It can injure nerves.|\
It can injure eyes.
Both tea and coffee contain caffeine.
=> Tea contains caffeine.|Coffee contains caffeine.
The choir sings in both Latin and Norwegian.
=> The choir sings in Latin.|The choir sings in Norwegian.
It has both its uses and risks.
=> It has its uses.|It has its risks.
The Ode has 14 cantos, praises the sea, and mocks the king.
=> The Ode has 14 cantos.|\
The Ode praises the sea.|The Ode mocks the king.
The castle was burned in 1640, rebuilt in 1700, and sold in 1850.
=> The castle was burned in 1640.|The castle was rebuilt in 1700.|The castle was sold in 1850.
The opera, composed by Lind and first staged in 1820, lasts 3 hours.
=> The opera lasts 3 hours.|The opera was composed by Lind.|The opera was first staged in 1820.
The firm employs 300 people, owns 12 ships, and pays no tax.
=> The firm employs 300 people.|The firm owns 12 ships.|The firm pays no tax.
Krill oil lowers blood pressure, improves sleep, and reduces pain.
=> Krill oil lowers blood pressure.|Krill oil improves sleep.|Krill oil reduces pain.
Ada Holt founded a school and led the union.
=> Ada Holt founded a school.|Ada Holt led the union.
The city was founded in the 12th century by monks.
=> The city was founded in the 12th century.|The city was founded by monks.
The king, who was born in Orm, ruled Tarn.
=> The king ruled Tarn.|The king was born in Orm.
The stew is made up of beans, wine, and salt.
=> The stew is made up of beans.|The stew is made up of wine.|The stew is made up of salt.
The hall was built in 1874 and restored in 1950.
=> The hall was built in 1874.|\
The hall was restored in 1950.
Tarn was elected mayor in 1900 and served until 1910.
=> Tarn was elected mayor in 1900.|\
Tarn served until 1910.
The text originally lasted an hour but has been cut.
=> The text originally lasted an hour.|\
The text has been cut.
"""
WHOLE = """
Marn stew uses cured fish.
You can pay by cash, card, or cheque.
The soup contains beans or wine.
The soup does not contain beans, wine, and salt.
The border runs between Norway and Sweden.
The talks between both Norway and Sweden failed.
Johnson and Johnson makes soap.
Trinidad and Tobago has two islands.
The firm pays for research and development.
Holt and Brandt met in 1931.
The two parties merged and the firm died.
Both parents and teachers agree.
The paint mixes red, blue, and white.
The treaty linked France, Spain, and Italy.
It is a big, red, and heavy stone.
The board sells fresh, smoked, and dried fish.
The state provides health, education, and housing services.
Hazards are common in both household and workplace settings.
We defend both the pro-choice and pro-life positions.
He said "it has beans, wine, and salt" there.
It was signed on May 3, 2022, in Orm.
She lived in Paris, France, and wrote books.
The firm has offices in Paris, France, and Berlin, Germany.
The author of the book, written in 1900, was poor.
However, the town, a port, is rich.
The war, the report says, was long.
Based on the report, the town has 3 ports.
Rooted in old fears, the king closed the port.
The firm designs, builds, and sells the boats.
The firm makes, builds, and sells the boats.
It contains information about beans, wine, and salt.
It helps reduce costs, waste, and noise.
It can prevent harm, reduce costs, and promote peace.
The causes, effects, and treatment of cancer are known.
She bought and sold the house.
The dish is served with bread and butter.
The test measures the height and weight of each child.
It was painted by hand in 1889.
It harms health because it is hot and is wet.
Love is marked by care with the goal to make him feel safe and bound to it.
It disrupts sleep, both linked to loneliness and gloom.
The bees, wasps, and ants sting.
Sources include but are not limited to smoke.
She notes that while women work, the state pays them.
Race and...
"""


@pytest.mark.parametrize("row", re.split(r"\n(?!=>)", CUT.strip()))
def test_cut(row: str) -> None:
    sentence, found = row.split("\n=> ")
    assert statements(sentence) == found.split("|")


@pytest.mark.parametrize("sentence", WHOLE.strip().splitlines())
def test_whole(sentence: str) -> None:
    assert statements(sentence) == [sentence]


def verdicts(answer: str, *contexts: str) -> list[Verdict]:
    library = Library([Document(f"d{place}", text) for place, text in enumerate(contexts)])
    found = claims_by_rules(response((answer, [])))
    detector = LexicalDetector()
    return [asyncio.run(detector.verdict(claim.text, library)) for claim in found]


@pytest.mark.parametrize(
    ("answer", "contexts", "labels"),
    [
        (
            "The Ode of Tarn, written around 1210, has 14 cantos and praises the sea.",
            ["The Ode of Tarn has 14 cantos."],
            "A--",
        ),
        (
            "Marn stew contains beans, smoked eel, wine, and thyme. The dish was first cooked in"
            " 1931 by the ship's cook Ilse Brandt.",
            ["Marn stew contains beans, smoked eel, wine, and thyme."],
            "AAAA--",
        ),
        ("You need 5 eggs.", ["The recipe needs 3 eggs."], "-"),
        ("You need 3 eggs.", ["The recipe needs 3 eggs."], "A"),
        (
            "The lighthouse at Orm was built in 1874 and does not use gas.",
            ["The lighthouse at Orm burns no gas."],
            "-A",
        ),
    ],
    ids=range(5),
)
def test_attributed(answer: str, contexts: list[str], labels: str) -> None:
    found = verdicts(answer, *contexts)
    assert "".join("A" if one.label == "ATTRIBUTED" else "-" for one in found) == labels


# A claim, and the documents that hold it only together.
TOGETHER = """
Marn stew uses cured fish. | Marn stew uses lassard. | Lassard is cured fish.
Ada Holt was born in Norway. | Ada Holt was born in Vellby. | Vellby is a town in Norway.
The Orm Bridge was designed by a woman from Tarn. | The Orm Bridge was designed by Ilse Brandt. | \
Ilse Brandt was a woman from Tarn.
Krill soup contains a poisonous mushroom. | Krill soup contains morvel. |\
 Morvel is a poisonous mushroom.
The Vell Museum owns a painting from 1640. | The Vell Museum owns the Red Gate. | \
The Red Gate is a painting from 1640.
Doctor Lind treats patients with a beta blocker. | Doctor Lind treats patients with oxalin. | \
Oxalin is a beta blocker.
The team of Tarn is coached by a former goalkeeper. | The team of Tarn is coached by Per Moe. | \
Per Moe is a former goalkeeper.
Bor beer is brewed with wild yeast. | Bor beer is brewed with kveiska. | Kveiska is a wild yeast.
The river Sill flows into the North Sea. | The river Sill flows into Lake Marr. | \
Lake Marr drains into the North Sea.
The Dunmore tablet runs on an open operating system. | The Dunmore tablet runs on Fenix. | \
Fenix is an open operating system.
"""
APART = """
Pizza uses cured fish. | Marn stew uses lassard. | Lassard is cured fish.
Cured fish uses Marn stew. | Marn stew uses lassard. | Lassard is cured fish.
Marn stew uses cured fish. | Marn stew uses lassard. | Lassard is not cured fish.
Marn stew uses cured fish. | Marn stew does not use lassard. | Lassard is cured fish.
Marn stew uses cured fish. | Marn stew uses lassard. | Torvik is cured fish.
Marn stew uses cured fish. | Marn stew uses lassard. | Lassard is cured fish. |\
 Marn stew uses no cured fish.
Ada Holt was born in Sweden. | Ada Holt was born in Vellby. | Vellby is a town in Norway.
Per Moe was born in Norway. | Ada Holt was born in Vellby. | Vellby is a town in Norway.
Krill soup contains a poisonous mushroom. | Krill soup never contains morvel. |\
 Morvel is a poisonous mushroom.
The Vell Museum owns a painting from 1640. | The Vell Museum owns the Red Gate. |\
 The Red Gate is a painting from 1740.
Doctor Lind treats patients with a beta blocker. | Doctor Lind treats patients with oxalin. |\
 Oxalin may be a beta blocker.
Bor beer is brewed with wild yeast. | Bor beer is brewed without kveiska. | Kveiska is a wild yeast.
"""


@pytest.mark.parametrize("row", TOGETHER.strip().splitlines())
def test_two_documents_together(row: str) -> None:
    (found,) = verdicts(*row.split(" | "))
    assert (found.label, found.match) == ("ATTRIBUTED", "INFERENCE")
    assert {source.doc_id for source in found.sources} == {"d0", "d1"}


@pytest.mark.parametrize("row", APART.strip().splitlines())
def test_two_documents_that_do_not_hold_it(row: str) -> None:
    (found,) = verdicts(*row.split(" | "))
    assert found.label != "ATTRIBUTED"
