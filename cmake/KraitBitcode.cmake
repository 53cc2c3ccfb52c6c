# Bitcode that is embedded in the module: rtlib/ for the host and for NVPTX, and the device math library.
# Sets KRAIT_BITCODE_SOURCE (an assembler file, with dependencies) and KRAIT_DEVICE_MATH_LICENSES (name=file ...).
#
#   rtlib/*.c --clang, twice--> .ll --without target attributes--> .bc, one of each file
#   libdevice.10.bc as it is,  or  libclc's nvptx64--.bc --opt: the scalar math functions alone--> device_math.bc

set(bitcode_dir "${CMAKE_BINARY_DIR}/bitcode")
file(MAKE_DIRECTORY "${bitcode_dir}")

# ---- rtlib -----------------------------------------------------------------------------------------------------------

file(GLOB rtlib_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/rtlib/*.c")
set(rtlib_flags -std=c17 -O2 -ffreestanding -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-ident
    -fomit-frame-pointer -Wall -Wextra -I${CMAKE_CURRENT_SOURCE_DIR}/rtlib -I${CMAKE_CURRENT_SOURCE_DIR}/src)
if(KRAIT_DEVICE_MATH STREQUAL "libclc")
    list(APPEND rtlib_flags -DKRAIT_DEVICE_MATH_LIBCLC=1)
endif()
if(KRAIT_WERROR)
    list(APPEND rtlib_flags -Werror)
endif()
# Vectors of a few scalars are made after inlining: a loop around them would not be made of vectors of its own.
set(rtlib_flags_host -fPIC -fno-stack-protector -fno-asynchronous-unwind-tables -fno-slp-vectorize -DKRAIT_RT_HOST=1)
set(rtlib_flags_nvptx --target=nvptx64-nvidia-cuda -march=sm_50 -nogpulib -Wno-unknown-cuda-version -DKRAIT_RT_NVPTX=1)
# Functions must inline into any caller on any processor: the processor that clang assumed is taken out, and so is the
# mark that -ffreestanding leaves (LLVM inlines a function that has it only into functions that have it); of the name of
# the source, which stands in the bitcode, the file alone is left.
set(strip_target -e "s/ \"\\(target-cpu\\|tune-cpu\\|target-features\\|min-legal-vector-width\\)\"=\"[^\"]*\"//g"
    -e "s/ \"no-builtins\"//g" -e "s,^source_filename = \".*/,source_filename = \",")

foreach(target host nvptx)
    set(objects "")
    foreach(source IN LISTS rtlib_sources)
        get_filename_component(name "${source}" NAME_WE)
        set(base "${bitcode_dir}/${name}_${target}")
        add_custom_command(OUTPUT "${base}.bc"
            COMMAND "${KRAIT_CLANG}" ${rtlib_flags} ${rtlib_flags_${target}} -S -emit-llvm
                    -MD -MF "${base}.d" -MT "${base}.bc" -o "${base}.raw.ll" "${source}"
            COMMAND sed ${strip_target} "${base}.raw.ll" > "${base}.ll"
            COMMAND "${KRAIT_LLVM_AS}" -o "${base}.bc" "${base}.ll"
            DEPENDS "${source}" DEPFILE "${base}.d" VERBATIM COMMENT "rtlib/${name}.c for ${target}")
        list(APPEND objects "${base}.bc")
    endforeach()
    set(parts_of_rtlib_${target} ${objects})
endforeach()

# ---- device math -----------------------------------------------------------------------------------------------------

