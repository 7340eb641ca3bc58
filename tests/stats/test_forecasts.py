"""What more labels would buy."""

from __future__ import annotations

import pytest

from tests.stats.test_shrinkage import evidence, world
from trecjudge.stats.shrinkage import forecast


def test_a_forecast_is_of_what_comes() -> None:
    given, _, _ = world(7, labels=100)
    found = evidence(given)
    nothing = forecast(found, {})
    assert (nothing.tau_then, nothing.width_then) == (nothing.tau_now, nothing.width_now)
    told = forecast(found, dict.fromkeys(given, 3))
    assert told.tau_now is not None and told.tau_then is not None
    assert told.tau_then > told.tau_now and told.width_then < told.width_now
    whole = forecast(found, dict.fromkeys(given, 99))
    assert whole.tau_then == pytest.approx(1.0) and whole.width_then == pytest.approx(0.0)
