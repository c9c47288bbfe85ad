# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# The page of `pinhole demo` and `pinhole sim --page`, inside the program: the files of web/ and the module demo.wasm,
# as arrays in a generated C file (tools/embed, app/web_assets.h).
#
# The module comes from a build of the same tree for WebAssembly within this one, as with the preset wasm. Where clang,
# lld or wasi-libc are missing, the program is built all the same, and says what to install when it is asked for a page.

option(PINHOLE_PAGE_MODULE "Build demo.wasm and put it into the program" ${unity_default})

# One trial of everything that the module needs. Not kept in the cache: `make demo` installs what is missing.
function(pinhole_find_wasm result)
    set(${result} OFF PARENT_SCOPE)
    find_program(pinhole_wasm_clang clang-14 NO_CACHE)
    if(NOT pinhole_wasm_clang)
        return()
    endif()
    set(trial ${CMAKE_CURRENT_BINARY_DIR}/wasm_trial)
    file(WRITE ${trial}.c "#include <stdlib.h>\nvoid* trial(size_t n) { return malloc(n); }\n")
    execute_process(
        COMMAND ${pinhole_wasm_clang} --target=wasm32-wasi -mexec-model=reactor ${trial}.c -o ${trial}.wasm
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    find_program(pinhole_wasm_ar llvm-ar-14 NO_CACHE)
    if(failed EQUAL 0 AND pinhole_wasm_ar)
        set(${result} ON PARENT_SCOPE)
    endif()
endfunction()

set(page_module "")
if(PINHOLE_PAGE_MODULE AND NOT CMAKE_CROSSCOMPILING)
    pinhole_find_wasm(pinhole_has_wasm)
    if(pinhole_has_wasm)
        set(page_tree ${CMAKE_CURRENT_BINARY_DIR}/page)
        set(page_module ${page_tree}/demo.wasm)
        include(ExternalProject)
        # Ninja within Ninja: its own look at what changed takes some 30 ms.
        ExternalProject_Add(pinhole_page_module
            SOURCE_DIR ${PROJECT_SOURCE_DIR}
            BINARY_DIR ${page_tree}
            PREFIX ${CMAKE_CURRENT_BINARY_DIR}/page_steps
            CMAKE_ARGS
                -DCMAKE_TOOLCHAIN_FILE=${PROJECT_SOURCE_DIR}/cmake/wasm32-wasi.cmake
                -DCMAKE_BUILD_TYPE=MinSizeRel "-DCMAKE_C_FLAGS_MINSIZEREL=-Oz -DNDEBUG"
                -DPINHOLE_SHARED=OFF -DPINHOLE_PROGRAM=OFF -DPINHOLE_EXAMPLES=OFF -DPINHOLE_UNITY=ON
            BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target pinhole_web pinhole_demo_web -- --quiet
            BUILD_ALWAYS ON
            BUILD_BYPRODUCTS ${page_module} ${page_tree}/pinhole.wasm
            INSTALL_COMMAND ""
            LOG_CONFIGURE ON
            LOG_OUTPUT_ON_FAILURE ON)
    else()
        message(STATUS "the page is left out: clang-14, lld-14, wasi-libc or libclang-rt-14-dev-wasm32 are missing")
    endif()
endif()

file(GLOB page_files CONFIGURE_DEPENDS web/*.html web/*.css web/*.js web/*.svg)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(page_assets ${CMAKE_CURRENT_BINARY_DIR}/web_assets.c)
add_custom_command(OUTPUT ${page_assets}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/embed ${page_assets} ${page_files} ${page_module}
    DEPENDS ${PROJECT_SOURCE_DIR}/tools/embed ${page_files} ${page_module}
    COMMENT "the page, as C"
    VERBATIM)
target_sources(pinhole_program PRIVATE ${page_assets})
