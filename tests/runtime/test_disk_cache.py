"""Compiled code on disk: found again by other processes, never out of date, never executed when damaged; many processes
at once; folders that are not there, not writable or not the user's own."""

import hashlib
import os
import subprocess
import sys
import textwrap

import pytest

from krait import _cache, _testing

PRELUDE = """
import os, sys
import numpy as np
from krait import cuda, jit, njit, vectorize

def from_cache(function):
    return [facts["from_cache"] for facts in function.get_metadata().values()]
"""


@pytest.fixture
def run(tmp_path):
    """Runs a program in a file of its own with a cache of its own; what it prints."""

    def run(program, folder=tmp_path / "cache", name="program.py", code=0, **environment):
        file = tmp_path / name
        file.write_text(PRELUDE + textwrap.dedent(program))
        result = subprocess.run(
            [sys.executable, file], capture_output=True, text=True, timeout=300,
            env={**os.environ, "KRAIT_CACHE_DIR": str(folder), **environment})
        assert result.returncode == code, result.stdout + result.stderr
        return result.stdout

    run.folder = tmp_path / "cache"
    return run


def files(folder):
    return sorted(folder.glob("*.krait"))


FUNCTIONS = """
    import collections, math

    weights = np.arange(5.0)
    Point = collections.namedtuple("Point", "x y")

    def helper(x):
        return x * 3 + weights[2]

    @njit(cache=True)
    def numbers(a, b):
        if b == 0:
            raise ValueError("b is zero")
        return helper(a) / b + math.sin(a)

    @njit(cache=True)
    def arrays(x, p):
        total = 0.0
        for i in range(x.size):
            total += x[i] * weights[i % 5] + p.x
        return total, Point(p.y, p.x)

    @njit(cache=True)
    def made(n):
        y = np.zeros(n)
        for i in range(n):
            y[i] = weights[i % 5] * i
        return y

    @vectorize(["float64(float64)"], cache=True)
    def third(x):
        return x / 3

    @cuda.jit(cache=True)
    def kernel(x):
        shared = cuda.shared.array(64, np.float64)
        i = cuda.grid(1)
        shared[cuda.threadIdx.x] = x[i]
        cuda.syncthreads()
        x[i] = shared[63 - cuda.threadIdx.x] + weights[1]

    assert numbers(2.0, 4.0) == (6 + 2) / 4 + math.sin(2.0)
    try:
        numbers(1.0, 0)
    except ValueError as error:
        assert str(error) == "b is zero" and "program.py" in str(error.__traceback__.tb_next.tb_frame)
    else:
        assert False
    total, point = arrays(np.ones(5), Point(1.0, 2))
    assert total == 15 and point == (2, 1.0) and type(point) is Point
    assert (made(7) == [0, 1, 4, 9, 16, 0, 6]).all()
    assert (third(np.ones(4) * 3) == 1).all()
    x = np.arange(64.0)
    kernel[1, 64](x)
    assert (x == np.arange(64.0)[::-1] + 1).all()
    weights[2] = 100  # what was captured is read where it lies
    assert numbers(2.0, 4.0) == (6 + 100) / 4 + math.sin(2.0)
    found = from_cache(numbers) + from_cache(arrays) + from_cache(made) + from_cache(kernel)
    print(*found)
"""


def test_other_processes_find_the_code(run):
    first = run(FUNCTIONS).split()
    assert set(first) == {"False"} and len(files(run.folder)) >= len(first)
    before = files(run.folder)
    assert run(FUNCTIONS).split() == ["True"] * len(first)
    assert files(run.folder) == before
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in before) and run.folder.stat().st_mode & 0o777 == 0o700


def test_places_in_the_file_do_not_matter(run):
    """Line numbers are not in the code: errors name those of the file as it is."""
    program = """
        {}
        @njit(cache=True)
        def divide(a, b):
            return a // b
        print(divide(7, 2), from_cache(divide))
        try:
            divide(1, 0)
        except ZeroDivisionError as error:
            print(error.__traceback__.tb_next.tb_lineno)
    """
    _, known, line = run(program.format("")).split()
    _, known_later, line_later = run(program.format("\n\n\n")).split()
    assert (known, known_later) == ("[False]", "[True]") and int(line_later) == int(line) + 3


