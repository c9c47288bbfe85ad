// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Edit distance by the usual table, one row at a time. Runs once, on the way to an error message.

#include "suggest.h"

#include <stdbool.h>
#include <string.h>

#define WORD_MAX 63

static int smallest(int a, int b, int c)
{
    const int least = a < b ? a : b;
    return least < c ? least : c;
}

// Letters to insert, remove or replace to make one word of the other.
static int distance_between(const char* from, const char* to)
{
    const int from_length = (int)strlen(from);
    const int to_length = (int)strlen(to);
    int row[WORD_MAX + 1];
    for (int i = 0; i <= to_length; ++i) {
        row[i] = i;
    }
    for (int i = 1; i <= from_length; ++i) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= to_length; ++j) {
            const int replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = smallest(replaced, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[to_length];
}

app_suggestion app_suggestion_make(const char* word)
{
    return (app_suggestion){.word = word};
}

void app_suggestion_consider(app_suggestion* suggestion, const char* candidate)
{
    const size_t typed = strlen(suggestion->word);
    const size_t meant = strlen(candidate);
    if (typed == 0 || typed > WORD_MAX || meant > WORD_MAX) {
        return;
    }
    // A word that breaks off too early is one letter away; beyond a third of the letters it is a
    // guess.
    const bool is_start = strncmp(suggestion->word, candidate, typed) == 0;
    const int distance = is_start ? 1 : distance_between(suggestion->word, candidate);
    const int most = is_start ? 1 : (int)(meant / 3);
    const bool is_nearer = suggestion->candidate == NULL || distance < suggestion->distance;
    if (distance <= most && is_nearer) {
        suggestion->candidate = candidate;
        suggestion->distance = distance;
    }
}
