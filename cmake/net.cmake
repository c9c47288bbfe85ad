# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# libpinhole-net: secure connections over UDP. The only part that needs libsodium; where that is not
# to be found, it is left out and the rest is built without it. Static, as it rests on what the
# static library does not export.
#
# Its sockets and threads need no libsodium: where that is missing, they are a library for the kit.

file(GLOB net_sources CONFIGURE_DEPENDS net/*.c)
file(GLOB net_headers CONFIGURE_DEPENDS include/pinhole/net/*.h net/*.h)

# Another system's libsodium is not asked for by pkg-config: that would find the one of this machine.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND NOT CMAKE_CROSSCOMPILING)
    pkg_check_modules(sodium QUIET IMPORTED_TARGET libsodium)
endif()

# Not where there are neither threads nor sockets, as in WebAssembly.
if(PINHOLE_PROGRAM OR PINHOLE_EXAMPLES OR PINHOLE_TESTS OR PINHOLE_FUZZERS OR TARGET PkgConfig::sodium)
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads REQUIRED)
endif()

if(TARGET PkgConfig::sodium)
    add_library(pinhole_net STATIC ${net_sources} ${net_headers})
    add_library(pinhole::net ALIAS pinhole_net)
    pinhole_compile(pinhole_net)
    target_include_directories(pinhole_net PRIVATE ${PROJECT_SOURCE_DIR} src)
    target_link_libraries(pinhole_net PUBLIC pinhole_static Threads::Threads PRIVATE PkgConfig::sodium)
    set_target_properties(pinhole_net PROPERTIES
        OUTPUT_NAME pinhole-net
        EXPORT_NAME net
        POSITION_INDEPENDENT_CODE ON)
    add_library(pinhole_plumbing ALIAS pinhole_net)
elseif(PINHOLE_TESTS OR PINHOLE_FUZZERS)
    message(FATAL_ERROR "libsodium is missing: run `make test`, or install libsodium-dev and pkgconf")
else()
    message(STATUS "libsodium was not found: libpinhole-net is left out")
    file(GLOB plumbing_sources CONFIGURE_DEPENDS net/address.c net/pool.c net/rate.c net/socket*.c)
    add_library(pinhole_plumbing STATIC EXCLUDE_FROM_ALL ${plumbing_sources})
    pinhole_compile(pinhole_plumbing)
    target_include_directories(pinhole_plumbing PRIVATE ${PROJECT_SOURCE_DIR} src)
    target_link_libraries(pinhole_plumbing PUBLIC pinhole_static)
    if(TARGET Threads::Threads)
        target_link_libraries(pinhole_plumbing PUBLIC Threads::Threads)
    endif()
    if(WIN32)
        target_link_libraries(pinhole_plumbing PUBLIC ws2_32)
    endif()
endif()
