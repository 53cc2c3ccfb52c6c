# The thin front door: every target calls CMake, pip, pytest or a script in tools/.
#
#   make demo          run every example, on the GPU if there is one, else on the host; ends in a table
#   make test          build with warnings as errors, check formatting, run all tests on every CPython found
#   make dev           incremental build for developers (PYTHON=3.12, BUILD=/elsewhere)
#
# Files: everything made goes to $(BUILD), `build` unless told.
MAKEFLAGS += --no-print-directory --no-builtin-rules
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
$(V).SILENT:
.DELETE_ON_ERROR:

BUILD ?= build
B := $(abspath $(BUILD))
ROOT := $(abspath .)
JOBS ?= $(shell nproc)
VERSIONS := 3.11 3.12 3.13

find_python = $$(tools/find_pythons.sh $(1) | sed -n '1s/.*=//p')

# ---- parts ------------------------------------------------------------------------------------------------------------

# A virtual environment for one CPython version, with what building and testing need, pinned.
$(B)/venv/%/.ready: requirements/build.txt requirements/test.txt tools/find_pythons.sh
	python="$(call find_python,$*)"
	[ -n "$$python" ] || { echo "no CPython $* with headers was found on PATH or in pyenv" >&2; exit 1; }
	rm -rf $(B)/venv/$*
	echo "venv for CPython $*: $$python"
	"$$python" -m venv $(B)/venv/$*
	$(B)/venv/$*/bin/python -m pip install -q --disable-pip-version-check -r requirements/build.txt -r requirements/test.txt
	touch $@

$(B)/libdevice/.ready: tools/fetch_libdevice.py pyproject.toml
	python="$$(tools/find_pythons.sh --no-headers $(VERSIONS) | sed -n '1s/.*=//p')"
	mkdir -p $(B)
	[ -x $(B)/venv/fetch/bin/python ] || "$$python" -m venv $(B)/venv/fetch
	echo "device math library"
	$(B)/venv/fetch/bin/python tools/fetch_libdevice.py $(B)/libdevice
	touch $@

LIBDEVICE_ARGS = -DKRAIT_LIBDEVICE=$(B)/libdevice/libdevice.10.bc \
                 -DKRAIT_LIBDEVICE_LICENSE=$(B)/libdevice/License.txt

# ---- for developers ---------------------------------------------------------------------------------------------------

PYTHON ?= 3.11
TYPE ?= Dev

.PHONY: dev
dev: $(PYTHON:%=$(B)/venv/%/.ready) $(B)/libdevice/.ready
	cmake -S . -B $(B)/cmake-dev -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=$(TYPE) -DKRAIT_WERROR=ON \
	    -DKRAIT_OUTPUT=$(B)/py "-DKRAIT_PYTHONS=$(subst $() ,;,$(PYTHON:%=$(B)/venv/%/bin/python))" $(LIBDEVICE_ARGS) $(CMAKE_ARGS)
	nice cmake --build $(B)/cmake-dev -j $(JOBS) --target krait_all
	tools/link_package.sh krait $(B)/py/krait
	ln -sfn $(B)/cmake-dev/compile_commands.json $(B)/compile_commands.json
	mkdir -p $(B)/bin
	$(foreach v,$(PYTHON),printf '#!/bin/sh\nPYTHONSAFEPATH=1 PYTHONPATH=$(B)/py exec $(B)/venv/$(v)/bin/python "$$@"\n' > $(B)/bin/python$(v); chmod +x $(B)/bin/python$(v);)
	ln -sfn python$(firstword $(PYTHON)) $(B)/bin/python
