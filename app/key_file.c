// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "key_file.h"

#include "wall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS = 2 * PH_NETCODE_KEY_SIZE, TEXT_MAX = DIGITS + 2 };

// The compiler may leave out a memset of bytes that are not read any more.
static void wipe(void* from, size_t size)
{
    volatile uint8_t* bytes = from;
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = 0;
    }
}

void app_key_wipe(uint8_t key[PH_NETCODE_KEY_SIZE])
{
    wipe(key, PH_NETCODE_KEY_SIZE);
}

static int digit_of(char letter)
{
    static const char ALL[] = "0123456789abcdef";
    const char small = letter >= 'A' && letter <= 'F' ? (char)(letter - 'A' + 'a') : letter;
    const char* found = small != '\0' ? strchr(ALL, small) : NULL;
    return found != NULL ? (int)(found - ALL) : -1;
}

static bool parse(const char* text, uint8_t key[PH_NETCODE_KEY_SIZE])
{
    for (int i = 0; i < PH_NETCODE_KEY_SIZE; ++i) {
        const int high = digit_of(text[2 * i]);
        const int low = high < 0 ? -1 : digit_of(text[2 * i + 1]);
        if (low < 0) {
            return false;
        }
        key[i] = (uint8_t)(high * 16 + low);
    }
    return text[DIGITS + strspn(text + DIGITS, " \r\n")] == '\0';
}

bool app_key_read(const char* command, const char* path, uint8_t key[PH_NETCODE_KEY_SIZE])
{
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "%s: %s cannot be read: %s.\n", command, path, strerror(errno));
        return false;
    }
    setvbuf(file, NULL, _IONBF, 0); // a buffer would keep the digits when it is freed
    char text[TEXT_MAX + 1] = {0};
    const size_t size = fread(text, 1, TEXT_MAX, file);
    const bool is_key = size >= DIGITS && fgetc(file) == EOF && parse(text, key);
    fclose(file);
    wipe(text, sizeof text);
    if (!is_key) {
        fprintf(stderr,
                "%s: %s is no key: it must hold %d hexadecimal digits, as made by 'pinhole token "
                "--make-key FILE'.\n",
                command, path, DIGITS);
    }
    return is_key;
}

static bool write_digits(int file, const uint8_t key[PH_NETCODE_KEY_SIZE])
{
    char text[DIGITS + 1];
    for (int i = 0; i < PH_NETCODE_KEY_SIZE; ++i) {
        snprintf(text + 2 * i, 3, "%02x", key[i]);
    }
    text[DIGITS] = '\n';
    const bool is_written = write(file, text, sizeof text) == (ssize_t)sizeof text;
    wipe(text, sizeof text);
    return is_written;
}

bool app_key_make(const char* command, const char* path, uint8_t key[PH_NETCODE_KEY_SIZE])
{
    if (!app_wall_random(key, PH_NETCODE_KEY_SIZE)) {
        fprintf(stderr, "%s: the system has no randomness to make a key of.\n", command);
        return false;
    }
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool is_written = file >= 0 && write_digits(file, key);
    if (!is_written) {
        fprintf(stderr, "%s: %s cannot be written: %s.\n", command, path, strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
    return is_written;
}
