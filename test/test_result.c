// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Every result has its own sentence, and a failed assertion ends the program with a word on where.

#define _POSIX_C_SOURCE 200809L // fork, pipe

#include "support/test_support.h"

#include "pinhole/base.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void the_version_is_that_of_the_headers_and_of_the_build(void** state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", PH_VERSION_MAJOR, PH_VERSION_MINOR, PH_VERSION_PATCH);
    assert_string_equal(ph_version(), text);
    assert_string_equal(PH_VERSION_TEXT, text);
    assert_int_equal(PH_VERSION_NUMBER,
                     PH_VERSION_MAJOR * 1000000 + PH_VERSION_MINOR * 1000 + PH_VERSION_PATCH);
    assert_string_equal(PH_TEST_PROJECT_VERSION, text); // CMake's, which packages carry
#if PH_VERSION_NUMBER < 1000
    fail(); // there is none before 0.1.0
#endif
}

static void every_result_has_its_own_sentence(void** state)
{
    (void)state;
    for (int i = 0; i < PH_RESULT_COUNT; ++i) {
        const char* text = ph_result_text((ph_result)i);
        assert_non_null(text);
        size_t length = strlen(text);
        assert_true(length > 1);
        assert_true(text[0] >= 'A' && text[0] <= 'Z');
        assert_int_equal(text[length - 1], '.');
        assert_string_not_equal(text, ph_result_text(PH_RESULT_COUNT));
        for (int k = 0; k < i; ++k) {
            assert_string_not_equal(text, ph_result_text((ph_result)k));
        }
    }
}

static void numbers_that_are_no_result_have_a_sentence_too(void** state)
{
    (void)state;
    // Only numbers that the enum's bits can hold: others are undefined before we see them.
    assert_string_equal(ph_result_text(PH_RESULT_COUNT), "This result is unknown.");
    assert_string_equal(ph_result_text((ph_result)(PH_RESULT_COUNT + 1)),
                        "This result is unknown.");
}

// Runs the assertion in a child process and returns how it ended; what it wrote is in text.
static int status_of_failed_assertion(char* text, size_t text_size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        ph_assert_fail("pigs == flying", "farm.c", 42);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], text + length, text_size - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_failed_assertion_says_where_and_aborts(void** state)
{
    (void)state;
    char text[256];
    int status = status_of_failed_assertion(text, sizeof(text));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "farm.c:42: "));
    assert_non_null(strstr(text, "pigs == flying"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_that_of_the_headers_and_of_the_build),
        cmocka_unit_test(every_result_has_its_own_sentence),
        cmocka_unit_test(numbers_that_are_no_result_have_a_sentence_too),
        cmocka_unit_test(a_failed_assertion_says_where_and_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
