// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Adding runs once per row and column of words; most often it finds the word at once.

#include "kit/lexicon.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

// Kept by pointer, so that the header of recordings need not include that of hash maps.
static bool reserve_numbers(ph_lexicon* lexicon, int capacity)
{
    if (lexicon->numbers == NULL) {
        lexicon->numbers = calloc(1, sizeof *lexicon->numbers);
    }
    return lexicon->numbers != NULL && ph_hash_map_reserve(lexicon->numbers, capacity) == PH_OK;
}

static void free_numbers(ph_lexicon* lexicon)
{
    if (lexicon->numbers != NULL) {
        ph_hash_map_destroy(lexicon->numbers);
        free(lexicon->numbers);
        lexicon->numbers = NULL;
    }
}

void ph_lexicon_clear(ph_lexicon* lexicon)
{
    for (int i = 0; i < lexicon->count; ++i) {
        free(lexicon->words[i]);
    }
    free(lexicon->words);
    free_numbers(lexicon);
    *lexicon = (ph_lexicon){0};
}

static bool is_word(const char* word, const char* text, int length)
{
    return strlen(word) == (size_t)length && memcmp(word, text, (size_t)length) == 0;
}

static bool reserve(ph_lexicon* lexicon)
{
    if (lexicon->count < lexicon->capacity) {
        return true;
    }
    const int capacity = lexicon->capacity * 2 + 16;
    char** words = realloc(lexicon->words, (size_t)capacity * sizeof(char*));
    if (words == NULL) {
        return false;
    }
    lexicon->words = words;
    if (!reserve_numbers(lexicon, capacity)) {
        return false;
    }
    lexicon->capacity = capacity;
    return true;
}

static int append(ph_lexicon* lexicon, uint64_t key, const char* text, int length)
{
    if (lexicon->count == PH_LEXICON_MAX || !reserve(lexicon)) {
        return -1;
    }
    char* word = malloc((size_t)length + 1);
    if (word == NULL) {
        return -1;
    }
    memcpy(word, text, (size_t)length);
    word[length] = '\0';
    ph_hash_map_insert(lexicon->numbers, key, (uint32_t)lexicon->count);
    lexicon->words[lexicon->count] = word;
    return lexicon->count++;
}

int ph_lexicon_add(ph_lexicon* lexicon, const char* text, int length)
{
    ph_hash hash = ph_hash_make(0);
    ph_hash_add(&hash, text, (size_t)length);
    uint32_t number;
    // Two words of the same hash stand behind each other.
    uint64_t key = ph_hash_value(&hash);
    for (; lexicon->numbers != NULL && ph_hash_map_try_find(lexicon->numbers, key, &number);
         ++key) {
        if (is_word(lexicon->words[number], text, length)) {
            return (int)number;
        }
    }
    return append(lexicon, key, text, length);
}

// ---- sorting

typedef struct numbered {
    char* word;
    int number;
} numbered;

static int compare(const void* a, const void* b)
{
    return strcmp(((const numbered*)a)->word, ((const numbered*)b)->word);
}

bool ph_lexicon_sort(ph_lexicon* lexicon, int* new_number)
{
    numbered* sorted = malloc(((size_t)lexicon->count + 1) * sizeof(numbered));
    if (sorted == NULL) {
        return false;
    }
    for (int i = 0; i < lexicon->count; ++i) {
        sorted[i] = (numbered){.word = lexicon->words[i], .number = i};
    }
    qsort(sorted, (size_t)lexicon->count, sizeof(numbered), compare);
    for (int i = 0; i < lexicon->count; ++i) {
        lexicon->words[i] = sorted[i].word;
        new_number[sorted[i].number] = i;
    }
    free(sorted);
    free_numbers(lexicon);
    return true;
}
