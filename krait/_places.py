"""One module in two places: as Krait has it, and where Numba's programs look for it."""

import sys
from importlib import import_module


def stand_for(place, module, below):
    """From here on `place` is the module of that name, and what is below it, too."""
    sys.modules[place] = import_module(module)
    sys.modules.update((f"{place}.{name}", import_module(f"{module}.{name}")) for name in below)
