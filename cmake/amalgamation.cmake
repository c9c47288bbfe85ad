# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# The library as two files, pinhole.h and pinhole.c, for games that compile it as part of themselves. Made with
# every build that can be installed from, as long as there is a Python; left out without one.

find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT PROJECT_IS_TOP_LEVEL OR NOT Python3_FOUND)
    message(STATUS "no amalgamation: it needs Python 3 and pinhole as the top-level project")
    return()
endif()

set(amalgamation_dir ${CMAKE_CURRENT_BINARY_DIR}/amalgamation)
add_custom_command(
    OUTPUT ${amalgamation_dir}/pinhole.h ${amalgamation_dir}/pinhole.c
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/amalgamate ${amalgamation_dir}
    DEPENDS tools/amalgamate ${library_sources} ${library_headers}
    COMMENT "Writing pinhole.h and pinhole.c"
    VERBATIM)
add_custom_target(pinhole_amalgamation ALL DEPENDS ${amalgamation_dir}/pinhole.h ${amalgamation_dir}/pinhole.c)

install(FILES ${amalgamation_dir}/pinhole.h ${amalgamation_dir}/pinhole.c LICENSE
    DESTINATION ${CMAKE_INSTALL_DATADIR}/pinhole/amalgamation)
