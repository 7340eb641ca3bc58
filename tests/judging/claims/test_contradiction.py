"""The same statement with another number, date, or the contrary."""

from __future__ import annotations

import pytest

from trecjudge.judging.claims.by_words import contradiction


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        pytest.param("Add 3 cups of flour [1].", "Add 2 cups of flour.", id="count"),
        pytest.param("Add three cups of flour.", "Add two cups of flour.", id="count in words"),
        pytest.param("It opened in 1898.", "It opened in 1889 in Paris.", id="year"),
        pytest.param("It was composed in 200 BCE.", "It was composed in 400 BCE.", id="era"),
        pytest.param("It was built around 200 BCE.", "It was built around 400 BCE.", id="far off"),
        pytest.param("She was born on March 3, 1950.", "She was born on March 5, 1950.", id="day"),
        pytest.param("Profits rose 3% in May.", "Profits rose 5 percent in May.", id="percent"),
        pytest.param("It has 1.5 million people.", "It has 2,487,000 people.", id="scale"),
        pytest.param("The drug causes cancer.", "The drug does not cause cancer.", id="negation"),
        pytest.param("The drug does not cause cancer.", "The drug causes cancer.", id="contrary"),
        pytest.param("The book has 20 chapters.", "The book has 18 chapters.", id="not rounded"),
        pytest.param(
            "The war ended in 2000.", "The war ended in 1998.", id="a year is not rounded"
        ),
        pytest.param("Profits rose to 5%.", "Profits rose to 7%.", id="rose to"),
        pytest.param("The ferry is blue.", "The ferry is red.", id="colour"),
        pytest.param("The harbour is open.", "The harbour is closed today.", id="opposite"),
        pytest.param("Prices rose in May.", "Prices fell in May.", id="direction"),
        pytest.param(
            "The rate of unemployment increased sharply in Spain.",
            "In Spain the rate of unemployment decreased sharply.",
            id="direction, in another order",
        ),
        pytest.param("Die Fähre ist blau.", "Die Fähre ist rot.", id="German colour"),
        pytest.param("法律有12章。", "法律有18章。", id="Chinese"),
        pytest.param("В городе 3 моста.", "В городе 5 мостов.", id="Russian"),
    ],
)
def test_contradicted(claim: str, passage: str) -> None:
    assert contradiction(claim, passage) is not None


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        pytest.param("Add 3 cups of flour.", "Add 3 cups of flour.", id="the same"),
        pytest.param("Add 3 cups of flour.", "Add 2 eggs and 3 cups of flour.", id="also there"),
        pytest.param("Berlin has 3 airports.", "Paris has 5 airports.", id="another name"),
        pytest.param("Over 3 people died.", "Some 6 people died.", id="a bound"),
        pytest.param("About 100 people came.", "Exactly 104 people came.", id="a fair guess"),
        pytest.param("It has 1.5 million people.", "It has 1,487,000 people.", id="round"),
        pytest.param("It began around 1990.", "It began in 1993.", id="a year, about"),
        pytest.param("It has 300 staff.", "In 2010 it had 200 staff.", id="another year"),
        pytest.param("It was founded in the 1950s.", "It was founded in 1953.", id="a decade"),
        pytest.param("It takes 4 days.", "It takes 3 to 5 days.", id="a range"),
        pytest.param("It has 3 floors.", "It has 5 lifts.", id="another unit"),
        pytest.param(
            "Lung cancer makes 20% of deaths.",
            "Lung, bowel, breast and prostate cancers together make almost half (45%) of deaths.",
            id="of more than the claim is about",
        ),
        pytest.param(
            "Africa has 54 countries.", "Africa has fifty-four countries.", id="in several words"
        ),
        pytest.param("Prices rose in 2010.", "Prices fell in 2011.", id="direction, another year"),
        pytest.param("Prices rose.", "Prices rose, and then fell.", id="both directions"),
        pytest.param("Wages rose in May.", "Prices fell in May.", id="direction of another thing"),
        pytest.param("Prices rose in May.", "Prices did not fall in May.", id="no opposite"),
        pytest.param("The ferry is blue.", "The bus is red.", id="a colour of another thing"),
        pytest.param("The blue ferry sank.", "The red ferry sank.", id="which one, not what"),
        pytest.param("She plays the cello.", "She plays the flute.", id="both may be"),
        pytest.param("The ferry is blue.", "The ferry is not red.", id="denied"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_not_contradicted(claim: str, passage: str) -> None:
    assert contradiction(claim, passage) is None
