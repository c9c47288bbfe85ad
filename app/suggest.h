// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// "Did you mean": finds among known words the one that a mistyped word was meant to be.

#ifndef PH_APP_SUGGEST_H
#define PH_APP_SUGGEST_H

typedef struct app_suggestion {
    const char* word;      // as typed
    const char* candidate; // the nearest so far; NULL while none is near enough
    int distance;          // letters to insert, remove or replace
} app_suggestion;

// The word must outlive the suggestion.
app_suggestion app_suggestion_make(const char* word);

// The candidate must outlive the suggestion. Of equally near ones the first stays.
void app_suggestion_consider(app_suggestion* suggestion, const char* candidate);

#endif
