"""The exceptions and warnings of Krait, and Numba's names of them."""

from collections import namedtuple as _namedtuple

from . import _krait

globals().update(_krait.errors)
__all__ = [*_krait.errors]

# Where in the source an exception is, its attribute loc.
Location = _namedtuple("Location", "filename line col")

# What programs written for Numba catch and filter, by the class that says it here.
_NUMBA_NAMES = {
    "KraitError": "NumbaError",
    "UnsupportedError": "UnsupportedBytecodeError ByteCodeSupportError",
    "LoweringError": "CudaLoweringError",
    "LaunchError": "KernelRuntimeError",
    "KraitWarning": "NumbaWarning",
    "PerformanceWarning": "NumbaPerformanceWarning",
}
globals().update((name, globals()[ours]) for ours, names in _NUMBA_NAMES.items() for name in names.split())

# What such programs raise, in functions for overload, and tell apart: classes of their own, by the class they derive
# from.
_RAISED = {
    "KraitError": "CompilerError ConstantInferenceError DeprecationError ForceLiteralArg IRError InternalError "
    "NumbaRuntimeError UnsupportedParforsError",
    "IRError": "NotDefinedError RedefinedError VerificationError",
    "InternalError": "InternalTargetMismatchError NonexistentTargetError",
    "LoweringError": "ForbiddenConstruct",
    "TypingError": "LiteralTypingError NumbaAssertionError NumbaAttributeError NumbaIndexError NumbaKeyError "
    "NumbaNotImplementedError NumbaTypeError NumbaValueError RequireLiteralValue UntypedAttributeError",
    "UnsupportedError": "UnsupportedRewriteError",
}
for _base, _names in _RAISED.items():
    globals().update((name, type(name, (globals()[_base],), {"__doc__": "For programs to raise.",
                                                             "__module__": "krait.errors"}))
                     for name in _names.split())  # fmt: skip

# Warnings that are never given, and that programs filter: each is a class of its own, so that a filter hides no other.
_NEVER = (
    "NumbaDeprecationWarning NumbaPendingDeprecationWarning NumbaParallelSafetyWarning NumbaTypeSafetyWarning "
    "NumbaExperimentalFeatureWarning NumbaInvalidConfigWarning NumbaPedanticWarning NumbaIRAssumptionWarning "
    "NumbaDebugInfoWarning NumbaSystemWarning"
).split()
_WARNING = _krait.errors["KraitWarning"]
_OTHER_BASES = {"NumbaDeprecationWarning": (DeprecationWarning,),
                "NumbaPendingDeprecationWarning": (PendingDeprecationWarning,)}  # fmt: skip
globals().update((name, type(name, (_WARNING, *_OTHER_BASES.get(name, ())), {"__doc__": "Never given.",
                                                                            "__module__": "krait.errors"}))
                 for name in _NEVER)  # fmt: skip
