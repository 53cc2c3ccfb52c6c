"""Models of Numba's: krait.extending takes them, and asks none."""

from ..extending import models
from ..extending import register_model as register_default

__all__ = ["models", "register_default"]
