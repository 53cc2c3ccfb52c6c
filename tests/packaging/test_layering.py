"""The layering of src/, read from the #include lines, and a lint of the C text for mistakes a compiler does not see."""

import functools
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"

# A folder may include folders of lower levels; folders of one level never include each other.
LEVEL = {
    "base": 0,
    "ir": 1,
    "runtime": 1,
    "library": 2,
    "runtime/host": 2,
    "runtime/heap": 2,
    "frontend": 3,
    "typeinfer": 3,
    "passes": 3,
    "codegen": 3,
    "codegen_nvptx": 4,
    "codegen_cpu": 4,
    "runtime/marshal": 4,
    "runtime/cuda": 5,
    "driver": 5,
    "decorators": 6,
    "testing": 7,
}
PYTHON_FOLDERS = {"frontend", "runtime/marshal", "runtime/cuda", "decorators", "testing"}
LLVM_FOLDERS = {"codegen", "codegen_nvptx", "codegen_cpu"}
# Private headers that other folders may include all the same: header -> folders.
SECOND_DOORS = {f"codegen/{name}.h": {"codegen_nvptx", "codegen_cpu"} for name in ("llvm", "lowering", "bitcode")}
# What several rooms fill or ask; the folder has no other.
SECOND_DOORS["runtime/device.h"] = {"runtime/host", "runtime/marshal", "runtime/cuda"}

needs_sources = pytest.mark.skipif(not SRC.is_dir(), reason="the sources are not here")


@functools.cache
def files(*suffixes):
    return sorted(path for path in SRC.rglob("*") if path.suffix in suffixes)


def room_of(name):
    """The folder of LEVEL that a file's name within src/ belongs to."""
    parts = name.split("/")
    return "/".join(parts[: 2 if parts[0] == "runtime" and len(parts) > 2 else 1])


def folder_of(path):
    return room_of(path.relative_to(SRC).as_posix())


@functools.cache
def code_of(path):
    """The text without comments and string contents; line numbers stay what they are."""

    def blank(match):
        text = match.group(0)
        if text.startswith(("/*", "//")):
            return " " + "\n" * text.count("\n")
        return text[0] * 2

    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, blank, path.read_text(encoding="utf-8"), flags=re.DOTALL)


def header_of(folder):
    return f"{folder}/{folder.split('/')[-1]}.h"


