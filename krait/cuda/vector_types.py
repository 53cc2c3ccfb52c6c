"""The vector types by their names, as numba.cuda.vector_types has them."""

from .. import types

vector_types = {name: type_ for name, type_ in vars(types).items() if isinstance(type_, types.Vector)}

__all__ = ["vector_types"]
