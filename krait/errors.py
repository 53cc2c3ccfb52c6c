"""The exceptions and warnings of Krait, and Numba's names of them."""

from . import _krait

globals().update(_krait.errors)
__all__ = [*_krait.errors]

# What programs written for Numba catch, filter and raise, by the class that says it here.
_NUMBA_NAMES = {
    "KraitError": "NumbaError CompilerError InternalError IRError VerificationError DeprecationError "
    "NumbaRuntimeError InternalTargetMismatchError NonexistentTargetError",
    "TypingError": "NumbaTypeError NumbaValueError NumbaAttributeError NumbaIndexError NumbaKeyError "
    "NumbaAssertionError UntypedAttributeError ConstantInferenceError RequireLiteralValue LiteralTypingError "
    "NotDefinedError RedefinedError ForceLiteralArg",
    "UnsupportedError": "NumbaNotImplementedError UnsupportedBytecodeError UnsupportedRewriteError "
    "UnsupportedParforsError ByteCodeSupportError ForbiddenConstruct",
    "LoweringError": "CudaLoweringError",
    "LaunchError": "KernelRuntimeError",
    "KraitWarning": "NumbaWarning",
    "PerformanceWarning": "NumbaPerformanceWarning",
}
globals().update((name, globals()[ours]) for ours, names in _NUMBA_NAMES.items() for name in names.split())

# Warnings that are never given, and that programs filter: each is a class of its own, so that a filter hides no other.
_NEVER = (
    "NumbaDeprecationWarning NumbaPendingDeprecationWarning NumbaParallelSafetyWarning NumbaTypeSafetyWarning "
    "NumbaExperimentalFeatureWarning NumbaInvalidConfigWarning NumbaPedanticWarning NumbaIRAssumptionWarning "
    "NumbaDebugInfoWarning NumbaSystemWarning"
).split()
_WARNING = _krait.errors["KraitWarning"]
globals().update((name, type(name, (_WARNING,), {"__doc__": "Never given.", "__module__": "krait.errors"}))
                 for name in _NEVER)  # fmt: skip
