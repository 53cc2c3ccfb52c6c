# The thin front door: every target calls CMake, pip, pytest or a script in tools/.
#
#   make demo          run every example, on the GPU if there is one, else on the host; ends in a table
#   make test          warnings are errors, formatting check, all tests on every CPython found (3.11-3.13)
#   make test-gpu      all tests with kernels on the GPU
#   make bench         benchmarks, side by side with Numba, C and nvcc where those are
#   make wheel         a wheel for every CPython found, each tested in an empty environment without LLVM
#   make bundle        wheel, tests, examples and benchmarks in one archive for another machine (PYTHON=3.12);
#                      make bundle-libclc: the same with the open device math library;  make bundle-debug: the
#                      debug build with its sanitizers, for a machine with many processors
#   make debug         asserts, IR verifier after every pass, AddressSanitizer and UBSan;  make test-debug: tests on it
#   make test-tsan     worker threads and fibers of the host device under ThreadSanitizer; part of test-debug
#   make dev           incremental build for developers (PYTHON=3.12, BUILD=/elsewhere, TYPE=Release)
#   make format        clang-format (FILES="a.c b.h");  make clean: remove all that was made
#
# Everything made goes to $(BUILD), `build` unless told.  V=1 shows every command.  PYTEST_ARGS goes to pytest.
MAKEFLAGS += --no-print-directory --no-builtin-rules
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SECONDARY:
$(V).SILENT:

BUILD ?= build
B := $(abspath $(BUILD))
ROOT := $(abspath .)
JOBS ?= $(shell nproc)
VERSIONS := 3.11 3.12 3.13

# ---- the public targets: system packages first, then make again, which then finds what was installed ---------------

PUBLIC := demo test test-gpu test-libclc bench wheel bundle bundle-libclc bundle-debug \
          debug test-debug test-tsan dev format format-check check-clang

.PHONY: help packages clean $(PUBLIC) $(PUBLIC:%=do-%)
help:
	sed -n '2,/^# Everything/s/^# \{0,1\}//p' Makefile

packages:
	tools/system_packages.sh

$(PUBLIC): packages
	$(MAKE) do-$@

clean:
	rm -rf $(B)

ifneq ($(filter-out help packages clean $(PUBLIC),$(MAKECMDGOALS)),)

FOUND := $(shell tools/find_pythons.sh $(VERSIONS) | cut -d= -f1)
FIRST := $(firstword $(FOUND))
ifeq ($(FOUND),)
$(error no CPython 3.11, 3.12 or 3.13 with its headers was found on PATH or in pyenv)
endif

# ---- virtual environments, device math -----------------------------------------------------------------------------

PIP := -m pip --disable-pip-version-check -q
SOURCES := $(shell find src rtlib krait cmake -type f ! -name '*.pyc' ! -name '*.so') CMakeLists.txt setup.py \
           pyproject.toml LICENSE README.md tools/reduce_libclc.sh

find_python = $$(tools/find_pythons.sh $(1) | sed -n '1s/.*=//p')
# make_venv(version, folder): an empty virtual environment
make_venv = python="$(call find_python,$(1))"; \
            [ -n "$$python" ] || { echo "no CPython $(1) with headers was found on PATH or in pyenv" >&2; exit 1; }; \
            echo "virtual environment for CPython $(1): $$python"; \
            rm -rf $(2); "$$python" -m venv $(2)

# With what building and testing need, pinned.
$(B)/venv/%/.ready: requirements/build.txt requirements/test.txt tools/find_pythons.sh
	$(call make_venv,$*,$(B)/venv/$*)
	$(B)/venv/$*/bin/python $(PIP) install --no-compile -r requirements/build.txt -r requirements/test.txt
	touch $@

$(B)/tools/.ready: requirements/dev.txt
	$(call make_venv,$(FIRST),$(B)/tools)
	$(B)/tools/bin/python $(PIP) install --no-compile -r requirements/dev.txt
	touch $@

$(B)/libdevice/.ready: tools/fetch_libdevice.py pyproject.toml $(B)/venv/$(FIRST)/.ready
	echo "device math library"
	$(B)/venv/$(FIRST)/bin/python tools/fetch_libdevice.py $(B)/libdevice
	touch $@

export KRAIT_LIBDEVICE := $(B)/libdevice/libdevice.10.bc
export KRAIT_LIBDEVICE_LICENSE := $(B)/libdevice/License.txt
export KRAIT_JOBS := $(JOBS)
# ptxas of the same package, for tests, where the machine has none
export PATH := $(PATH):$(B)/libdevice

# ---- wheels: one CMake folder serves all versions, and both device math libraries -----------------------------------

