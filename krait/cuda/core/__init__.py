"""krait.core, by the name that numba.cuda has for it."""

from ..._places import stand_for

stand_for(__name__, "krait.core", ("config", "errors", "sigutils", "types", "typing", "utils"))
