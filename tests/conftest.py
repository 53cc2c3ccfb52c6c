"""What all tests share: which Krait is tested, GPU tests, golden files, hypothesis settings."""

import ctypes
import functools
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from portions import AGAIN, as_users_run_it, examples, repeated

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent

# The folder krait/ in the root has no compiled module: what is tested is installed, or on PYTHONPATH.  This holds for
# the processes that tests start, too.
os.environ.setdefault("PYTHONSAFEPATH", "1")
sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry or os.curdir).resolve() != ROOT]

# Compiled code that an earlier build left in the user's cache must not answer for this one.
OWN_CACHE = os.path.join(tempfile.gettempdir(), f"krait-tests-{os.getpid()}")
os.environ.setdefault("KRAIT_CACHE_DIR", OWN_CACHE)

SANITIZER_REPORTS = pathlib.Path(os.environ["KRAIT_CACHE_DIR"]) / "sanitizer"


@functools.cache
def gpu_count():
    """How many GPUs the driver sees, asked without Krait: tests must not be skipped because Krait fails to find one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


# Kernels run on the GPU if there is one.  A file of tests of the host device has `run_on_the_host(__file__)` in a test
# that runs where they do, and @host_device on the others.
ON_HOST = os.environ.get("KRAIT_CUDA_DEVICE") == "cpu" or gpu_count() == 0
host_device = pytest.mark.skipif(not ON_HOST, reason="kernels run on the GPU in this process")
on_the_gpu = pytest.mark.skipif(ON_HOST, reason="this process uses the host device")


def run_on_the_host(path):
    """Runs a file of tests in a process whose kernels run on the host device."""
    environment = dict(os.environ, KRAIT_CUDA_DEVICE="cpu")
    subprocess.run([sys.executable, "-m", "pytest", "-q", path], env=environment, check=True)


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing with them")


def keep_sanitizer_reports():
    """What a sanitizer says before it ends a worker must outlive the file that pytest captures stderr in."""
    for library in os.environ.get("LD_PRELOAD", "").split(":"):
        if "san.so" in pathlib.Path(library).name:
            SANITIZER_REPORTS.parent.mkdir(parents=True, exist_ok=True)
            ctypes.CDLL(library).__sanitizer_set_report_path(os.fsencode(SANITIZER_REPORTS))


RUNNING = set()


def pytest_runtest_logstart(nodeid):
    RUNNING.add(nodeid)


def pytest_runtest_logfinish(nodeid):
    RUNNING.discard(nodeid)


def pytest_terminal_summary(terminalreporter):
    if RUNNING:  # the run was interrupted
        terminalreporter.section("still running")
        terminalreporter.write_line("\n".join(sorted(RUNNING)))
    for report in sorted(SANITIZER_REPORTS.parent.glob(f"{SANITIZER_REPORTS.name}.*")):
        terminalreporter.section(f"a sanitizer, in process {report.suffix[1:]}")
        terminalreporter.write_line(report.read_text(errors="replace")[:20_000])


def pytest_configure(config):
    keep_sanitizer_reports()
    if os.environ.get("KRAIT_TEST_GPU") == "1" and gpu_count() == 0:
        pytest.exit("tests on the GPU were asked for, and the driver sees none", returncode=1)
    try:
        import hypothesis
    except ImportError:
        return
    # Runs are repeatable: the same examples every time, no database, no time limit that a busy machine breaks.
    hypothesis.settings.register_profile("repeatable", derandomize=True, database=None, deadline=None,
                                         max_examples=examples(100),
                                         suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.register_profile("explore", deadline=None, max_examples=2000)
    hypothesis.settings.load_profile(os.environ.get("KRAIT_HYPOTHESIS", "repeatable"))


def pytest_unconfigure(config):
    shutil.rmtree(OWN_CACHE, ignore_errors=True)  # the workers of xdist inherit the first process's folder


def pytest_report_header(config):
    import krait

    return f"krait {krait.__version__} from {pathlib.Path(krait.__file__).parent}, GPUs: {gpu_count()}"


LEVEL = pytest.StashKey()  # of optimisation, where it is not the one that KRAIT_OPT tells


def pytest_collection_modifyitems(config, items):
    seen, kept = set(), []
    for item in items:
        function = item.nodeid.partition("[")[0]
        if not AGAIN or repeated(item, function not in seen):
            kept.append(item)
        if not as_users_run_it(item):
            item.stash[LEVEL] = "0"
        seen.add(function)
    items[:] = kept
    if gpu_count():
        return
    skip = pytest.mark.skip(reason="no GPU here")
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(skip)


def pytest_collection_finish():
    """What the tests are made of is kept out of collections: thousands of tests would make each a slow one."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def golden(request):
    """golden(text, name): compares text with tests/golden/<name>, or writes it with --update-golden."""

    def check(text, name):
        path = TESTS / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"tests/golden/{name} is missing: make it with --update-golden, then read it"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(autouse=True)
def level_of_optimisation(request, monkeypatch):
    level = request.node.stash.get(LEVEL, None)
    if level is not None and "KRAIT_OPT" not in os.environ:
        monkeypatch.setenv("KRAIT_OPT", level)


@pytest.fixture
def optimised(monkeypatch):
    """For tests of what level 0, which most parameters run at, does in another way: portions.py."""
    monkeypatch.setenv("KRAIT_OPT", "3")


@pytest.fixture(autouse=True)
def nothing_is_left_on_the_heap():
    """Every object that compiled code made during a test is released when the test is over."""
    from krait import _testing

    before = _testing.heap_objects()
    yield
    if _testing.heap_objects() > before:
        gc.collect()  # what a cycle of Python's objects holds
    assert _testing.heap_objects() <= before, "an object of the heap was never released"
