# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# Headers, libraries, program, pkg-config file and CMake package. All paths inside are relative to
# the installed files, so the tree may be staged with DESTDIR or moved.

include(CMakePackageConfigHelpers)

set(pinhole_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pinhole)

file(GLOB public_headers CONFIGURE_DEPENDS include/pinhole/*.h include/pinhole/*.hpp)

install(TARGETS pinhole_static EXPORT pinhole_targets ARCHIVE)
if(TARGET pinhole_shared)
    install(TARGETS pinhole_shared EXPORT pinhole_targets LIBRARY RUNTIME ARCHIVE)
endif()
if(TARGET pinhole_program)
    install(TARGETS pinhole_program RUNTIME)
    if(has_net_commands)
        # Examples for docs/operating.md.
        install(FILES app/pinhole.service app/pinhole.nft DESTINATION ${CMAKE_INSTALL_DATADIR}/pinhole)
    endif()
endif()
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/pinhole)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pinhole)

install(EXPORT pinhole_targets NAMESPACE pinhole:: FILE pinhole-targets.cmake
    DESTINATION ${pinhole_package_dir})
configure_package_config_file(cmake/pinhole-config.cmake.in pinhole-config.cmake
    INSTALL_DESTINATION ${pinhole_package_dir})
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file(pinhole-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/pinhole-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/pinhole-config-version.cmake
    DESTINATION ${pinhole_package_dir})

# From <prefix>/<libdir>/pkgconfig back to <prefix>.
file(RELATIVE_PATH pinhole_pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pinhole_pc_to_prefix "${pinhole_pc_to_prefix}")
# pinhole-debug.pc names the libraries of a Debug build.
set(pinhole_postfix "")
set(pinhole_pc_flavour "")
set(pinhole_pc_cflags "")
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(pinhole_postfix "${CMAKE_DEBUG_POSTFIX}")
    set(pinhole_pc_flavour " (with assertions)")
    set(pinhole_pc_cflags " -DPH_ENABLE_ASSERTS")
endif()
# What static libraries need is only asked for with pkg-config --static, unless there are no others.
set(pinhole_pc_libs "")
if(NOT TARGET pinhole_shared)
    set(pinhole_pc_libs " -lm")
endif()
configure_file(cmake/pinhole.pc.in pinhole${pinhole_postfix}.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pinhole${pinhole_postfix}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# An export of its own: a project that does not ask for the component needs no libsodium.
if(TARGET pinhole_net)
    install(TARGETS pinhole_net EXPORT pinhole_net_targets ARCHIVE)
    if(TARGET pinhole_net_shared)
        install(TARGETS pinhole_net_shared EXPORT pinhole_net_targets LIBRARY RUNTIME ARCHIVE)
    endif()
    install(FILES cmake/FindSodium.cmake DESTINATION ${pinhole_package_dir})
    install(DIRECTORY include/pinhole/net DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pinhole
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
    install(EXPORT pinhole_net_targets NAMESPACE pinhole:: FILE pinhole-net-targets.cmake
        DESTINATION ${pinhole_package_dir})
    set(pinhole_pc_sodium libsodium)
    set(pinhole_pc_net_private "-lsodium -pthread")
    if(SODIUM_ROOT)
        set(pinhole_pc_sodium "") # it may come without a file for pkg-config
    endif()
    if(WIN32)
        string(APPEND pinhole_pc_net_private " -lws2_32")
    endif()
    set(pinhole_pc_net_libs "")
    if(NOT TARGET pinhole_net_shared)
        set(pinhole_pc_net_libs " ${pinhole_pc_net_private}")
    endif()
    configure_file(cmake/pinhole-net.pc.in pinhole-net${pinhole_postfix}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pinhole-net${pinhole_postfix}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# As net: a project that does not ask for the component needs no libnats.
if(TARGET pinhole_bus)
    install(TARGETS pinhole_bus EXPORT pinhole_bus_targets ARCHIVE)
    if(TARGET pinhole_bus_shared)
        install(TARGETS pinhole_bus_shared EXPORT pinhole_bus_targets LIBRARY RUNTIME ARCHIVE)
    endif()
    install(DIRECTORY include/pinhole/bus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pinhole
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
    install(EXPORT pinhole_bus_targets NAMESPACE pinhole:: FILE pinhole-bus-targets.cmake
        DESTINATION ${pinhole_package_dir})
    set(pinhole_pc_bus_libs "")
    if(NOT TARGET pinhole_bus_shared)
        set(pinhole_pc_bus_libs " -lnats -pthread")
    endif()
    configure_file(cmake/pinhole-bus.pc.in pinhole-bus${pinhole_postfix}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pinhole-bus${pinhole_postfix}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
