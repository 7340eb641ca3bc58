"""The same statement with another number, date, or the contrary."""

from __future__ import annotations

from trecjudge.judging.claims.by_words import contradiction


def test_contradicted() -> None:
    cases = {
        "count": ("Add 3 cups of flour [1].", "Add 2 cups of flour."),
        "count in words": ("Add three cups of flour.", "Add two cups of flour."),
        "year": ("It opened in 1898.", "It opened in 1889 in Paris."),
        "era": ("It was composed in 200 BCE.", "It was composed in 400 BCE."),
        "far off": ("It was built around 200 BCE.", "It was built around 400 BCE."),
        "day": ("She was born on March 3, 1950.", "She was born on March 5, 1950."),
        "percent": ("Profits rose 3% in May.", "Profits rose 5 percent in May."),
        "scale": ("It has 1.5 million people.", "It has 2,487,000 people."),
        "negation": ("The drug causes cancer.", "The drug does not cause cancer."),
        "contrary": ("The drug does not cause cancer.", "The drug causes cancer."),
        "not rounded": ("The book has 20 chapters.", "The book has 18 chapters."),
        "a year is not rounded": ("The war ended in 2000.", "The war ended in 1998."),
        "rose to": ("Profits rose to 5%.", "Profits rose to 7%."),
        "colour": ("The ferry is blue.", "The ferry is red."),
        "opposite": ("The harbour is open.", "The harbour is closed today."),
        "direction": ("Prices rose in May.", "Prices fell in May."),
        "direction, in another order": (
            "The rate of unemployment increased sharply in Spain.",
            "In Spain the rate of unemployment decreased sharply.",
        ),
        "German colour": ("Die Fähre ist blau.", "Die Fähre ist rot."),
        "Chinese": ("法律有12章。", "法律有18章。"),
        "Russian": ("В городе 3 моста.", "В городе 5 мостов."),
    }
    wrong = [
        name for name, (claim, passage) in cases.items() if contradiction(claim, passage) is None
    ]
    assert not wrong


def test_not_contradicted() -> None:
    cases = {
        "the same": ("Add 3 cups of flour.", "Add 3 cups of flour."),
        "also there": ("Add 3 cups of flour.", "Add 2 eggs and 3 cups of flour."),
        "another name": ("Berlin has 3 airports.", "Paris has 5 airports."),
        "a bound": ("Over 3 people died.", "Some 6 people died."),
        "a fair guess": ("About 100 people came.", "Exactly 104 people came."),
        "round": ("It has 1.5 million people.", "It has 1,487,000 people."),
        "a year, about": ("It began around 1990.", "It began in 1993."),
        "another year": ("It has 300 staff.", "In 2010 it had 200 staff."),
        "a decade": ("It was founded in the 1950s.", "It was founded in 1953."),
        "a range": ("It takes 4 days.", "It takes 3 to 5 days."),
        "another unit": ("It has 3 floors.", "It has 5 lifts."),
        "of more than the claim is about": (
            "Lung cancer makes 20% of deaths.",
            "Lung, bowel, breast and prostate cancers together make almost half (45%) of deaths.",
        ),
        "in several words": ("Africa has 54 countries.", "Africa has fifty-four countries."),
        "direction, another year": ("Prices rose in 2010.", "Prices fell in 2011."),
        "both directions": ("Prices rose.", "Prices rose, and then fell."),
        "direction of another thing": ("Wages rose in May.", "Prices fell in May."),
        "no opposite": ("Prices rose in May.", "Prices did not fall in May."),
        "a colour of another thing": ("The ferry is blue.", "The bus is red."),
        "which one, not what": ("The blue ferry sank.", "The red ferry sank."),
        "both may be": ("She plays the cello.", "She plays the flute."),
        "denied": ("The ferry is blue.", "The ferry is not red."),
        "nothing": ("", ""),
    }
    wrong = {
        name: found
        for name, (claim, passage) in cases.items()
        if (found := contradiction(claim, passage)) is not None
    }
    assert not wrong
