# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# How every target of ours is compiled. Release is -O3, CMake's own default: gcc 12 vectorises
# nothing worth having at -O2.

# What only gcc and clang understand stands behind pinhole_has_gnu_flags; PINHOLE_NO_EXTENSIONS builds without it, and
# without attributes and builtins, as another compiler would.
set(pinhole_has_gnu_flags OFF)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND NOT PINHOLE_NO_EXTENSIONS AND NOT MSVC)
    set(pinhole_has_gnu_flags ON)
endif()

set(pinhole_options "")
if(pinhole_has_gnu_flags)
    # No fused multiply-add behind our back: the same bits on every machine. And no code asks errno
    # about roots: they are taken in vectors then, with the same bits.
    list(APPEND pinhole_options -ffp-contract=off -fno-math-errno
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes)
    if(MINGW)
        # Its isnan() and isfinite() are macros that trip over their own conversions.
        list(APPEND pinhole_options -Wno-float-conversion)
    endif()
    if(PINHOLE_WERROR)
        list(APPEND pinhole_options -Werror)
    endif()
elseif(MSVC)
    # Fuses nothing.
    list(APPEND pinhole_options /fp:precise /W3)
endif()

set(pinhole_instrument_compile "")
set(pinhole_instrument_link "")
if(PINHOLE_SANITIZE)
    # Without -fno-sanitize-recover an undefined operation is printed and the test passes.
    list(APPEND pinhole_instrument_compile
        -fsanitize=${PINHOLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    list(APPEND pinhole_instrument_link -fsanitize=${PINHOLE_SANITIZE})
    # Some hundred programs are linked, with what the sanitizers add: lld takes half of the time, a third for fuzz targets.
    find_program(PINHOLE_LLD ld.lld HINTS /usr/lib/llvm-14/bin)
    if(PINHOLE_LLD)
        cmake_path(GET PINHOLE_LLD PARENT_PATH pinhole_lld_folder)
        list(APPEND pinhole_instrument_link -fuse-ld=lld -B${pinhole_lld_folder})
    endif()
endif()
if(PINHOLE_FUZZERS)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "PINHOLE_FUZZERS needs clang; use the preset clang-debug")
    endif()
    list(APPEND pinhole_instrument_compile -fsanitize=fuzzer-no-link)
endif()
if(PINHOLE_COVERAGE)
    list(APPEND pinhole_instrument_compile --coverage)
    list(APPEND pinhole_instrument_link --coverage)
endif()

# ---- hardening: what makes a fault in memory harder to use -----------------------------------------

# Where the system has it: ELF on Linux and the like. Not with sanitizers, which find more and do not go with
# FORTIFY; not for Windows and WebAssembly, whose linkers have none of it.
#
# Medians of bench load and bench net beside other work, without -> with all of it: classic 7.2 -> 7.9 us and pinhole
# 30.0 -> 30.7 us (4 turns), a datagram 19.5 -> 19.1 us (4 turns). With FORTIFY at level 3 instead of 2: classic 7.1 ->
# 7.3, pinhole 29.1 -> 31.2 us (5 turns). Runs of one program differ by 10 %, and no flag alone stood out of that: to be
# measured again on a quiet machine.
option(PINHOLE_HARDENED "Stack protector, FORTIFY, RELRO, PIE and the like" ${PROJECT_IS_TOP_LEVEL})
set(pinhole_harden_compile "")
set(pinhole_harden_link "")
set(pinhole_is_hardened OFF)
if(PINHOLE_HARDENED AND pinhole_has_gnu_flags AND UNIX AND NOT APPLE AND NOT PINHOLE_SANITIZE AND NOT PINHOLE_COVERAGE)
    set(pinhole_is_hardened ON)
    include(CheckCCompilerFlag)
    foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
        string(MAKE_C_IDENTIFIER "PINHOLE_HAS${flag}" pinhole_has_flag)
        check_c_compiler_flag(${flag} ${pinhole_has_flag})
        if(${pinhole_has_flag})
            list(APPEND pinhole_harden_compile ${flag})
        endif()
    endforeach()
    # Without optimisation it is a warning and no more. -U: some compilers set a level of their own.
    string(TOUPPER "${CMAKE_BUILD_TYPE}" pinhole_build_type)
    if("${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${pinhole_build_type}}" MATCHES "-O[1-9s]")
        list(APPEND pinhole_harden_compile -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    endif()
    list(APPEND pinhole_harden_link -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    include(CheckPIESupported)
    check_pie_supported(LANGUAGES C)
endif()

function(pinhole_harden target)
    target_compile_options(${target} PRIVATE ${pinhole_harden_compile})
    target_link_options(${target} PRIVATE ${pinhole_harden_link})
    if(pinhole_is_hardened)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
endfunction()

function(pinhole_compile target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 17
        C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF)
    if(PINHOLE_NO_EXTENSIONS)
        # Nothing marks what a shared library exports, so nothing is hidden.
        target_compile_definitions(${target} PRIVATE PH_NO_EXTENSIONS)
    else()
        set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden)
    endif()
    target_compile_options(${target} PRIVATE ${pinhole_options} ${pinhole_instrument_compile})
    target_link_options(${target} PRIVATE ${pinhole_instrument_link})
    pinhole_harden(${target})
endfunction()

# Examples and tests in C++, where there is a compiler of the same make as that for C: sanitizers do not mix. Not for
# other systems. Sets pinhole_has_cpp.
macro(pinhole_find_cpp)
    set(pinhole_has_cpp OFF)
    if(NOT CMAKE_CROSSCOMPILING AND NOT PINHOLE_NO_EXTENSIONS)
        if(NOT CMAKE_CXX_COMPILER)
            string(REGEX REPLACE "gcc([^/]*)$" "g++\\1" pinhole_cpp "${CMAKE_C_COMPILER}")
            string(REGEX REPLACE "clang([^/]*)$" "clang++\\1" pinhole_cpp "${pinhole_cpp}")
            if(NOT pinhole_cpp STREQUAL CMAKE_C_COMPILER AND EXISTS "${pinhole_cpp}")
                set(CMAKE_CXX_COMPILER "${pinhole_cpp}")
            endif()
        endif()
        include(CheckLanguage)
        check_language(CXX)
        if(CMAKE_CXX_COMPILER)
            enable_language(CXX)
            set(pinhole_has_cpp ON)
        else()
            message(STATUS "no C++ compiler was found: examples and tests in C++ are left out")
        endif()
    endif()
endmacro()

function(pinhole_compile_cpp target)
    set_target_properties(${target} PROPERTIES
        CXX_STANDARD 17
        CXX_STANDARD_REQUIRED ON
        CXX_EXTENSIONS OFF)
    set(options ${pinhole_options})
    list(REMOVE_ITEM options -Wmissing-prototypes -Wstrict-prototypes)
    if(pinhole_has_gnu_flags)
        list(APPEND options -Wold-style-cast)
    endif()
    target_compile_options(${target} PRIVATE ${options} ${pinhole_instrument_compile})
    target_link_options(${target} PRIVATE ${pinhole_instrument_link})
    pinhole_harden(${target})
endfunction()
