"""The types of compiled code, under the name they have in Numba: krait.types."""

from ..types import *