# build_wheel(version, variant, device math): the wheel goes to $(B)/dist<variant>/<version>/, and beside it the test
# doors, which no wheel carries
define build_wheel
	echo "building for CPython $(1) with $(3)"
	mkdir -p $(B)/dist$(2)/$(1) $(B)/log
	rm -f $(B)/dist$(2)/$(1)/*.{whl,so}
	log=$(B)/log/wheel$(2)-$(1).txt
	KRAIT_BUILD_DIR=$(B)/wheel KRAIT_CMAKE_ARGS="-DKRAIT_WERROR=ON -DKRAIT_DEVICE_MATH=$(3)" \
	    nice $(B)/venv/$(1)/bin/python -m pip --disable-pip-version-check -v wheel --no-deps --no-build-isolation \
	    -w $(B)/dist$(2)/$(1) . > $$log 2>&1 &&
	PATH=$(B)/venv/$(1)/bin:$$PATH $(B)/venv/$(1)/bin/python -m auditwheel repair --only-plat \
	    -w $(B)/dist$(2)/$(1) $(B)/dist$(2)/$(1)/*-linux_*.whl >> $$log 2>&1 &&
	rm $(B)/dist$(2)/$(1)/*-linux_*.whl ||
	    { grep -nE 'error|Error|warning:' $$log | head -n 40 || tail -n 60 $$log; echo "whole log: $$log" >&2; exit 1; }
	tag=cp$(subst .,,$(1))
	nice cmake --build $(B)/wheel/cmake-wheel -j $(JOBS) --target krait_$${tag}_testing >> $$log 2>&1 ||
	    { tail -n 60 $$log >&2; exit 1; }
	cp $(B)/wheel/cmake-wheel/py/krait/_testing.*$${tag#cp}*.so $(B)/dist$(2)/$(1)/
endef
# add_testing(python, version, variant, folder): the test doors, put beside the installed module
add_testing = cp $(B)/dist$(3)/$(2)/_testing.*.so $(or $(4),$$($(1) -c 'import sysconfig; print(sysconfig.get_path("platlib"))'))/krait/

$(B)/dist/%/.built: $(SOURCES) $(B)/venv/%/.ready $(B)/libdevice/.ready
	$(call build_wheel,$*,,libdevice)
	touch $@

$(B)/dist-libclc/%/.built: $(SOURCES) $(B)/venv/%/.ready $(B)/libdevice/.ready
	$(call build_wheel,$*,-libclc,libclc)
	touch $@

$(B)/venv/%/.installed: $(B)/dist/%/.built
	$(B)/venv/$*/bin/python $(PIP) install --no-deps --force-reinstall $(B)/dist/$*/*.whl
	$(call add_testing,$(B)/venv/$*/bin/python,$*)
	touch $@

# ---- tests ---------------------------------------------------------------------------------------------------------

# Tests run from an empty folder: in the root, `import krait` could find the sources instead of what is tested.
# run_tests(python, log name, arguments, files and folders)
define run_tests
	mkdir -p $(B)/run $(B)/log
	cd $(B)/run
	PYTHONSAFEPATH=1 $(1) -m pytest -c $(ROOT)/pyproject.toml --rootdir=$(ROOT) $(or $(4),$(ROOT)/tests) -n $(TEST_JOBS) \
	    --dist worksteal -o cache_dir=$(B)/run/pytest_cache $(3) $(PYTEST_ARGS) 2>&1 | tee $(B)/log/test-$(2).txt
endef
TEST_JOBS ?= 2

# On the first version everything, on the others less of what cannot depend on the version, and with less optimisation:
# tests/portions.py.
install-%: $(B)/venv/%/.installed ;
test-%: $(B)/venv/%/.installed
	echo "== tests on CPython $*"
	$(if $(filter-out $(FIRST),$*),export KRAIT_TEST_AGAIN=1 KRAIT_OPT=0)
	$(call run_tests,$(B)/venv/$*/bin/python,$*,)

# do_parts: a shell function that makes the targets it is given, all of them, and says how long each took; it adds those
# that failed to $$failed.
define do_parts
	failed=
	do_parts() {
	    local part began
	    for part; do
	        began=$$SECONDS
	        $(MAKE) $$part || failed="$$failed $${part#do-}"
	        echo "== $${part#do-}: $$((SECONDS - began)) s"
	    done
	}
endef
LATER := $(filter-out $(FIRST),$(FOUND))

# Everything is run before the verdict: one failure does not hide the next.
do-test:
	echo "CPython found: $(FOUND)"
	$(do_parts)
	do_parts environments install-$(FIRST)
	mkdir -p $(B)/log
	nice -n 19 $(MAKE) do-test-beside > $(B)/log/beside.txt 2>&1 &
	beside=$$!
	trap "kill $$beside 2>/dev/null || true" EXIT
	do_parts test-$(FIRST)
	wait $$beside || failed="$$failed beside"
	cat $(B)/log/beside.txt
	do_parts $(LATER:%=test-%) do-test-libclc
	if [ -n "$$failed" ]; then echo "FAILED:$$failed" >&2; exit 1; fi
	echo "all tests passed on CPython $(FOUND), and with libclc"

