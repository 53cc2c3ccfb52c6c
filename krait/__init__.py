"""Krait compiles Python functions to NVIDIA GPUs and to the host; it is used as Numba is used."""

from ._krait import __version__
