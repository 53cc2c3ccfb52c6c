import builtins
from typing import NamedTuple

class Location(NamedTuple):
    """Where in the source an exception is."""

    filename: str
    line: int
    col: int

class KraitError(Exception):
    """Base of every refusal and failure of Krait: msg is its text, loc where in the source it is, if that is known."""

    loc: Location | None
    @property
    def msg(self) -> str | None: ...

class TypingError(KraitError):
    """The types of a program do not fit its operations."""

class UnsupportedError(KraitError):
    """Krait does not compile this part of Python."""

class LoweringError(KraitError):
    """Code could not be generated: a defect of Krait."""

class NameError(KraitError, builtins.NameError):
    """A name in a function to be compiled is not defined."""

class CudaError(KraitError, RuntimeError):
    """The CUDA driver reported an error, or a GPU is needed and there is none."""

class CudaAPIError(CudaError):
    """A call of the driver failed: `code` is the number that CUDA has for that (CUresult), `msg` the text. On the host
    device the number is what a GPU would have."""

    def __init__(self, code: int | None = ..., msg: str = ...) -> None: ...
    @property
    def code(self) -> int | None: ...
    @property
    def msg(self) -> str | None: ...

class CudaSupportError(CudaError):
    """This needs a GPU, and there is none, or no driver that works."""

class CudaMemoryError(CudaAPIError, MemoryError):
    """The memory of a device is used up: of a GPU, or of the host where kernels run there."""

class LaunchError(CudaError):
    """A kernel did not run to its end: a thread missed a barrier, for one."""

class KraitWarning(Warning):
    """Base of Krait's warnings."""

class PerformanceWarning(KraitWarning):
    """A launch leaves most of a GPU idle, or copies host arrays; told where krait.config asks for it."""

class OutOfBoundsWarning(KraitWarning, RuntimeWarning):
    """A kernel touched an element outside an array; the access was left out."""

# Numba's names.
NumbaError = KraitError
UnsupportedBytecodeError = UnsupportedError
ByteCodeSupportError = UnsupportedError
CudaLoweringError = LoweringError
KernelRuntimeError = LaunchError
NumbaWarning = KraitWarning
NumbaPerformanceWarning = PerformanceWarning

class CompilerError(KraitError):
    """For programs to raise."""

class ConstantInferenceError(KraitError):
    """For programs to raise."""

class DeprecationError(KraitError):
    """For programs to raise."""

class ForceLiteralArg(KraitError):
    """For programs to raise."""

class IRError(KraitError):
    """For programs to raise."""

class InternalError(KraitError):
    """For programs to raise."""

class NumbaRuntimeError(KraitError):
    """For programs to raise."""

class UnsupportedParforsError(KraitError):
    """For programs to raise."""

class NotDefinedError(IRError):
    """For programs to raise."""

class RedefinedError(IRError):
    """For programs to raise."""

class VerificationError(IRError):
    """For programs to raise."""

class InternalTargetMismatchError(InternalError):
    """For programs to raise."""

class NonexistentTargetError(InternalError):
    """For programs to raise."""

class ForbiddenConstruct(LoweringError):
    """For programs to raise."""

class LiteralTypingError(TypingError):
    """For programs to raise."""

class NumbaAssertionError(TypingError):
    """For programs to raise."""

class NumbaAttributeError(TypingError):
    """For programs to raise."""

class NumbaIndexError(TypingError):
    """For programs to raise."""

class NumbaKeyError(TypingError):
    """For programs to raise."""

class NumbaNotImplementedError(TypingError):
    """For programs to raise."""

class NumbaTypeError(TypingError):
    """For programs to raise."""

class NumbaValueError(TypingError):
    """For programs to raise."""

class RequireLiteralValue(TypingError):
    """For programs to raise."""

class UntypedAttributeError(TypingError):
    """For programs to raise."""

class UnsupportedRewriteError(UnsupportedError):
    """For programs to raise."""

class NumbaDeprecationWarning(KraitWarning, DeprecationWarning):
    """Never given."""

class NumbaPendingDeprecationWarning(KraitWarning, PendingDeprecationWarning):
    """Never given."""

class NumbaParallelSafetyWarning(KraitWarning):
    """Never given."""

class NumbaTypeSafetyWarning(KraitWarning):
    """Never given."""

class NumbaExperimentalFeatureWarning(KraitWarning):
    """Never given."""

class NumbaInvalidConfigWarning(KraitWarning):
    """Never given."""

class NumbaPedanticWarning(KraitWarning):
    """Never given."""

class NumbaIRAssumptionWarning(KraitWarning):
    """Never given."""

class NumbaDebugInfoWarning(KraitWarning):
    """Never given."""

class NumbaSystemWarning(KraitWarning):
    """Never given."""
