// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Requests for metrics: a request is judged as soon as its head is complete, what follows changes nothing, and
// a page is given to a loopback name only.

#include "kit/http_request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 9100 };

static int contains(const uint8_t* data, size_t size, const char* text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i + length <= size; ++i) {
        size_t same = 0;
        while (same < length && (data[i + same] | 0x20) == (text[same] | 0x20)) {
            ++same;
        }
        if (same == length) {
            return 1;
        }
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ph_http_verdict first = {0};
    for (size_t some = 0; some <= size; ++some) {
        char* bytes = malloc(some + 1); // of its own size, so that a step too far is seen
        memcpy(bytes, data, some);
        char* exact = realloc(bytes, some > 0 ? some : 1);
        const ph_http_verdict found = ph_http_request_judge(PORT, exact, some);
        free(exact);
        if (first.status != 0 &&
            (found.status != first.status || found.has_no_body != first.has_no_body)) {
            abort();
        }
        if (found.status == 200 &&
            (!contains(data, some, "127.0.0.1:9100") && !contains(data, some, "localhost:9100"))) {
            abort();
        }
        first = found;
        some += size > 512 ? 63 : 0; // large ones in larger steps
    }
    return 0;
}
