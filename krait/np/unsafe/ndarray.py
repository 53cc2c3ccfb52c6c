"""Names that Numba's programs import from numba.np.unsafe.ndarray."""

from ..._missing import NotYet

to_fixed_tuple = NotYet(__name__, "to_fixed_tuple",
                        "write the items, as (a[0], a[1]); tuple(a[:n]) has a length known when the code runs, and is "
                        "no shape and no index")

__all__ = ["to_fixed_tuple"]
