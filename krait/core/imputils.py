"""Names of Numba's that are about how it makes LLVM IR: using one says what to do instead."""

from .._missing import NotYet
from ..extending import lower_builtin, lower_cast, lower_getattr, lower_getattr_generic, lower_setattr  # noqa: F401
from ..extending import lower_setattr_generic  # noqa: F401

_NAMES = ("Registry", "impl_ret_borrowed", "impl_ret_new_ref", "impl_ret_untracked", "lower_constant")
globals().update((name, NotYet(__name__, name, "use krait.extending.overload, or intrinsic with the text of LLVM IR"))
                 for name in _NAMES)  # fmt: skip
