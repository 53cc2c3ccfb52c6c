"""What tests of whole programs share: each runs without checks and with them, on random numbers of one seed."""

import numpy as np
import pytest


@pytest.fixture(params=["", "1"], ids=["plain", "checked"])
def checked(request, monkeypatch):
    monkeypatch.setenv("KRAIT_CHECK", request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(0)