@pytest.mark.parametrize(
    "change",
    [("x + offset", "x - offset"), ("offset = 1", "offset = 2"), ("return x * 2", "return x * 3"),
     ("boundscheck=True", "boundscheck=False"), ("np.arange(3)", "np.arange(4)"), ("fastmath=False", "fastmath=True")],
)
def test_what_has_changed_is_compiled(run, change):
    program = """
        offset = 1
        table = np.arange(3)
        def callee(x):
            return x * 2
        @njit(cache=True, boundscheck=True, fastmath=False)
        def function(x):
            return callee(x + offset) + table[x] + table.size + 0.5 * x
        x = 1
        value = function(x)
        assert value == function.py_func(x), value
        print(from_cache(function))
    """
    assert run(program) == "[False]\n" and run(program) == "[True]\n"
    assert change[0] in program
    assert run(program.replace(*change)) == "[False]\n"
    assert run(program) == "[True]\n"


SMALL = """
    @njit(cache=True)
    def triple(x):
        return 3 * x
    assert triple(5) == 15
    print(from_cache(triple))
"""


@pytest.mark.parametrize("damage", ["cut", "empty", "longer", "magic", "key", "byte in the code", "label", "size"])
def test_damaged_entries_are_compiled_anew(run, damage):
    run(SMALL)
    entry, = files(run.folder)
    whole = bytearray(entry.read_bytes())
    data = bytearray(whole)
    if damage == "cut":
        del data[-1]
    elif damage == "empty":
        data.clear()
    elif damage == "longer":
        data += b"x"
    else:
        at = {"magic": 0, "key": 20, "byte in the code": len(data) // 2, "label": 110, "size": 64}[damage]
        data[at] ^= 1
    entry.write_bytes(data)
    assert _cache.read(entry) is None
    assert run(SMALL) == "[False]\n"
    assert entry.read_bytes() == bytes(whole) and run(SMALL) == "[True]\n"


def test_every_byte_of_an_entry_is_looked_at(run):
    run(SMALL)
    entry, = files(run.folder)
    whole = entry.read_bytes()
    for at in range(0, len(whole), 97):
        entry.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        assert _cache.read(entry) is None, at
    entry.write_bytes(whole)
    assert _cache.read(entry)[0].startswith("host triple(int")
    assert hashlib.sha256(whole).digest()  # the file is there to be read by people


def test_an_entry_under_another_name_is_not_taken(run):
    run(SMALL)
    run(SMALL.replace("3 * x", "4 * x").replace("15", "20"))
    one, other = files(run.folder)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    assert run(SMALL) == "[False]\n"


def test_many_processes_fill_one_folder(run, tmp_path):
    program = PRELUDE + textwrap.dedent("""
        import random
        scope = {}
        order = list(range(12))
        random.Random(int(sys.argv[1])).shuffle(order)
        for n in order:
            def function(x, n=n):
                return x
            source = f"def f{n}(x):\\n    t = 0\\n    for i in range({n}):\\n        t += x * i\\n    return t"
            exec(source, scope)
            f = njit(cache=True)(scope[f"f{n}"])
            assert f(3) == sum(3 * i for i in range(n))
            if os.environ.get("DIES") and n == 5:
                os.kill(os.getpid(), 9)
    """)
    file = tmp_path / "filler.py"
    file.write_text(program)
    environment = {**os.environ, "KRAIT_CACHE_DIR": str(run.folder)}
    fillers = [
        subprocess.Popen([sys.executable, file, str(i)], env={**environment, **({"DIES": "1"} if i == 3 else {})})
        for i in range(8)
    ]
    codes = [filler.wait(timeout=300) for filler in fillers]
    assert codes[3] == -9 and set(codes[:3] + codes[4:]) == {0}
    assert len(files(run.folder)) == 12 and all(_cache.read(entry) for entry in files(run.folder))
    assert not list(run.folder.glob("*.part"))


def test_a_file_that_a_writer_left_is_removed(run):
    run.folder.mkdir(mode=0o700)
    old, young = run.folder / "1-0-1.part", run.folder / "1-0-2.part"
    for part in (old, young):
        part.write_bytes(b"cut off")
    os.utime(old, (1, 1))
    assert run(SMALL) == "[False]\n"
    assert not old.exists() and young.exists()


def test_the_folder_stays_small(run):
    run.folder.mkdir(mode=0o700)
    for i in range(5):
        file = run.folder / f"{i:064x}.krait"
        file.write_bytes(bytes(400_000))
        os.utime(file, (1000 + i, 1000 + i))
    run(SMALL, KRAIT_CACHE_SIZE="1")
    left = files(run.folder)
    assert sum(file.stat().st_size for file in left) <= 1 << 20
    assert [file.name for file in left if file.stat().st_size == 400_000] == [f"{i:064x}.krait" for i in (3, 4)]
    assert len(left) == 3


def test_folders_that_do_not_serve(run, tmp_path):
    """Code is compiled, as without a cache."""
    file = tmp_path / "file"
    file.write_text("no folder")
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    for folder in (file, open_to_all, "/proc/no/such/place", "/dev/null/x"):
        assert run(SMALL, folder=folder) == "[False]\n"
        assert run(SMALL, folder=folder) == "[False]\n"
    assert not list(open_to_all.iterdir())
    assert run(SMALL, KRAIT_CACHE="0") == "[False]\n" and not run.folder.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_can_only_be_read(run):
    run(SMALL)
    run.folder.chmod(0o500)
    try:
        assert run(SMALL) == "[True]\n"
        assert run(SMALL.replace("3 * x", "x + x + x")) == "[False]\n"
    finally:
        run.folder.chmod(0o700)


def test_an_entry_of_others_is_not_taken(run):
    run(SMALL)
    entry, = files(run.folder)
    entry.chmod(0o666)
    assert run(SMALL) == "[False]\n"
    target = run.folder / "elsewhere"
    files(run.folder)[0].rename(target)
    entry.symlink_to(target)
    assert run(SMALL) == "[False]\n"
    entry.unlink()
    os.mkfifo(entry)  # nobody writes to it
    assert run(SMALL) == "[False]\n" and entry.is_file()


def test_nothing_is_stored_unless_asked_for(run):
    run(SMALL.replace("cache=True", "cache=False"))
    assert not run.folder.exists()
    run(SMALL, KRAIT_DUMP="asm")  # what is read is made
    assert not run.folder.exists()


def test_a_program_may_have_all_its_code_kept(run):
    program = SMALL.replace("cache=True", "")
    assert run(program, KRAIT_CACHE="1") == "[False]\n" and run(program, KRAIT_CACHE="1") == "[True]\n"


def test_files_of_others_stay(run, command):
    """The folder may be one that other files lie in, too."""
    run.folder.mkdir(mode=0o700)
    names = ["film.mkv.part", "thesis.krait", "1-2.part", "1-2-3x.part", "-1-2.part", "A" * 64 + ".krait",
             "0" * 63 + ".krait", "0" * 65 + ".krait", f"{'0' * 64}.krait.part"]
    for name in names:
        (run.folder / name).write_bytes(bytes(300_000))
        os.utime(run.folder / name, (1000, 1000))
    run(SMALL, KRAIT_CACHE_SIZE="1")
    assert command("verify") == "1 entries are whole\n"
    command("clear")
    assert sorted(file.name for file in run.folder.iterdir()) == sorted(names)


def test_folders_on_the_way_are_made(run, tmp_path):
    folder = tmp_path / "a" / "b" / "c"
    assert run(SMALL, folder=folder) == "[False]\n" and run(SMALL, folder=folder) == "[True]\n"
    for _ in range(2):
        printed = run(SMALL, folder="~/kk", HOME=str(tmp_path))  # no shell has seen to it
    assert printed == "[True]\n" and len(files(tmp_path / "kk")) == 1


@pytest.fixture
def command(run):
    def command(*arguments, code=0):
        result = subprocess.run([sys.executable, "-m", "krait", "cache", *arguments], capture_output=True, text=True,
                                env={**os.environ, "KRAIT_CACHE_DIR": str(run.folder)})
        assert result.returncode == code, result.stdout + result.stderr
        return result.stdout

    return command


def test_the_command_says_why_nothing_is_kept(run, command):
    run.folder.mkdir()
    run.folder.chmod(0o775)
    run(SMALL)
    first, last = command().splitlines()
    assert "others may write to it (mode 775)" in first and last.startswith("0 entries, 0 bytes")
    run.folder.rmdir()
    run.folder.write_text("a file")
    assert "it is no folder" in command() and "0 entries are whole" in command("verify")


def test_the_command_where_files_come_and_go(run, command):
    run(SMALL)
    whole, = files(run.folder)
    (run.folder / f"{'b' * 64}.krait").symlink_to("/nonexistent")
    (run.folder / f"{'c' * 64}.krait").mkdir()
    (run.folder / "bbbb.krait").symlink_to("/nonexistent")
    assert command().endswith(f"bytes in {run.folder}\n") and "2 entries" in command()
    assert command("verify", code=1).splitlines()[-1] == "1 entries are whole" and whole.exists()
    whole.chmod(0o664)  # the next process would delete it
    assert "damaged" in command() and command("verify", code=1).splitlines()[-1] == "0 entries are whole"
    assert "0 files removed" in command("clear")


def test_an_entry_that_goes_while_it_is_read(run, monkeypatch, capsys):
    run(SMALL)
    entry, = files(run.folder)
    monkeypatch.setenv("KRAIT_CACHE_DIR", str(run.folder))
    listed = _cache._entries
    for action in ("list", "verify"):
        gone = entry.with_name("e" * 64 + ".krait"), entry.stat()
        monkeypatch.setattr(_cache, "_entries", lambda gone=gone: [gone, *listed()])
        assert _cache.main(action) == 0
        assert capsys.readouterr().out.splitlines()[-1].startswith("1 entries")


def test_the_command(run, command):
    assert command().startswith("0 entries")
    run(FUNCTIONS)
    listed = command("list")
    assert "host numbers(float64, float64)" in listed or "numbers(float" in listed
    assert "program.py" in listed and "kernel(array" in listed
    assert command("verify").endswith("entries are whole\n")
    files(run.folder)[0].write_bytes(b"damaged")
    assert "damaged:" in command() and "removed" in command("verify", code=1)
    assert f"{len(files(run.folder))} files removed" in command("clear") and not files(run.folder)


def test_what_a_function_says_of_it(run):
    assert run(SMALL + "    print(triple.stats.cache_path)\n").split()[-1] == str(run.folder)
    assert run(SMALL.replace("cache=True", "") + "    print(triple.stats.cache_path)\n").split()[-1] == "None"


def test_an_entry_that_cannot_be_read_now_stays(run):
    """No file can be opened for a while: what is on disk is as good as before."""
    program = """
        import resource

        @njit(cache=True)
        def f(x):
            return x * 3 + 1

        spare = int(os.environ.get("SPARE", "-1"))
        if spare >= 0:
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            free = os.dup(0)
            os.close(free)
            resource.setrlimit(resource.RLIMIT_NOFILE, (free + spare, hard))
        assert f(2) == 7
        if spare >= 0:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        print(from_cache(f)[0])
    """
    assert run(program).split() == ["False"]
    entries = files(run.folder)
    assert len(entries) == 1
    found = []
    for spare in range(4):
        before = entries[0].stat().st_ino
        found.append(run(program, SPARE=str(spare)).split()[0])
        assert [file.stat().st_ino for file in files(run.folder)] == [before]
    assert "False" in found and found[-1] == "True"


@pytest.mark.parametrize("row", _testing.config_rows(), ids=lambda row: row[0])
def test_every_option_does_to_the_key_and_to_calls_what_its_row_says(row):
    _, key, calls, changes_key, fits = row
    assert changes_key == (key == "KEYED")
    assert fits == (calls == "LOOSE")
    assert key in ("KEYED", "LOWERED", "ASIDE") and calls in ("APART", "LOOSE", "FACTS")