def includes():
    for path in files(".c", ".h", ".def"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if match:
                yield path, number, match.group(1), match.group(2)


def report(faults):
    assert not faults, "\n" + "\n".join(faults)


def where(path, number):
    return f"{path.relative_to(ROOT)}:{number}"


@needs_sources
def test_every_folder_has_a_level():
    assert {folder_of(path) for path in files(".c", ".h", ".def")} <= set(LEVEL)


@needs_sources
def test_include_direction():
    faults = []
    for path, number, quote, target in includes():
        if quote != '"':
            continue
        own = folder_of(path)
        other = room_of(target)
        if "/" not in target:
            if not (path.parent / target).exists():
                faults.append(f'{where(path, number)}: "{target}" is not in this folder: name it with its folder')
        elif other not in LEVEL:
            faults.append(f'{where(path, number)}: "{target}" is in no folder of src/')
        elif other != own and LEVEL[other] >= LEVEL[own]:
            faults.append(f'{where(path, number)}: {own} includes "{target}", which is not below it')
    report(faults)


@needs_sources
def test_only_public_headers_are_included_from_other_folders():
    faults = []
    for path, number, quote, target in includes():
        own, other = folder_of(path), room_of(target)
        if quote != '"' or "/" not in target or other == own:
            continue
        # Tables (.def) are public: they are data, and reading them is what they are for.
        public = target == header_of(other) or target.endswith(".def") or own in SECOND_DOORS.get(target, ())
        # The test doors are how the tests of an inner layer see it.
        public = public or own == "testing"
        if not public:
            faults.append(f'{where(path, number)}: "{target}" is private to {other}')
    report(faults)


@needs_sources
def test_every_folder_with_code_has_its_public_header():
    # decorators is the top: it has no user, so it needs no header.
    faults = [
        f"src/{header_of(name)} is missing"
        for name in LEVEL
        if name != "decorators" and any((SRC / name).glob("*.c")) and not (SRC / header_of(name)).exists()
    ]
    report(faults)


@needs_sources
def test_foreign_headers_only_where_allowed():
    faults = []
    for path, number, quote, target in includes():
        own = folder_of(path)
        if target == "Python.h" or target.startswith(("numpy/", "cpython/", "internal/")):
            allowed = PYTHON_FOLDERS
        elif target.startswith(("llvm-c/", "llvm/")):
            allowed = LLVM_FOLDERS
        elif re.match(r"(cuda|nvrtc|nvvm|nvml|cu[A-Z])", target):
            allowed = set()  # the driver's types are declared by runtime/cuda itself: no toolkit is needed to build
        else:
            continue
        if own not in allowed:
            faults.append(f"{where(path, number)}: {own} may not include <{target}>")
        if target.startswith("llvm/"):
            faults.append(f"{where(path, number)}: <{target}> is LLVM's C++ side")
    report(faults)


@needs_sources
def test_headers_do_not_include_each_other_in_a_circle():
    graph = {}
    for path, _, quote, target in includes():
        if quote == '"' and path.suffix == ".h":
            resolved = SRC / target if "/" in target else path.parent / target
            graph.setdefault(path, []).append(resolved)

    def visit(node, trail):
        assert node not in trail, " -> ".join(str(p.relative_to(SRC)) for p in [*trail, node])
        for following in graph.get(node, ()):
            visit(following, [*trail, node])

    for start in graph:
        visit(start, [])


# ---- text lint -------------------------------------------------------------------------------------------------------

# (pattern, what to do instead, the folders and files it may stand in)
FORBIDDEN = [
    # arena.c: allocation from an arena whose owner set no recovery point, which is a mistake in this code
    (r"\b(exit|_exit|quick_exit|abort)\s*\(", "return an error: a library never ends the process", ("base/arena.c",)),
    (r"\b(sprintf|vsprintf|strcpy|strcat|gets|strtok|alloca)\s*\(", "use a bounded form (Buf, snprintf)", ()),
    (r"\breturn\s+Py_(None|True|False|NotImplemented)\s*;", "Py_RETURN_...: a returned object is a new reference",
     ("frontend/insns.c",)),  # where a helper returns what the frontend keeps
    (r"\bPy_X?DECREF\((\w[\w.>-]*)\);\s*\1\s*=\s*NULL\b", "Py_CLEAR: a destructor may look at the field", ()),
    (r"\bPyDict_GetItem\s*\(", "PyDict_GetItemWithError: this one swallows errors", ()),
    (r"\bPyObject_HasAttr(String)?\s*\(", "PyObject_GetOptionalAttr or a lookup: this one swallows errors", ()),
    (r"\bPyModule_AddObject\s*\(", "PyModule_AddObjectRef: this one steals only when it succeeds", ()),
    (r"\bPy(Unicode_AsUTF8|Long_AsLong)\s*\([^;]*\)\s*\[", "check for NULL before indexing", ()),
    (r"\bPyErr_NewException\s*\(\s*NULL", "an exception needs its module's name", ()),
    (r"\bPyState_FindModule\s*\(", "PyType_GetModuleState: several interpreters may load the module", ()),
    (r"\bPyEval_InitThreads\s*\(", "nothing: Python does it", ()),
    (r"\bPyType_Ready\s*\(", "PyType_FromModuleAndSpec: types live in module state", ()),
    (r"\bstatic\s+PyTypeObject\s+\w", "a heap type: static types are global state", ()),
    (r"\bLLVM(Int(1|8|16|32|64|128|Ptr)|Int|Half|BFloat|Float|Double|FP128|Void|Label|Struct|Token|MD)Type\s*\(",
     "the ...InContext function: the global context is shared by all threads", ()),
    (r"\bLLVM(GetGlobalContext|ModuleCreateWithName|AppendBasicBlock|InsertBasicBlock|CreateBuilder|ConstString|"
     r"ConstStruct|MDString|MDNode|ParseBitcode2?|GetBitcodeModule2?|GetMDKindID)\s*\(",
     "the ...InContext function: the global context is shared by all threads", ("codegen/llvm_c.h",)),
    (r"\bLLVMRunPasses\s*\([^,]*,[^,]*,\s*NULL\b", "a target machine: without one passes do not know costs", ()),
    (r"\bPy_LIMITED_API\b", "nothing: the full API is used", ()),
]


@needs_sources
@pytest.mark.parametrize("pattern, instead, allowed", FORBIDDEN, ids=[row[0][:40] for row in FORBIDDEN])
def test_forbidden_in_c(pattern, instead, allowed):
    faults = []
    for path in files(".c", ".h"):
        name = str(path.relative_to(SRC))
        if name in allowed or folder_of(path) in allowed:
            continue
        text = code_of(path)
        for match in re.finditer(pattern, text):
            line = text.rfind("\n", 0, match.start()) + 1
            if not text[line : match.start()].lstrip().startswith("#"):  # poisoning by #define or #pragma is no use
                number = text.count("\n", 0, match.start()) + 1
                faults.append(f"{where(path, number)}: {match.group(0)!r}: {instead}")
    report(faults)


# What the interpreter wants writable although nobody writes it, and what initialises once.
TABLE_TYPES = re.compile(
    r"\b(PyMethodDef|PyMemberDef|PyGetSetDef|PyModuleDef|PyModuleDef_Slot|PyType_Slot|PyType_Spec|"
    r"PyStructSequence_Field|PyStructSequence_Desc|pthread_once_t)\b"
)


# What belongs to the process, whatever interpreters and modules are in it: worker threads, their stacks, linked code.
PROCESS_STATE = {
    "codegen/fork_gate.c": {"fork_gate"},  # what keeps a fork out of a compilation
    "codegen_cpu/orc.c": {"linker", "linker_lock"},  # one LLJIT: making one costs more than compiling a function
    "decorators/dispatch/watch.c": {"watched"},  # the interpreter's callbacks have no argument
    "runtime/heap/heap.c": {"threads", "key"},  # free blocks and figures of each thread
    "runtime/heap/strings.c": {"kept"},  # strings of one character, made once, never released
    "codegen_cpu/symbols.c": {"libraries", "numpy_random"},  # handles of libraries that the process has anyway
    "codegen_cpu/gamma.c": {"libmvec"},  # addresses of functions of such a library
    "codegen_cpu/target.c": {"processor", "idle_machines"},  # asked once; machines for the next module
    "runtime/host/launch.c": {"groups", "groups_lock"},  # stacks of fibers, kept from launch to launch
    "runtime/host/pool.c": {"pool"},  # the worker threads
    "runtime/host/share.c": {"all", "lock"},  # names of the system, which go with the process that made them
    "runtime/host/numpy_loops.c": {"loops", "nloops"},  # addresses of functions that NumPy keeps
    "runtime/host/random.c": {"generators", "twister_next"},  # states in objects of NumPy and Python
}

DECLARATION = re.compile(
    r"(?:static\s+|extern\s+)?(?!return|typedef|else|goto|case)[A-Za-z_][\w\s*]*?\b\w+\s*(?:\[[^\]]*\]\s*)*[=;]"
)


def is_mutable(declaration):
    if "extern" in declaration or "_Thread_local" in declaration or TABLE_TYPES.search(declaration):
        return False
    if not re.search(r"\bconst\b", declaration):
        return True
    # `static const char *names[]` is an array that can be written, of pointers to what cannot
    return bool(re.search(r"\*(?!\s*const)", declaration))


@needs_sources
def test_no_mutable_globals():
    """State lives in the module, the job or the context: a variable at file scope is const, a table, or per thread."""
    faults = []
    for path in files(".c", ".h"):
        for number, line in enumerate(code_of(path).splitlines(), 1):
            match = DECLARATION.match(line)
            if not match or line.startswith(("typedef", "struct ", "enum ", "union ")) and "=" not in line:
                continue
            name = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*[=;]$", match.group(0)).group(1)
            if is_mutable(match.group(0)) and name not in PROCESS_STATE.get(str(path.relative_to(SRC)), ()):
                faults.append(f"{where(path, number)}: {line.strip()}")
        for match in re.finditer(r"^static\s+(?:struct|union)\s*\w*\s*\{.*?^\}\s*(\w+)", code_of(path), re.M | re.S):
            if match.group(1) not in PROCESS_STATE.get(str(path.relative_to(SRC)), ()):
                faults.append(f"{path.relative_to(ROOT)}: {match.group(1)}")
    report(faults)


@needs_sources
def test_every_file_opens_with_a_comment():
    report([f"{path.relative_to(ROOT)}" for path in files(".c", ".h", ".def")
            if not path.read_text(encoding="utf-8").lstrip().startswith("/*")])


@needs_sources
def test_include_guards():
    faults = []
    for path in files(".h"):
        text = code_of(path)
        match = re.search(r"#ifndef (\w+)\n#define (\w+)\n", text)
        if "#pragma once" not in text and (not match or match.group(1) != match.group(2)):
            faults.append(f"{path.relative_to(ROOT)}: no include guard")
    report(faults)


@needs_sources
def test_functions_are_short():
    """About 80 lines are the aim; past 100 a function does two things."""
    faults = []
    for path in files(".c"):
        start = name = None
        for number, line in enumerate(code_of(path).splitlines(), 1):
            if start is None and line.rstrip().endswith("{") and re.match(r"[A-Za-z_].*\)\s*\{", line):
                start, name = number, re.search(r"(\w+)\s*\(", line).group(1)
            elif start is not None and line.startswith("}"):
                if number - start > 100:
                    faults.append(f"{where(path, start)}: {name} has {number - start} lines")
                start = None
    report(faults)


def text_files():
    for folder in ("src", "rtlib", "krait", "tests", "examples", "benchmarks", "docs", "tools", "cmake", ".ci"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".c", ".h", ".def", ".py", ".pyi", ".sh", ".md", ".cmake", ".txt"} and path.is_file():
                yield path


# Files of others that our text speaks of, and what stands for one of several.
FOREIGN = {"Python.h", "dlpack.h", "bitgen.h", "floatobject.c", "bc_py3XX.def", "bc_py314.def"}


@needs_sources
def test_files_that_the_sources_speak_of_exist():
    ours = {path.name for path in text_files()} | {path.name for path in ROOT.glob("benchmarks/*.cu*")} | FOREIGN
    faults = []
    for path in [*files(".c", ".h", ".def"), *sorted((ROOT / "rtlib").glob("*.[ch]"))]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in re.findall(r"(?<![\w.<-])(\w+\.(?:c|h|def|py))\b(?![(\w])", line):
                if name not in ours and not line.lstrip().startswith("#include"):
                    faults.append(f"{path.relative_to(ROOT)}:{number}: there is no {name}")
    report(faults)


def test_text_is_tidy():
    """No tabs, no trailing blanks, a newline at the end; code is at most 120 columns wide."""
    faults = []
    for path in text_files():
        text = path.read_text(encoding="utf-8")
        if text and not text.endswith("\n"):
            faults.append(f"{path.relative_to(ROOT)}: no newline at the end")
        for number, line in enumerate(text.splitlines(), 1):
            if line != line.rstrip() and path.suffix in {".c", ".h", ".def", ".py", ".pyi", ".sh", ".cmake"}:
                faults.append(f"{where(path, number)}: blanks at the end of the line")
            if "\t" in line and path.suffix in {".c", ".h", ".def", ".py", ".pyi"}:
                faults.append(f"{where(path, number)}: a tab")
            narrow = path.suffix in {".c", ".h", ".py"} or path.match("src/library/*.def")
            if len(line) > 120 and narrow and "http" not in line:
                faults.append(f"{where(path, number)}: {len(line)} columns")
    report(faults)
