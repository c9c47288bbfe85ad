# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# find_package(Sodium) gives Sodium::Sodium. Our build uses it, and the installed package carries it.
#
# SODIUM_ROOT is a folder with include/sodium.h and lib/: of a build of your own, or for another system. Without it,
# the libsodium of this machine is asked for, by pkg-config or in the usual places; never when the build is for
# another system, which that one is not made for. Where there is none, Sodium_NOT_FOUND_MESSAGE says what is missing.

if(TARGET Sodium::Sodium)
    set(Sodium_FOUND TRUE)
    return()
endif()
set(Sodium_FOUND FALSE)

if(SODIUM_ROOT)
    find_path(SODIUM_INCLUDE_DIR sodium.h PATHS "${SODIUM_ROOT}/include"
        NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
    find_library(SODIUM_LIBRARY NAMES sodium libsodium PATHS "${SODIUM_ROOT}/lib"
        NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
    set(Sodium_NOT_FOUND_MESSAGE
        "SODIUM_ROOT is ${SODIUM_ROOT}, and there is no include/sodium.h or no lib/libsodium in it")
elseif(CMAKE_CROSSCOMPILING)
    set(Sodium_NOT_FOUND_MESSAGE
        "libsodium for ${CMAKE_SYSTEM_NAME} is missing: set SODIUM_ROOT to a folder with its include/ and lib/")
else()
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
        pkg_check_modules(SODIUM_PC QUIET IMPORTED_TARGET libsodium)
    endif()
    if(TARGET PkgConfig::SODIUM_PC)
        add_library(Sodium::Sodium INTERFACE IMPORTED)
        target_link_libraries(Sodium::Sodium INTERFACE PkgConfig::SODIUM_PC)
        set(Sodium_FOUND TRUE)
        return()
    endif()
    find_path(SODIUM_INCLUDE_DIR sodium.h)
    find_library(SODIUM_LIBRARY NAMES sodium libsodium)
    set(Sodium_NOT_FOUND_MESSAGE
        "libsodium is missing: install libsodium-dev, or set SODIUM_ROOT to a folder with its include/ and lib/")
endif()

mark_as_advanced(SODIUM_INCLUDE_DIR SODIUM_LIBRARY)
if(SODIUM_INCLUDE_DIR AND SODIUM_LIBRARY)
    add_library(Sodium::Sodium UNKNOWN IMPORTED)
    set_target_properties(Sodium::Sodium PROPERTIES
        IMPORTED_LOCATION "${SODIUM_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${SODIUM_INCLUDE_DIR}")
    if(SODIUM_LIBRARY MATCHES "\\.a$" AND NOT SODIUM_LIBRARY MATCHES "\\.dll\\.a$")
        set_target_properties(Sodium::Sodium PROPERTIES INTERFACE_COMPILE_DEFINITIONS SODIUM_STATIC)
    endif()
    set(Sodium_FOUND TRUE)
endif()