set(device_math "${bitcode_dir}/device_math.bc")
if(KRAIT_DEVICE_MATH STREQUAL "libdevice")
    file(GLOB toolkits /usr/local/cuda /usr/local/cuda-* /opt/cuda "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}")
    set(libdevice "${KRAIT_LIBDEVICE}")
    set(license "${KRAIT_LIBDEVICE_LICENSE}")
    foreach(root IN LISTS toolkits)
        if(NOT libdevice AND EXISTS "${root}/nvvm/libdevice/libdevice.10.bc")
            set(libdevice "${root}/nvvm/libdevice/libdevice.10.bc")
        endif()
        if(NOT license AND EXISTS "${root}/EULA.txt")
            set(license "${root}/EULA.txt")
        endif()
    endforeach()
    if(NOT libdevice OR NOT EXISTS "${libdevice}")
        message(FATAL_ERROR "libdevice.10.bc is missing. It is in the PyPI package nvidia-cuda-nvcc-cu12==12.9.86 "
                            "(tools/fetch_libdevice.py takes it out) and in CUDA toolkits: give its path by "
                            "-DKRAIT_LIBDEVICE=, its licence by -DKRAIT_LIBDEVICE_LICENSE=, "
                            "or build without it by -DKRAIT_DEVICE_MATH=libclc.")
    endif()
    if(NOT license OR NOT EXISTS "${license}")
        message(FATAL_ERROR "libdevice may be passed on with its licence only: give -DKRAIT_LIBDEVICE_LICENSE=, "
                            "the text that came with ${libdevice}")
    endif()
    set(KRAIT_DEVICE_MATH_LICENSES "libdevice=${license}")
    add_custom_command(OUTPUT "${device_math}"
        COMMAND "${CMAKE_COMMAND}" -E copy "${libdevice}" "${device_math}" DEPENDS "${libdevice}" VERBATIM)
elseif(KRAIT_DEVICE_MATH STREQUAL "libclc")
    set(libclc "${KRAIT_LIBCLC}")
    foreach(candidate /usr/lib/clc /usr/share/clc "${KRAIT_LLVM_BIN}/../lib/clc"
            "${KRAIT_LLVM_BIN}/../lib/clang/${KRAIT_LLVM_MAJOR}/lib/nvptx64--")
        if(NOT libclc AND EXISTS "${candidate}/nvptx64--.bc")
            set(libclc "${candidate}/nvptx64--.bc")
        endif()
    endforeach()
    if(NOT libclc OR NOT EXISTS "${libclc}")
        message(FATAL_ERROR "libclc's nvptx64--.bc is missing (Debian and Ubuntu: libclc-22): "
                            "give its path by -DKRAIT_LIBCLC=")
    endif()
    set(KRAIT_DEVICE_MATH_LICENSES "")
    # Every function of float, double, int and private pointers is kept: names follow OpenCL's mangling.
    add_custom_command(OUTPUT "${device_math}"
        COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/tools/reduce_libclc.sh"
                "${KRAIT_LLVM_NM}" "${KRAIT_OPT}" "${libclc}" "${device_math}"
        DEPENDS "${libclc}" "${CMAKE_CURRENT_SOURCE_DIR}/tools/reduce_libclc.sh" VERBATIM)
else()
    message(FATAL_ERROR "KRAIT_DEVICE_MATH is libdevice or libclc, not ${KRAIT_DEVICE_MATH}")
endif()

# ---- one assembler file that includes them all -----------------------------------------------------------------------

set(KRAIT_BITCODE_SOURCE "${bitcode_dir}/bitcode.S")
set(text "/* Written by cmake/KraitBitcode.cmake: read-only data; src/codegen/bitcode.h declares the symbols. */\n")
set(files "")
set(parts_of_device_math "${device_math}")
foreach(library device_math rtlib_host rtlib_nvptx)
    set(table "    .section .data.rel.ro.krait_bc, \"aw\"\n    .globl krait_bc_${library}\n"
        "    .hidden krait_bc_${library}\n    .balign 8\nkrait_bc_${library}:\n")
    foreach(file IN LISTS parts_of_${library})
        get_filename_component(name "${file}" NAME_WE)
        list(APPEND files "${file}")
        string(APPEND text "    .section .rodata.krait_bc, \"a\"\n    .balign 16\n"
            ".L${name}:\n    .incbin \"${file}\"\n.Lend_${name}:\n    .byte 0\n")
        list(APPEND table "    .quad .L${name}, .Lend_${name} - .L${name}\n")
    endforeach()
    string(APPEND text ${table} "    .quad 0, 0\n")
endforeach()
string(APPEND text "    .section .note.GNU-stack, \"\", @progbits\n")
file(CONFIGURE OUTPUT "${KRAIT_BITCODE_SOURCE}" CONTENT "${text}" @ONLY)
set_source_files_properties("${KRAIT_BITCODE_SOURCE}" PROPERTIES OBJECT_DEPENDS "${files}")
