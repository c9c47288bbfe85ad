# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# test/test_<name>.c    cmocka program test_<name>, run by ctest
# test/cpp/test_<name>.cpp   the same in C++17
# test/test_nats*.c, test/test_bus*.c, fuzz/fuzz_bus_*.c   link libpinhole-bus, and are left out where there is none
# fuzz/fuzz_<name>.c    replay_<name>: plain program that runs the kept corpus, by ctest, any compiler
#                       fuzz_<name>: libFuzzer program, clang only

enable_testing()
file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)
file(GLOB fuzz_support CONFIGURE_DEPENDS fuzz/support/*.c)

if(NOT TARGET pinhole_soak)
    list(FILTER fuzz_sources EXCLUDE REGEX "/fuzz_(soak|demo)_[a-z_]+\\.c$")
endif()
if(NOT TARGET pinhole_bus)
    list(FILTER fuzz_sources EXCLUDE REGEX "/fuzz_bus_[a-z_]+\\.c$")
endif()

# Compiled once for all targets.
if(fuzz_support)
    add_library(pinhole_fuzz_support STATIC EXCLUDE_FROM_ALL ${fuzz_support})
    pinhole_compile(pinhole_fuzz_support)
    target_include_directories(pinhole_fuzz_support PUBLIC fuzz)
    target_link_libraries(pinhole_fuzz_support PUBLIC pinhole_inside)
endif()

function(pinhole_fuzz_program program)
    add_executable(${program} ${ARGN})
    pinhole_compile(${program})
    target_include_directories(${program} PRIVATE fuzz)
    target_link_libraries(${program} PRIVATE $<TARGET_NAME_IF_EXISTS:pinhole_fuzz_support> pinhole_inside)
    # Readers of the soak and of the demo: with the file of that name alone, as the rest would be compiled for nothing.
    if(program MATCHES "_(soak_[a-z_]+)$")
        target_sources(${program} PRIVATE soak/${CMAKE_MATCH_1}.c)
    elseif(program MATCHES "_(demo_[a-z_]+)$")
        target_sources(${program} PRIVATE app/${CMAKE_MATCH_1}.c)
        target_include_directories(${program} PRIVATE app)
    elseif(program MATCHES "_bus_")
        target_link_libraries(${program} PRIVATE pinhole_bus)
    endif()
    # libFuzzer's entry point has no header to be declared in.
    if(pinhole_has_gnu_flags)
        target_compile_options(${program} PRIVATE -Wno-missing-prototypes)
    endif()
endfunction()

if(PINHOLE_TESTS)
    find_path(CMOCKA_INCLUDE_DIR cmocka.h)
    find_library(CMOCKA_LIBRARY cmocka)
    if(NOT CMOCKA_INCLUDE_DIR OR NOT CMOCKA_LIBRARY)
        message(FATAL_ERROR "cmocka is missing: run `make test`, or install libcmocka-dev")
    endif()

    file(GLOB test_sources CONFIGURE_DEPENDS test/test_*.c)
    file(GLOB test_support CONFIGURE_DEPENDS test/support/*.c)
    if(PINHOLE_TEST_LIST)
        list(TRANSFORM PINHOLE_${PINHOLE_TEST_LIST}_TESTS
            REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/test/test_\\1.c" OUTPUT_VARIABLE test_sources)
    endif()

    if(NOT TARGET pinhole_soak)
        list(FILTER test_sources EXCLUDE REGEX "/test_(soak|(demo|bots|director)_[a-z_]+)\\.c$")
    endif()
    if(NOT TARGET pinhole_bus)
        list(FILTER test_sources EXCLUDE REGEX "/test_(nats|bus|director)[a-z_]*\\.c$")
    endif()

    # Compiled once for all tests; an interface library stands in while there is nothing to compile.
    if(test_support)
        add_library(pinhole_test_support STATIC ${test_support})
        pinhole_compile(pinhole_test_support)
        set(scope PUBLIC)
    else()
        add_library(pinhole_test_support INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(pinhole_test_support ${scope} test test/support ${CMOCKA_INCLUDE_DIR})
    target_link_libraries(pinhole_test_support ${scope} ${CMOCKA_LIBRARY} pinhole_inside)

    set_source_files_properties(test/test_result.c PROPERTIES
        COMPILE_DEFINITIONS PH_TEST_PROJECT_VERSION="${PROJECT_VERSION}")
    foreach(source IN LISTS test_sources)
        cmake_path(GET source STEM program)
        add_executable(${program} ${source})
        pinhole_compile(${program})
        target_link_libraries(${program} PRIVATE pinhole_test_support)
        if(program STREQUAL "test_soak")
            target_link_libraries(${program} PRIVATE pinhole_soak)
        elseif(program MATCHES "^test_(demo|bots|director)_")
            target_link_libraries(${program} PRIVATE pinhole_app)
        elseif(program MATCHES "^test_(nats|bus)")
            target_link_libraries(${program} PRIVATE pinhole_bus)
        endif()
        # Tests find golden files from the root of the tree.
        add_test(NAME ${program} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(${program} PROPERTIES LABELS unit)
    endforeach()

    # The same chaos without fencing: it must notice. Its own copy of the bus, without the transport over NATS.
    if(TARGET pinhole_bus AND NOT PINHOLE_TEST_LIST)
        set(unfenced_sources ${bus_sources})
        list(FILTER unfenced_sources EXCLUDE REGEX "/nats[a-z_]*\\.c$")
        add_executable(test_bus_chaos_unfenced test/test_bus_chaos.c test/support/bus_stage.c ${unfenced_sources})
        pinhole_compile(test_bus_chaos_unfenced)
        target_compile_definitions(test_bus_chaos_unfenced PRIVATE PH_BUS_UNFENCED)
        target_link_libraries(test_bus_chaos_unfenced PRIVATE pinhole_test_support pinhole_net)
        add_test(NAME test_bus_chaos_unfenced COMMAND test_bus_chaos_unfenced
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(test_bus_chaos_unfenced PROPERTIES LABELS unit)
    endif()

    # What test/check_first_hour.py runs.
    if(TARGET pinhole_net AND NOT PINHOLE_TEST_LIST)
        file(GLOB first_hour_sources CONFIGURE_DEPENDS test/first_hour*.c)
        add_executable(first_hour ${first_hour_sources})
        pinhole_compile(first_hour)
        target_link_libraries(first_hour PRIVATE pinhole_test_support)
    endif()

    # What a native client makes of a session, for test/check_web.mjs.
    if(NOT PINHOLE_TEST_LIST)
        add_executable(web_transcript test/web/transcript.c)
        pinhole_compile(web_transcript)
        target_link_libraries(web_transcript PRIVATE pinhole_outside)
    endif()

    # Builds for some of the tests leave them out.
    file(GLOB cpp_sources CONFIGURE_DEPENDS test/cpp/test_*.cpp)
    if(pinhole_has_cpp AND NOT PINHOLE_TEST_LIST)
        foreach(source IN LISTS cpp_sources)
            cmake_path(GET source STEM program)
            add_executable(${program} ${source})
            pinhole_compile_cpp(${program})
            target_link_libraries(${program} PRIVATE pinhole_test_support)
            add_test(NAME ${program} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
            set_tests_properties(${program} PROPERTIES LABELS unit)
        endforeach()
    endif()

    if(NOT PINHOLE_SANITIZE STREQUAL "thread" AND NOT PINHOLE_COVERAGE)
        # Compiled once for all of them.
        add_library(pinhole_replay_main OBJECT fuzz/replay_main.c)
        pinhole_compile(pinhole_replay_main)
        target_include_directories(pinhole_replay_main PRIVATE fuzz)
        target_link_libraries(pinhole_replay_main PRIVATE pinhole_inside)
        foreach(source IN LISTS fuzz_sources)
            string(REGEX REPLACE "^.*/fuzz_(.+)\\.c$" "\\1" name ${source})
            pinhole_fuzz_program(replay_${name} ${source} $<TARGET_OBJECTS:pinhole_replay_main>)
            add_test(NAME replay_${name} COMMAND replay_${name} fuzz/corpus/${name}
                WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
            set_tests_properties(replay_${name} PROPERTIES LABELS replay)
        endforeach()
    endif()
endif()

if(PINHOLE_FUZZERS)
    foreach(source IN LISTS fuzz_sources)
        cmake_path(GET source STEM program)
        pinhole_fuzz_program(${program} ${source})
        target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    endforeach()
endif()