# At once: most of the time they wait for the network.  What fails here fails again where it is needed.
environments:
	for target in $(LATER:%=$(B)/venv/%/.ready) $(B)/tools/.ready; do $(MAKE) $$target & done
	$(MAKE) $(B)/libdevice/.ready
	wait

# What needs none of the first version's tests is done beside them, with what they leave of the processors.
do-test-beside:
	$(do_parts)
	do_parts do-format-check do-check-clang $(LATER:%=$(B)/dist/%/.built) $(B)/dist-libclc/$(FIRST)/.built
	if [ -n "$$failed" ]; then echo "FAILED:$$failed" >&2; exit 1; fi

# The build without libdevice: what depends on device math, on one version.
do-test-libclc: $(B)/dist-libclc/$(FIRST)/.built
	echo "== device math tests with libclc"
	rm -rf $(B)/libclc-site
	$(B)/venv/$(FIRST)/bin/python $(PIP) install --no-deps --target $(B)/libclc-site $(B)/dist-libclc/$(FIRST)/*.whl
	$(call add_testing,,$(FIRST),-libclc,$(B)/libclc-site)
	files=$$(grep -rl --include='test_*.py' device_math $(ROOT)/tests)
	$(call run_tests,env PYTHONPATH=$(B)/libclc-site $(B)/venv/$(FIRST)/bin/python,libclc,-m device_math,$$files) || [ $$? = 5 ]

do-test-gpu: $(B)/venv/$(FIRST)/.installed
	KRAIT_TEST_GPU=1 KRAIT_CUDA_DEVICE=gpu KRAIT_OPT=3
	export KRAIT_TEST_GPU KRAIT_CUDA_DEVICE KRAIT_OPT
	$(call run_tests,$(B)/venv/$(FIRST)/bin/python,gpu,)

# ---- formatting, another compiler ----------------------------------------------------------------------------------

FILES ?= $(shell find src rtlib tests examples benchmarks -name '*.[ch]' 2>/dev/null)

do-format: $(B)/tools/.ready
	$(B)/tools/bin/clang-format -i $(FILES)

do-format-check: $(B)/tools/.ready
	wrong=$$($(B)/tools/bin/clang-format --dry-run $(FILES) 2>&1 | sed -n 's/:.*clang-formatted.*//p' | uniq)
	[ -z "$$wrong" ] || { echo "not formatted (run: make format):" $$wrong >&2; exit 1; }

# Clean under clang too: it reads every file and makes no code.
do-check-clang: $(B)/venv/$(FIRST)/.ready $(B)/libdevice/.ready
	echo "warnings of clang"
	cmake -S . -B $(B)/cmake-clang -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Dev -DKRAIT_WERROR=ON \
	    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_C_COMPILER_LAUNCHER= -DKRAIT_PYTHONS=$(B)/venv/$(FIRST)/bin/python $(LIBDEVICE_ARGS) > $(B)/cmake-clang.txt
	nice $(B)/venv/$(FIRST)/bin/python tools/check_warnings.py $(B)/cmake-clang $(JOBS)

# ---- examples and benchmarks ---------------------------------------------------------------------------------------

do-demo: $(B)/venv/$(FIRST)/.installed
	mkdir -p $(B)/demo
	cd $(B)/demo
	$(B)/venv/$(FIRST)/bin/python $(ROOT)/examples/demo.py $(DEMO_ARGS)

# Numba is a guest: where it cannot be installed the benchmarks run without it.
$(B)/venv/%/.bench: requirements/bench.txt $(B)/venv/%/.ready
	$(call make_venv,$*,$(B)/venv/bench-$*)
	$(B)/venv/bench-$*/bin/python $(PIP) install -r requirements/bench.txt ||
	    { echo "Numba could not be installed: the benchmarks run without it"
	      $(B)/venv/bench-$*/bin/python $(PIP) install numpy; }
	touch $@

