// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "netcode_transcript.h"

#include "kit/file_text.h"
#include "netcode_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 5 };

typedef struct word {
    const char* at;
    size_t length;
} word;

static bool is_word(const word* it, const char* text)
{
    return it->length == strlen(text) && memcmp(it->at, text, it->length) == 0;
}

static uint64_t number_of(const word* it, int base)
{
    char text[32] = {0};
    assert_in_range(it->length, 1, sizeof text - 1);
    memcpy(text, it->at, it->length);
    char* end;
    const uint64_t value = strtoull(text, &end, base);
    assert_int_equal(*end, '\0');
    return value;
}

static int state_of(const word* it)
{
    const bool is_negative = it->at[0] == '-';
    const word digits = {.at = it->at + is_negative, .length = it->length - is_negative};
    const int value = (int)number_of(&digits, 10);
    return is_negative ? -value : value;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    assert_in_range(c, 'a', 'f');
    return c - 'a' + 10;
}

static size_t bytes_of(const word* it, uint8_t* bytes)
{
    assert_int_equal(it->length % 2, 0);
    for (size_t i = 0; i < it->length / 2; ++i) {
        bytes[i] = (uint8_t)(digit_of(it->at[2 * i]) * 16 + digit_of(it->at[2 * i + 1]));
    }
    return it->length / 2;
}

static void exact_bytes_of(const word* it, uint8_t* bytes, size_t size)
{
    assert_int_equal(it->length, 2 * size);
    bytes_of(it, bytes);
}

static ph_address address_of(const word* it)
{
    char text[64] = {0};
    assert_in_range(it->length, 1, sizeof text - 1);
    memcpy(text, it->at, it->length);
    return stage_address(text);
}

static bool direction_of(const word* it)
{
    const bool is_up = is_word(it, "c>s");
    assert_true(is_up || is_word(it, "s>c"));
    return is_up;
}

// @return Whether it is one of the lines before the session.
static bool read_head(transcript* it, const word words[WORDS_MAX])
{
    if (is_word(&words[0], "protocol")) {
        it->protocol_id = number_of(&words[1], 16);
    } else if (is_word(&words[0], "client_id")) {
        it->client_id = number_of(&words[1], 16);
    } else if (is_word(&words[0], "private_key")) {
        exact_bytes_of(&words[1], it->private_key, sizeof it->private_key);
    } else if (is_word(&words[0], "user_data")) {
        exact_bytes_of(&words[1], it->user_data, sizeof it->user_data);
    } else if (is_word(&words[0], "token")) {
        exact_bytes_of(&words[1], it->token_bytes, sizeof it->token_bytes);
    } else {
        return is_word(&words[0], "#");
    }
    return true;
}

static void put_bytes(transcript* it, transcript_line* line, const word* hex)
{
    line->bytes = it->pool + it->pool_size;
    line->size = bytes_of(hex, it->pool + it->pool_size);
    it->pool_size += line->size;
}

static void read_line(transcript* it, const word words[WORDS_MAX])
{
    if (read_head(it, words)) {
        return;
    }
    transcript_line* line = &it->lines[it->line_count++];
    if (is_word(&words[0], "send")) {
        line->kind = TRANSCRIPT_SEND;
        line->is_up = direction_of(&words[1]);
        put_bytes(it, line, &words[2]);
    } else if (is_word(&words[0], "got")) {
        line->kind = TRANSCRIPT_GOT;
        line->is_up = direction_of(&words[1]);
        line->sequence = number_of(&words[2], 10);
        line->size = number_of(&words[3], 10);
    } else if (is_word(&words[0], "state")) {
        line->kind = TRANSCRIPT_STATE;
        line->time_ms = number_of(&words[1], 10);
        line->old_state = state_of(&words[2]);
        line->new_state = state_of(&words[3]);
    } else if (is_word(&words[0], "end")) {
        line->kind = TRANSCRIPT_END;
        line->new_state = state_of(&words[2]);
    } else {
        line->kind = TRANSCRIPT_DATAGRAM;
        line->is_up = direction_of(&words[0]);
        line->time_ms = number_of(&words[1], 10);
        line->from = address_of(&words[2]);
        line->to = address_of(&words[3]);
        put_bytes(it, line, &words[4]);
    }
}

static void split(const char* text, size_t length, word words[WORDS_MAX])
{
    memset(words, 0, sizeof(word) * WORDS_MAX);
    size_t at = 0;
    for (int i = 0; i < WORDS_MAX && at < length; ++i, ++at) {
        words[i].at = text + at;
        while (at < length && text[at] != ' ') {
            ++words[i].length;
            ++at;
        }
    }
}

// What a line can say only with those behind it.
static void complete(transcript* it)
{
    for (int i = it->line_count - 1; i >= 0; --i) {
        transcript_line* line = &it->lines[i];
        if (line->kind == TRANSCRIPT_SEND) {
            int at = i;
            line->time_ms = transcript_next(it, TRANSCRIPT_DATAGRAM, line->is_up, &at)->time_ms;
        } else if (line->kind == TRANSCRIPT_DATAGRAM && line->is_up) {
            it->client = line->from;
        }
    }
    for (int i = 0; i < it->line_count; ++i) {
        if (it->lines[i].kind == TRANSCRIPT_DATAGRAM && !it->lines[i].is_up) {
            it->server = it->lines[i].from;
        }
    }
}

transcript* transcript_load(const char* name)
{
    char path[128];
    snprintf(path, sizeof path, "test/data/netcode/%s.txt.gz", name);
    ph_file_text text;
    ph_fault fault;
    assert_true(ph_file_text_load(path, &text, &fault));
    transcript* it = calloc(1, sizeof *it);
    size_t line_count = 0;
    for (size_t i = 0; i < text.length; ++i) {
        line_count += text.bytes[i] == '\n';
    }
    it->name = name;
    it->lines = calloc(line_count, sizeof *it->lines);
    it->pool = malloc(text.length);
    for (size_t at = 0; at < text.length;) {
        const char* end = memchr(text.bytes + at, '\n', text.length - at);
        assert_non_null(end);
        const size_t length = (size_t)(end - (text.bytes + at));
        word words[WORDS_MAX];
        split(text.bytes + at, length, words);
        read_line(it, words);
        at += length + 1;
    }
    ph_file_text_unload(&text);
    assert_int_equal(ph_token_read(it->token_bytes, PH_TOKEN_SIZE, &it->token), PH_TOKEN_GOOD);
    complete(it);
    return it;
}

void transcript_unload(transcript* it)
{
    free(it->lines);
    free(it->pool);
    free(it);
}

bool transcript_is_of_client(const transcript* it, const transcript_line* line)
{
    return line->kind == TRANSCRIPT_DATAGRAM &&
           ph_address_is_equal(line->is_up ? &line->from : &line->to, &it->client);
}

int transcript_count(const transcript* it, transcript_kind kind, bool is_up)
{
    int count = 0;
    for (int i = 0; i < it->line_count; ++i) {
        count += it->lines[i].kind == kind && it->lines[i].is_up == is_up;
    }
    return count;
}

const transcript_line* transcript_next(const transcript* it, transcript_kind kind, bool is_up,
                                       int* at)
{
    while (*at < it->line_count) {
        const transcript_line* line = &it->lines[(*at)++];
        if (line->kind == kind && line->is_up == is_up) {
            return line;
        }
    }
    return NULL;
}
