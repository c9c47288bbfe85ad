# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# libpinhole-net: secure connections over UDP. The only part that needs libsodium; where that is not
# to be found, it is left out and the rest is built without it. Static, on the static core, and shared, on the shared
# core.
#
# Its sockets and threads need no libsodium: where that is missing, they are a library for the kit.

file(GLOB net_sources CONFIGURE_DEPENDS net/*.c)
file(GLOB net_headers CONFIGURE_DEPENDS include/pinhole/net/*.h include/pinhole/net/*.hpp net/*.h)

list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
find_package(Sodium MODULE QUIET)
if(SODIUM_ROOT AND NOT Sodium_FOUND)
    message(FATAL_ERROR "${Sodium_NOT_FOUND_MESSAGE}")
endif()

# Not where there are neither threads nor sockets, as in WebAssembly.
if(PINHOLE_PROGRAM OR PINHOLE_EXAMPLES OR PINHOLE_TESTS OR PINHOLE_FUZZERS OR Sodium_FOUND)
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads REQUIRED)
endif()

# pinhole_net_library(<target> STATIC|SHARED <core> <name after find_package>)
function(pinhole_net_library target kind core exported_name)
    add_library(${target} ${kind} ${net_sources} ${net_headers})
    add_library(pinhole::${exported_name} ALIAS ${target})
    pinhole_compile(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} src)
    target_link_libraries(${target} PUBLIC ${core} Threads::Threads PRIVATE Sodium::Sodium)
    if(WIN32)
        target_link_libraries(${target} PUBLIC ws2_32)
    endif()
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME pinhole-net
        EXPORT_NAME ${exported_name}
        POSITION_INDEPENDENT_CODE ON)
endfunction()

if(Sodium_FOUND)
    pinhole_net_library(pinhole_net STATIC pinhole_static net)
    add_library(pinhole_plumbing ALIAS pinhole_net)
    if(PINHOLE_SHARED)
        pinhole_net_library(pinhole_net_shared SHARED pinhole_shared net_shared)
        pinhole_shared_library(pinhole_net_shared)
        target_compile_definitions(pinhole_net_shared PRIVATE PH_BUILD)
        # What it uses of src/base, the shared core does not export: it has a copy. The linker takes from an archive
        # only what it still misses, so what the core does export comes from there.
        file(GLOB base_sources CONFIGURE_DEPENDS src/base/*.c)
        add_library(pinhole_base STATIC EXCLUDE_FROM_ALL ${base_sources})
        pinhole_compile(pinhole_base)
        target_include_directories(pinhole_base PRIVATE include src)
        target_compile_definitions(pinhole_base PRIVATE PH_BUILD PH_SHARED)
        set_target_properties(pinhole_base PROPERTIES POSITION_INDEPENDENT_CODE ON)
        target_link_libraries(pinhole_net_shared PRIVATE pinhole_base)
        if(UNIX AND NOT APPLE)
            # The core lies beside it, wherever both are installed.
            set_target_properties(pinhole_net_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
        endif()
    endif()
elseif(PINHOLE_TESTS OR PINHOLE_FUZZERS)
    message(FATAL_ERROR "${Sodium_NOT_FOUND_MESSAGE}; `make test` installs it")
else()
    message(STATUS "libpinhole-net is left out: ${Sodium_NOT_FOUND_MESSAGE}")
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
