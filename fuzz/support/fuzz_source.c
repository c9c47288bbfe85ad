// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/fuzz_source.h"

#include <stdlib.h>

void fuzz_demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

uint32_t fuzz_take(fuzz_source* from, uint32_t limit)
{
    if (from->left == 0) {
        return 0;
    }
    --from->left;
    return *from->bytes++ % limit;
}
