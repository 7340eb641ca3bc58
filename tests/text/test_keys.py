from __future__ import annotations

import pytest

from trecjudge.text.qualifiers import said_of_keys


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"petFriendly": false, "bar": true}', [("petFriendly", False), ("bar", True)]),
        ("{'garage': False, 'street': None}", [("garage", False), ("street", False)]),
        ('{"WiFi": "no"}', [("WiFi", False)]),
        ('{"WiFi": u\'no\', "stars": 4}', [("WiFi", False)]),
        ("He said: no way, it is true.", []),
        ("The bar: a true story", []),
    ],
)
def test_keys_with_a_yes_or_no(text: str, said: list[tuple[str, bool]]) -> None:
    assert [(key, yes) for _, key, yes in said_of_keys(text)] == said
