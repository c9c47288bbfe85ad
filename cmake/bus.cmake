# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# libpinhole-bus: worlds on several machines, over NATS. The only part that needs libnats; where that is not to be
# found, or where there is no libpinhole-net, it is left out and the rest is built without it. Static, on the static
# libpinhole-net, and shared, on the shared one.

file(GLOB bus_sources CONFIGURE_DEPENDS bus/*.c)
file(GLOB bus_headers CONFIGURE_DEPENDS include/pinhole/bus/*.h include/pinhole/bus/*.hpp bus/*.h)

# pinhole_bus_library(<target> STATIC|SHARED <net> <name after find_package>)
function(pinhole_bus_library target kind net exported_name)
    add_library(${target} ${kind} ${bus_sources} ${bus_headers})
    add_library(pinhole::${exported_name} ALIAS ${target})
    pinhole_compile(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} src)
    target_link_libraries(${target} PUBLIC ${net} PRIVATE PkgConfig::NATS)
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME pinhole-bus
        EXPORT_NAME ${exported_name}
        POSITION_INDEPENDENT_CODE ON)
endfunction()

set(pinhole_bus_missing "")
if(NOT TARGET pinhole_net)
    set(pinhole_bus_missing "there is no libpinhole-net, which it rests on")
elseif(WIN32 OR CMAKE_CROSSCOMPILING)
    set(pinhole_bus_missing "it is not built for another system")
else()
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
        pkg_check_modules(NATS QUIET IMPORTED_TARGET libnats>=3.4)
    endif()
    if(NOT TARGET PkgConfig::NATS)
        set(pinhole_bus_missing "libnats is missing (Debian: libnats-dev)")
    endif()
endif()

if(pinhole_bus_missing)
    message(STATUS "libpinhole-bus is left out: ${pinhole_bus_missing}")
elseif(bus_sources)
    pinhole_bus_library(pinhole_bus STATIC pinhole_net bus)
    if(PINHOLE_SHARED)
        pinhole_bus_library(pinhole_bus_shared SHARED pinhole_net_shared bus_shared)
        pinhole_shared_library(pinhole_bus_shared)
        target_compile_definitions(pinhole_bus_shared PRIVATE PH_BUILD)
        # As libpinhole-net: its own copy of what it uses of src/base, and behind the core, whose names it must not have.
        target_link_libraries(pinhole_bus_shared PRIVATE pinhole_shared pinhole_base)
        if(UNIX AND NOT APPLE)
            set_target_properties(pinhole_bus_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
        endif()
    endif()
endif()
