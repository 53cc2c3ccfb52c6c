# krait_query_python(<interpreter>) asks an interpreter what an extension for it needs to know.
# Sets PY_TAG (cp311), PY_SUFFIX (.cpython-311-x86_64-linux-gnu.so) and PY_INCLUDES (Python's and NumPy's headers).
set(KRAIT_PYTHON_QUERY [[
import sys, sysconfig
import numpy
assert sys.version_info >= (3, 11), "CPython 3.11 or newer is needed"
assert int(numpy.__version__.split(".")[0]) >= 2, "NumPy 2 or newer is needed"
paths = sysconfig.get_paths()
includes = dict.fromkeys([paths["include"], paths["platinclude"], numpy.get_include()])
print(f"cp{sys.version_info[0]}{sys.version_info[1]}", sysconfig.get_config_var("EXT_SUFFIX"), *includes, sep=chr(59))
]])

function(krait_query_python PYTHON)
    execute_process(COMMAND "${PYTHON}" -c "${KRAIT_PYTHON_QUERY}"
                    OUTPUT_VARIABLE answer ERROR_VARIABLE error RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${PYTHON} cannot build extensions (NumPy 2 is needed there):\n${error}")
    endif()
    list(POP_FRONT answer tag suffix)
    list(GET answer 0 include)
    if(NOT EXISTS "${include}/Python.h")
        message(FATAL_ERROR "${PYTHON} has no Python.h in ${include}: install its development package (python3-dev)")
    endif()
    set(PY_TAG "${tag}" PARENT_SCOPE)
    set(PY_SUFFIX "${suffix}" PARENT_SCOPE)
    set(PY_INCLUDES "${answer}" PARENT_SCOPE)
endfunction()
