"""krait.core.typing, by the name that numba.cuda has for it."""

from ..._places import stand_for

stand_for(__name__, "krait.core.typing", ("templates", "typeof"))
