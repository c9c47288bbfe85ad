# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# libpinhole-net: secure connections over UDP. The only part that needs libsodium; where that is not
# to be found, it is left out and the rest is built without it. Static, as it rests on what the
# static library does not export.

file(GLOB net_sources CONFIGURE_DEPENDS net/*.c)
file(GLOB net_headers CONFIGURE_DEPENDS include/pinhole/net/*.h net/*.h)

# Another system's libsodium is not asked for by pkg-config: that would find the one of this machine.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND NOT CMAKE_CROSSCOMPILING)
    pkg_check_modules(sodium QUIET IMPORTED_TARGET libsodium)
endif()

if(TARGET PkgConfig::sodium)
    add_library(pinhole_net STATIC ${net_sources} ${net_headers})
    add_library(pinhole::net ALIAS pinhole_net)
    pinhole_compile(pinhole_net)
    target_include_directories(pinhole_net PRIVATE ${PROJECT_SOURCE_DIR} src)
    target_link_libraries(pinhole_net PUBLIC pinhole_static PRIVATE PkgConfig::sodium)
    set_target_properties(pinhole_net PROPERTIES
        OUTPUT_NAME pinhole-net
        EXPORT_NAME net
        POSITION_INDEPENDENT_CODE ON)
elseif(PINHOLE_TESTS OR PINHOLE_FUZZERS)
    message(FATAL_ERROR "libsodium is missing: run `make test`, or install libsodium-dev and pkgconf")
else()
    message(STATUS "libsodium was not found: libpinhole-net is left out")
endif()