do-bench: $(B)/venv/$(FIRST)/.bench $(B)/dist/$(FIRST)/.built
	$(B)/venv/bench-$(FIRST)/bin/python $(PIP) install --no-deps --force-reinstall $(B)/dist/$(FIRST)/*.whl
	mkdir -p $(B)/run
	cd $(B)/run
	$(B)/venv/bench-$(FIRST)/bin/python $(ROOT)/benchmarks/run.py $(BENCH_ARGS)

# ---- delivery ------------------------------------------------------------------------------------------------------

wheel-%: $(B)/dist/%/.built
	echo "== wheel for CPython $*"
	$(B)/venv/$*/bin/python tools/check_wheel.py $(B)/dist/$*/*.whl
	$(call make_venv,$*,$(B)/venv/wheel-$*)
	$(B)/venv/wheel-$*/bin/python $(PIP) install $(B)/dist/$*/*.whl -r requirements/test.txt
	$(call add_testing,$(B)/venv/wheel-$*/bin/python,$*)
	export KRAIT_MANY=10000 KRAIT_OPT=3
	$(call run_tests,$(ROOT)/tools/without_llvm.sh $(B)/venv/wheel-$*/bin/python,wheel-$*,-o timeout=400)
	mkdir -p $(B)/wheels
	cp $(B)/dist/$*/*.whl $(B)/wheels/

do-wheel:
	failed=
	for version in $(FOUND); do $(MAKE) wheel-$$version || failed="$$failed $$version"; done
	if [ -n "$$failed" ]; then echo "FAILED:$$failed" >&2; exit 1; fi
	ls -l $(B)/wheels

do-bundle: PYTHON = 3.12
do-bundle:
	$(MAKE) bundle-$(PYTHON)

bundle-%: $(B)/dist/%/.built
	tools/make_bundle.sh $* $(B)/bundle $(B)/dist/$*/*.whl $(B)/dist/$*/_testing.*.so

# The same with the open device math library, to test it on a GPU.
do-bundle-libclc: PYTHON = 3.12
do-bundle-libclc:
	$(MAKE) bundle-libclc-$(PYTHON)

bundle-libclc-%: $(B)/dist-libclc/%/.built
	tools/make_bundle.sh $* $(B)/bundle-libclc $(B)/dist-libclc/$*/*.whl $(B)/dist-libclc/$*/_testing.*.so

# ---- for developers ------------------------------------------------------------------------------------------------

PYTHON ?= $(FIRST)
TYPE ?= Dev
LIBDEVICE_ARGS = -DKRAIT_LIBDEVICE=$(KRAIT_LIBDEVICE) -DKRAIT_LIBDEVICE_LICENSE=$(KRAIT_LIBDEVICE_LICENSE)

# build_tree(CMake folder, build type, where krait/ goes, environment of the wrapper): module, package links, bin/python
define build_tree
	cmake -S . -B $(1) -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=$(2) -DKRAIT_WERROR=ON -DKRAIT_OUTPUT=$(3)/py \
	    "-DKRAIT_PYTHONS=$(subst $() ,;,$(PYTHON:%=$(B)/venv/%/bin/python))" $(LIBDEVICE_ARGS) $(CMAKE_ARGS) > $(1).txt ||
	    { cat $(1).txt; exit 1; }
	nice cmake --build $(1) -j $(JOBS) --target krait_all -- --quiet $(NINJA_ARGS)
	tools/link_package.sh krait $(3)/py/krait
	tools/make_wrappers.sh $(3) $(B)/venv "$(PYTHON)" "$(4)"
endef

do-dev: $(PYTHON:%=$(B)/venv/%/.ready) $(B)/libdevice/.ready
	$(call build_tree,$(B)/cmake-dev,$(TYPE),$(B),)
	ln -sfn $(B)/cmake-dev/compile_commands.json $(B)/compile_commands.json

# CUDA's driver takes addresses in the gap between the sanitizer's shadows.
SANITIZER_LIBS = $$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)
SANITIZER_OPTIONS = PYTHONMALLOC=malloc \
    ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:protect_shadow_gap=0 \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

do-debug: $(PYTHON:%=$(B)/venv/%/.ready) $(B)/libdevice/.ready
	$(call build_tree,$(B)/cmake-debug,Debug,$(B)/debug,$(SANITIZER_OPTIONS) LD_PRELOAD=$$(echo $(SANITIZER_LIBS) | tr ' ' :))

do-bundle-debug: PYTHON = 3.12
do-bundle-debug:
	$(MAKE) do-debug PYTHON=$(PYTHON)
	SANITIZER_OPTIONS="$(SANITIZER_OPTIONS)" \
	    tools/make_bundle.sh $(PYTHON) $(B)/bundle-debug $(B)/debug/py/krait $(SANITIZER_LIBS)

# Sanitized code is several times slower, so is the limit of a test, and its frames are several times larger.
do-test-debug: do-debug do-test-tsan
	ulimit -S -s 65536
	$(call run_tests,$(B)/debug/bin/python,debug,-o timeout=300)

# C alone, with the compiler's own sanitizer: no Python, no LLVM.
do-test-tsan:
	mkdir -p $(B)/tsan
	$(CC) -std=c17 -D_GNU_SOURCE -O1 -g -fsanitize=thread -fno-omit-frame-pointer -Wall -Wextra -Isrc -pthread \
	    src/runtime/host/*.c src/base/clock.c tests/runtime/host_threads.c -lm -o $(B)/tsan/host_threads
	TSAN_OPTIONS=halt_on_error=1 timeout 600 $(B)/tsan/host_threads

endif
